"""Graph: who and what memory knows, as a table, as a drawing around one of them, and as the path between two."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, ClassVar

from textual import on

from workbench.display.cells import wrap
from workbench.display.entity import (
    SORTS,
    entity_row,
    group_card,
    name_room,
    narrowed,
    sorted_entities,
    table_heading,
)
from workbench.display.graph_drawing.views import draw_compact, draw_neighbourhood, draw_path, members_of
from workbench.display.ink import Span, ink, spread
from workbench.display.words import counted
from workbench.engine.errors import NotFound
from workbench.engine.values import dataclass
from workbench.tui.look import BESIDE
from workbench.tui.parts.canvas import CanvasPart
from workbench.tui.parts.filter import Filterable
from workbench.tui.parts.page import PagePart
from workbench.tui.parts.rows import Rows
from workbench.tui.places.graph_editing import GraphEditing, Names
from workbench.tui.places.memory_reading import disputed_memories, is_entity, read_entity_card
from workbench.tui.places.place import Place
from workbench.tui.verbs.graph import GROUP, Entity, Statement
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.app import ComposeResult
    from textual.widget import Widget

    from workbench.display.canvas import Picture
    from workbench.display.card import Card
    from workbench.display.ink import Line
    from workbench.display.transcript import Evidence
    from workbench.engine.results.graph import EntityRow, EntityTable, GraphNode, GraphView
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.act import Subject

_AROUND, _PATH, _MEMBERS = "around", "path", "members"
_MOST_HOPS = 3
_HOPS = ("", "one hop", "two hops", "three hops")
_DAY = len("2026-02-02")
# What the filter takes of a score, by its tenths.
_BOUNDS = tuple(
    (*(f">{at / 10:g}" for at in range(tenth + 1)), *(f"<{at / 10:g}" for at in range(tenth + 1, 11)))
    for tenth in range(11)
)


@dataclass(frozen=True)
class Spot:
    """What the place shows.

    Args:
        kind: Empty for the table, or around, path, members.
        center: Id of the entity in the middle, or at the beginning of the path.
        other: Id of the entity at its end, or key of the group.
    """

    kind: str = ""
    center: str = ""
    other: str = ""

    @classmethod
    def read(cls, spot: str) -> Spot:
        """Read what `written` gave."""
        return cls(*(*spot.split("|", 2), "", "")[:3])

    @property
    def written(self) -> str:
        """Return it as the frame keeps it."""
        return "|".join((self.kind, self.center, self.other)).rstrip("|")

    @property
    def is_drawn(self) -> bool:
        """Return whether it is a drawing rather than a list."""
        return self.kind in (_AROUND, _PATH)


class EntityRows(Rows[str, "EntityRow"]):
    """Entities of the table."""

    def __init__(self, rows: Sequence[EntityRow], today: date) -> None:
        super().__init__()
        self.entities = rows
        self.add_all(rows, [row.id for row in rows])
        self._today = today
        self.name_room = name_room(rows)
        # Finding one makes the index of all of them, which is better done on the thread that reads.
        self.find("")

    def draw(self, row: EntityRow, width: int) -> Line:
        """Draw a row."""
        return entity_row(row, self.name_room, self._today, width)


@dataclass(frozen=True)
class GraphRead:
    """What the engine answered.

    Args:
        spot: What was asked for, or what there is of it.
        sort: The order of the rows, one of `SORTS`.
        disputed: What waits for a decision against facts, by id.
        relations: What relations may be called.
    """

    spot: Spot
    sort: str
    table: EntityTable
    whole: EntityRows
    rows: EntityRows
    view: GraphView | None
    disputed: Mapping[str, str]
    relations: tuple[str, ...]

    def node(self, key: str) -> GraphNode | None:
        """Return an entity of the drawing."""
        return next((node for node in self.view.nodes if node.id == key), None) if self.view else None

    def name(self, key: str) -> str:
        """Return what an entity is called."""
        known = self.whole.row(key) or self.node(key)
        return known.label if known is not None else key.partition("--")[2].replace("-", " ") or key


class GraphPlace(Place):
    """The knowledge graph."""

    EMPTY: ClassVar[str] = (
        "Nobody and nothing is known yet; ⸨add-entity⸩ adds a person, a project or a thing."
    )
    KEYS: ClassVar[tuple[str, ...]] = ("pin", "forget", "details", "evidence", "history")
    FILTER_KEYS: ClassVar[tuple[str, ...]] = ("type", "relation", "is", "score")
    FILTERS_MAIN: ClassVar[bool] = True
    spot = ""
    DEFAULT_CSS = """
    GraphPlace CanvasPart { display: none; height: 1fr; }
    GraphPlace.-drawn CanvasPart { display: block; }
    GraphPlace.-drawn ListPart { display: none; }
    GraphPlace ListPart { scrollbar-gutter: stable; }
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.canvas = CanvasPart(
            empty=lambda width: [(Span(part, "soft"),) for part in wrap(self._no_path, width)]
        )
        self._read: GraphRead | None = None
        self._chosen: dict[str, str] = {}

    @property
    def _no_path(self) -> str:
        read = self._read
        if read is None:
            return ""
        ends = f"{read.name(self.at.center)} and {read.name(self.at.other)}"
        return f"No relations join {ends}, either way and however many are followed."

    @property
    def labels(self) -> Mapping[str, str]:
        at, statement = self.at, self.statement
        if statement is not None:
            return {"open": "follow"} if statement.edge is not None else {"edit": "edit"}
        if not self.cursor_key:
            return {"new": "new entity"}
        said = {"new": "add a fact", "compare": "another path" if at.kind == _PATH else "path to…"}
        if at.kind == _AROUND:
            said |= {"closer": "a hop more"} if self.hops < _MOST_HOPS else {"wider": "fewer hops"}
        if not at.is_drawn:
            said["view-drawing"] = "drawing"
        elif self.cursor_key != at.center:
            said["open"] = "go there"
        return said

    @property
    def hops(self) -> int:
        """Return how far around an entity is drawn."""
        kept = self.kept.get("hops", "1")
        return int(kept) if kept in ("1", "2", "3") else 1

    @property
    def order(self) -> str:
        """Return what the table is sorted by."""
        kept = self.kept.get("order", "")
        return kept if kept in SORTS else SORTS[0]

    def body(self) -> ComposeResult:
        yield self.list
        yield self.canvas

    @property
    def at(self) -> Spot:
        """Return what is shown."""
        return Spot.read(self.spot)

    @property
    def main(self) -> Widget:
        return self.canvas if self.at.is_drawn else self.list

    @property
    def cursor_key(self) -> str:
        return self.canvas.chosen if self.at.is_drawn else self.list.cursor_key

    def go_to_spot(self, spot: str) -> None:
        if spot != self.spot:
            self._chosen[self.spot] = self.canvas.chosen
            self.canvas.show(None)
        self.spot = spot
        self.set_class(self.at.is_drawn, "-drawn")

    def visit(self, spot: Spot, row: str = "") -> None:
        """Go elsewhere in the graph; a step that `[` goes back from."""
        self.frame.go("graph", row=row, spot=spot.written)

    def read_again(self) -> None:
        """Read what is shown otherwise: further away, in another order."""
        self.frame.go("graph", visit=False)

    # What is read and drawn.

    def read(self, workspace: Workspace) -> GraphRead:
        spot, hops, sort, known = self.at, self.hops, self.order, self._read
        table, today = workspace.graph_entities(), workspace.now().date()
        view = None
        try:
            if spot.kind == _PATH:
                view = workspace.graph_path(spot.center, spot.other)
            elif spot.kind:
                view = workspace.graph(spot.center, depth=hops)
                # What was merged into another is looked at as that one.
                spot = Spot(spot.kind, view.center or spot.center, spot.other)
        except NotFound:
            spot = Spot()
        if known is not None and known.table is table and known.sort == sort:
            whole = known.whole
        else:
            whole = EntityRows(sorted_entities(table.entities, sort), today)
        rows = whole
        if spot.kind == _MEMBERS and view is not None:
            members = set(members_of(view, spot.other))
            rows = EntityRows([row for row in whole.entities if row.id in members], today)
        disputed, relations = disputed_memories(workspace), workspace.graph_relations()
        return GraphRead(spot, sort, table, whole, rows, view, disputed, relations)

    def rows(self, results: GraphRead) -> EntityRows:
        return results.rows

    def show(self, results: GraphRead) -> None:
        self._read = results
        if results.spot != self.at:
            self.go_to_spot(results.spot.written)
            self.frame.focus_place()
        super().show(results)
        if any(results.rows.find(key) is None for key in self.list.marks.keys):
            self.list.clear_marks()

    def show_rows(self) -> None:
        super().show_rows()
        view = self._read.view if self._read is not None else None
        if view is None or not self.at.is_drawn:
            return
        drawn, is_path = view, self.at.kind == _PATH
        if self.filter.text and not is_path:
            shown = self.list.rows
            drawn = narrowed(view, {shown.key(at) for at in range(len(shown))})

        def draw(width: int, height: int, chosen: str) -> Picture:
            plain = self.screen.has_class("-plain")
            if plain or (self.app.size.width < BESIDE and not is_path):
                return draw_compact(drawn, width, chosen=chosen, plain=plain)
            return (draw_path if is_path else draw_neighbourhood)(drawn, width, height, chosen=chosen)

        self.canvas.show(draw, self.canvas.chosen or self._chosen.get(self.spot) or self.at.center)

    def filterable(self, row: EntityRow) -> Filterable:
        fields = {
            "type": (row.type,),
            "relation": row.relations,
            "is": (row.status,),
            "score": _BOUNDS[min(10, int(row.score * 10))],
        }
        words = f"{row.label} {' '.join(row.aliases)} {row.type}"
        return Filterable(words, fields, date.fromisoformat(row.seen) if len(row.seen) == _DAY else None)

    def heading(self, results: GraphRead, width: int) -> Line:
        spot, view = results.spot, results.view
        if not spot.kind:
            rows = results.rows
            # The list keeps a cell for its scroll bar.
            return table_heading(results.table, len(rows), results.sort, rows.name_room, width - 1)
        if spot.kind == _MEMBERS:
            said = f"{len(results.rows):,} around {results.name(spot.center)}"
            return spread((ink(said, "soft"),), (), width)
        if spot.kind == _PATH:
            steps = len(view.edges) if view is not None else 0
            between = f"from {results.name(spot.center)} to {results.name(spot.other)}"
            said = f"path {between}" if steps else f"no path {between}"
            far: Line = (ink(counted(steps, "step"), "soft"),) if steps else ()
            return spread((ink(said, "soft"),), far, width)
        node = results.node(spot.center)
        facts = sum(not fact.retired for fact in view.facts) if view is not None else 0
        kind = f", {node.type}" if node is not None and node.type else ""
        said = f"{kind} · {counted(facts, 'fact')}"
        far = (ink(_HOPS[self.hops], "soft"), *((Span(" (+ a second)", "faint"),) if self.hops == 1 else ()))
        return spread((ink(results.name(spot.center), "strong"), ink(said, "soft")), far, width)

    # What keys act on.

    def subject(self, key: str) -> Memory | None:
        read = self._read
        if read is None:
            return None
        if key.startswith(GROUP):
            count = len(members_of(read.view, key)) if read.view is not None else 0
            return Memory(key, "semantic", f"{count:,} around {read.name(self.at.center)}")
        row, node = read.whole.row(key), read.node(key)
        status = row.status if row is not None else node.status if node is not None else ""
        links = row.degree if row is not None else node.degree if node is not None else 0
        return Entity(key, "semantic", read.name(key), status == "pinned", status == "archived", links)

    @property
    def entity(self) -> Entity | None:
        """Return the entity that the card is of, whatever on it the cursor is on."""
        found = (
            self.visited[-1] if self.visited else self.subject(self.cursor_key) if self.cursor_key else None
        )
        if isinstance(found, Memory) and is_entity(found.id) and not isinstance(found, Entity):
            found = self.subject(found.id)
        return found if isinstance(found, Entity) else None

    @property
    def subjects(self) -> tuple[Subject, ...]:
        return tuple(each for each in super().subjects if not each.id.startswith(GROUP))

    def read_card(self, workspace: Workspace, subject: Subject) -> Card:
        read = self._read
        disputed = read.disputed if read is not None else {}
        if isinstance(subject, Statement):
            return read_entity_card(workspace, subject.entity, disputed, subject.id)
        if is_entity(subject.id):
            return read_entity_card(workspace, subject.id, disputed)
        if subject.id.startswith(GROUP) and read is not None and read.view is not None:
            members = set(members_of(read.view, subject.id))
            return group_card(subject.title, [node for node in read.view.nodes if node.id in members])
        return super().read_card(workspace, subject)

    def read_evidence(self, workspace: Workspace, subject: Subject) -> Evidence | str | None:
        return None if subject.id.startswith(GROUP) else super().read_evidence(workspace, subject)

    def reveal(self, key: str) -> bool:
        if self.at.is_drawn and self.canvas.choose(key):
            return True
        if self._read is None or self._read.whole.find(key) is None:
            return False
        if self.at.kind:
            self.go_to_spot("")
            self.show(replace(self._read, spot=Spot(), rows=self._read.whole))
            self.frame.focus_place()
        if not self.list.go_to(key):
            self.frame.filtering.set(self, "")
        return self.list.go_to(key)

    # Commands.

    def do(self, command: str) -> bool:
        act = {
            "open": self._open,
            "out": self._go_out,
            "view-next": lambda: self._show_view("" if self.at.kind else _AROUND),
            "view-table": lambda: self._show_view(""),
            "view-list": lambda: self._show_view(""),
            "view-drawing": lambda: self._show_view(_AROUND),
            "view-path": self._find_path,
            "compare": self._find_path,
            "sort": self._sort_next,
            "closer": lambda: self._go_hops(1),
            "wider": lambda: self._go_hops(-1),
            "new": lambda: self._edit("add_fact"),
            "rename": lambda: self._edit("rename"),
            "link": lambda: self._edit("link"),
            "add-entity": lambda: self._edit("add_entity"),
            "merge": self._merge,
        }.get(command)
        return act is not None and act()

    def _open(self) -> bool:
        """Go into a box: to the members of a group, or to the drawing around an entity that is not in the middle."""
        key = self.cursor_key
        if key.startswith(GROUP):
            self.visit(Spot(_MEMBERS, self.at.center, key))
        elif self.at.is_drawn and key and key != self.at.center:
            self.visit(Spot(_AROUND, key))
        else:
            return False
        return True

    def _go_out(self) -> bool:
        at = self.at
        if not at.kind:
            return False
        self.visit(
            Spot() if at.kind == _AROUND else Spot(_AROUND, at.center),
            at.center if at.kind == _AROUND else "",
        )
        return True

    def _show_view(self, kind: str) -> bool:
        at, entity = self.at, self.entity
        if kind == at.kind:
            self.frame.say("This is that view already; ⸨view-next⸩ shows the other one.")
        elif not kind:
            self.visit(Spot(), entity.id if entity is not None else at.center)
        elif entity is None:
            self.frame.say("There is nothing to draw yet.")
        else:
            self.visit(Spot(_AROUND, entity.id))
        return True

    def _find_path(self) -> bool:
        """Show the path between two marked entities, or from this one to another that is written."""
        marked = [each for each in self.subjects if isinstance(each, Entity)]
        if len(marked) == 2:
            self.visit(Spot(_PATH, marked[0].id, marked[1].id))
        elif (start := self.subject(self.at.center) if self.at.kind == _PATH else self.entity) is None:
            self.frame.say("There is nothing to find a path from.")
        elif isinstance(start, Entity) and (editing := self._editing) is not None:
            editing.pick(
                f"Path from {start.title} to", start, lambda other, _name: self._go_path(start.id, other)
            )
        return True

    def _go_path(self, start: str, goal: str) -> None:
        self.visit(Spot(_PATH, start, goal))

    def _sort_next(self) -> bool:
        if self.at.is_drawn:
            return False
        self.kept["order"] = SORTS[(SORTS.index(self.order) + 1) % len(SORTS)]
        self.read_again()
        return True

    def _go_hops(self, by: int) -> bool:
        if self.at.kind != _AROUND:
            return False
        if not 1 <= self.hops + by <= _MOST_HOPS:
            self.frame.say(f"This is as {'far' if by > 0 else 'near'} as it goes.")
            return True
        self.kept["hops"] = str(self.hops + by)
        self.read_again()
        return True

    @property
    def _editing(self) -> GraphEditing | None:
        read = self._read
        return None if read is None else GraphEditing(self.frame, Names(read.table.entities), read.relations)

    def _edit(self, what: str) -> bool:
        editing, entity = self._editing, self.entity
        if editing is None:
            return False
        if what == "add_entity" or (entity is None and what == "add_fact"):
            editing.add_entity()
        elif entity is None:
            self.frame.say("There is no entity here.")
        else:
            {"add_fact": editing.add_fact, "rename": editing.rename, "link": editing.link}[what](entity)
        return True

    def _merge(self) -> bool:
        entities = [each for each in self.subjects if isinstance(each, Entity)]
        if self.statement is not None and self.entity is not None:
            entities = [self.entity]
        if (editing := self._editing) is not None:
            editing.merge(entities, self.cursor_key)
        return True

    # What parts tell.

    @on(CanvasPart.Opened)
    def _opened(self) -> None:
        if not self._open():
            self.frame.read()

    @on(PagePart.Followed)
    def _followed(self, event: PagePart.Followed) -> None:
        """Go along a relation to its other end; entities are gone to, not laid over one another."""
        found = (
            next((each for each in self.card.card.walked if each.link == event.link), None)
            if self.card.card
            else None
        )
        entity = self.entity
        if found is not None and found.edge is not None and entity is not None:
            event.stop()
            goal = found.edge[2] if found.edge[0] == entity.id else found.edge[0]
            self.visit(Spot(_AROUND, goal) if self.at.kind == _AROUND else Spot(), goal)
        elif is_entity(event.link):
            event.stop()
            self.visit(Spot(_AROUND, event.link) if self.at.is_drawn else Spot(), event.link)
