"""Looking at the knowledge graph through the door: neighbourhoods, ways between entities, the table of all."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.identifiers import parse_memory_id
from workbench.engine.results.graph import EntityRow, EntityTable, GraphView
from workbench.engine.workspace.graph_filter import checked_filter
from workbench.engine.workspace.graph_looking import Look
from workbench.engine.workspace.reading import Reading

if TYPE_CHECKING:
    from workbench.engine.catalog.knowledge_graph import Edge, Followed, KnowledgeGraph
    from workbench.engine.catalog.model import EntityRecord
    from workbench.engine.workspace.known_scores import Grade
    from workbench.engine.workspace.scores import Scores

_DAY = len("2026-02-02")
_UNGRADED = (0.0, "", "")


class _KnownTable(NamedTuple):
    """The table of entities as it was last asked for, good for as long as nothing that it depends on changes."""

    basis: Hashable
    grades: Mapping[str, Grade]
    table: EntityTable


class GraphReading(Reading):
    """What the graph holds."""

    _known_table: _KnownTable | None = None

    def graph(
        self,
        entity: str | None = None,
        *,
        depth: int = 1,
        relations: Sequence[str] = (),
        types: Sequence[str] = (),
        min_score: float = 0.0,
        after: str | None = None,
        before: str | None = None,
    ) -> GraphView:
        """Return an entity with its facts and what lies around it, or the whole graph.

        Where there are more than 500 entities, the nearest are given, of one hop those that matter most; `omitted`
        says how many are left out.

        Args:
            entity: An entity's id or name; None for the whole graph. An entity that has no file is found by its id
                where a relation leads to it.
            depth: Hops to follow.
            relations: Follow these and their opposites alone; all where empty.
            types: Give entities of these types alone, the centre always; all where empty.
            min_score: Give entities of at least this score, 0-1, the centre always.
            after: Follow relations first seen on this day or later; undated ones always.
            before: Follow relations first seen on this day or earlier; undated ones always.

        Raises:
            NotFound: There is no such entity.
            InvalidInput: A filter names what there is not, or the depth is negative.
        """
        from workbench.engine.catalog.neighbourhood import MOST_NODES, around

        if depth < 0:
            raise InvalidInput("A depth is 0 or more.", remedy="Ask for --depth 1.")
        self._ground.refresh_for_reading()
        narrowed = checked_filter(self._ground, relations, types, min_score, after, before)
        scores = self._ground.scores()
        graph = self._shown(scores, narrowed.followed)
        look = Look(graph, scores, narrowed)
        if entity is None:
            return look.everything()
        center, record = self._center(entity, graph)
        found = around(center, graph.steps, depth=depth, most=MOST_NODES, admit=look.admit, best=look.best)
        view = look.view(center, found.hops, graph.among(found.hops), omitted=found.omitted)
        return self._with_center(view, record, graph, scores)

    def graph_path(self, a: str, b: str) -> GraphView:
        """Return a shortest way between two entities, its nodes in walking order; without nodes where there is none.

        Raises:
            NotFound: One of them does not exist.
        """
        from workbench.engine.catalog.neighbourhood import shortest_path

        self._ground.refresh_for_reading()
        scores = self._ground.scores()
        graph = self._shown(scores)
        (start, record), (goal, _) = self._center(a, graph), self._center(b, graph)
        way = shortest_path(start, goal, graph.steps)
        if way is None:
            return GraphView(start, (), ())
        joining: dict[frozenset[str], Edge] = {}
        for edge in graph.among(way):
            joining.setdefault(frozenset((edge.from_, edge.to)), edge)
        edges = [joining[frozenset(pair)] for pair in pairwise(way)]
        view = Look(graph, scores).view(start, {id_: hop for hop, id_ in enumerate(way)}, edges)
        return self._with_center(view, record, graph, scores)

    def graph_entities(self) -> EntityTable:
        """Return every entity that is not merged into another, by id."""
        self._ground.refresh_for_reading()
        scores = self._ground.scores()
        today = self._ground.now().date().isoformat()
        basis = (self._ground.catalog.version(), scores.archived_parts(), today)
        with scores.known.lock:
            grades, known = scores.graded(), self._known_table
            if known is None or known.basis != basis or known.grades is not grades:
                table = self._table(basis[1], today, grades)
                known = self._known_table = _KnownTable(basis, grades, table)
            return known.table

    def _table(self, hidden: frozenset[str], today: str, grades: Mapping[str, Grade]) -> EntityTable:
        from workbench.engine.catalog.entity_table import EntityOutlines

        outlines = EntityOutlines(self._ground.catalog, hidden=hidden)
        rows = []
        for id_, kind, label, aliases, degree, facts, relations, days in outlines.outlines(today):
            value, status, accessed = grades.get(id_, _UNGRADED)
            named = days[:_DAY]
            if named > today:
                # What is planned was not seen yet.
                named = next((day for day in days.split() if day <= today), "")
            seen = max(named, accessed)
            rows.append(EntityRow(id_, kind, label, value, status, degree, facts, seen, relations, aliases))
        return EntityTable(tuple(rows), outlines.count_relations())

    def graph_relations(self) -> tuple[str, ...]:
        """Return the relations that the workspace’s vocabulary knows, and those that its files use beside it."""
        from workbench.engine.stores.semantic import read_vocabulary

        self._ground.refresh_for_reading()
        vocabulary = read_vocabulary(self._ground.files, self._ground.settings)
        names = [name for kind in vocabulary.types for name in (kind.name, kind.inverse) if name]
        used = self._shown(self._ground.scores()).relations_in_use()
        return tuple(dict.fromkeys((*names, *used)))

    def _entity(self, name: str) -> EntityRecord:
        memory_id = self.resolve(name)
        entity = self._ground.lookups.entity(str(memory_id.whole))
        if entity is None:
            raise NotFound(f"“{name}” is no entity.", remedy="List them with: workbench graph")
        return entity

    def _center(self, name: str, graph: KnowledgeGraph) -> tuple[str, EntityRecord | None]:
        try:
            record = self._entity(name)
        except NotFound:
            named = _entity_id(name)
            if named is None or not graph.is_named(named):
                raise
            return graph.whole(named), None
        # What went into another by merging is looked at as that one.
        whole = graph.whole(record.id)
        return (whole, record) if whole == record.id else (whole, self._ground.lookups.entity(whole))

    def _shown(self, scores: Scores, followed: Followed | None = None) -> KnowledgeGraph:
        from workbench.engine.catalog.knowledge_graph import KnowledgeGraph

        return KnowledgeGraph(self._ground.catalog, hidden=scores.archived_parts(), followed=followed)

    def _with_center(
        self, view: GraphView, record: EntityRecord | None, graph: KnowledgeGraph, scores: Scores
    ) -> GraphView:
        from workbench.engine.catalog.center import with_center

        if record is None:
            return view
        lookups = self._ground.visible(scores)
        facts, absorbed = lookups.facts_of(record.id), lookups.absorbed(record.id)
        return with_center(view, record, facts, graph.story(record.id), absorbed)


def _entity_id(name: str) -> str | None:
    """Return the id that a text is, or None where it is a name."""
    try:
        memory_id = parse_memory_id(name)
    except InvalidInput:
        return None
    return str(memory_id.whole) if memory_id.kind == "entity" else None
