"""Draws transcripts: who said what and when, tools on one line, what memory has to do with a line; and evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.cells import cell_width, wrap
from workbench.display.ink import (
    BLANK,
    Line,
    Span,
    column,
    gap,
    ink,
    line_width,
    spread,
)
from workbench.display.markdown import markdown_lines, wrap_code
from workbench.display.matching import light
from workbench.display.rows import day_heading
from workbench.display.words import counted
from workbench.engine.clock import in_zone
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime

    from workbench.engine.results.sessions import SessionLine, TranscriptPage

MEASURE = 88
DAY = "── "
"""What the row begins with that says which day begins."""
UNFOLD_ALL = 2
"""The closest look: long texts whole (1), and what tools were asked and answered (2)."""
_AGENT, _LONGEST_NAME = "agent", 12
# Cells from which there is a column for the time, with what it takes.
_TIMED, _TIME = 56, 7
_LEAST_ROOM = 12
# A longer text is folded to so many rows, and so many characters of it are looked at for that.
_FOLDED_ROWS, _MOST_FOLDED_ROWS, _FOLDED_CHARACTERS = 12, 18, 6000
_MOST_ROWS = 2000
_FLUSHED = "Memory was flushed"
_SPACES = lazy_pattern(r"\s+")
_NAMED_FIRST = lazy_pattern(r"([^\W\d_][^:\n]{0,11}): (?=\S)")
_MEMORY = lazy_pattern(
    r"\b(?:episode:\d{4}-\d{2}-\d{2}:\d{2}:\d{2}(?:#\d+)?|(?:core|entity|procedure|vault):[\w/.:^#-]{1,120}[\w])"
)
_MOST_USED = 4


@dataclass(frozen=True)
class Entry:
    """One line of a transcript, drawn.

    Args:
        number: Of the line, 1-based.
        rows: What it looks like; none where there is nothing to see.
        folds: Whether it can be folded and unfolded.
    """

    number: int
    rows: tuple[Line, ...]
    folds: bool = False


@dataclass(frozen=True)
class Look:
    """How a transcript is drawn.

    Args:
        unfolded: Lines that are shown otherwise than the others: whole where those are folded.
        words: Those that are lit where they were said.
        marked: First and last line that stand out; 0 for none.
        closeness: What is unfolded of all lines: nothing (0), long texts (1), tools as well (2).
        agent: What the agent goes by.
        shared: Whether several people speak, each line beginning with a name.
        digits: Of the highest number of a line.
    """

    width: int
    unfolded: frozenset[int] = frozenset()
    words: str = ""
    marked: tuple[int, int] = (0, 0)
    closeness: int = 0
    agent: str = ""
    shared: bool = False
    digits: int = 1

    @property
    def names(self) -> int:
        """Return how wide the column of the speakers is."""
        own = min(_LONGEST_NAME, max(len(_AGENT), cell_width(self.agent)))
        return max(own, 8) if self.shared else own

    @property
    def before(self) -> int:
        """Return the cells before what was said."""
        return self.digits + 2 + self.names + 2

    @property
    def room(self) -> int:
        """Return how wide what was said may be."""
        time = _TIME if self.width >= _TIMED else 0
        return max(_LEAST_ROOM, min(self.width - self.before - time, MEASURE))

    def unfolds(self, number: int, closeness: int) -> bool:
        """Return whether a line is shown whole, given the closeness from which lines of its kind are."""
        return (self.closeness >= closeness) != (number in self.unfolded)


@dataclass(frozen=True)
class Stretch:
    """Some lines of a transcript, to be drawn at any width.

    Args:
        page: What was read.
        last: Last line of it.
        names: The words of memories that came from it, or are named in it.
        agent: What the agent goes by; empty for the main one.
        shared: Whether several people speak.
    """

    page: TranscriptPage
    last: int
    names: Mapping[str, str]
    now: datetime
    agent: str
    shared: bool


def stretch_lines(stretch: Stretch, width: int, marked: tuple[int, int]) -> list[Line]:
    """Draw some lines of a transcript, those from one number to another whole, and bright behind a bar."""
    look = Look(
        max(1, width - 2),
        unfolded=frozenset(range(marked[0], marked[1] + 1)),
        marked=marked,
        agent=stretch.agent,
        shared=stretch.shared,
        digits=len(str(stretch.last)),
    )
    rows: list[Line] = []
    for entry in page_entries(
        stretch.page, stretch.page.first, stretch.last, stretch.names, look, stretch.now
    ):
        is_marked = marked[0] <= entry.number <= marked[1]
        rows += [
            (Span("▌ " if is_marked and row else "  ", "decide"), *row) if row else BLANK
            for row in entry.rows
        ]
    return rows


def named_memories(text: str) -> tuple[str, ...]:
    """Return the ids of memories that a text names, each once, a few at most."""
    found = dict.fromkeys(each.group() for each in _MEMORY.finditer(text))
    return tuple(found)[:_MOST_USED]


def page_entries(
    page: TranscriptPage, first: int, last: int, names: Mapping[str, str], look: Look, now: datetime
) -> tuple[Entry, ...]:
    """Draw every line of a page, those that cannot be read included.

    Args:
        page: What was read; with a line before `first`, it is known whether a day begins there.
        first: First line that is drawn.
        last: Last line that is drawn.
        names: The words of each memory that was drawn from one of its lines, or is named in one.
    """
    lines = {each.line: each for each in page.lines}
    problems = {each.line: each for each in page.problems}
    drawn: list[Entry] = []
    day: date | None = None
    for number in range(page.first, last + 1):
        entry = Entry(number, ())
        if (line := lines.get(number)) is not None:
            became = [each for each in page.memories.get(number, ()) if each in names]
            used = [each for each in named_memories(line.text) if each in names and each not in became]
            entry = entry_of(line, became, used, names, look, now)
            on = in_zone(line.moment, now.tzinfo).date() if line.moment is not None else day
            if on is not None and on != day and entry.rows:
                entry = Entry(number, (*_day_begins(on, now), *entry.rows), entry.folds)
                day = on
        elif (problem := problems.get(number)) is not None:
            entry = Entry(number, _unreadable(number, problem.message, look))
        if number >= first:
            drawn.append(entry)
    return tuple(drawn)


def _day_begins(on: date, now: datetime) -> list[Line]:
    return [(Span(DAY, "rule"), Span(day_heading(on, now.date()), "soft")), BLANK]


def _unreadable(number: int, message: str, look: Look) -> tuple[Line, ...]:
    told = (
        f"This line cannot be read: {message.removeprefix('This line ').removesuffix('; it was skipped.')}."
    )
    return tuple(_rows([(Span(piece, "decide"),) for piece in wrap(told, look.room)], number, "", "", look))


def entry_of(
    line: SessionLine,
    became: Sequence[str],
    used: Sequence[str],
    names: Mapping[str, str],
    look: Look,
    now: datetime,
) -> Entry:
    """Draw one line of a transcript.

    Args:
        became: Ids of the memories that were drawn from it.
        used: Ids of other memories that it names.
    """
    if line.kind == "session":
        return Entry(line.line, ())
    who = ""
    match line.kind:
        case "message" if line.role in ("user", "assistant", "system"):
            who, text = _speaker(line, look)
            body, folds = _said(line, text, look)
        case "message":
            who = words.speaker(line.role)
            body, folds = _result(line, look)
        case "compaction" | "branch_summary":
            body, folds = _summary(line, look)
        case _:
            body, folds = _aside(line, look)
    body = light(body, look.words)
    if look.marked[0] <= line.line <= look.marked[1]:
        body = [tuple(_standing_out(span) for span in each) for each in body]
    for ids, verb in ((became, "became"), (used, "used")):
        body += [_memory(each, verb, names[each], look) for each in ids]
    moment = in_zone(line.moment, now.tzinfo) if line.moment is not None else None
    rows = _rows(body, line.line, who, f"{moment:%H:%M}" if moment is not None else "", look)
    # What takes several rows is parted from what follows; short lines stand close, as they were said.
    return Entry(line.line, (*rows, BLANK) if len(rows) > 1 else tuple(rows), folds)


def _standing_out(span: Span) -> Span:
    return Span(span.text, "strong", span.link) if span.role == "text" else span


def _memory(memory_id: str, verb: str, title: str, look: Look) -> Line:
    store = words.store_of(memory_id)
    lead = (
        Span(f"{words.sign(store)} ", f"store.{store}" if store else "faint"),
        Span(f"{verb} ", "soft"),
    )
    return (*lead, ink(title, "text+link", max(1, look.room - line_width(lead)), memory_id))


def _rows(body: Sequence[Line], number: int, who: str, time: str, look: Look) -> list[Line]:
    """Put number, speaker and time beside what was said."""
    rows: list[Line] = []
    for at, line in enumerate(body or [BLANK]):
        if at:
            rows.append((gap(look.before), *line) if line else BLANK)
            continue
        role = "strong" if who == "you" else "soft"
        head = (
            column(str(number), look.digits, "faint", right=True),
            gap(2),
            column(who, look.names, role),
            gap(2),
            *line,
        )
        aside = (Span(time, "faint"),) if time and look.width >= _TIMED else ()
        rows.append(spread(head, aside, look.before + look.room + _TIME) if aside else head)
    return rows


def _speaker(line: SessionLine, look: Look) -> tuple[str, str]:
    """Return who speaks, and what."""
    if line.role == "assistant":
        return look.agent or _AGENT, line.text
    if look.shared and line.role == "user":
        named = _NAMED_FIRST.match(line.text)
        return (named[1], line.text[named.end() :]) if named else ("person", line.text)
    return words.speaker(line.role), line.text


def _said(line: SessionLine, text: str, look: Look) -> tuple[list[Line], bool]:
    said, calls = _parted(line, text)
    body: list[Line] = []
    if line.active is False or not line.counts:
        told = "on another branch" if line.counts else "a copy of what was sent"
        body.append((Span(told, "decide"),))
    folds = bool(calls)
    if said.strip():
        whole = look.unfolds(line.line, 1)
        told_lines, is_long = _folded(said, look.room, "text", whole=whole)
        folds = folds or is_long
        body += told_lines
    for call in calls:
        if look.unfolds(line.line, UNFOLD_ALL):
            body += _code(f"▸ {call}", look.room)
        else:
            body.append((ink(f"▸ {_one_line(call)}", "code", look.room),))
    return body, folds


def _folded(text: str, width: int, role: str, *, whole: bool) -> tuple[list[Line], bool]:
    """Draw a text, whole or its beginning; returns whether it is long enough to be folded."""
    looked_at = text if whole else text[:_FOLDED_CHARACTERS]
    lines = markdown_lines(looked_at, width, role)
    is_cut = len(looked_at) < len(text)
    is_long = is_cut or len(lines) > _MOST_FOLDED_ROWS
    if is_long and not whole:
        more = "much more" if is_cut else f"{len(lines) - _FOLDED_ROWS:,} more rows"
        lines = [*lines[:_FOLDED_ROWS], (Span(f"… {more}; enter unfolds them", "faint"),)]
    return lines[:_MOST_ROWS], is_long


def _result(line: SessionLine, look: Look) -> tuple[list[Line], bool]:
    count = line.text.count("\n") + 1
    more: Line = (Span(f"{count:,} lines", "faint"),) if count > 1 else ()
    first = spread((ink(f"◂ {_one_line(line.text[:400]) or 'nothing'}", "code"),), more, look.room)
    if not look.unfolds(line.line, UNFOLD_ALL):
        return [first], bool(line.text)
    return _code(f"◂ {line.text}", look.room)[:_MOST_ROWS], True


def _summary(line: SessionLine, look: Look) -> tuple[list[Line], bool]:
    told = "compacted" if line.kind == "compaction" else "came from another branch"
    head = f"── {told}: this summary stands for what was said before "
    body, folds = _folded(line.text, look.room - 2, "soft", whole=look.unfolds(line.line, 1))
    rows = [(Span(piece, "decide"),) for piece in wrap(head, look.room)]
    return [*rows, *((Span("▏ ", "decide"), *each) for each in body)], folds


def _aside(line: SessionLine, look: Look) -> tuple[list[Line], bool]:
    if line.kind == "custom" and line.text.startswith(_FLUSHED):
        saved = line.text.count("\n")
        count = f" · {counted(saved, 'memory', 'memories')}" if saved else ""
        return [(ink(f"✓ what matters was saved up to here{count}", "soft", look.room),)], False
    if line.kind == "reset":
        return [(Span("── started over", "decide"),)], False
    if look.unfolds(line.line, UNFOLD_ALL) and line.text:
        return _code(line.text, look.room), True
    told = f"{line.kind.replace('_', ' ')} {_one_line(line.text[:400])}"
    return [(ink(told, "faint", look.room),)], bool(line.text)


def _parted(line: SessionLine, text: str) -> tuple[str, list[str]]:
    """Part what was said from the calls of tools in it."""
    if not line.tools:
        return text, []
    begins = tuple(f"→ {name} " for name in line.tools)
    said: list[str] = []
    calls: list[str] = []
    for each in text.split("\n"):
        (calls if each.startswith(begins) else said).append(each)
    return "\n".join(said), [call.removeprefix("→ ") for call in calls]


def _code(text: str, width: int) -> list[Line]:
    return [(Span(piece, "code"),) for row in text.split("\n") for piece in wrap_code(row, width)]


def _one_line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


@dataclass(frozen=True)
class SourceLine:
    """One line of a source.

    Args:
        number: In the file, from 1.
    """

    number: int
    text: str


@dataclass(frozen=True)
class Evidence:
    """A stretch of a source.

    Args:
        title: What it is: session or file, day, lines.
        lines: In order.
        first: Number of the first marked line.
        last: Number of the last one.
        link: What the whole source opens as: the citation of a session's line, or the id of a memory.
        more: Further sources of the same memory: the id of each, and what it is called.
        said: What is drawn of a session instead of the lines.
        path: The file; empty for a session.
    """

    title: str
    lines: tuple[SourceLine, ...]
    first: int
    last: int
    link: str = ""
    more: tuple[tuple[str, str], ...] = ()
    said: Stretch | None = None
    path: str = ""

    @property
    def marked(self) -> str:
        """Return what the marked lines say."""
        said = (
            [(line.number, line.text) for line in self.lines]
            if self.said is None
            else [(line.line, line.text) for line in self.said.page.lines]
        )
        return "\n".join(text for number, text in said if self.first <= number <= self.last)

    @property
    def place(self) -> str:
        """Return where the marked lines stand, as a citation."""
        lines = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.path}:{lines}" if self.path else self.link.removeprefix("file:")


def evidence_lines(evidence: Evidence, width: int) -> list[Line]:
    """Draw a source, the marked lines bright behind a bar."""
    drawn: list[Line] = [(ink(evidence.title, "soft", width),), BLANK]
    if evidence.said is not None:
        drawn += stretch_lines(evidence.said, width, (evidence.first, evidence.last))
    else:
        drawn += _file_lines(evidence, width)
    if evidence.more:
        drawn += [BLANK, (Span("MORE EVIDENCE", "soft+strong"),)]
        drawn += [(ink(title, "text+link", width, id_),) for id_, title in evidence.more]
    return drawn


def _file_lines(evidence: Evidence, width: int) -> list[Line]:
    drawn: list[Line] = []
    digits = len(str(max((line.number for line in evidence.lines), default=1)))
    before = 2 + digits + 2
    room = max(8, min(width - before, MEASURE))
    expected = evidence.lines[0].number if evidence.lines else 0
    for line in evidence.lines:
        if left_out := line.number - expected:
            told = f"{counted(left_out, 'line')} for programs"
            drawn.append((gap(2), column("⋯", digits, "faint", right=True), gap(2), ink(told, "faint", room)))
        expected = line.number + 1
        marked = evidence.first <= line.number <= evidence.last
        bar = Span("▌ " if marked else "  ", "decide")
        head: Line = (bar, column(str(line.number), digits, "faint", right=True), gap(2))
        parts = [part for paragraph in line.text.splitlines() or [""] for part in wrap(paragraph, room)]
        for at, part in enumerate(parts):
            role = "strong" if marked else "soft"
            drawn.append((*(head if not at else (bar, gap(before - 2))), Span(part, role)))
    return drawn


def marked_at(lines: list[Line]) -> int:
    """Return the drawn line at which the marked stretch begins; 0 where nothing is marked."""
    return next((at for at, line in enumerate(lines) if line and line[0].text == "▌ "), 0)
