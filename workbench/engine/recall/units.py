"""Cuts a chunk into the units that are scored and handed over: a turn, a fact, a passage."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.engine.recall.voices import turn_of

# A passage is about as long as a snippet.
_LONGEST_PASSAGE = 700
# Where this share of the lines are list items, each stands for itself.
_LIST_SHARE = 0.8
_HEADING = re.compile(r"#{1,6}\s")
# What a line with a list mark or a time begins with.
_MARK_OR_STAMP = re.compile(r"\s*[-*+•\d(\[]")
# Where none of a short text’s lines, but a first heading, begins so, all of it is one passage.
_PARTING = re.compile(r"^(?:[^\S\n]*[-*+•\d(\[]|#)", re.MULTILINE)


def units_of(text: str) -> list[tuple[int, int]]:
    """Return the units of a chunk's text as first and last line, counted from 0, in order.

    A line with a time, and in a list each item with what is indented under it, is a unit of its own; other lines
    are packed into passages of about 700 characters; a heading belongs to what follows it. The same text always
    gives the same units: the index keeps one vector for each.

    Args:
        text: Lines joined by line feeds.
    """
    if len(text) <= _LONGEST_PASSAGE:
        kept = text.strip()
        if not kept:
            return []
        if _PARTING.search(kept, 1 if kept.startswith("#") else 0) is None:
            first = text.count("\n", 0, text.index(kept[0]))
            return [(first, first + kept.count("\n"))]
    lines = text.split("\n")
    begins = _own_units(lines)
    units: list[tuple[int, int]] = []
    first = last = -1
    size = 0
    only_headings = False
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        is_heading = _HEADING.match(line) is not None
        starts = (
            first < 0
            or (is_heading and not only_headings)
            or (begins[number] and not only_headings)
            or (size + len(line) > _LONGEST_PASSAGE and not only_headings)
            or (begins[last] and not line[:1].isspace() and number > last + 1)
        )
        if starts:
            if first >= 0:
                units.append((first, last))
            first, size, only_headings = number, 0, True
        only_headings = only_headings and is_heading
        last = number
        size += len(line) + 1
    if first >= 0:
        units.append((first, last))
    return units


def unit_texts(text: str, units: Sequence[tuple[int, int]] | None = None) -> list[str]:
    """Return what is to be embedded for each unit: its lines without headings, list marks, times and speakers.

    Args:
        text: Of a chunk.
        units: What `units_of` gives for it, where that is known already.
    """
    lines = text.split("\n")
    return [_spoken(lines[first : last + 1]) for first, last in (units_of(text) if units is None else units)]


def _own_units(lines: list[str]) -> list[bool]:
    """Tell of each line whether it is a unit of its own."""
    present = [line.strip() != "" and _HEADING.match(line) is None for line in lines]
    # Taking every line apart would cost more than everything else that is done to a chunk.
    turns = [
        turn_of(line) if is_there and _MARK_OR_STAMP.match(line) else None
        for is_there, line in zip(present, lines, strict=True)
    ]
    at_margin = sum(
        is_there and not line[:2].isspace() for is_there, line in zip(present, lines, strict=True)
    )
    items = sum(turn is not None and turn.is_item for turn in turns)
    is_list = items > 1 and items >= _LIST_SHARE * at_margin
    return [turn is not None and (turn.is_stamped or (is_list and turn.is_item)) for turn in turns]


def _spoken(lines: list[str]) -> str:
    spoken = [line for line in lines if line.strip() and _HEADING.match(line) is None] or lines
    return "\n".join((turn_of(spoken[0]).text or spoken[0], *spoken[1:]))
