"""Cuts chunks into units (turns, facts, passages), and finds the speaker of a log line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

_STAMP = r"(?:[\[(]?(?:\d{4}-\d\d-\d\d[ T])?\d{1,2}[:.]\d{2}(?::\d{2})?(?:\s?[ap]m)?[\])]?\s*(?:[-–—|,]\s*)?)"
_NAME = r"[^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2}"
_TURN = re.compile(
    rf"\s*(?P<mark>[-*+•]\s+|\d+[.)]\s+)?(?P<stamp>{_STAMP})?"
    rf"(?:(?P<name>(?:\*\*|__)?{_NAME}(?:\*\*|__)?)\s*[:：](?!//)(?:\*\*|__)?\s*(?=\S))?"
)
_TITLE = re.compile(rf"(?:{_STAMP}\s*)?({_NAME})\s*(?:[:：]|$)")
_LOG_HEADING = re.compile(r"#{1,6}\s+")
_LONGEST_LABEL = 120

PERSON = frozenset(("user", "human", "me", "i", "用户", "我"))
AGENT = frozenset(("assistant", "agent", "ai", "bot", "model", "助手"))
# A passage is about as long as a snippet.
_LONGEST_PASSAGE = 700
# With this share of list items, each is a unit of its own.
_LIST_SHARE = 0.8
_HEADING = re.compile(r"#{1,6}\s")
# Start of a line with a list mark or a time.
_MARK_OR_STAMP = re.compile(r"\s*[-*+•\d(\[]")
# A short text with no such line, except for a heading at the top, is a single passage.
_PARTING = re.compile(r"^(?:[^\S\n]*[-*+•\d(\[]|#)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LogTurn:
    """A parsed log line.

    Args:
        speaker: The label before the colon, folded, or None. See `speakers_among`.
        text: The line without list mark, time and label.
        is_item: Whether it is an unindented list item.
        is_stamped: Whether it begins with a time.
    """

    speaker: str | None
    text: str
    is_item: bool
    is_stamped: bool


def turn_of(line: str) -> LogTurn:
    """Parse a line; any line is valid."""
    match = _TURN.match(line[:_LONGEST_LABEL])
    assert match is not None, "every part of the pattern may be absent"
    name = match["name"]
    return LogTurn(
        name.strip("*_").casefold() if name else None,
        line[match.end() :],
        match["mark"] is not None and not line[:2].isspace(),
        match["stamp"] is not None,
    )


def speakers_among(lines: Sequence[str]) -> frozenset[str]:
    """Return the labels that name a speaker, folded: “10:02 Ann: hello” has one, “- **Budget:** $5” does not.

    A label names a speaker if its line has a time, if it is a common name of the person or the agent, or if every line
    has a label and the labels alternate, as in a dialogue.

    Args:
        lines: Consecutive lines of one text. Indented lines and headings are ignored.
    """
    turns = [
        turn_of(line)
        for line in lines
        if line.strip() and not (line[0].isspace() or _LOG_HEADING.match(line))
    ]
    names = {turn.speaker for turn in turns if turn.speaker}
    stamped = {turn.speaker for turn in turns if turn.speaker and turn.is_stamped}
    return frozenset(names if _take_turns(turns) else stamped | names & (PERSON | AGENT))


def _take_turns(turns: Sequence[LogTurn]) -> bool:
    order = [speaker for speaker, _ in groupby(turn.speaker for turn in turns)]
    return (
        len(set(order)) > 1 and None not in order and all(order.count(speaker) > 1 for speaker in set(order))
    )


def speaker_of_section(text: str, title: str) -> str | None:
    """Return the speaker of a log section such as “## 09:28 user” or of the title “user: …”, folded."""
    first = text[: text.find("\n")] if "\n" in text else text
    heading = _LOG_HEADING.match(first)
    if heading is not None:
        match = _TITLE.fullmatch(first[heading.end() :].strip())
        if match is not None:
            return match[1].casefold()
    match = _TITLE.match(title)
    return match[1].casefold() if match is not None and match.end() < len(title) else None


def units_of(text: str) -> list[tuple[int, int]]:
    """Return the units of a chunk's text as first and last line, counted from 0, in order.

    A line with a time, and a list item with what is indented under it, is a unit of its own; other lines are
    packed into passages of about 700 characters; a heading belongs to what follows. The result is
    deterministic, since the
    index keeps one vector per unit.

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
    """Return the text to embed for each unit: its lines without headings, list marks, times and speakers.

    Args:
        text: Of a chunk.
        units: From `units_of`, if already known.
    """
    lines = text.split("\n")
    return [_spoken(lines[first : last + 1]) for first, last in (units_of(text) if units is None else units)]


def _own_units(lines: list[str]) -> list[bool]:
    """Return for each line whether it is a unit of its own."""
    present = [line.strip() != "" and _HEADING.match(line) is None for line in lines]
    # Parsing every line would cost more than everything else done to a chunk.
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
