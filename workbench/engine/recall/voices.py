"""Find who speaks in the lines of a log, and what they say."""

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
_HEADING = re.compile(r"#{1,6}\s+")
_LONGEST_LABEL = 120

PERSON = frozenset(("user", "human", "me", "i", "用户", "我"))
AGENT = frozenset(("assistant", "agent", "ai", "bot", "model", "助手"))


@dataclass(frozen=True, slots=True)
class Turn:
    """A line of a log taken apart.

    Args:
        speaker: The label before the colon, folded; None where there is none. See `speakers_among`.
        text: The line without list mark, time and label.
        is_item: Whether it begins with a list mark at the margin.
        is_stamped: Whether it begins with a time.
    """

    speaker: str | None
    text: str
    is_item: bool
    is_stamped: bool


def turn_of(line: str) -> Turn:
    """Take a line apart; any line gives a turn."""
    match = _TURN.match(line[:_LONGEST_LABEL])
    assert match is not None, "every part of the pattern may be absent"
    name = match["name"]
    return Turn(
        name.strip("*_").casefold() if name else None,
        line[match.end() :],
        match["mark"] is not None and not line[:2].isspace(),
        match["stamp"] is not None,
    )


def speakers_among(lines: Sequence[str]) -> frozenset[str]:
    """Return the labels that name a speaker, folded: “10:02 Ann: hello” does, “- **Budget:** $5” does not.

    A label names a speaker if its line is stamped with a time, if it is a common name of the person or the agent, or
    if every line has a label and the labels take turns, as in a dialogue.

    Args:
        lines: Consecutive lines of one text. Indented lines and headings are ignored.
    """
    turns = [
        turn_of(line) for line in lines if line.strip() and not (line[0].isspace() or _HEADING.match(line))
    ]
    names = {turn.speaker for turn in turns if turn.speaker}
    stamped = {turn.speaker for turn in turns if turn.speaker and turn.is_stamped}
    return frozenset(names if _take_turns(turns) else stamped | names & (PERSON | AGENT))


def _take_turns(turns: Sequence[Turn]) -> bool:
    order = [speaker for speaker, _ in groupby(turn.speaker for turn in turns)]
    return (
        len(set(order)) > 1 and None not in order and all(order.count(speaker) > 1 for speaker in set(order))
    )


def speaker_of_section(text: str, title: str) -> str | None:
    """Return who speaks in a section of a log: “## 09:28 user” or the title “user: …”, folded."""
    first = text[: text.find("\n")] if "\n" in text else text
    heading = _HEADING.match(first)
    if heading is not None:
        match = _TITLE.fullmatch(first[heading.end() :].strip())
        if match is not None:
            return match[1].casefold()
    match = _TITLE.match(title)
    return match[1].casefold() if match is not None and match.end() < len(title) else None
