"""Draws memories over time as rows: their name, their score on each day as a cell, and what becomes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from workbench.display.ink import BLANK, Line, Span, column, cut, gap, ink, line_width, score_role
from workbench.engine.memory.decay import half_life
from workbench.tui.drawing.heat import (
    HAIR,
    SCALES,
    TODAY_LINE,
    counts_line,
    heat_line,
    status_sign,
    window_for,
)
from workbench.tui.views.dates import MONTHS
from workbench.tui.views.memory import store_of_id, store_sign
from workbench.tui.widgets.rows import KeyedRows

if TYPE_CHECKING:
    from datetime import date

    from workbench.engine.results.decay import DecayEntry, DecayView, Fall, ScorePoint
    from workbench.tui.drawing.heat import Scale, Window

Course = Callable[["DecayView", "DecayEntry", Sequence[int]], Sequence["ScorePoint"]]
STATUSES: Final = ("pinned", "active", "fading", "dormant", "archived")
_RANK: Final = {status: at for at, status in enumerate(STATUSES)}
_SIGN = 2
_EXACTLY_BELOW: Final = 10
_WORDS_FROM = 58
_LONG_WORDS_FROM = 96
_FEWEST_CELLS = 12
_SCORE_WORDS, _SCORE, _TRIAL_WORDS, _FALL_WORDS, _LONG_FALL_WORDS, _FALL = 16, 6, 18, 31, 42, 9


@dataclass(frozen=True, slots=True)
class Frame:
    """Which stretch of time is shown, and the day one is at.

    Args:
        today: In the workspace’s zone.
        scale: How much time a cell stands for.
        day: The day one is at, counted from today.
    """

    today: date
    scale: Scale = SCALES[1]
    day: int = 0

    @property
    def cell(self) -> int:
        """Return the cell one is at."""
        return self.scale.cell(self.today, self.day)

    def at_cell(self, cell: int) -> Frame:
        """Return the frame with another cell to be at."""
        return replace(self, day=(self.scale.day(self.today, cell) - self.today).days)

    def window(self, width: int) -> Window:
        """Return the cells that there is room for."""
        return window_for(self.today, self.scale, width, self.cell)


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above a group.

    Args:
        name: What the group is called.
        store: Whose hue the name has; empty for none.
        counts: How many memories there are of each status.
        id: What tells it from a group of the same name; the name itself where empty.
    """

    name: str
    store: str
    counts: Mapping[str, int]
    id: str = ""

    @property
    def key(self) -> str:
        """Return what tells the group from all others."""
        return self.id or self.name

    @property
    def total(self) -> int:
        """Return how many memories it is about."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class Reading:
    """What was read of all memories at one moment.

    Args:
        view: Scores, those of the trial where there is one.
        falls: What each memory passes if nobody touches it, the soonest first.
        truth: In a trial, the status that each memory really has; None where nothing is tried.
    """

    view: DecayView
    falls: Mapping[str, tuple[Fall, ...]]
    truth: Mapping[str, str] | None = None

    def next_fall(self, memory_id: str) -> Fall | None:
        """Return the next threshold that a memory passes; None where there is none."""
        found = self.falls.get(memory_id, ())
        return found[0] if found else None

    @property
    def soonest(self) -> Fall | None:
        """Return what falls next of all."""
        first = (falls[0] for falls in self.falls.values())
        return min(first, key=lambda fall: (fall.days, fall.id), default=None)

    def changed(self, entry: DecayEntry) -> bool:
        """Tell whether a memory would have another status under the rate that is tried."""
        return self.truth is not None and self.truth.get(entry.id, entry.status) != entry.status


class HeatRows(KeyedRows):
    """Memories as rows, under headings where they are grouped.

    Args:
        reading: What was read.
        groups: Headings with their memories; a heading that is None stands for no heading at all.
        course: The engine’s course of one memory’s score; pure.
        frame: What to show of time.
        falling: Whether rows tell when they fall rather than how they stand.

    `coming` is what falls next where nothing is shown of what does, and `near` the group in which to look first for a
    memory that is in several.
    """

    def __init__(
        self,
        reading: Reading,
        groups: Sequence[tuple[Heading | None, Sequence[DecayEntry]]],
        course: Course,
        frame: Frame,
        *,
        falling: bool = False,
    ) -> None:
        self.reading = reading
        self.frame = frame
        self.falling = falling
        self.coming: Fall | None = None
        self._course = course
        self._rows: list[DecayEntry | Heading | None] = []
        self._at: dict[tuple[str, str], int] = {}
        self.near = ""
        keys: list[str] = []
        headings: list[int] = []
        for heading, entries in groups:
            if heading is not None:
                if self._rows:
                    self._rows.append(None)
                headings.append(len(self._rows))
                self._rows.append(heading)
                for entry in entries:
                    self._at[heading.key, entry.id] = len(self._rows)
                    self._rows.append(entry)
            else:
                self._rows.extend(entries)
        keys.extend("" if row is None or isinstance(row, Heading) else row.id for row in self._rows)
        super().__init__(keys, headings)
        # Built here, where nobody waits, rather than when the cursor first looks for its row.
        super().find("")

    def find(self, key: str) -> int | None:
        """Return where a memory is: in the group that was last `near` where it is in several."""
        return self._at.get((self.near, key), super().find(key))

    @property
    def entries(self) -> int:
        """Return how many different memories there are."""
        return len(self._index)

    def entry(self, key: str) -> DecayEntry | None:
        """Return the memory of that id."""
        at = self.find(key)
        row = self._rows[at] if at is not None else None
        return row if row is not None and not isinstance(row, Heading) else None

    def group(self, index: int) -> str:
        """Return the key of the group that a row is in, empty where there are none."""
        at = self.heading(index)
        row = self._rows[at] if at is not None else None
        return row.key if isinstance(row, Heading) else ""

    @property
    def groups(self) -> list[int]:
        """Return the rows that are headings."""
        return list(self._headings)

    def cells_at(self, width: int) -> tuple[int, Window]:
        """Return the column at which the cells of a row of that width begin, and the time that they show."""
        title, cells, _ = self._columns(width)
        return _SIGN + title + 1, _window(self.frame, cells)

    def _columns(self, width: int) -> tuple[int, int, int]:
        """Return the cells for the title, for time, and for what becomes of a memory."""
        if self.falling:
            right = _LONG_FALL_WORDS if width >= _LONG_WORDS_FROM else _FALL_WORDS
            right = right if width >= _WORDS_FROM else _FALL
        elif width < _WORDS_FROM:
            right = _SCORE
        else:
            right = _TRIAL_WORDS if self.reading.truth is not None else _SCORE_WORDS
        title = min(44, max(8, width * 30 // 100))
        cells = width - _SIGN - title - 1 - right
        if cells < _FEWEST_CELLS:
            title = max(4, title - _FEWEST_CELLS + cells)
            cells = max(2, width - _SIGN - title - 1 - right)
        return title, cells, right

    def line(self, index: int, width: int) -> Line:
        """Draw a memory, the heading of a group, or the space before it."""
        row = self._rows[index]
        title, cells, right = self._columns(width)
        window = _window(self.frame, cells)
        if row is None:
            if window.line is None:
                return BLANK
            return (gap(_SIGN + title + 1 + window.line), Span(TODAY_LINE, HAIR))
        if isinstance(row, Heading):
            return _heading_line(row, title, width)
        role = f"store.{store_of_id(row.id)}"
        sign = "◆" if row.pinned else store_sign(row.id)
        *points, now = self._course(self.reading.view, row, (*window.days, 0))
        left: Line = (
            Span(sign, role),
            gap(1),
            column(row.title or row.id, title, "strong" if self._change(row, now) else score_role(now.value)),
            gap(1),
        )
        cells_line = heat_line(points, window, store_of_id(row.id))
        return cut((*left, *cells_line, *self._becomes(row, now, right)), width)

    def _change(self, entry: DecayEntry, now: ScorePoint) -> int:
        """Return by how many statuses a trial would let a memory sink; less than 0 where it would rise."""
        was = (self.reading.truth or {}).get(entry.id, now.status)
        return _RANK.get(now.status, 0) - _RANK.get(was, 0)

    def _becomes(self, entry: DecayEntry, now: ScorePoint, width: int) -> Line:
        """Draw what stands at the right of a row."""
        if self.falling:
            return _fall_words(self.reading.next_fall(entry.id), store_of_id(entry.id), width)
        score: Line = (gap(2), Span(f"{now.value or 0.0:.2f}", "text"))
        if width == _SCORE:
            return score
        if self.reading.truth is None:
            return (*score, gap(2), column(now.status, 8, "faint"))
        change = self._change(entry, now)
        sign = "↘" if change > 0 else "↗" if change < 0 else " "
        return (*score, gap(2), column(f"{sign} {now.status}", 10, "decide" if change else "faint"))


@lru_cache(maxsize=64)
def _window(frame: Frame, cells: int) -> Window:
    return frame.window(cells)


def _heading_line(heading: Heading, title: int, width: int) -> Line:
    name = (
        ink(heading.name, f"store.{heading.store}+strong" if heading.store else "strong", title + _SIGN - 1),
    )
    counts = [(status, heading.counts[status]) for status in STATUSES if heading.counts.get(status)]
    left = (*name, gap(_SIGN + title + 1 - line_width(name)))
    return cut(
        (*left, Span(f"{heading.total:,}", "soft"), gap(3), *counts_line(counts, heading.store)), width
    )


def _fall_words(fall: Fall | None, store: str, width: int) -> Line:
    if fall is None:
        return (gap(width),)
    when = (gap(2), Span(f"in {fall.days:>2} d" if fall.days < 100 else f"{fall.days:>4} d", "text"))
    if width == _FALL:
        return when
    day = f"{fall.on.day:>2} {MONTHS[fall.on.month - 1]}"
    signs: Line = (
        status_sign(fall.before, store),
        Span("→", "faint"),
        status_sign(fall.after, store),
        gap(1),
    )
    words = f"{fall.before} → {fall.after}" if width == _LONG_FALL_WORDS else fall.after
    room = width - line_width(when) - line_width(signs) - 10
    return (*when, gap(2), Span(day, "soft"), gap(2), *signs, column(words, room, "soft"))


def status_counts(entries: Sequence[DecayEntry]) -> Counter[str]:
    """Count memories by their status."""
    return Counter(entry.status for entry in entries)


def shown_half_life(rate: float) -> str:
    """Return the days in which half of a score is gone at a rate above 0, as exactly as one wants to read them."""
    days = half_life(rate)
    return f"{days:,.0f}" if days >= _EXACTLY_BELOW else f"{days:.2g}"
