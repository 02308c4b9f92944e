"""Owns which parts of a proposed change a person can write in, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.tui.decisions import ANSWER, APPROVED, Edit, Step, answer_of

if TYPE_CHECKING:
    from workbench.engine.results.reviews import ReviewItem

# The part that is no field but what the item proposes.
TEXT: Final = "text"
MOST_PARTS: Final = 3
# For each kind its parts: the field, and its word.
_PARTS: Final[dict[Kind, tuple[tuple[str, str], ...]]] = {
    Kind.FACT: ((TEXT, "fact"), ("since", "holds since")),
    Kind.ENTITY: ((TEXT, "name"), ("aliases", "also called; separated by ;"), ("summary", "summary")),
    Kind.RELATION: ((TEXT, "relation"), ("since", "holds since")),
    Kind.SUPERSESSION: ((TEXT, "new value"), ("since", "holds since"), ("until", "the old one held until")),
    Kind.CONTRADICTION: (("this", "this, the earlier"), ("that", "that, the later")),
    Kind.PROCEDURE: ((TEXT, "title"), ("when", "when to do it"), ("steps", "steps, one a line")),
    Kind.CORE_CHANGE: ((TEXT, "core memory says"),),
    Kind.PROMOTION: ((TEXT, "core memory says"),),
    Kind.INSIGHT: ((TEXT, "insight"),),
    Kind.QUESTION: ((ANSWER, "your answer"),),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One text that can be written in: its field, the word for it, what it says and what it said."""

    field: str
    label: str
    text: str
    original: str


@dataclass(frozen=True, slots=True)
class Rewording:
    """An item that is being written in.

    Args:
        item_id: Of the item.
        title: What one reads above the parts.
        parts: In their order.
        answers: Whether it is the answer to a question, which approves it as well.
    """

    item_id: str
    title: str
    parts: tuple[Part, ...]
    answers: bool = False

    @property
    def touched(self) -> bool:
        """Tell whether anything would be lost with it."""
        return any(part.text != part.original for part in self.parts)

    def written(self, at: int, text: str) -> Rewording:
        """Return it with another text in a part."""
        parts = (replace(part, text=text) if index == at else part for index, part in enumerate(self.parts))
        return replace(self, parts=tuple(parts))

    @property
    def problem(self) -> str:
        """Say why it cannot be saved; empty where it can."""
        if self.answers and not self.parts[0].text.strip():
            return "An answer needs some text. To leave the question, press esc and then d or r."
        empty = next((part for part in self.parts if _needed(part.field) and not part.text.strip()), None)
        return (
            f"“{empty.label}” needs some text. To refuse the change, press esc and then r." if empty else ""
        )

    def step(self) -> Step:
        """Return what is to be written: the parts that say something else, and for an answer the approval."""
        changed = {part.field: part.text.strip() for part in self.parts if part.text != part.original}
        text = changed.pop(TEXT, None)
        decisions = {self.item_id: APPROVED} if self.answers else {}
        return Step(decisions, Edit(self.item_id, text, changed))


def _needed(field: str) -> bool:
    return field in (TEXT, "this", "that", "steps")


def rewording(item: ReviewItem) -> Rewording | None:
    """Return what can be written in an item, or None where nothing can: it is taken or left as it is."""
    kind = kind_of(item.kind)
    parts = _PARTS.get(kind, ()) if kind is not None else ()
    if not parts:
        return None
    fields = item.fields or {}
    answers = kind is Kind.QUESTION

    def says(field: str) -> str:
        if field == TEXT:
            return item.after
        return answer_of(item) if field == ANSWER else fields.get(field, "")

    title = item.after if answers else f"{item.kind} {item.id}"
    made = (Part(field, label, says(field), says(field)) for field, label in parts)
    return Rewording(item.id, title, tuple(made), answers)
