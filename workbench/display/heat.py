"""Draws scores over time as cells: which day each stands for, how high the score is on it, and where it drops."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Final

from workbench.display.ink import Span
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.display.ink import Line
    from workbench.engine.results.decay import ScorePoint

HEAT_STEPS: Final = 12
HEIGHTS: Final = "▁▂▃▄▅▆▇"
DROP: Final = "▼"
TODAY_LINE: Final = "│"
_STEADY, _UNRECORDED, _UNMADE = "━", "·", " "
_ALIVE: Final = ("active", "fading", "dormant", "archived")
FARTHEST: Final = 3650
"""Days in either direction that can be looked at."""


def heat_role(store: str, score: float | None) -> str:
    """Return the role that has a store's hue, as bright as a score from 0 to 1 is high; None is the dimmest."""
    return f"heat.{store}.{min(HEAT_STEPS - 1, max(0, int((score or 0.0) * HEAT_STEPS)))}"


@dataclass(frozen=True, slots=True)
class Scale:
    """How much time a cell stands for.

    Args:
        name: In words, as it follows “1 cell = ”.
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
        """Return the cell that a day is in, counted from today: the last one not after it."""
        if self.days:
            return days // self.days
        day = today + timedelta(days=days)
        cell = ((day.year - today.year) * 12 + day.month - today.month) // self.months
        return cell if self.day(today, cell) <= day else cell - 1


SCALES: Final = (
    Scale("1 day", 1),
    Scale("2 days", 2),
    Scale("4 days", 4),
    Scale("1 week", 7),
    Scale("2 weeks", 14),
    Scale("1 month", 0, 1),
    Scale("3 months", 0, 3),
)
USUAL_SCALE: Final = 2


@dataclass(frozen=True, slots=True)
class Window:
    """The stretch of time that a row shows.

    Args:
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
        return tuple(
            (self.scale.day(self.today, cell) - self.today).days
            for cell in range(self.first, self.first + self.count)
        )

    @property
    def line(self) -> int | None:
        """Return the column of the line before today, or None where today is out of sight."""
        return -self.first if 0 <= -self.first < self.count else None

    def column(self, cell: int) -> int:
        """Return the column of a cell, which may lie outside."""
        at = cell - self.first
        return at if self.line is None or at < self.line else at + 1


def window_for(today: date, scale: Scale, width: int, cell: int) -> Window:
    """Return the stretch of time to show: a third of it past, moved so far that one cell is in it."""
    count = max(1, width - 1)
    return Window(today, scale, min(max(-(count // 3), cell - count + 1), cell), count)


def heat_line(points: Sequence[ScorePoint], window: Window, store: str, cell: int | None = None) -> Line:
    """Draw a memory's scores as cells: their height and brightness are the score; ▼ where it drops to another status.

    Args:
        points: One for each cell of the window.
        window: Where the cells stand.
        cell: The one that stands out; None for none.

    Returns:
        A line of exactly the window's width.
    """
    cells = [*_cells(points, store)]
    if cell is not None and 0 <= (at := cell - window.first) < len(cells):
        cells[at] = (cells[at][0] if cells[at][0].strip() else _UNRECORDED, "decide.strong")
    if window.line is None:
        cells.append((" ", "rule"))
    else:
        cells.insert(window.line, (TODAY_LINE, "soft"))
    return _joined(cells)


def _cells(points: Sequence[ScorePoint], store: str) -> Iterator[tuple[str, str]]:
    before = ""
    for point in points:
        fell = (
            before in _ALIVE and point.status in _ALIVE and _ALIVE.index(before) < _ALIVE.index(point.status)
        )
        before = point.status
        if fell:
            yield DROP, "strong" if point.days >= 0 else "soft"
        elif point.status == "unmade":
            yield _UNMADE, "rule"
        elif point.status == "unrecorded" or point.value is None:
            yield _UNRECORDED, "faint"
        elif point.status == "pinned":
            yield _STEADY, heat_role(store, 1.0)
        else:
            step = min(len(HEIGHTS) - 1, max(0, int(point.value * len(HEIGHTS))))
            yield HEIGHTS[step], heat_role(store, point.value)


def _joined(cells: Sequence[tuple[str, str]]) -> Line:
    """Return cells, each a sign with its role, as a line in which neighbours that look the same are joined."""
    return tuple(
        Span("".join(sign for sign, _ in run), role) for role, run in groupby(cells, key=lambda cell: cell[1])
    )


def axis_line(window: Window, cell: int) -> Line:
    """Draw what stands above the cells: what begins in them, and the day of the one that one is at.

    Args:
        cell: Its day is told, unless it is today.

    Returns:
        A line of exactly the window's width.
    """
    cells = [(" ", "faint")] * window.width
    if window.line is not None:
        cells[window.line] = (TODAY_LINE, "soft")
    if cell and window.first <= cell < window.first + window.count:
        column, name = window.column(cell), day_name(window.scale.day(window.today, cell), window.today)
        after = column + len(name) + 2 <= len(cells)
        words = f"▾ {name}" if after else f"{name} ▾"
        start = max(0, column if after else column - len(name) - 1)
        words = words[: len(cells) - start]
        cells[start : start + len(words)] = [(sign, "strong") for sign in words]
    before = window.scale.day(window.today, window.first - 1)
    for each in range(window.first, window.first + window.count):
        day = window.scale.day(window.today, each)
        if label := _begins(before, day, window.scale):
            _write(cells, window.column(each), label)
        before = day
    return _joined(cells)


def day_name(day: date, today: date) -> str:
    """Return a day with its weekday, the year only where it is another: “Wed 2 Dec”, “2 Dec 2027”."""
    return f"{day:%a} {day.day} {day:%b}" if day.year == today.year else f"{day.day} {day:%b} {day.year}"


def _begins(before: date, day: date, scale: Scale) -> str:
    """Return the name of what begins after one day and not later than another; empty where nothing does."""
    if scale.days == 1:
        return f"{day.day} {day:%b}" if day.weekday() == 0 else ""
    if day.year != before.year:
        return str(day.year)
    if scale.months > 1:
        return ""
    every = 1 if 0 < scale.days <= 7 else 3 if scale.days else 6
    return f"{day:%b}" if day.month != before.month and (day.month - 1) % every == 0 else ""


def _write(cells: list[tuple[str, str]], at: int, text: str) -> None:
    """Write a text where there is nothing yet, apart from any other; leave it out where there is no room."""
    end = at + len(text)
    taken = "".join(sign for sign, _ in cells[max(0, at - 1) : end + 1]).replace(TODAY_LINE, " ", 1)
    if (
        end <= len(cells)
        and TODAY_LINE not in "".join(sign for sign, _ in cells[at:end])
        and not taken.strip()
    ):
        cells[at:end] = [(sign, "soft") for sign in text]
