"""Runs phases as a cycle does."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.engine.markdown.review import ReviewItem
from workbench.engine.reflection.model import Agenda, Guidance, Mind, PhaseAccount, Snapshot, Summary, Work
from workbench.engine.results.reviews import Phase


@dataclass(frozen=True)
class Ran:
    """What all phases came to."""

    agenda: Agenda
    guidance: Guidance
    items: tuple[ReviewItem, ...]
    core: tuple[ReviewItem, ...]
    summary: Summary


def run(mind: Mind, snapshot: Snapshot, work: Work) -> Ran:
    """Run all five phases."""
    work.begin(Phase.SURVEY, mind.name)
    agenda = mind.survey(snapshot, work)
    work.begin(Phase.META_REFLECTION, mind.name)
    guidance = mind.look_back(snapshot, agenda, work)
    work.begin(Phase.CONSOLIDATE, mind.name)
    items = mind.consolidate(snapshot, agenda, guidance, work)
    work.begin(Phase.REWRITE_CORE, mind.name)
    core = mind.rewrite_core(snapshot, agenda, items, work)
    work.begin(Phase.SUMMARISE, mind.name)
    return Ran(agenda, guidance, items, core, mind.summarise(snapshot, (*items, *core), guidance, work))


def consolidate(mind: Mind, snapshot: Snapshot, work: Work) -> tuple[ReviewItem, ...]:
    """Run the survey without the model’s word, and consolidation."""
    work.begin(Phase.CONSOLIDATE, mind.name)
    return mind.consolidate(snapshot, Agenda(()), Guidance(), work)


def account(work: Work, phase: Phase) -> PhaseAccount:
    """Return the account of a phase."""
    return next(one for one in work.accounts if one.phase == phase)
