"""The mind that asks a chat model for each phase, and lets another do what the model cannot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.engine.reflection.model_mind.asking import NoAnswer, Questions
from workbench.engine.reflection.model_mind.budget import InputSizes
from workbench.engine.reflection.model_mind.inquiry import Inquiry
from workbench.engine.reflection.model_mind.targets import Targets, speakers_of

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.providers.chat import ChatModel
    from workbench.engine.reflection.model import Agenda, Guidance, Mind, Snapshot, Summary
    from workbench.engine.reflection.work import Work


@dataclass
class ModelMind:
    """Implements `reflection.model.Mind`.

    Nothing that a model does wrong is an error: where it refuses, fails, is slow or says what cannot be used, the other
    mind does that part, and the account of the phase says why.

    Args:
        chat: The model.
        fallback: What steps in, phase by phase; its survey, look back and summary are also what the model starts from.
        context_tokens: Most tokens of question and answer that the model takes.
        sizes: How they are shared out; by the context where None.
    """

    chat: ChatModel
    fallback: Mind
    context_tokens: int = 8192
    sizes: InputSizes | None = None
    _inquiry: Inquiry | None = field(default=None, init=False, repr=False)

    @property
    def name(self) -> str:
        return self.chat.name

    def survey(self, snapshot: Snapshot, work: Work) -> Agenda:
        """Say what to look into."""
        from workbench.engine.reflection.model_mind.surveying import survey

        agenda = self.fallback.survey(snapshot, work)
        if not agenda.areas:
            work.done_by(self.fallback.name)
            return agenda
        try:
            return survey(self._of(snapshot, work), agenda)
        except NoAnswer as reason:
            work.fell_back(str(reason))
            return agenda

    def look_back(self, snapshot: Snapshot, agenda: Agenda, work: Work) -> Guidance:
        """Review past reflections and the evolution of understanding."""
        from workbench.engine.reflection.model_mind.looking_back import look_back

        guidance = self.fallback.look_back(snapshot, agenda, work)
        if not snapshot.records and not snapshot.insights:
            work.done_by(self.fallback.name)
            return guidance
        try:
            return look_back(self._of(snapshot, work), agenda, guidance)
        except NoAnswer as reason:
            work.fell_back(str(reason))
            return guidance

    def consolidate(
        self, snapshot: Snapshot, agenda: Agenda, guidance: Guidance, work: Work
    ) -> tuple[ReviewItem, ...]:
        """Propose entities, facts, relations, merges, updates, contradictions, procedures, upkeep and questions."""
        from workbench.engine.reflection.model_mind.consolidating import consolidate

        def by_rules(part: Snapshot, areas: Agenda) -> tuple[ReviewItem, ...]:
            return self.fallback.consolidate(part, areas, guidance, work)

        return consolidate(self._of(snapshot, work), agenda, guidance, by_rules)

    def rewrite_core(
        self, snapshot: Snapshot, agenda: Agenda, items: tuple[ReviewItem, ...], work: Work
    ) -> tuple[ReviewItem, ...]:
        """Propose changes of core memory that keep within its cap, whichever of them are approved."""
        from workbench.engine.reflection.model_mind.core_rewriting import rewrite_core

        try:
            return rewrite_core(self._of(snapshot, work), agenda, items)
        except NoAnswer as reason:
            work.fell_back(str(reason))
            return self.fallback.rewrite_core(snapshot, agenda, items, work)

    def summarise(
        self, snapshot: Snapshot, items: tuple[ReviewItem, ...], guidance: Guidance, work: Work
    ) -> Summary:
        """Say in words what is proposed."""
        from workbench.engine.reflection.model_mind.summarising import summarise

        summary = self.fallback.summarise(snapshot, items, guidance, work)
        if not items:
            work.done_by(self.fallback.name)
            return summary
        try:
            return summarise(self._of(snapshot, work), items, guidance, summary)
        except NoAnswer as reason:
            work.fell_back(str(reason))
            return summary

    def _of(self, snapshot: Snapshot, work: Work) -> Inquiry:
        """Return the inquiry of a cycle; each cycle asks the model afresh."""
        known = self._inquiry
        if known is None or known.work is not work:
            questions = Questions(self.chat, work, self.context_tokens)
            targets = Targets(snapshot.graph, snapshot.owner, speakers_of(snapshot.passages))
            sizes = self.sizes or InputSizes.of(self.context_tokens)
            known = Inquiry(snapshot, questions, work, targets, sizes)
            self._inquiry = known
        return known
