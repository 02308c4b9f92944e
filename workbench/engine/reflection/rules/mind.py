"""The mind that thinks by rules alone: offline, always the same, and what a model falls back on phase by phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.reflection.work import RULES
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Agenda, Guidance, Snapshot, Summary
    from workbench.engine.reflection.work import Work


@dataclass(frozen=True)
class RulesMind:
    """Implements `reflection.model.Mind`; each phase is a pure function of a module of its own."""

    name: str = RULES

    def survey(self, snapshot: Snapshot, work: Work) -> Agenda:
        """Say what to look into."""
        from workbench.engine.reflection.rules.survey import survey

        return survey(snapshot, work)

    def look_back(self, snapshot: Snapshot, agenda: Agenda, work: Work) -> Guidance:
        """Review past reflections and the evolution of understanding."""
        from workbench.engine.reflection.rules.looking_back import look_back

        return look_back(snapshot, agenda, work)

    def consolidate(
        self, snapshot: Snapshot, agenda: Agenda, guidance: Guidance, work: Work
    ) -> tuple[ReviewItem, ...]:
        """Propose entities, facts, relations, merges, updates, contradictions, procedures, upkeep and questions."""
        from workbench.engine.reflection.rules.consolidating import consolidate

        return consolidate(snapshot, agenda, guidance, work)

    def rewrite_core(
        self, snapshot: Snapshot, agenda: Agenda, items: tuple[ReviewItem, ...], work: Work
    ) -> tuple[ReviewItem, ...]:
        """Propose changes of core memory that keep within its cap, whichever of them are approved."""
        from workbench.engine.reflection.rules.core_rewriting import rewrite_core

        return rewrite_core(snapshot, agenda, items, work)

    def summarise(
        self, snapshot: Snapshot, items: tuple[ReviewItem, ...], guidance: Guidance, work: Work
    ) -> Summary:
        """Say in words what is proposed."""
        from workbench.engine.reflection.rules.summarising import summarise

        work.check()
        return summarise(snapshot, items, guidance)
