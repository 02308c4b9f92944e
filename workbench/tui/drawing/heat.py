"""Draws scores over time: which day each cell of a row stands for, the axis above them, and the cells themselves."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Final

from workbench.display.ink import Line, Span, gap
from workbench.tui.palette import heat_role
from workbench.tui.views.dates import MONTHS, day_and_month, weekday_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.results.decay import ScorePoint

GLYPHS: Final = {
    "active": "▇",
    "fading": "▅",
    "dormant": "▃",
    "archived": "▁",
    "pinned": "━",
    "unrecorded": "╌",
    "unmade": " ",
}
"""What a cell shows for each status, so that its colour is never the only sign."""
MIDDLING: Final = {"active": 0.85, "fading": 0.5, "dormant": 0.3, "archived": 0.1}
"""A score for each status, for glyphs that stand for no memory in particular; what is pinned has the highest."""
HAIR: Final = heat_role("file", 0.0)
"""The role of hair lines; not that of spaces, with which drawers of exported screens would run them together."""
FALL: Final = "▾"
TODAY_LINE: Final = "│"
_ALIVE: Final = ("active", "fading", "dormant", "archived")
_TODAY: Final = "today"
_MID_MONTH: Final = 15
# Days in either direction that can be looked at.
FARTHEST: Final = 3650


@dataclass(frozen=True, slots=True)
class Scale:
    """How much time a cell stands for.

    Args:
        name: In words, as it follows “a cell is”.
        days: From one cell to the next; 0 where it is calendar months.
        months: From one cell to the next.
    """

    name: str
    days: int
    months: int = 0

    def day(self, today: date, cell: int) -> date:
        """Return the day that a cell stands for; cell 0 is today."""
        if self.days:
            return today + timedelta(days=cell * self.days)
        months = today.year * 12 + today.month - 1 + cell * self.months
        year, month = divmod(months, 12)
        return date(year, month + 1, min(today.day, monthrange(year, month + 1)[1]))

    def cell(self, today: date, days: int) -> int:
        """Return the cell that a day is in: the last one not after it.

        Args:
            today: The day of cell 0.
            days: The day, counted from today.
        """
        if self.days:
            return days // self.days
        day = today + timedelta(days=days)
        cell = ((day.year - today.year) * 12 + day.month - today.month) // self.months
        return cell if self.day(today, cell) <= day else cell - 1


SCALES: Final = (
    Scale("a day", 1),
    Scale("3 days", 3),
    Scale("a week", 7),
    Scale("2 weeks", 14),
    Scale("a month", 0, 1),
    Scale("3 months", 0, 3),
)


@dataclass(frozen=True, slots=True)
class Window:
    """The stretch of time that a row shows.

    Args:
        today: In the workspace’s zone.
        scale: Of its cells.
        first: Its leftmost cell, counted from today.
        count: How many cells there are, at least 1.
    """

    today: date
    scale: Scale
    first: int
    count: int

    @property
    def width(self) -> int:
        """Return the columns it takes: its cells, and the line that stands before today."""
        return self.count + 1

    @property
    def days(self) -> tuple[int, ...]:
        """Return the day of each cell, counted from today."""
        return tuple(self.offset(cell) for cell in range(self.first, self.first + self.count))

    @property
    def line(self) -> int | None:
        """Return the column of the line before today, or None where today is out of sight."""
        return -self.first if 0 <= -self.first < self.count else None

    def offset(self, cell: int) -> int:
        """Return the day of a cell, counted from today."""
        return (self.scale.day(self.today, cell) - self.today).days

    def column(self, cell: int) -> int:
        """Return the column of a cell, which may lie outside."""
        at = cell - self.first
        return at if self.line is None or at < self.line else at + 1

    def cell_at(self, column: int) -> int | None:
        """Return the cell at a column; the line belongs to today; None outside."""
        at = column if self.line is None or column <= self.line else column - 1
        return self.first + at if 0 <= at < self.count and column >= 0 else None


def window_for(today: date, scale: Scale, width: int, cell: int) -> Window:
    """Return the stretch of time to show: a quarter of it past, moved so far that one cell is in it.

    Args:
        today: In the workspace’s zone.
        scale: Of the cells.
        width: Columns there are.
        cell: That must be in sight.
    """
    count = max(1, width - 1)
    first = min(max(-(count // 4), cell - count + 1), cell)
    return Window(today, scale, first, count)


def heat_line(points: Sequence[ScorePoint], window: Window, store: str) -> Line:
    """Draw a memory’s scores as cells: their brightness is the score, their glyph the status.

    Args:
        points: One for each cell of the window.
        window: Where the cells stand.
        store: Whose hue they have.

    Returns:
        A line of exactly the window’s width.
    """
    cells = [*_cells(points, store)]
    if window.line is None:
        cells.append((" ", "rule"))
    else:
        cells.insert(window.line, (TODAY_LINE, "soft"))
    return join_cells(cells)


def _cells(points: Sequence[ScorePoint], store: str) -> Iterator[tuple[str, str]]:
    before = ""
    for point in points:
        fell = (
            before in _ALIVE and point.status in _ALIVE and _ALIVE.index(before) < _ALIVE.index(point.status)
        )
        before = point.status
        if fell:
            yield FALL, "strong" if point.days >= 0 else "soft"
        elif point.status == "unrecorded":
            yield GLYPHS["unrecorded"], HAIR
        else:
            yield GLYPHS.get(point.status, "?"), heat_role(store, point.value)


def join_cells(cells: Sequence[tuple[str, str]]) -> Line:
    """Return cells, each a glyph with its role, as a line in which neighbours that look the same are joined."""
    return tuple(
        Span("".join(glyph for glyph, _ in run), role)
        for role, run in groupby(cells, key=lambda cell: cell[1])
    )


def axis_lines(window: Window, cell: int) -> tuple[Line, Line]:
    """Draw the axis over the cells: dates where they begin, and below them the day of one cell.

    Args:
        window: What the rows below show.
        cell: The one whose day is told.

    Returns:
        Two lines of exactly the window’s width.
    """
    dates = [(" ", "faint")] * window.width
    ruler = [("─", HAIR)] * window.width
    if (line := window.line) is not None:
        at = line - len(_TODAY) if line >= len(_TODAY) else line + 1
        _write(dates, at, _TODAY, "strong")
        dates[line] = ruler[line] = (TODAY_LINE, "soft")
    for each, label in date_labels(window):
        column = window.column(each)
        ruler[column] = ("┬", "faint")
        _write(dates, column, label, "soft")
    _tell_day(ruler, window, cell)
    return join_cells(dates), join_cells(ruler)


def date_labels(window: Window) -> list[tuple[int, str]]:
    """Return the cells at which something of the calendar begins, with its name: a week, a month or a year.

    Where cells are days enough for it, the middle of a month is among them, without a name.
    """
    found: list[tuple[int, str]] = []
    before = window.scale.day(window.today, window.first - 1)
    for cell in range(window.first, window.first + window.count):
        day = window.scale.day(window.today, cell)
        if label := _begins(before, day, window.scale):
            found.append((cell, label))
        elif 1 < window.scale.days <= 7 and before.day < _MID_MONTH <= day.day:
            found.append((cell, ""))
        before = day
    return found


def _begins(before: date, day: date, scale: Scale) -> str:
    """Return the name of what begins after one day and not later than another; empty where nothing does."""
    if scale.days == 1:
        return day_and_month(day) if day.weekday() == 0 else ""
    if day.year != before.year:
        return str(day.year)
    if scale.months > 1:
        return ""
    every = 1 if 0 < scale.days <= 7 else 3 if scale.days else 6
    begins = day.month != before.month and (day.month - 1) % every == 0
    return MONTHS[day.month - 1] if begins else ""


def _write(cells: list[tuple[str, str]], at: int, text: str, role: str) -> None:
    """Write a text where there is nothing yet, apart from any other; leave it out where there is no room."""
    end = at + len(text)
    taken = "".join(glyph for glyph, _ in cells[max(0, at - 1) : end + 1]).strip(TODAY_LINE)
    if end > len(cells) or taken.strip():
        return
    cells[at:end] = [(glyph, role) for glyph in text]


def _tell_day(ruler: list[tuple[str, str]], window: Window, cell: int) -> None:
    """Point at a cell and write its day beside it."""
    column = window.column(cell)
    if not 0 <= column < len(ruler):
        return
    name = weekday_name(window.scale.day(window.today, cell), window.today)
    after = column + len(name) + 2 <= len(ruler)
    words = f"▼ {name}" if after else f"{name} ▼"
    start = column if after else max(0, column - len(name) - 1)
    ruler[start : start + len(words)] = [(glyph, "strong") for glyph in words][: len(ruler) - start]


def status_sign(status: str, store: str) -> Span:
    """Return the glyph of a status in the hue of a store."""
    return Span(GLYPHS[status], heat_role(store, MIDDLING.get(status, 1.0)))


def counts_line(counts: Sequence[tuple[str, int]], store: str) -> Line:
    """Write how many memories have each status, with the glyphs that the cells show for it.

    Args:
        counts: Status and how many, in the order to show; none is left out here.
        store: Whose hue the glyphs have.
    """
    spans: list[Span] = []
    for status, count in counts:
        sign = status_sign(status, store)
        spans += [gap(2 if spans else 0), sign, Span(f" {count:,}", "faint")]
    return tuple(spans)
