"""Finds among what waits the proposals that a new one may repeat or contradict, at a cost that stays small."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import STOP_WORDS, terms
from workbench.engine.documents.memory_proposal import DEFERRED
from workbench.engine.stores.wording import text_key

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_COMPARED: Final = 24
_HEADING: Final = re.compile(r"^##[ \t]+proposal[ \t]*#?[ \t]*(\d{1,9})(?!\w)", re.IGNORECASE | re.MULTILINE)
_CONTENT: Final = re.compile(
    r"^- \*\*Content\*\*:[ \t]*(.*(?:\n(?:[ \t].*|[ \t]*(?=\n[ \t])))*)", re.IGNORECASE | re.MULTILINE
)
_STATUS: Final = re.compile(rf"^- \*\*Status\*\*:[ \t]*{DEFERRED}[ \t]*$", re.IGNORECASE | re.MULTILINE)
# Of a text, what is looked at to tell what it is about.
_LOOKED_AT: Final = 2000
_FEW_WORDS: Final = 3


@dataclass(frozen=True)
class Waiting:
    """A proposal as it is glanced at.

    Args:
        number: As written.
        text: What is to be remembered.
        key: What texts that say the same share.
        words: What it is about.
        deferred: Whether it was left to the reflection.
    """

    number: int
    text: str
    key: str
    words: frozenset[str]
    deferred: bool


def glance(content: bytes) -> Iterator[Waiting]:
    """Yield what waits in the file, by its lines alone; what is no list item at the margin is passed over.

    This only tells what is worth a comparison; whoever changes the file reads it as Markdown.
    """
    text = content.decode("utf-8", "replace")
    found = list(_HEADING.finditer(text))
    ends = [*(match.start() for match in found), len(text)][1:]
    for match, end in zip(found, ends, strict=False):
        waiting = _read(int(match[1]), text[match.end() : end])
        if waiting is not None:
            yield waiting


def nearest(text: str, waiting: list[Waiting]) -> list[Waiting]:
    """Return those that may be about the same as a text, the likeliest first, at most 24."""
    words = telling(text)
    rated = []
    for each in waiting:
        shared = len(words & each.words)
        needed = 1 if min(len(words), len(each.words)) <= _FEW_WORDS else 2
        if shared >= needed:
            rated.append((-shared / len(words | each.words), each.number, each))
    return [each for _, _, each in sorted(rated, key=lambda pair: pair[:2])[:MOST_COMPARED]]


def telling(text: str) -> frozenset[str]:
    """Return the words of a text that say what it is about."""
    return frozenset(terms(text[:_LOOKED_AT])) - STOP_WORDS


@lru_cache(maxsize=8192)
def _read(number: int, part: str) -> Waiting | None:
    match = _CONTENT.search(part)
    if match is None or not match[1].strip():
        return None
    content = "\n".join(line.removeprefix("  ") for line in match[1].split("\n")).strip()
    deferred = _STATUS.search(part) is not None
    return Waiting(number, content, text_key(content), telling(content), deferred)
