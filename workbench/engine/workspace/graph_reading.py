"""Looking at the knowledge graph through the door: neighbourhoods, ways between entities, the table of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.workspace.reading import Reading

if TYPE_CHECKING:
    from workbench.engine.catalog import EdgeRecord, EntityRecord

# Neighbourhoods larger than this are cut at the nearest entities, and say so by their size.
MOST_NODES = 500
_MOST_VISITED = 50_000


class GraphReading(Reading):
    """What the graph holds."""

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
    ) -> results.GraphView:
        """Return an entity with its facts and what lies around it, or the whole graph.

        Args:
            entity: An entity's id or name; None for the whole graph.
            depth: Hops to follow.
            relations: Follow these alone; all where empty.
            types: Give entities of these types alone, the centre always; all where empty.
            min_score: Give entities of at least this score, 0-1, the centre always.
            after: Follow relations first seen on this day or later; undated ones always.
            before: Follow relations first seen on this day or earlier; undated ones always.

        Raises:
            NotFound: There is no such entity.
        """
        from workbench.engine.catalog.neighbourhood import around

        if depth < 0:
            raise InvalidInput("A depth is 0 or more.", remedy="Ask for --depth 1.")
        self._ground.refresh_for_reading()
        lookups = self._ground.visible(self._ground.scores())
        if entity is None:
            hops = {record.id: 0 for record in lookups.entities()}
            return self._graph_view(None, hops, lookups.edges())
        center = self._entity(entity)
        hops, edges = around(center.id, lookups.edges_of, depth=depth, most=MOST_NODES)
        return self._graph_view(center, hops, edges)

    def graph_path(self, a: str, b: str) -> results.GraphView:
        """Return a shortest way between two entities; without nodes where there is none.

        Raises:
            NotFound: One of them does not exist.
        """
        from workbench.engine.catalog.neighbourhood import shortest_path

        self._ground.refresh_for_reading()
        start, goal = self._entity(a), self._entity(b)
        lookups = self._ground.visible(self._ground.scores())
        edges = shortest_path(start.id, goal.id, lookups.edges_of, most=_MOST_VISITED)
        if edges is None:
            return results.GraphView(start.id, (), ())
        hops = {start.id: 0}
        for edge in edges:
            for end in (edge.from_, edge.to):
                hops.setdefault(end, len(hops))
        return self._graph_view(start, hops, edges)

    def _entity(self, name: str) -> EntityRecord:
        memory_id = self.resolve(name)
        entity = self._ground.lookups.entity(str(memory_id.whole))
        if entity is None:
            raise NotFound(f"“{name}” is no entity.", remedy="List them with: workbench graph")
        return entity

    def _graph_view(
        self, center: EntityRecord | None, hops: dict[str, int], edges: Sequence[EdgeRecord]
    ) -> results.GraphView:
        scores = self._ground.scores()
        lookups = self._ground.visible(scores)
        known = {record.id: record for record in lookups.entities()} if center is None else {}
        nodes = []
        for entity_id, hop in hops.items():
            record = known.get(entity_id) or lookups.entity(entity_id)
            kind, _, slug = entity_id.removeprefix("entity:").partition("--")
            score = scores.of(entity_id)
            nodes.append(
                results.GraphNode(
                    id=entity_id,
                    type=record.type if record else kind,
                    label=record.label if record else slug.replace("-", " "),
                    score=score.value if score else 0.0,
                    hop=hop,
                )
            )
        facts = lookups.facts_of(center.id) if center else ()
        return results.GraphView(
            center=center.id if center else None,
            nodes=tuple(nodes),
            edges=tuple(
                results.GraphEdge(
                    edge.from_,
                    edge.relation,
                    edge.to,
                    edge.confidence,
                    edge.since,
                    scores.last_accessed(edge.from_),
                )
                for edge in edges
            ),
            facts=tuple(
                results.GraphFact(
                    fact.id,
                    fact.text,
                    fact.provenance,
                    results.Validity(fact.since, fact.until, fact.superseded_by),
                )
                for fact in facts
            ),
            summary=center.summary if center else "",
        )

    def graph_entities(self) -> results.EntityTable:
        """Return every entity that is not merged into another, by id."""
        raise NotImplementedError

    def graph_relations(self) -> tuple[str, ...]:
        """Return the relations that the workspace’s vocabulary knows."""
        raise NotImplementedError
