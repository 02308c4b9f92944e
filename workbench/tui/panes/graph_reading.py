"""Owns what the graph browser reads: the table of all, a drawing’s view, and what is known about one entity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message

from workbench.engine.errors import NotFound, WorkbenchError
from workbench.engine.results.graph import GraphNode
from workbench.tui.panes.graph_places import GraphPlace
from workbench.tui.panes.on_memories import OnMemories
from workbench.tui.views.graph_filter import GraphFilter, narrowed, narrowing
from workbench.tui.views.graph_table import EntityRows, in_order, matching

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.timer import Timer

    from workbench.engine.results.graph import EntityRow, EntityTable, GraphView
    from workbench.tui.bench import Bench

# Seconds the cursor of the table must rest before an entity is read; a drawing's is read at once.
BEFORE_READING = 0.03
# Seconds after which a table that is still being read is worth a word.
LONG = 0.4
_MOST_VIEWS = 300
UNNAMED = "--"


@dataclass(frozen=True)
class Arrangement:
    """What the table is to show.

    Args:
        wanted: What the filter says.
        sort: A key of `SORTS`.
        members: Ids that alone are shown, or None for all.
    """

    wanted: GraphFilter
    sort: str
    members: frozenset[str] | None = None


class GraphReading(OnMemories):
    """Reads in threads, keeps what was read until memory changes, and tells by messages."""

    class TableRead(Message):
        """All entities were read, and arranged as they were wanted then."""

        def __init__(
            self,
            table: EntityTable,
            whole: EntityRows,
            types: Sequence[str],
            arrangement: Arrangement,
            rows: EntityRows,
        ) -> None:
            super().__init__()
            self.table = table
            self.whole = whole
            self.types = types
            self.arrangement = arrangement
            self.rows = rows

    class Arranged(Message):
        """The table was filtered and sorted."""

        def __init__(self, table: EntityTable, arrangement: Arrangement, rows: EntityRows) -> None:
            super().__init__()
            self.table = table
            self.arrangement = arrangement
            self.rows = rows

    class DrawingRead(Message):
        """What is to be drawn was read, or why it could not be; `whole` holds what the filter hides as well."""

        def __init__(
            self,
            number: int,
            view: GraphView | None,
            whole: GraphView | None,
            error: WorkbenchError | None = None,
        ) -> None:
            super().__init__()
            self.number = number
            self.view = view
            self.whole = whole
            self.error = error

    class EntityRead(Message):
        """One entity’s facts and relations were read; None where it has no file."""

        def __init__(self, reading: int, key: str, view: GraphView | None) -> None:
            super().__init__()
            self.reading = reading
            self.key = key
            self.view = view

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self._today = bench.now().date()
        self._table: EntityTable | None = None
        self._whole = EntityRows((), self._today)
        self._types: Sequence[str] = ()
        self._relations: Sequence[str] = ()
        self._entity_views: dict[str, GraphView | None] = {}
        self._old_views: frozenset[str] = frozenset()
        self._drawings = 0
        self._before_reading: Timer | None = None
        self._saying: Timer | None = None

    # --- the table ------------------------------------------------------------------------------------------

    def read_table(self, arrangement: Arrangement) -> None:
        """Read every entity; where that takes long, the list says so."""
        if self._table is None and self._saying is None:
            self._saying = self.set_timer(LONG, self._say_reading)
        self._read_table(arrangement)

    def _say_reading(self) -> None:
        if self._table is None:
            self.list.waiting = False
            self.list.refresh()

    @work(thread=True, exclusive=True, group="load")
    def _read_table(self, arrangement: Arrangement) -> None:
        try:
            table = self.bench.entities()
            whole = EntityRows(table.entities, self._today)
            # Finding one makes the index of all of them, which is better done here.
            whole.find("")
            types = sorted({row.type for row in table.entities})
            rows = self._arranged_rows(table, arrangement)
            self.post_message(self.TableRead(table, whole, types, arrangement, rows))
            self._relations = tuple(self.bench.graph_relations())
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))

    @work(thread=True, exclusive=True, group="arrange")
    def order_table(self, table: EntityTable, arrangement: Arrangement) -> None:
        """Filter and sort the table; `Arranged` tells."""
        self.post_message(self.Arranged(table, arrangement, self._arranged_rows(table, arrangement)))

    def _arranged_rows(self, table: EntityTable, arrangement: Arrangement) -> EntityRows:
        members = arrangement.members
        rows = [row for row in table.entities if members is None or row.id in members]
        found = EntityRows(in_order(matching(rows, arrangement.wanted), arrangement.sort), self._today)
        found.find("")
        return found

    # --- a drawing ------------------------------------------------------------------------------------------

    def read_drawing(self, place: GraphPlace, depth: int, wanted: GraphFilter) -> None:
        """Read what a drawing shows; `DrawingRead` tells, only the newest counts."""
        self._drawings += 1
        self._read_drawing(self._drawings, place, depth, wanted)

    @work(thread=True, exclusive=True, group="drawing")
    def _read_drawing(self, number: int, place: GraphPlace, depth: int, wanted: GraphFilter) -> None:
        try:
            if place.kind == "path":
                view = whole = self.bench.graph_path(place.center, place.other)
            elif wanted:
                whole = self.bench.graph(place.center, depth=depth)
                relations = {*self._relations, *(edge.relation for edge in whole.edges)}
                ask = narrowing(wanted, self._types or {node.type for node in whole.nodes}, relations)
                view = narrowed(
                    self.bench.graph(
                        place.center,
                        depth=depth,
                        relations=ask.relations,
                        types=ask.types,
                        min_score=ask.min_score,
                        after=ask.after,
                        before=ask.before,
                    ),
                    wanted,
                )
            else:
                view = whole = self.bench.graph(place.center, depth=depth)
        except WorkbenchError as error:
            self.post_message(self.DrawingRead(number, None, None, error))
            return
        self.post_message(self.DrawingRead(number, view, whole))

    # --- one entity -----------------------------------------------------------------------------------------

    def ask_about_entity(self, key: str, *, soon: bool) -> None:
        """Read an entity’s facts and relations and then all else about it; `know_entity` is told.

        Args:
            key: Its id.
            soon: The cursor is still moving over many: wait for it to rest a moment.
        """
        if self._before_reading is not None:
            self._before_reading.stop()
            self._before_reading = None
        if key in self._entity_views and key not in self._old_views:
            self.ask_about(key)
        elif soon:
            self._before_reading = self.set_timer(BEFORE_READING, partial(self._read_entity, key))
        else:
            self._read_entity(key)

    @work(thread=True, exclusive=True, group="entity")
    def _read_entity(self, key: str) -> None:
        reading = self._readings
        try:
            view = self.bench.graph(key, depth=1)
        except NotFound:
            self.post_message(self.EntityRead(reading, key, None))
            return
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))
            return
        self.post_message(self.EntityRead(reading, key, view))

    @on(EntityRead)
    def _entity_read(self, event: EntityRead) -> None:
        event.stop()
        if event.reading == self._readings:
            self.keep_view(event.key, event.view)
            self.know_entity(event.key)

    def keep_view(self, key: str, view: GraphView | None) -> None:
        """Keep what was read about an entity until memory changes."""
        if len(self._entity_views) >= _MOST_VIEWS:
            self._entity_views.clear()
        self._entity_views[key] = view
        self._old_views -= {key}

    def has_read(self) -> None:
        super().has_read()
        # What was read before is shown until it is read again, so that nothing comes and goes.
        self._old_views = frozenset(self._entity_views)

    def know_entity(self, key: str) -> None:
        """Be told that an entity was read."""

    def row(self, key: str) -> EntityRow | None:
        """Return the entity’s row of the table, if that is read."""
        return self._whole.entity(key)

    def label(self, key: str) -> str:
        """Return what an entity is called, as far as is known."""
        row = self.row(key)
        return row.label if row is not None else name_in(key)

    def findable(self) -> Iterator[tuple[str, str]]:
        for row in self._whole.entities:
            yield f"{row.label} {' '.join(row.aliases)} · {row.type}", row.id


def name_in(key: str) -> str:
    """Return the name that an id tells."""
    return key.partition(UNNAMED)[2].partition("#")[0].replace("-", " ") or key


def node_of(key: str, row: EntityRow | None) -> GraphNode:
    """Return an entity as the detail begins to draw it, from its row or from its id alone."""
    if row is not None:
        return GraphNode(row.id, row.type, row.label, row.score, 0, row.status, row.degree)
    return GraphNode(
        key, key.removeprefix("entity:").partition(UNNAMED)[0], name_in(key), 0.0, 0, "", known=False
    )
