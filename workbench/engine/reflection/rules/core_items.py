"""Items of core memory read: their label and value, placeholders, and whether core memory says something already."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.language.denials import is_turned_down
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.english import third_person
from workbench.engine.reflection.passages import goes_by
from workbench.engine.reflection.rules.phrasing import content_words, coverage, likeness
from workbench.engine.search.chunks import PERSON
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbench.engine.reflection.model import Passage, Snapshot
    from workbench.engine.results.memories import CoreBlock, CoreItem

_LABELLED: Final = lazy_pattern(r"[*_]*([^:：*_\n]{1,40}?)[*_]*[:：][*_]*\s+(.*)\Z", re.DOTALL)
_ME: Final = lazy_pattern(r"\bme\b", re.IGNORECASE)
_MY: Final = lazy_pattern(r"\bmy\b", re.IGNORECASE)
_PLACEHOLDER: Final = lazy_pattern(r"\[[^\[\]\n]*\]")
_WANTS: Final = lazy_pattern(
    r"\W*((?:[Tt]he )?[^\W\d_][\w'’-]*(?: [^\W\d_a-z][\w'’-]*){0,2}) (?:\w+ly |always |never |also |now )*"
    r"(?:wants|likes|prefers|hates|loves|needs|enjoys|dislikes|expects|insists|would like"
    r"|asked|asks|finds)\b"
)
_SAID_ALREADY: Final = 0.7
_ALIKE: Final = 0.6


@dataclass(frozen=True)
class CoreLine:
    """One item of core memory.

    Args:
        item: As it stands.
        block: Name of its block.
        label: What stands before the colon, empty where there is none.
        value: What stands behind it, else the whole.
    """

    item: CoreItem
    block: str
    label: str
    value: str

    @property
    def is_placeholder(self) -> bool:
        """Return whether the template’s “[…]” waits to be filled."""
        return _PLACEHOLDER.fullmatch(self.value.strip()) is not None

    @property
    def words(self) -> frozenset[str]:
        """Return its telling words, the label’s too; none of a placeholder."""
        return frozenset() if self.is_placeholder else content_words(self.item.text)


def read_lines(snapshot: Snapshot) -> tuple[CoreLine, ...]:
    """Return the items of core memory in its order."""
    return tuple(_line(block, item) for block in snapshot.core.blocks for item in block.items)


def _line(block: CoreBlock, item: CoreItem) -> CoreLine:
    match = _LABELLED.fullmatch(item.text)
    return CoreLine(item, block.name, match[1].strip() if match else "", match[2] if match else item.text)


def says(lines: Iterable[CoreLine], text: str) -> CoreLine | None:
    """Return the item that says the same already, or most of it."""
    words = content_words(text)
    return next(
        (
            line
            for line in lines
            if line.words
            and is_turned_down(line.item.text) == is_turned_down(text)
            and (coverage(words, line.words) >= _SAID_ALREADY or likeness(words, line.words) >= _ALIKE)
        ),
        None,
    )


def is_owners(passage: Passage, snapshot: Snapshot) -> bool:
    """Return whether the person whose memory it is says a passage: an episode, the user, or the owner by name."""
    speaker = passage.speaker.casefold()
    if not speaker:
        return passage.id.startswith("episode:")
    return speaker in PERSON or goes_by(passage.speaker, snapshot.owner)


def told_of_owner(sentence: str, snapshot: Snapshot) -> str:
    """Return what is said of the person as core memory tells it: “I like tea”, “Alex likes tea” become “likes tea”."""
    name = snapshot.owner or "User"
    told = third_person(sentence, name)
    names = (name, name.split(" ")[0], "The user", "the user", "User")
    openings = (f"{each}{mark}" for each in names for mark in (": ", "：", " "))
    opening = next((start for start in openings if told.startswith(start)), "")
    return told[len(opening) :]


def told_of_user(sentence: str, snapshot: Snapshot) -> str:
    """Return a sentence of the person as a rule for the assistant: “when I ask” becomes “when the user asks”."""
    told = told_of_owner(sentence, snapshot)
    name = snapshot.owner
    return told if name else re.sub(r"(?<![\w“\"])User(?=[\s’,.]|$)", "the user", told)


def rule_for_user(sentence: str, snapshot: Snapshot) -> str:
    """Return a standing rule with the person named who gave it: “answer me in English”, 给我的回复用中文."""
    name = snapshot.owner
    told = told_of_user(sentence, snapshot)
    told = _MY.sub(f"{name or 'the user'}’s", _ME.sub(name or "the user", told))
    return told.replace("我", name or "用户")


def wants_of_somebody_else(sentence: str, snapshot: Snapshot) -> bool:
    """Return whether a sentence says what another person than the owner wants: “Idris wants larger type”."""
    match = _WANTS.match(sentence)
    own = {"user", "the user", "i", *snapshot.owner.casefold().split(), snapshot.owner.casefold()}
    return match is not None and match[1].casefold() not in own


def newest_first(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Yield passages from the last one back."""
    yield from reversed(tuple(passages))
