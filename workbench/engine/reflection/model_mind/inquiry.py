"""What every phase of one cycle works with: the snapshot, the model to ask, and how its items are read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.memory.wording import one_line
from workbench.engine.reflection.model_mind.asking import NO_BUDGET, Answer, NoAnswer, Questions
from workbench.engine.reflection.model_mind.budget import LEAST_ANSWER, allowance
from workbench.engine.reflection.model_mind.item_context import ItemContext
from workbench.engine.reflection.model_mind.reading import read_items
from workbench.engine.reflection.model_mind.showing import Shown
from workbench.engine.reflection.model_mind.targets import Targets
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.kinds import Kind
    from workbench.engine.reflection.model import Snapshot
    from workbench.engine.reflection.model_mind.budget import InputSizes
    from workbench.engine.reflection.work import Work

_LONGEST_LINE: Final = 240
_MOST_TOLD: Final = 12
_DECODER: Final = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class Inquiry:
    """One cycle, as its phases share it.

    Args:
        snapshot: All that may be looked at.
        questions: Asks the model.
        work: The account of the cycle.
        targets: Finds entities, those proposed by this cycle included.
        sizes: How much of each thing the model is shown.
    """

    snapshot: Snapshot
    questions: Questions
    work: Work
    targets: Targets
    sizes: InputSizes

    def shown(self) -> Shown:
        """Return no handles yet, for one question."""
        return Shown(self.snapshot.text_of)

    def allowance(self) -> int:
        """Return the output tokens that the phase may still take.

        Raises:
            NoAnswer: They are too few to ask for anything.
        """
        left = allowance(self.work, self.work.phase)
        if left < LEAST_ANSWER:
            raise NoAnswer(NO_BUDGET)
        return left

    def read_items(self, answer: Answer, shown: Shown, kinds: Sequence[Kind]) -> tuple[ReviewItem, ...]:
        """Return the items of an answer that hold; what is dropped is told in the account of the question.

        Args:
            answer: Whole or cut.
            shown: What the model was shown.
            kinds: That were asked for.

        Raises:
            NoAnswer: It has no list of items, or none of them holds.
        """
        said = listed(answer, "items")
        read = read_items(said, ItemContext(self.snapshot, shown, self.targets), kinds)
        if read.dropped:
            told = "; ".join(read.dropped[:_MOST_TOLD])
            self.questions.note(f"Dropped {len(read.dropped)} of {len(said)} items: {told}.")
        if said and not read.items:
            raise NoAnswer(f"None of the {len(said)} items that the model gave holds.")
        return read.items


def listed(answer: Answer, key: str) -> list[Any]:
    """Return a list of an answer; of one that was cut short, the objects that came whole.

    Raises:
        NoAnswer: It has none.
    """
    if answer.value is None:
        whole: list[Any] = list(whole_objects(answer.text, key))
        if not whole:
            raise NoAnswer("The model’s answer was cut short before any of it was whole.")
        return whole
    found = answer.value.get(key)
    if not isinstance(found, list):
        raise NoAnswer(f"The model’s answer has no list “{key}”.")
    return found


def lines_of(answer: Answer, key: str, most: int) -> tuple[str, ...]:
    """Return the texts of a list as single lines, without what is none."""
    found = answer.value.get(key) if answer.value else None
    texts = [one_line(text) for text in found if isinstance(text, str)] if isinstance(found, list) else []
    return tuple(dict.fromkeys(clipped_line(text) for text in texts if text))[:most]


def clipped_line(text: str, longest: int = _LONGEST_LINE) -> str:
    """Return a text on one line that can be shown, with “…” where it is too long."""
    visible = "".join(letter if letter.isprintable() or letter in "\u200c\u200d" else " " for letter in text)
    line = one_line(visible)
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


# Takes the whole objects out of an answer that was cut short.


def whole_objects(text: str, key: str) -> list[dict[str, Any]]:
    """Return the objects of a list that came whole before the answer ended.

    Args:
        text: The beginning of a JSON object.
        key: Under which it has the list.
    """
    _, found, rest = text.partition(f'"{key}"')
    start = rest.find("[")
    if not found or start < 0 or rest[:start].strip() != ":":
        return []
    objects: list[dict[str, Any]] = []
    at = start + 1
    while True:
        while at < len(rest) and rest[at] in " \t\r\n,":
            at += 1
        try:
            value, at = _DECODER.raw_decode(rest, at)
        except (ValueError, RecursionError):
            return objects
        if isinstance(value, dict):
            objects.append(value)
