"""Explains one cell of the heatmap: the score of a memory on one day, what makes it, and what it falls below next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Line, Span, column, cut, gap, ink, line_width, spread
from workbench.engine.clock import in_zone
from workbench.tui.drawing.heat import GLYPHS, HAIR, axis_lines, status_sign, window_for
from workbench.tui.drawing.heat_curve import LABELS, curve_lines
from workbench.tui.palette import heat_role
from workbench.tui.views.dates import long_day, weekday_name
from workbench.tui.views.decay_rows import shown_half_life
from workbench.tui.views.memory import known_lines, markdown_lines, section, store_of_id, store_sign

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime

    from workbench.engine.results.decay import DecayEntry, DecayView, Fall
    from workbench.engine.results.memories import Score
    from workbench.tui.bench import Memory
    from workbench.tui.views.decay_rows import Course, Frame, Reading

_BAR: Final = 24
_WIDEST: Final = 64
_BESIDE_BAR: Final = 18
_CURVE_ROWS: Final = 6


@dataclass(frozen=True)
class Cell:
    """A cell to explain.

    Args:
        entry: The memory.
        reading: What was read.
        frame: With the day one is at.
        score: On the day of the cell; None where it is not known.
        course: The engine’s course of one memory’s score.
        memory: All that is known about it, once that was read.
    """

    entry: DecayEntry
    reading: Reading
    frame: Frame
    score: Score | None
    course: Course
    memory: Memory | None

    @property
    def store(self) -> str:
        """Return the store whose hue it has."""
        return store_of_id(self.entry.id)

    @property
    def stands_still(self) -> bool:
        """Tell whether its score is the same on every day."""
        return self.entry.archived or self.entry.pinned or self.entry.type_weight is None

    @property
    def days(self) -> int:
        """Return the day of the cell, counted from today."""
        return (self.date - self.frame.today).days

    @property
    def date(self) -> date:
        """Return the day of the cell."""
        return self.frame.scale.day(self.frame.today, self.frame.cell)


def cell_lines(cell: Cell, width: int) -> list[Line]:
    """Draw everything about a cell, and below it the memory itself."""
    entry = cell.entry
    title = wrap(entry.title or entry.id, max(8, width - 2), limit=2)
    role = f"store.{cell.store}"
    lines: list[Line] = [
        (Span(f"{store_sign(entry.id)} " if at == 0 else "  ", role), Span(each, f"{role}+strong"))
        for at, each in enumerate(title)
    ]
    lines += [BLANK, *_day_lines(cell, width)]
    if not cell.stands_still:
        lines += [BLANK, *_curve(cell, width)]
    if cell.score is not None:
        lines += [BLANK, *_score_lines(cell, cell.score, width)]
    lines += _falls_lines(cell, width)
    if cell.memory is not None:
        lines += [BLANK, (Span("─" * min(width, _WIDEST), HAIR),), BLANK]
        lines += markdown_lines(cell.memory.text, width)
        lines += known_lines(replace(cell.memory, score=None), width)
    return lines


def _day_lines(cell: Cell, width: int) -> list[Line]:
    """Tell which day it is, and how alive the memory is on it."""
    name = weekday_name(cell.date, cell.frame.today)
    days = cell.days
    away = "today" if days == 0 else f"in {_days(days)}" if days > 0 else f"{_days(-days)} ago"
    trial: Line = (Span(" trial ", "here"),) if cell.reading.truth is not None else ()
    lines: list[Line] = [spread((ink(name, "strong"), gap(2), Span(away, "soft")), trial, width)]
    if cell.score is None:
        return lines + [(Span(each, "soft"),) for each in wrap(_unknown(cell), width)]
    value, status = cell.score.value, cell.score.status
    size = max(4, min(_BAR, width - _BESIDE_BAR))
    filled = round(size * value)
    bar = (
        Span("━" * filled, heat_role(cell.store, value)),
        Span("─" * (size - filled), HAIR),
        gap(2),
        Span(f"{value:.2f}", "strong"),
        gap(2),
        status_sign(status, cell.store),
        Span(f" {status}", "soft"),
    )
    return [*lines, cut(bar, width)]


def _unknown(cell: Cell) -> str:
    """Say why there is no score on a day."""
    made, last = (_local(each, cell) for each in (cell.entry.created, cell.entry.last_accessed))
    today = cell.frame.today
    if cell.date < made:
        return f"Not made yet: that was on {weekday_name(made, today)}."
    return (
        f"{GLYPHS['unrecorded']} Not recorded before its last use on {weekday_name(last, today)}: "
        "only the last use of a memory is kept, and the score follows from it."
    )


def _local(moment: datetime, cell: Cell) -> date:
    """Return the day of a moment where the workspace is."""
    return in_zone(moment, cell.reading.view.now.tzinfo).date()


def _curve(cell: Cell, width: int) -> list[Line]:
    """Draw the score over time, in the same scale as the cells."""
    view = cell.reading.view
    window = window_for(cell.frame.today, cell.frame.scale, min(width, 2 * _WIDEST) - LABELS, cell.frame.cell)
    points = cell.course(view, cell.entry, window.days)
    thresholds = (view.active_threshold, view.fading_threshold, view.archive_threshold)
    curve = curve_lines(
        points, window, thresholds, store=cell.store, height=_CURVE_ROWS, cell=cell.frame.cell
    )
    dates, ruler = axis_lines(window, cell.frame.cell)
    return [*curve, ruler, dates]


def _score_lines(cell: Cell, score: Score, width: int) -> list[Line]:
    """Write the formula out with its numbers."""
    terms = score.terms
    if terms.get("archived"):
        return _flowing(
            "Archived by hand: its score is 0 until it is restored, whatever the formula says.", width
        )
    if terms.get("typeWeight") is None:
        return _flowing(f"What is in the {cell.entry.store} never decays.", width)
    if terms.get("pinned"):
        return _flowing("Pinned: it never decays; p lets go of it.", width)
    days, count = int(_number(terms, "days")), int(_number(terms, "accessCount"))
    rate = _number(terms, "lambda")
    used = "used once" if count == 1 else f"used {count:,} times"
    base, weight = _number(terms, "base"), _number(terms, "typeWeight")
    factors = (
        ("base", base, "of its source"),
        (f"× e^(−{rate:g} × {days:,})", _number(terms, "decay"), f"unused {days:,} d"),
        (f"× log₂({count:,} + 1)", _number(terms, "reinforcement"), used),
        (f"× {weight:g}", weight, cell.entry.store),
    )
    size = max(len(name) for name, _, _ in factors) + 1
    lines: list[Line] = [
        cut((column(name, size, "text"), Span(f"{value:>6.4f}", "soft"), gap(2), ink(why, "faint")), width)
        for name, value, why in factors
    ]
    capped = "counts as 1" if score.raw > 1 else ""
    total: Line = (
        column("= score", size, "strong"), Span(f"{score.raw:>6.4f}", "strong"), gap(2), ink(capped, "faint")
    )  # fmt: skip
    return [*lines, cut(total, width)]


def _falls_lines(cell: Cell, width: int) -> list[Line]:
    """Tell what its status comes from, and what it falls below after the day of the cell."""
    view = cell.reading.view
    half = f"{shown_half_life(view.lambda_)} days" if view.lambda_ > 0 else "no time: nothing decays"
    lines: list[Line] = section("What comes")
    if cell.stands_still:
        lines += _flowing("Nothing: its score stays as it is.", width, "text")
    else:
        coming = [each for each in cell.reading.falls.get(cell.entry.id, ()) if each.days > cell.days]
        lines += [_fall_line(each, cell, width) for each in coming]
        if not coming:
            lines += _flowing("It falls below no other threshold.", width, "text")
    if not cell.stands_still:
        lines += _flowing(f"Half of a score is gone in {half}, at λ {view.lambda_:g} a day.", width)
    lines += _flowing(_thresholds(view), width)
    return lines


def _fall_line(fall: Fall, cell: Cell, width: int) -> Line:
    line: Line = (
        status_sign(fall.before, cell.store),
        Span("→", "faint"),
        status_sign(fall.after, cell.store),
        gap(1),
        column(fall.after, 9, "text"),
        Span(f"in {fall.days:>3,} d", "soft"),
        Span(f"  {long_day(fall.on):>11}", "soft"),
    )
    whole = (*line, Span(f"  below {fall.threshold:g}", "faint"))
    return whole if line_width(whole) <= width else cut(line, width)


def _thresholds(view: DecayView) -> str:
    return (
        f"Active from {view.active_threshold:g}, fading from {view.fading_threshold:g}, dormant from "
        f"{view.archive_threshold:g}; archived below."
    )


def _flowing(text: str, width: int, role: str = "faint") -> list[Line]:
    return [(Span(each, role),) for each in wrap(text, min(width, _WIDEST))]


def _number(terms: Mapping[str, object], name: str) -> float:
    """Return a term that is a number."""
    value = terms.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _days(count: int) -> str:
    return f"{count:,} day{'s' * (count != 1)}"
