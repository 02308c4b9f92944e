"""Lights words in drawn lines as they were typed, also where a line break falls between them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from workbench.display.ink import Line, Span, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LIT = "match"
# Lines that follow one another are indented.
_BREAK = r"(?:\n *)?"


def light(lines: Sequence[Line], words: str) -> list[Line]:
    """Return lines that look the same but for the words that are lit.

    Args:
        lines: One paragraph after another.
        words: Upper and lower case are alike; none light nothing.
    """
    if not words.strip():
        return list(lines)
    letters = (r"\s+" if letter.isspace() else re.escape(letter) for letter in " ".join(words.split()))
    texts = [plain_text(line) for line in lines]
    found = [each.span() for each in re.finditer(_BREAK.join(letters), "\n".join(texts), re.IGNORECASE)]
    starts, stops = [start for start, _ in found], [stop for _, stop in found]
    drawn: list[Line] = []
    begin = 0
    for line, text in zip(lines, texts, strict=True):
        here = found[bisect_right(stops, begin) : bisect_left(starts, begin + len(text))]
        drawn.append(
            tuple(_lit(line, [(start - begin, stop - begin) for start, stop in here])) if here else line
        )
        begin += len(text) + 1
    return drawn


def _lit(line: Line, found: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """Yield the spans of a line, parted where something lit begins or ends."""
    at = 0
    for span in line:
        stop = at + len(span.text)
        inside = [edge for places in found for edge in places if at < edge < stop]
        for left, right in pairwise((at, *inside, stop)):
            is_lit = any(start <= left and right <= end for start, end in found)
            yield Span(span.text[left - at : right - at], LIT if is_lit else span.role, span.link)
        at = stop
