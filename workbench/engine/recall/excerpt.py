"""Cuts the lines around the best match out of a memory."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from workbench.engine.catalog import MemoryRecord
from workbench.engine.catalog.terms import is_prefix, query_terms, terms

SNIPPET_CHARACTERS = 700
_WORD = re.compile(r"\w+")


def excerpt(record: MemoryRecord, query: str) -> tuple[int, int, str]:
    """Return the lines of a memory around the best match, at most 700 characters.

    Returns:
        First and last line of the excerpt in the file (1-based, inclusive) and its text.
    """
    lines = record.text.split("\n")
    first, last = 0, len(lines) - 1
    text = record.text
    if len(text) > SNIPPET_CHARACTERS:
        wanted = query_terms(query)
        first, last = _window(lines, wanted)
        text = "\n".join(lines[first : last + 1])
        if len(text) > SNIPPET_CHARACTERS:
            text = _cut(text, wanted)
    start = record.start_line if record.text_line is None else record.text_line
    return start + first, max(start + first, min(start + last, record.end_line)), text


def held(wanted: Sequence[str], found: Collection[str]) -> int:
    """Count the terms of a question that are among a text's terms."""
    return sum(
        any(term.startswith(each) for term in found) if is_prefix(each) else each in found for each in wanted
    )


def _window(lines: Sequence[str], wanted: Sequence[str]) -> tuple[int, int]:
    """Return the line that holds most of what was asked for, and as much around it as there is room for."""
    counts = [held(wanted, set(terms(line))) for line in lines]
    first = last = max(range(len(lines)), key=lambda at: (counts[at], -at))
    size = len(lines[first])
    downward = True
    while True:
        below = last + 1 < len(lines) and size + len(lines[last + 1]) < SNIPPET_CHARACTERS
        above = first > 0 and size + len(lines[first - 1]) < SNIPPET_CHARACTERS
        if not (below or above):
            return first, last
        if below and (downward or not above):
            last += 1
            size += len(lines[last]) + 1
        else:
            first -= 1
            size += len(lines[first]) + 1
        downward = not downward


def _cut(line: str, wanted: Sequence[str]) -> str:
    """Cut one very long line around the first word that was asked for."""
    match = next((word for word in _WORD.finditer(line) if held(wanted, set(terms(word.group())))), None)
    start = max(0, match.start() - SNIPPET_CHARACTERS // 4) if match else 0
    if match and len(match.group()) > SNIPPET_CHARACTERS // 2:
        start = max(0, match.start() + _place_within(match.group(), wanted) - SNIPPET_CHARACTERS // 4)
    room = SNIPPET_CHARACTERS - 2
    end = start + room
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def _place_within(run: str, wanted: Sequence[str]) -> int:
    """Find a term within a run without spaces, such as a page of Chinese on one line."""
    places = [place for place in (run.find(term) for term in wanted) if place >= 0]
    return min(places, default=0)
