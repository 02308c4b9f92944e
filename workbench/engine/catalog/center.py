"""What is told of the entity in the middle of a neighbourhood, now and in the past alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.engine.catalog.model import EntityRecord, EntityStory, FactRecord
from workbench.engine.results.graph import GraphEvent, GraphFact, GraphView
from workbench.engine.results.memories import Validity


def with_center(
    view: GraphView,
    center: EntityRecord,
    facts: Sequence[FactRecord],
    story: EntityStory,
    absorbed: tuple[str, ...],
) -> GraphView:
    """Return a neighbourhood with what is known of its centre.

    Args:
        view: The neighbourhood.
        center: Its centre.
        facts: The centre's, in the order of its file.
        story: What its file tells beside them.
        absorbed: Ids of the entities that went into it.
    """
    return replace(
        view,
        facts=tuple(
            GraphFact(
                # A line without an id of its own is named by its place, unless several files tell of the entity.
                fact.id if "#^" in fact.id or story.files > 1 else f"file:{center.path}#L{fact.line}",
                fact.text,
                fact.provenance,
                Validity(fact.since, fact.until, fact.superseded_by),
                fact.retired,
                fact.line,
            )
            for fact in facts
        ),
        summary=center.summary,
        aliases=center.aliases,
        events=tuple(GraphEvent(*event) for event in story.events),
        questions=story.questions,
        absorbed=absorbed,
    )
