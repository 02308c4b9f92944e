"""Draws a history as a ribbon: a lane for each who changed memory, dates, the moment one is at and the one compared."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil, sqrt
from typing import TYPE_CHECKING

from workbench.display.course import HANDS, column_of, counts, whole
from workbench.display.ink import BLANK, Line, Span, column, gap, ink, line_width
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from workbench.display.course import Course, Window

HERE, MARK = "▲", "◇"
_LEVELS = "▂▃▄▅▆▇█"
_NONE = "▁"
_LABELS = 13
_LABELS_FROM = 44
_MARGIN = 2
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
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
# A sign with its words, and the column that they begin at.
_Flag = tuple[int, Line]
# The bars of what has happened by then; what came later steps back.
_LIT = ("text", "text", "text", "soft")
_HANDS_LIT = ("strong", "score.3", "store.semantic", "faint")


@dataclass(frozen=True, slots=True)
class Pointers:
    """Where one is on a ribbon.

    Args:
        mark: The commit it is compared with; None for now.
        here_words: What may stand beside the sign of the one, the longest first.
        signs: Of the one and of the other.
    """

    here: int
    mark: int | None = None
    here_words: tuple[str, ...] = ()
    mark_words: tuple[str, ...] = ()
    signs: tuple[str, str] = (HERE, MARK)


def ribbon_place(width: int, *, lanes: bool = True) -> tuple[int, int]:
    """Return the first column of the ribbon itself, and how many it has, in a drawing so many cells wide."""
    left = _MARGIN + (_LABELS if lanes and width >= _LABELS_FROM else 0)
    return left, max(1, width - left - _MARGIN)


def draw_ribbon(course: Course, window: Window, pointers: Pointers, width: int) -> list[Line]:
    """Draw a history in one line: how much was done when, as bright as the hand that did most of it.

    Returns:
        The bars, and where two moments are compared, the line of the two signs.
    """
    left, cells = ribbon_place(width, lanes=False)
    per_hand = counts(course, window, cells)
    own = tuple(map(sum, zip(*per_hand, strict=True)))
    here = column_of(course, window, cells, pointers.here)
    mark = column_of(course, window, cells, pointers.mark) if pointers.mark is not None else -1
    most = max(1, *own)
    spans = [gap(left)]
    for at, count in enumerate(own):
        hand = max(range(len(per_hand)), key=lambda each, at=at: (per_hand[each][at], -each))  # type: ignore[misc]
        glyph = _LEVELS[ceil(sqrt(count / most) * len(_LEVELS)) - 1] if count else _NONE
        role = (
            "decide.strong"
            if at == here
            else "strong"
            if at == mark
            else _HANDS_LIT[hand]
            if count
            else "rule"
        )
        spans.append(Span(glyph if count or at not in (here, mark) else "│", role))
    bars = (*spans, gap(_MARGIN))
    return [bars] if pointers.mark is None else [bars, _signs(course, window, pointers, left, cells)]


def hands_legend() -> Line:
    """Return what the brightness of a ribbon of one line means."""
    named = (("you", 0), ("agents", 1), ("reflection", 2), ("upkeep", 3))
    spans = [(Span(f"{name} ", "faint"), Span("█ ", _HANDS_LIT[hand])) for name, hand in named]
    return tuple(span for pair in spans for span in pair)


def draw_scrubber(
    course: Course,
    window: Window,
    pointers: Pointers,
    width: int,
    zone: tzinfo | None,
    *,
    lanes: bool = True,
    hands: tuple[str, ...] = HANDS,
) -> list[Line]:
    """Draw a history.

    Args:
        course: With one commit at least.
        pointers: Where one is.
        width: Cells; every line takes exactly as many, or fewer at its end.
        lanes: A lane for each hand; else all of them in one.
        hands: What each is called.

    Returns:
        The lanes, the line of the two signs, and the line of dates.
    """
    left, cells = ribbon_place(width)
    per_hand = counts(course, window, cells)
    marks = {
        column_of(course, window, cells, at): role
        for at, role in ((pointers.mark, "strong"), (pointers.here, "decide.strong"))
        if at is not None
    }
    here = column_of(course, window, cells, pointers.here)
    if lanes:
        shown = [
            (name, own, _LIT[hand])
            for hand, (name, own) in enumerate(zip(hands, per_hand, strict=True))
            if course.sums[hand][-1]
        ]
    else:
        shown = [("changes", tuple(map(sum, zip(*per_hand, strict=True))), "text")]
    most = max(1, *(count for _, own, _ in shown for count in own))
    lines: list[Line] = []
    for name, own, role in shown:
        lead = (gap(_MARGIN), *((column(name, _LABELS, "soft"),) if left > _MARGIN else ()))
        lines.append((*lead, *_bars(own, most, here, marks, role)))
    lines.append(_signs(course, window, pointers, left, cells))
    dates = _dates(window, left, cells, zone)
    lines.append(_with_arrows(dates, course, window, left, cells))
    return lines


def _bars(own: tuple[int, ...], most: int, here: int, marks: dict[int, str], role: str) -> Line:
    spans: list[Span] = []
    for at, count in enumerate(own):
        # By the root, so that one day of many changes does not flatten all the others.
        glyph = _LEVELS[ceil(sqrt(count / most) * len(_LEVELS)) - 1] if count else _NONE
        look = (role if at <= here else "faint") if count else "rule"
        if at in marks:
            glyph, look = (glyph if count else "│"), marks[at]
        if spans and spans[-1].role == look:
            spans[-1] = Span(spans[-1].text + glyph, look)
        else:
            spans.append(Span(glyph, look))
    return tuple(spans)


def _signs(course: Course, window: Window, pointers: Pointers, left: int, cells: int) -> Line:
    """Draw the two signs, each with as many words as there is room for beside the other; those of the present win."""
    here = column_of(course, window, cells, pointers.here)
    mark = column_of(course, window, cells, pointers.mark) if pointers.mark is not None else -1
    ours = _flags(max(0, min(here, cells - 1)), cells, pointers.signs[0], pointers.here_words, "decide")
    flags = [ours[0]]
    if 0 <= mark < cells and mark != here:
        theirs = _flags(mark, cells, pointers.signs[1], pointers.mark_words, "soft")
        pairs = ((one, other) for one in ours for other in theirs)
        flags = list(next((pair for pair in pairs if _apart(*pair)), (ours[-1], theirs[-1])))
    line: Line = (gap(left),)
    for start, spans in sorted(flags, key=lambda flag: flag[0]):
        line = (*line, gap(left + start - line_width(line)), *spans)
    return line


def _apart(one: _Flag, other: _Flag) -> bool:
    first, second = sorted((one, other), key=lambda flag: flag[0])
    return first[0] + line_width(first[1]) < second[0]


def _flags(at: int, cells: int, sign: str, words: tuple[str, ...], role: str) -> list[_Flag]:
    """Return a sign with its words at its right and at its left, as far as there is room, and last the bare sign."""
    mark = Span(sign, "decide.strong" if role == "decide" else "strong")
    found: list[_Flag] = []
    for each in words:
        said = ink(each, role)
        size = line_width((said,))
        if at + 2 + size <= cells:
            found.append((at, (mark, gap(1), said)))
        if at - 1 - size >= 0:
            found.append((at - 1 - size, (said, gap(1), mark)))
    return [*found, (at, (mark,))]


def _dates(window: Window, left: int, cells: int, zone: tzinfo | None) -> Line:
    line: Line = (gap(left),)
    for at, words in dates_below(window, cells, zone):
        line = (*line, gap(left + at - line_width(line)), Span(words, "faint"))
    return line


def _with_arrows(dates: Line, course: Course, window: Window, left: int, cells: int) -> Line:
    """Say at either end that the history goes on beyond what is shown."""
    everything = whole(course)
    if window.first > everything.first and left > 1:
        dates = (gap(left - 2), Span("‹ ", "soft"), *dates[1:])
    if window.last < everything.last:
        dates = (*dates, gap(left + cells - line_width(dates)), Span(" ›", "soft"))
    return dates or BLANK


def dates_below(window: Window, width: int, zone: tzinfo | None) -> list[tuple[int, str]]:
    """Return the dates that fit below a ribbon.

    Args:
        window: The stretch of time it shows.

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
    for beginning in (f"{first.day} {MONTHS[first.month - 1]} {first.year}", _day_and_month(first)):
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
        return _day_and_month(tick)
    return f"{tick:%H:%M}"


def _day_and_month(day: datetime) -> str:
    return f"{day.day} {MONTHS[day.month - 1]}"
