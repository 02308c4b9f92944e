"""The lines of a unit that are handed over, and the snippet shown of them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from workbench.engine.recall.ranking.unit import Unit
from workbench.engine.recall.stemming import index_terms

SNIPPET_CHARACTERS = 700
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Passage:
    """Lines of a file, 1-based and inclusive, and what is shown of them."""

    start_line: int
    end_line: int
    snippet: str


def exact_passage(unit: Unit, wanted: Collection[str]) -> Passage:
    """Return the unit's own lines."""
    lines = unit.stored.chunk.text.split("\n")[unit.shape.first : unit.shape.last + 1]
    return Passage(unit.start_line, unit.end_line, _shortened("\n".join(lines), wanted))


def passage_in_context(unit: Unit, wanted: Collection[str], taken: Collection[int] = ()) -> Passage:
    """Return the unit's lines with as many of its chunk around them as a snippet holds.

    Args:
        unit: What matched.
        wanted: The question's terms.
        taken: Lines of the file that another result shows already; they are not shown again.
    """
    lines = unit.stored.chunk.text.split("\n")
    start = unit.stored.chunk.start_line
    first, last = unit.shape.first, unit.shape.last
    size = sum(len(line) + 1 for line in lines[first : last + 1])
    downward = True
    while True:
        below = (
            last + 1 < len(lines)
            and start + last + 1 not in taken
            and size + len(lines[last + 1]) < SNIPPET_CHARACTERS
        )
        above = (
            first > 0 and start + first - 1 not in taken and size + len(lines[first - 1]) < SNIPPET_CHARACTERS
        )
        if not (below or above):
            break
        if below and (downward or not above):
            last += 1
            size += len(lines[last]) + 1
        else:
            first -= 1
            size += len(lines[first]) + 1
        downward = not downward
    while not lines[first].strip() and first < unit.shape.first:
        first += 1
    while not lines[last].strip() and last > unit.shape.last:
        last -= 1
    return Passage(start + first, start + last, _shortened("\n".join(lines[first : last + 1]), wanted))


def _shortened(text: str, wanted: Collection[str]) -> str:
    """Cut a text that is longer than a snippet around the first word that was asked for."""
    if len(text) <= SNIPPET_CHARACTERS:
        return text
    start = 0
    for match in _WORD.finditer(text):
        terms = index_terms(match.group())
        held = next((term for term in terms if term in wanted), None)
        if held is not None:
            within = max(0, match.group().casefold().find(held)) if len(match.group()) > 80 else 0
            start = max(0, match.start() + within - SNIPPET_CHARACTERS // 4)
            break
    if start == 0:
        return text[: SNIPPET_CHARACTERS - 1] + "…"
    end = start + SNIPPET_CHARACTERS - 2
    return "…" + text[start:end] + ("…" if end < len(text) else "")
