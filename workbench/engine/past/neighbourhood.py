"""An entity as it was, with its facts and what lay around it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.catalog.neighbourhood import around

if TYPE_CHECKING:
    from workbench.engine.catalog.model import EntityRecord
    from workbench.engine.past.lookups import PastLookups
    from workbench.engine.past.scores import PastScores

# As many as the neighbourhoods of now hold at most.
MOST_NODES = 500


def neighbourhood(
    center: str, depth: int, lookups: PastLookups, scores: PastScores
) -> results.GraphView | None:
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
    view = results.GraphView(
        center=center,
        nodes=tuple(_node(entity, hop, lookups, scores) for entity, hop in found.hops.items()),
        edges=tuple(
            results.GraphEdge(
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
    return _with_center(view, known, lookups) if known else view


def _with_center(view: results.GraphView, center: EntityRecord, lookups: PastLookups) -> results.GraphView:
    story = lookups.story(center.id)
    return replace(
        view,
        facts=tuple(
            results.GraphFact(
                fact.id if "#^" in fact.id else f"file:{center.path}#L{fact.line}",
                fact.text,
                fact.provenance,
                results.Validity(fact.since, fact.until, fact.superseded_by),
                fact.retired,
                fact.line,
            )
            for fact in lookups.facts_of(center.id)
        ),
        summary=center.summary,
        aliases=center.aliases,
        events=tuple(results.GraphEvent(*event) for event in story.events),
        questions=story.questions,
        absorbed=lookups.absorbed(center.id),
    )


def _node(entity: str, hop: int, lookups: PastLookups, scores: PastScores) -> results.GraphNode:
    known, record = lookups.entity(entity), lookups.memory(entity)
    score = scores.of(record) if record else None
    kind, _, slug = entity.removeprefix("entity:").partition("--")
    return results.GraphNode(
        id=entity,
        type=known.type if known else kind,
        label=known.label if known else slug.replace("-", " "),
        score=score.value if score else 0.0,
        hop=hop,
        status=score.status if score else "",
        degree=len(lookups.edges_of(entity)),
        known=known is not None,
    )
