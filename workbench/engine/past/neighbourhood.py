"""An entity as it was, with its facts and what lay around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.catalog.neighbourhood import around
from workbench.engine.documents import EntityFile

if TYPE_CHECKING:
    from workbench.engine.catalog.model import EntityRecord
    from workbench.engine.past.files import PastFiles
    from workbench.engine.past.lookups import PastLookups
    from workbench.engine.past.scores import PastScores

# As many as the neighbourhoods of now hold at most.
MOST_NODES = 500


def neighbourhood(
    center: EntityRecord, depth: int, lookups: PastLookups, scores: PastScores, files: PastFiles
) -> results.GraphView:
    """Return a neighbourhood.

    Args:
        center: The entity.
        depth: Hops to follow, 0 or more.
        lookups: Of the commit.
        scores: Of the commit.
        files: Of the commit.
    """
    found = around(center.id, lookups.steps, depth=depth, most=MOST_NODES)
    hops, edges = found.hops, lookups.among(found.hops)
    records = {entity: lookups.memory(entity) for entity in hops}
    accessed = {entity: scores.last_accessed(record) for entity, record in records.items() if record}
    file = EntityFile.parse(files.read(center.path) or b"", center.path)
    return results.GraphView(
        center=center.id,
        nodes=tuple(_node(entity, hop, lookups, scores) for entity, hop in hops.items()),
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
            for edge in edges
        ),
        facts=tuple(
            results.GraphFact(
                fact.id,
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
        events=tuple(results.GraphEvent(event.date or "", event.text) for event in file.timeline),
        questions=tuple(question.text for question in file.questions),
        omitted=found.omitted,
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
