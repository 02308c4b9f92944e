"""Draws the lines of a transcript as a conversation: who, when, what; what is long, or a tool’s, on one line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Line, Span, gap, ink, spread
from workbench.display.lit_words import light
from workbench.display.transcript import Entry
from workbench.engine.clock import in_zone
from workbench.tui.bench import Link
from workbench.tui.views.dates import day_and_month, long_day
from workbench.tui.views.memory import link_lines, markdown_lines, wrap_code

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from workbench.engine.results.sessions import SessionLine, TranscriptPage

_SPEAKERS = {"user": "User", "assistant": "Assistant", "system": "System"}
_WIDEST = 96
_INDENT = 2
# A longer text is folded to so many rows, and so many characters of it are looked at for that.
_FOLDED_ROWS, _MOST_FOLDED_ROWS, _FOLDED_CHARACTERS = 16, 24, 6000
_MOST_ROWS = 2000
_FLUSHED = "Memory was flushed"
_SPACES = re.compile(r"\s+")
_RULE = "─"


@dataclass(frozen=True)
class Look:
    """How a transcript is drawn.

    Args:
        width: Cells.
        unfolded: Lines that are shown whole.
        words: Those that are lit where they were said.
    """

    width: int
    unfolded: frozenset[int] = frozenset()
    words: str = ""


def page_entries(
    page: TranscriptPage, last: int, names: Mapping[str, str], look: Look, now: datetime
) -> tuple[Entry, ...]:
    """Draw every line of a page, those that cannot be read included.

    Args:
        page: What was read.
        last: Last line of the page.
        names: A line that names each memory.
        look: How it is drawn.
        now: In the workspace’s zone.
    """
    width = look.width
    lines = {each.line: each for each in page.lines}
    problems = {each.line: each for each in page.problems}
    drawn: list[Entry] = []
    for number in range(page.first, last + 1):
        if (line := lines.get(number)) is not None:
            memories = [Link(each, names.get(each, each)) for each in page.memories.get(number, ())]
            drawn.append(entry_of(line, memories, look, now))
        elif (problem := problems.get(number)) is not None:
            told = f"! L{number} {problem.message.removeprefix('This line ')}"
            rows = tuple((gap(_INDENT), Span(piece, "decide")) for piece in wrap(told, width - _INDENT))
            drawn.append(Entry(number, (*rows, BLANK)))
        else:
            drawn.append(Entry(number, ()))
    return tuple(drawn)


def entry_of(line: SessionLine, memories: Sequence[Link], look: Look, now: datetime) -> Entry:
    """Draw one line of a transcript.

    Args:
        line: To draw.
        memories: Those that were drawn from it.
        look: How it is drawn.
        now: In the workspace’s zone.
    """
    width, words, unfolded = min(look.width, _WIDEST), look.words, line.line in look.unfolded
    match line.kind:
        case "message" if line.role in _SPEAKERS:
            (head, *said), folds = _said(line, now, width, unfolded=unfolded)
            rows = [head, *light(said, words)]
        case "message":
            rows, folds = _result(line, width, unfolded=unfolded)
            rows = light(rows, words)
        case "compaction" | "branch_summary":
            (head, *said), folds = _summary(line, now, width, unfolded=unfolded)
            rows = [head, *light(said, words)]
        case _:
            rows, folds = _aside(line, now, width, unfolded=unfolded)
            rows = light(rows, words)
    if memories:
        rows += [(gap(_INDENT), *each) for each in link_lines(memories, width - _INDENT)]
    return Entry(line.line, (*rows, BLANK), folds)


def _said(line: SessionLine, now: datetime, width: int, *, unfolded: bool) -> tuple[list[Line], bool]:
    text, calls = _parted(line)
    body: list[Line] = []
    folds = bool(calls)
    room = width - _INDENT
    if text.strip():
        looked_at = text if unfolded else text[:_FOLDED_CHARACTERS]
        told = markdown_lines(looked_at, room)
        is_long = len(told) > _MOST_FOLDED_ROWS or len(looked_at) < len(text)
        folds = folds or is_long
        if is_long and not unfolded:
            more = _more(len(told) - _FOLDED_ROWS, cut_short=len(looked_at) < len(text))
            told = [*told[:_FOLDED_ROWS], (Span(more, "faint"),)]
        body += told[:_MOST_ROWS]
    for call in calls:
        body += _code(call, room) if unfolded else [(ink(_one_line(call), "code", room),)]
    head = _head(line, _SPEAKERS[line.role], now, width)
    return [head, *((gap(_INDENT), *each) for each in body)], folds


def _result(line: SessionLine, width: int, *, unfolded: bool) -> tuple[list[Line], bool]:
    count = line.text.count("\n") + 1
    head = f"← {_one_line(line.text[:400]) or 'nothing'}"
    lines = f"  {count:,} lines" if count > 1 else ""
    first = spread(
        (gap(_INDENT), ink(head, "code", width)), (Span(f"{lines}  L{line.line}", "faint"),), width
    )
    if not unfolded:
        return [first], bool(line.text)
    body = _code(line.text, width - 2 * _INDENT)[:_MOST_ROWS]
    return [first, *((gap(2 * _INDENT), *each) for each in body)], True


def _summary(line: SessionLine, now: datetime, width: int, *, unfolded: bool) -> tuple[list[Line], bool]:
    word = "Compacted" if line.kind == "compaction" else "Another branch"
    told = f"{_RULE * 2} {word} {_when(line.moment, now)} · this summary stands for what was said before "
    rule = ink(told, "decide", width)
    body = markdown_lines(line.text if unfolded else line.text[:_FOLDED_CHARACTERS], width - 2 * _INDENT)
    folds = len(body) > _FOLDED_ROWS or len(line.text) > _FOLDED_CHARACTERS
    if folds and not unfolded:
        more = _more(len(body) - _FOLDED_ROWS, cut_short=len(line.text) > _FOLDED_CHARACTERS)
        body = [*body[:_FOLDED_ROWS], (Span(more, "faint"),)]
    head = spread((rule,), (Span(f"L{line.line}", "faint"),), width)
    return [head, *((gap(_INDENT), Span("▏ ", "decide"), *each) for each in body[:_MOST_ROWS])], folds


def _aside(line: SessionLine, now: datetime, width: int, *, unfolded: bool) -> tuple[list[Line], bool]:
    when = _when(line.moment, now)
    if line.kind == "custom" and line.text.startswith(_FLUSHED):
        told, role = f"✓ {_one_line(line.text)}", "soft"
    elif line.kind == "session":
        told, role = f"session begun {when}", "faint"
    elif line.kind == "reset":
        told, role = f"{_RULE * 2} started over {when}", "decide"
    else:
        told, role = f"{line.kind.replace('_', ' ')} {_one_line(line.text[:400])}", "faint"
    head = spread((gap(_INDENT), ink(told, role, width)), (Span(f"L{line.line}", "faint"),), width)
    if not unfolded or not line.text:
        return [head], bool(line.text)
    return [head, *((gap(2 * _INDENT), *each) for each in _code(line.text, width - 2 * _INDENT))], True


def _head(line: SessionLine, speaker: str, now: datetime, width: int) -> Line:
    aside = "" if line.active is not False else " · on another branch"
    aside += "" if line.counts else " · a copy of what was sent"
    left = (
        Span(speaker, "strong"),
        gap(2),
        Span(_when(line.moment, now), "faint"),
        Span(aside, "decide"),
    )
    return spread(left, (Span(f"L{line.line}", "faint"),), width)


def _parted(line: SessionLine) -> tuple[str, list[str]]:
    """Part what was said from the calls of tools in it."""
    if not line.tools:
        return line.text, []
    begins = tuple(f"→ {name} " for name in line.tools)
    said: list[str] = []
    calls: list[str] = []
    for each in line.text.split("\n"):
        (calls if each.startswith(begins) else said).append(each)
    return "\n".join(said), calls


def _code(text: str, width: int) -> list[Line]:
    return [(Span(piece, "code"),) for row in text.split("\n") for piece in wrap_code(row, width)]


def _one_line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def _more(rows: int, *, cut_short: bool) -> str:
    return "… much more, ⏎ unfolds it" if cut_short else f"… {rows:,} more rows, ⏎ unfolds them"


def _when(moment: datetime | None, now: datetime) -> str:
    if moment is None:
        return ""
    local = in_zone(moment, now.tzinfo)
    day = day_and_month(local.date()) if local.year == now.year else long_day(local.date())
    return f"{day}, {local:%H:%M}"
