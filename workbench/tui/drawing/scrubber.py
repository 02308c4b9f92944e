"""Draws a history as a ribbon: a lane for each who changed memory, dates, the moment one is at and the one compared."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING

from workbench.display.ink import BLANK, Line, Span, column, gap, ink, line_width
from workbench.tui.drawing.course import HANDS, column_of, counts, whole
from workbench.tui.drawing.dates_below import dates_below

if TYPE_CHECKING:
    from datetime import tzinfo

    from workbench.tui.drawing.course import Course, Window

HERE, MARK = "▲", "◇"
_LEVELS = "▂▃▄▅▆▇█"
_NONE = "▁"
_LABELS = 13
_LABELS_FROM = 44
_MARGIN = 2
# A sign with its words, and the column that they begin at.
_Flag = tuple[int, Line]
# The bars of what has happened by then; what came later steps back.
_LIT = ("text", "text", "text", "soft")


@dataclass(frozen=True, slots=True)
class Pointers:
    """Where one is on a ribbon.

    Args:
        here: The commit shown.
        mark: The commit it is compared with; None for now.
        here_words: What may stand beside the sign of the one, the longest first.
        mark_words: Likewise for the other.
    """

    here: int
    mark: int | None = None
    here_words: tuple[str, ...] = ()
    mark_words: tuple[str, ...] = ()


def ribbon_place(width: int) -> tuple[int, int]:
    """Return the first column of the ribbon itself, and how many it has, in a drawing so many cells wide."""
    left = _MARGIN + (_LABELS if width >= _LABELS_FROM else 0)
    return left, max(1, width - left - _MARGIN)


def draw_scrubber(
    course: Course, window: Window, pointers: Pointers, width: int, zone: tzinfo | None, *, lanes: bool = True
) -> list[Line]:
    """Draw a history.

    Args:
        course: With one commit at least.
        window: The stretch of time shown.
        pointers: Where one is.
        width: Cells; every line takes exactly as many, or fewer at its end.
        zone: In which days begin.
        lanes: A lane for each hand; else all of them in one.

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
            for hand, (name, own) in enumerate(zip(HANDS, per_hand, strict=True))
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
    ours = _flags(max(0, min(here, cells - 1)), cells, HERE, pointers.here_words, "decide")
    flags = [ours[0]]
    if 0 <= mark < cells and mark != here:
        theirs = _flags(mark, cells, MARK, pointers.mark_words, "soft")
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
