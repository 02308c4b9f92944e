"""The mind that thinks by rules alone: offline, always the same, and what a model falls back on phase by phase.

It also writes what a person reads before the items: counts and what stands behind them (design document §10.5).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection import kinds
from workbench.engine.reflection.kinds import FORMS, Kind, kind_of
from workbench.engine.reflection.model import RULES, Summary
from workbench.engine.reflection.passages import count_entries
from workbench.engine.reflection.rules.consolidating import consolidate
from workbench.engine.reflection.rules.core_rewriting import rewrite_core
from workbench.engine.reflection.rules.looking_back import accepted, look_back, read_past, turned_down
from workbench.engine.reflection.rules.phrasing import clipped, counted, listed
from workbench.engine.reflection.rules.survey import survey
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Agenda, Guidance, Snapshot, Work

_NOUNS: Final = {
    Kind.FACT: ("fact", "facts"),
    Kind.ENTITY: ("new entity", "new entities"),
    Kind.RELATION: ("relation", "relations"),
    Kind.MERGE: ("merge", "merges"),
    Kind.SUPERSESSION: ("update", "updates"),
    Kind.CONTRADICTION: ("contradiction", "contradictions"),
    Kind.ARCHIVE: ("memory to archive", "memories to archive"),
    Kind.RESTORE: ("memory to bring back", "memories to bring back"),
    Kind.PROCEDURE: ("procedure", "procedures"),
    Kind.CORE_CHANGE: ("change of core memory", "changes of core memory"),
    Kind.PROMOTION: ("promotion to critical facts", "promotions to critical facts"),
    Kind.DEMOTION: ("demotion", "demotions"),
    Kind.VAULT_PIN: ("memory to protect", "memories to protect"),
    Kind.INSIGHT: ("insight", "insights"),
    Kind.QUESTION: ("question", "questions"),
}
_NAMED: Final = 3


@dataclass(frozen=True)
class RulesMind:
    """Implements `reflection.model.Mind`; each phase is a pure function of a module of its own."""

    name: str = RULES

    def survey(self, snapshot: Snapshot, work: Work) -> Agenda:
        """Say what to look into."""
        return survey(snapshot, work)

    def look_back(self, snapshot: Snapshot, agenda: Agenda, work: Work) -> Guidance:
        """Review past reflections and the evolution of understanding."""
        return look_back(snapshot, agenda, work)

    def consolidate(
        self, snapshot: Snapshot, agenda: Agenda, guidance: Guidance, work: Work
    ) -> tuple[ReviewItem, ...]:
        """Propose entities, facts, relations, merges, updates, contradictions, procedures, upkeep and questions."""
        return consolidate(snapshot, agenda, guidance, work)

    def rewrite_core(
        self,
        snapshot: Snapshot,
        agenda: Agenda,  # noqa: ARG002 - what is newest decides
        items: tuple[ReviewItem, ...],
        work: Work,
    ) -> tuple[ReviewItem, ...]:
        """Propose changes of core memory that keep within its cap, whichever of them are approved."""
        return rewrite_core(snapshot, items, work)

    def summarise(
        self, snapshot: Snapshot, items: tuple[ReviewItem, ...], guidance: Guidance, work: Work
    ) -> Summary:
        """Say in words what is proposed."""
        work.check()
        return summarise(snapshot, items, guidance)


def summarise(snapshot: Snapshot, items: Sequence[ReviewItem], guidance: Guidance) -> Summary:
    """Return the opening paragraph, and a sentence or two above the items of each section that has some.

    Args:
        snapshot: What was read.
        items: What is proposed, numbered.
        guidance: Of meta-reflection.
    """
    numbers = Counter(kind for item in items if (kind := kind_of(item.kind)) is not None)
    prose = {
        section: words
        for section in kinds.SECTIONS
        if any(FORMS[kind].section == section for kind in numbers)
        and (words := _section(section, snapshot, items, numbers))
    }
    evolution = _evolution(snapshot, guidance)
    if evolution:
        prose[kinds.EVOLUTION] = evolution
    return Summary(_opening(snapshot, items, numbers, guidance), prose)


def _opening(
    snapshot: Snapshot, items: Sequence[ReviewItem], numbers: Counter[Kind], guidance: Guidance
) -> str:
    days = sorted({passage.day for passage in snapshot.passages if passage.day})
    span = f" from {days[0]} to {days[-1]}" if len(days) > 1 else f" of {days[0]}" if days else ""
    read = (
        f"This reflection read {counted(count_entries(snapshot.passages), 'new entry', 'new entries')}{span}"
    )
    if not items:
        return f"{read} and found nothing that would be worth your time."
    order = sorted(
        numbers, key=lambda kind: (kinds.SECTIONS.index(FORMS[kind].section), list(Kind).index(kind))
    )
    parts = [counted(numbers[kind], *_NOUNS[kind]) for kind in order]
    text = f"{read} and proposes {counted(len(items), 'change')}: {listed(parts)}."
    if guidance.milestone:
        text += f" It is number {snapshot.number}: the {guidance.milestone} is among the insights."
    if numbers[Kind.CONTRADICTION]:
        text += " Contradictions come first: only you can decide them."
    return text


def _section(section: str, snapshot: Snapshot, items: Sequence[ReviewItem], numbers: Counter[Kind]) -> str:
    if section == kinds.KNOWLEDGE:
        return _knowledge(snapshot, items, numbers)
    if section == kinds.UPDATES:
        return "The old values stay readable as superseded, with the dates for which they held."
    if section == kinds.CONTRADICTIONS:
        return "Two statements each, and no winner by itself: keep one, or both with their scope or dates."
    if section == kinds.CORE:
        used = f"{snapshot.core.tokens:,} of {snapshot.core.cap:,} tokens"
        return f"Core memory holds {used}; it keeps within them whichever of these you approve."
    if section == kinds.ARCHIVAL and numbers[Kind.ARCHIVE]:
        return "What is archived is hidden from search, not deleted, and can be restored."
    return ""


def _knowledge(snapshot: Snapshot, items: Sequence[ReviewItem], numbers: Counter[Kind]) -> str:
    made = {item.target: item.text for item in items if item.kind == Kind.ENTITY}
    about = Counter(item.target.partition("#")[0] for item in items if item.kind == Kind.FACT)
    if not about:
        return ""
    names = [f"{_label(snapshot, entity, made)} ({number})" for entity, number in about.most_common(_NAMED)]
    rest = len(about) - _NAMED
    more = f" and {counted(rest, 'other')}" if rest > 0 else ""
    said = f"{', '.join(names)}{more}" if rest > 0 else listed(names)
    return f"{counted(numbers[Kind.FACT], 'fact')} about {said}."


def _label(snapshot: Snapshot, entity: str, made: dict[str, str]) -> str:
    name = entity.removeprefix("entity:")
    record = snapshot.graph.entity(f"entity:{name}")
    return clipped(
        made.get(name) or (record.label if record else name.partition("--")[2].replace("-", " ")), 60
    )


def _evolution(snapshot: Snapshot, guidance: Guidance) -> str:
    """Say what the log shows of learning, of what was revised and of what recurs; nothing without a log."""
    past = read_past(snapshot.records)
    if not past:
        return ""
    parts: list[str] = []
    approved, decided = accepted(past)
    if decided:
        learned = f"{approved} of {counted(decided, 'change')} proposed so far were accepted"
        refused = [f"{_NOUNS[kind][1]} ({rejected} of {of})" for kind, rejected, of in turned_down(past)]
        less = f"; {listed(refused[:_NAMED])} were turned down more often than not" if refused else ""
        parts.append(f"What I’ve learned about learning: {learned}{less}.")
    if guidance.revised:
        parts.append(f"Evolving understanding: revised before this — “{clipped(guidance.revised[0], 160)}”.")
    if guidance.persistent:
        parts.append(f"Still open: “{clipped(guidance.persistent[0], 160)}”.")
    if guidance.themes:
        parts.append(f"Emergent theme: {listed(guidance.themes[:_NAMED])}.")
    return "\n\n".join(parts)
