"""Lights words in a text: those of a question as the search understands words, or just as they were typed."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from workbench.display.cells import plain
from workbench.display.ink import Line, Span, plain_text
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_WORD = lazy_pattern(r"\w+")
# Marks of Markdown and white space around what is one sentence on the screen.
_MARKS = lazy_pattern(r"<!--.*?-->|\*\*|(?m:^\s*(?:#{1,6}|[-*+>])\s+)|\s+", re.DOTALL)
# What stands before a match leads up to it; what follows says more.
_LEAD = 4
# Stands between the items of a list that is drawn as one line.
ITEM_GAP = " · "
_JOINS = "-./:@+#"


@lru_cache(maxsize=64)
def asked_terms(question: str) -> frozenset[str]:
    """Return the terms of a question that tell something, without their endings."""
    from workbench.engine.catalog.terms import question_terms

    return frozenset(question_terms(question))


@lru_cache(maxsize=20_000)
def _word_terms(word: str) -> frozenset[str]:
    from workbench.engine.catalog.terms import index_terms

    return frozenset(index_terms(word))


def matches_in(text: str, question: str) -> list[tuple[int, int]]:
    """Return where a text has words of a question: start and end of each, in order, none overlapping."""
    wanted = asked_terms(question)
    if not wanted:
        return []
    spans: list[tuple[int, int]] = []
    for word in _WORD.finditer(text):
        held = _word_terms(word.group())
        here = wanted & held
        if not here and not _begins(word.group(), wanted):
            continue
        found = [word.span()]
        if len(held) > 1 and not word.group().isascii():
            found = _within(word.group(), here or wanted, word.start())
        # `v1.2` is two words that are read as one.
        if spans and found[0][0] == spans[-1][1] + 1 and text[spans[-1][1]] in _JOINS:
            found[0] = (spans.pop()[0], found[0][1])
        spans += found
    return spans


def _begins(word: str, wanted: frozenset[str]) -> bool:
    """Tell whether a single character of a script without spaces was asked for, and stands here."""
    return any(len(term) == 1 and not term.isascii() and term in word for term in wanted)


def _within(word: str, terms: Iterable[str], offset: int) -> list[tuple[int, int]]:
    """Find terms in a run that is written without spaces, joined where they touch."""
    # Letter by letter, so that positions stay the same.
    lowered = "".join(small if len(small := letter.lower()) == 1 else letter for letter in word)
    spans: list[tuple[int, int]] = []
    for start, end in sorted(
        found.span() for term in terms for found in re.finditer(re.escape(term), lowered)
    ):
        if spans and start <= spans[-1][1] - offset:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end + offset))
        else:
            spans.append((start + offset, end + offset))
    return spans or [(offset, offset + len(word))]


def best_line(lines: Sequence[str], question: str, name: str = "") -> str | None:
    """Return the line with most words of a question, the first of equals; None where no line has any.

    Args:
        name: What all of them are about; its words tell no line from another.
    """
    asked = asked_terms(question)
    wanted = asked - _word_terms(name) or asked
    counts = [len(wanted & _word_terms(line)) for line in lines]
    most = max(counts, default=0)
    return lines[counts.index(most)] if most else None


def lit(text: str, question: str, role: str = "text") -> Line:
    """Return a text as spans, with the words of a question standing out.

    Args:
        text: Anything; it becomes safe.
        role: Of everything else.
    """
    spans: list[Span] = []
    end = 0
    for start, stop in matches_in(text, question):
        if start > end:
            spans.append(Span(plain(text[end:start]), role))
        spans.append(Span(plain(text[start:stop]), "match"))
        end = stop
    if end < len(text):
        spans.append(Span(plain(text[end:]), role))
    return tuple(span for span in spans if span.text)


def one_line(text: str) -> str:
    """Return a text as one line, without the marks of Markdown."""
    return " ".join(_MARKS.sub(" ", text).split())


def part_around_match(text: str, question: str, room: int) -> str:
    """Cut one line so that the part that answers most of a question is among the first `room` letters.

    Args:
        question: What was asked; where nothing of it is there the beginning is kept.
    """
    if len(text) <= room:
        return text
    spans = matches_in(text, question)
    lead = room // _LEAD
    if not spans:
        return text
    wanted = asked_terms(question)
    terms = [_word_terms(text[start:end]) & wanted for start, end in spans]

    often = Counter(term for here in terms for term in here)

    def held(at: int) -> float:
        """Weigh the different terms in a part that begins with a match: what stands everywhere tells little."""
        reach = spans[at][0] + room - lead
        here = frozenset[str]().union(*(terms[to] for to in range(at, len(spans)) if spans[to][1] <= reach))
        return sum(1 / often[term] for term in here)

    best = spans[max(range(len(spans)), key=lambda at: (held(at), -at))][0]
    # Who says it, and when, begins an item: worth the room where it stands near.
    if (item := text.rfind(ITEM_GAP, max(0, best - room // 2), best)) >= 0:
        return "…" + text[item + len(ITEM_GAP) :]
    if best <= room // 2:
        return text
    start = max(0, min(best - lead, len(text) - room))
    space = text.find(" ", start, best)
    return "…" + text[space + 1 if space >= 0 else start :]


LIT = "match"
# Lines that follow one another are indented.
_BREAK = r"(?:\n *)?"


def light(lines: Sequence[Line], words: str) -> list[Line]:
    """Return lines that look the same but for the words that are lit.

    Args:
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
