"""Sentences of a text, and the places in them where a request can begin."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_IDEOGRAPH = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_SENTENCE_END = re.compile(
    rf"""
        [。…]+[!?。…]*
      | [!?]+["')\]]*(?=\s|$|[{_IDEOGRAPH}\ufffc])
      | (?<!\be\.g)(?<!\bi\.e)(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bMrs)(?<!\bvs)(?<!\bSt)
        \.+["')\]]*(?=\s|$)
      | \n
    """,
    re.VERBOSE,
)
# After a comma, a semicolon or a dash; not inside a number.
_CLAUSE_BORDER = re.compile(r"(?<!\d)[,;、]\s*|(?<=\d)[,;、](?!\d)\s*|\s+[-–—]{1,3}\s+|—{1,2}")
_LEADING_MARKS = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)?[*_~]{0,3}")
_CHINESE_QUESTION = re.compile(r"(?:吗|嗎|么|麼|呢)\s*[.。!]*\s*$")


@dataclass(frozen=True)
class Sentence:
    """A sentence by its place; `end` is behind its closing punctuation, without the line end."""

    start: int
    end: int
    question: bool


def sentences(text: str) -> Iterator[Sentence]:
    """Give the sentences of a text in order, empty ones left out.

    Args:
        text: As `live_text` gives it.
    """
    start = 0
    for border in _SENTENCE_END.finditer(text):
        end = border.start() if border.group() == "\n" else border.end()
        yield from _sentence(text, start, end)
        start = border.end()
    yield from _sentence(text, start, len(text))


def _sentence(text: str, start: int, end: int) -> Iterator[Sentence]:
    written = text[start:end]
    if not written.strip():
        return
    begin = start + len(written) - len(written.lstrip())
    tail = written.rstrip()[-4:]
    yield Sentence(begin, end, "?" in tail or bool(_CHINESE_QUESTION.search(written[-12:])))


def clause_starts(text: str, sentence: Sentence) -> Iterator[int]:
    """Give the places where a clause of the sentence begins, behind bullets and emphasis, in order."""
    first = _LEADING_MARKS.match(text, sentence.start, sentence.end)
    yield first.end() if first else sentence.start
    for border in _CLAUSE_BORDER.finditer(text, sentence.start, sentence.end):
        if border.end() < sentence.end:
            yield border.end()


def paragraph_start(text: str, position: int) -> int:
    """Return where the paragraph around a position begins."""
    border = text.rfind("\n\n", 0, position)
    return 0 if border < 0 else border + 2
