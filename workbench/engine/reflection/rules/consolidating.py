"""Consolidation without a model: what others find, upkeep of fading memories and questions, each said once (§10.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.reflection.rules.archival import propose_archival
from workbench.engine.reflection.rules.core_rewriting import statements_for_core
from workbench.engine.reflection.rules.keeping import propose_protection, propose_restoring
from workbench.engine.reflection.rules.questions import ask
from workbench.engine.reflection.rules.sameness import is_known, without_repetition
from workbench.engine.reflection.rules.survey import led_by

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Agenda, Guidance, Snapshot
    from workbench.engine.reflection.work import Work


def consolidate(snapshot: Snapshot, agenda: Agenda, guidance: Guidance, work: Work) -> tuple[ReviewItem, ...]:
    """Return what to change but core memory: conflicts, knowledge, procedures, upkeep, questions.

    The themes of past reflections raise the weight of the areas that they name before anything is extracted, so that
    what belongs to them comes first where there is no room for all. What core memory says, or will be proposed to say,
    is not proposed as a fact besides: a person decides on it once.

    Args:
        snapshot: All that may be read.
        agenda: Of the survey.
        guidance: Of meta-reflection.
        work: Told of progress.
    """
    from workbench.engine.reflection.claims import find_conflicts
    from workbench.engine.reflection.extraction import extract_knowledge, find_procedures

    led = led_by(agenda, guidance.themes)
    conflicts = find_conflicts(snapshot, work)
    work.step(1, 6)
    knowledge = [
        item for item in extract_knowledge(snapshot, led, work) if not is_known(item, snapshot.graph)
    ]
    work.step(2, 6)
    procedures = find_procedures(snapshot, work)
    work.step(3, 6)
    upkeep = (
        *propose_archival(snapshot, led, work),
        *propose_restoring(snapshot, work),
        *propose_protection(snapshot, work),
    )
    work.step(4, 6)
    questions = ask(snapshot, led, guidance, work)
    work.step(5, 6)
    core = (
        *(item.text for block in snapshot.core.blocks for item in block.items),
        *(item.text for item in statements_for_core(snapshot, conflicts, work)),
    )
    work.step(6, 6)
    return without_repetition(
        (*conflicts, *knowledge, *procedures, *upkeep, *questions), core, snapshot.owner
    )
