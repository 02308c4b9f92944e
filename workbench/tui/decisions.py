"""Owns what a person decides in the Inbox: what a decision reaches, and what is decided but not written yet."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection.kinds import Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from workbench.engine.results.reviews import ReviewItem

UNDECIDED, APPROVED, REJECTED, DEFERRED = "undecided", "approved", "rejected", "deferred"
RESOLVE, ANSWER, THIS, THAT = "resolve", "answer", "this", "that"
RESOLUTIONS: Final = ("this", "that", "both")


@dataclass(frozen=True, slots=True)
class Edit:
    """Another wording of an item.

    Args:
        item_id: Of the item.
        text: What it shall propose, or None where that stays.
        fields: Fields with what they shall say.
    """

    item_id: str
    text: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a person: decisions by id of item, and at most one edit before them."""

    decisions: Mapping[str, str] = field(default_factory=dict)
    edit: Edit | None = None


@dataclass(frozen=True)
class UnderWay:
    """The actions that the engine has been asked for and that what was read last may not show yet, in their order."""

    steps: tuple[tuple[int, Step], ...] = ()

    def begin(self, number: int, step: Step) -> UnderWay:
        """Return these and one more; numbers ascend."""
        return UnderWay((*self.steps, (number, step)))

    def without(self, number: int) -> UnderWay:
        """Return these without one that was refused."""
        return UnderWay(tuple(each for each in self.steps if each[0] != number))

    def after(self, number: int) -> UnderWay:
        """Return those that came after a number: what was read since shows the others."""
        return UnderWay(tuple(each for each in self.steps if each[0] > number))

    def over(self, items: tuple[ReviewItem, ...]) -> tuple[ReviewItem, ...]:
        """Return items as they will be once everything is written."""
        if not self.steps:
            return items
        changed: dict[str, ReviewItem] = {}
        by_id = {item.id: item for item in items}
        for _, step in self.steps:
            if step.edit is not None and (
                item := changed.get(step.edit.item_id, by_id.get(step.edit.item_id))
            ):
                changed[item.id] = edited(item, step.edit)
            for item_id, decision in step.decisions.items():
                if item := changed.get(item_id, by_id.get(item_id)):
                    changed[item_id] = replace(item, decision=decision)
        return tuple(changed.get(item.id, item) for item in items)


def edited(item: ReviewItem, edit: Edit) -> ReviewItem:
    """Return an item with another wording."""
    fields = {**(item.fields or {}), **edit.fields}
    return replace(item, after=item.after if edit.text is None else edit.text, fields=fields)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many items there are, and how many of each decision."""

    total: int
    approved: int
    rejected: int
    deferred: int

    @property
    def decided(self) -> int:
        """Return how many a person has decided."""
        return self.approved + self.rejected + self.deferred

    @property
    def undecided(self) -> int:
        """Return how many still wait."""
        return self.total - self.decided


def tally(items: Iterable[ReviewItem]) -> Tally:
    """Count decisions."""
    counts = Counter(item.decision for item in items)
    return Tally(counts.total(), counts[APPROVED], counts[REJECTED], counts[DEFERRED])


def wants_choice(item: ReviewItem) -> bool:
    """Tell whether an item is a contradiction of which nobody has said yet what holds."""
    return kind_of(item.kind) is Kind.CONTRADICTION and (item.fields or {}).get(RESOLVE) not in RESOLUTIONS


def wants_answer(item: ReviewItem) -> bool:
    """Tell whether an item is a question without an answer."""
    return kind_of(item.kind) is Kind.QUESTION and answer_of(item) == ""


def answer_of(item: ReviewItem) -> str:
    """Return what has been answered to a question; empty where nothing has."""
    answer = (item.fields or {}).get(ANSWER, "").strip()
    return "" if answer in ("…", "...") else answer


@dataclass(frozen=True, slots=True)
class Reach:
    """What a decision about several items reaches.

    Args:
        decide: Ids that it is for.
        unresolved: Contradictions that cannot be approved before somebody says what holds.
        unanswered: Questions that cannot be approved before they are answered.
    """

    decide: tuple[str, ...]
    unresolved: int = 0
    unanswered: int = 0

    @property
    def touched(self) -> int:
        """Return how many items it is about, those left out included."""
        return len(self.decide) + self.unresolved + self.unanswered

    def left_out(self) -> str:
        """Say what an approval did not reach; empty where it reached everything."""
        parts = []
        if self.unresolved:
            parts.append(f"{_counted(self.unresolved, 'contradiction')} to be settled with <, > or =")
        if self.unanswered:
            parts.append(f"{_counted(self.unanswered, 'question')} to be answered with e")
        return f"Left for you: {' and '.join(parts)}." if parts else ""


def reach(items: Sequence[ReviewItem], decision: str) -> Reach:
    """Return what a decision about items reaches: those that do not have it already and that it makes sense for."""
    changing = [item for item in items if item.decision != decision]
    if decision != APPROVED:
        return Reach(tuple(item.id for item in changing))
    unresolved = sum(wants_choice(item) for item in changing)
    unanswered = sum(wants_answer(item) for item in changing)
    ready = (item.id for item in changing if not wants_choice(item) and not wants_answer(item))
    return Reach(tuple(ready), unresolved, unanswered)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
