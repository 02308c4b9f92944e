"""An entity as it was, with its facts and what lay around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.catalog.center import with_center
from workbench.engine.catalog.neighbourhood import MOST_NODES, around
from workbench.engine.results.graph import GraphEdge, GraphNode, GraphView

if TYPE_CHECKING:
    from workbench.engine.past.lookups import PastLookups
    from workbench.engine.past.scores import PastScores


def neighbourhood(center: str, depth: int, lookups: PastLookups, scores: PastScores) -> GraphView | None:
    """Return a neighbourhood; None where there was no such entity, and no relation named one.

    Args:
        center: The entity's id.
        depth: Hops to follow, 0 or more.
        lookups: Of the commit.
        scores: Of the commit.
    """
    center = lookups.merges.whole(center)
    known = lookups.entity(center)
    if known is None and not lookups.edges_of(center):
        return None
    found = around(center, lookups.steps, depth=depth, most=MOST_NODES)
    records = {entity: lookups.memory(entity) for entity in found.hops}
    accessed = {entity: scores.last_accessed(record) for entity, record in records.items() if record}
    view = GraphView(
        center=center,
        nodes=tuple(_node(entity, hop, lookups, scores) for entity, hop in found.hops.items()),
        edges=tuple(
            GraphEdge(
                edge.from_,
                edge.relation,
                edge.to,
                edge.confidence,
                edge.since,
                accessed.get(edge.from_),
                f"{edge.from_}#^{edge.block}" if edge.block else "",
            )
            for edge in lookups.among(found.hops)
        ),
        omitted=found.omitted,
    )
    if known is None:
        return view
    return with_center(view, known, lookups.facts_of(center), lookups.story(center), lookups.absorbed(center))


def _node(entity: str, hop: int, lookups: PastLookups, scores: PastScores) -> GraphNode:
    known, record = lookups.entity(entity), lookups.memory(entity)
    score = scores.of(record) if record else None
    kind, _, slug = entity.removeprefix("entity:").partition("--")
    return GraphNode(
        id=entity,
        type=known.type if known else kind,
        label=known.label if known else slug.replace("-", " "),
        score=score.value if score else 0.0,
        hop=hop,
        status=score.status if score else "",
        degree=len(lookups.edges_of(entity)),
        known=known is not None,
    )
