"""Tells who speaks in a line of a log, and what is left of the line without the label."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
        speaker: Who speaks, folded; None where no label says so.
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
