"""Sentences of a text, and the places in them where a request can begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.language.sentences import has_question_mark, sentence_ends
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

# After a comma, a semicolon or a dash; not inside a number. Also after a full stop that may end no sentence: “plan B.”.
_CLAUSE_BORDER = lazy_pattern(
    r"(?<=\w)(?<!\.\w)\.\s+|(?<!\d)[,;、]\s*|(?<=\d)[,;、](?!\d)\s*|\s+[-–—]{1,3}\s+|—{1,2}"
)
_LEADING_MARKS = lazy_pattern(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)?[*_~]{0,3}")


@dataclass(frozen=True)
class Sentence:
    """A sentence by its place; `end` is behind its closing punctuation, without the line end."""

    start: int
    end: int
    question: bool


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text in order, empty ones left out.

    Args:
        text: As `live_text` gives it.
    """
    start = 0
    for line in text.split("\n"):
        begin, stop = start, start + len(line)
        for end in (*sentence_ends(text, start, stop), stop):
            if written := text[begin:end].strip():
                first = begin + text[begin:end].index(written)
                yield Sentence(first, end, has_question_mark(written))
            begin = end
        start = stop + 1


def clause_starts(text: str, sentence: Sentence) -> Iterator[int]:
    """Yield the places where a clause of the sentence begins, behind bullets and emphasis, in order."""
    first = _LEADING_MARKS.match(text, sentence.start, sentence.end)
    yield first.end() if first else sentence.start
    for border in _CLAUSE_BORDER.finditer(text, sentence.start, sentence.end):
        if border.end() < sentence.end:
            yield border.end()


def paragraph_start(text: str, position: int) -> int:
    """Return where the paragraph around a position begins."""
    border = text.rfind("\n\n", 0, position)
    return 0 if border < 0 else border + 2
