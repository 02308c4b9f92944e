"""Writes dates below a ribbon of time, as close as they fit."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from workbench.tui.views.dates import MONTHS, day_and_month, long_day

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from workbench.tui.drawing.course import Window

_MINUTE, _HOUR, _DAY, _MONTH, _YEAR = "minute", "hour", "day", "month", "year"
# Steps from fine to coarse: unit, how many, about how many seconds, cells that a label takes at most.
_STEPS = (
    (_MINUTE, 1, 60, 6), (_MINUTE, 5, 300, 6), (_MINUTE, 15, 900, 6),
    (_HOUR, 1, 3600, 6), (_HOUR, 3, 10_800, 6), (_HOUR, 6, 21_600, 6), (_HOUR, 12, 43_200, 6),
    (_DAY, 1, 86_400, 6), (_DAY, 2, 172_800, 6), (_DAY, 7, 604_800, 6), (_DAY, 14, 1_209_600, 6),
    (_MONTH, 1, 2_592_000, 4), (_MONTH, 3, 7_776_000, 4), (_MONTH, 6, 15_552_000, 4),
    (_YEAR, 1, 31_536_000, 5), (_YEAR, 5, 157_680_000, 5), (_YEAR, 10, 315_360_000, 5), (_YEAR, 50, 1_576_800_000, 5),
)  # fmt: skip
_BETWEEN = 3
_MOST = 400


def dates_below(window: Window, width: int, zone: tzinfo | None) -> list[tuple[int, str]]:
    """Return the dates that fit below a ribbon.

    Args:
        window: The stretch of time it shows.
        width: Cells.
        zone: In which days begin.

    Returns:
        Column and words, from the left; they never touch, and each ends within the width.
    """
    unit, count, _, _ = next(
        (step for step in _STEPS if step[2] * width // window.span >= step[3] + _BETWEEN), _STEPS[-1]
    )
    placed: list[tuple[int, str]] = []
    free = 0
    first = _local(window.first, zone)
    if first is None:
        return []
    for tick in _ticks(first, unit, count):
        column = window.column(int(tick.timestamp()), width)
        if column >= width:
            break
        label = _label(tick, unit)
        if column >= free and column + len(label) <= width:
            placed.append((column, label))
            free = column + len(label) + 2
    for beginning in (long_day(first), day_and_month(first)):
        if len(beginning) <= (placed[0][0] - 2 if placed else width):
            return [(0, beginning), *placed]
    return placed


def _local(second: int, zone: tzinfo | None) -> datetime | None:
    try:
        return datetime.fromtimestamp(second, zone)
    except (OverflowError, OSError, ValueError):
        return None


def _ticks(first: datetime, unit: str, count: int) -> Iterator[datetime]:
    """Yield the beginnings of units from one moment on."""
    tick = _begun(first, unit, count)
    for _ in range(_MOST):
        if tick >= first:
            yield tick
        following = _next(tick, unit, count)
        if following is None or following <= tick:
            return
        tick = following


def _begun(moment: datetime, unit: str, count: int) -> datetime:
    start = moment.replace(second=0, microsecond=0)
    if unit == _MINUTE:
        return start.replace(minute=start.minute - start.minute % count)
    if unit == _HOUR:
        return start.replace(minute=0, hour=start.hour - start.hour % count)
    start = start.replace(hour=0, minute=0, fold=0)
    if unit == _DAY:
        return start
    if unit == _MONTH:
        return start.replace(day=1, month=1 + (start.month - 1) // count * count)
    return start.replace(day=1, month=1, year=max(1, start.year - start.year % count))


def _next(tick: datetime, unit: str, count: int) -> datetime | None:
    try:
        if unit in (_MINUTE, _HOUR):
            return tick + timedelta(**{f"{unit}s": count})
        if unit == _DAY:
            return tick.replace(fold=0) + timedelta(count)
        months = tick.month - 1 + (count if unit == _MONTH else 12 * count)
        return tick.replace(year=tick.year + months // 12, month=months % 12 + 1)
    except (OverflowError, ValueError):
        return None


def _label(tick: datetime, unit: str) -> str:
    month = MONTHS[tick.month - 1]
    if unit == _YEAR or (unit == _MONTH and tick.month == 1):
        return str(tick.year)
    if unit == _MONTH:
        return month
    if unit == _DAY or (tick.hour == 0 and tick.minute == 0):
        return day_and_month(tick)
    return f"{tick:%H:%M}"
