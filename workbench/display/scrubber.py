"""Draws history as a ribbon: a lane per actor, dates, the current moment, and the one it is compared with.

Commits stand on it in the order of history, by time, whatever the clocks said.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from datetime import datetime, timedelta
from itertools import accumulate, pairwise
from math import ceil, sqrt
from typing import TYPE_CHECKING

from workbench.display.ink import BLANK, Line, Span, column, gap, ink, line_width
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

# Who changes memory, in the order of their lanes.
PEOPLE, AGENTS, REFLECTION, UPKEEP = range(4)
HANDS = ("people", "agents", "reflection", "upkeep")
_STARTS = {"manual": PEOPLE, "reflection:": REFLECTION, "bot:reflection": REFLECTION, "system:": UPKEEP}
# A window on the ribbon is never shorter than this, in seconds.
_SHORTEST = 60
_NEAREST_SHARE = 3
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


def hand_of(actor: str) -> int:
    """Return whose hand an actor is: people, agents, reflection, or the system’s upkeep."""
    return next((hand for start, hand in _STARTS.items() if actor.startswith(start)), AGENTS)


@dataclass(frozen=True)
class Course:
    """A history prepared for a ribbon; all columns are equally long.

    Args:
        commits: Full hashes, oldest first.
        seconds: What the clock said at each, seconds since 1970.
        actors: Who made each.
        places: Where each stands, seconds since 1970; never steps back.
        hands: Whose hand made each.
        sums: For each hand, how many commits before each place are its own; one longer than the others.
    """

    commits: tuple[str, ...]
    seconds: Sequence[int]
    actors: tuple[str, ...]
    places: Sequence[int]
    hands: bytes
    sums: tuple[array[int], ...]

    def __len__(self) -> int:
        return len(self.commits)

    def last_before(self, second: float) -> int:
        """Return the newest commit that stands before a second; the first one where none does."""
        return max(0, bisect_left(self.places, second) - 1)

    def find(self, commit: str) -> int | None:
        """Return the place of a commit, given its hash or the start of it; None if it is not on the ribbon."""
        return next((at for at, name in enumerate(self.commits) if name.startswith(commit)), None)


def prepare_course(commits: Sequence[str], seconds: Sequence[int], actors: Sequence[str]) -> Course:
    """Prepare a history for a ribbon; takes n log n.

    Args:
        commits: Full hashes, oldest first.
        seconds: When each was made, seconds since 1970; may step back.
        actors: Who made each.
    """
    known = {actor: hand_of(actor) for actor in set(actors)}
    hands = bytes([known[actor] for actor in actors])
    # A byte for each commit: 1 where it is of that hand.
    own = [hands.translate(bytes(each == hand for each in range(256))) for hand in range(len(HANDS))]
    sums = tuple(array("L", accumulate(each, initial=0)) for each in own)
    times, places = array("q", seconds), array("q", _never_back(seconds))
    return Course(tuple(commits), times, tuple(actors), places, hands, sums)


def _never_back(seconds: Sequence[int]) -> Sequence[int]:
    """Let times never step back while as many as can be stay as they are; the others stand where the one before does.

    So one commit of a clock that was years off moves nothing but itself.
    """
    if all(earlier <= later for earlier, later in pairwise(seconds)):
        return tuple(seconds)
    # The longest run that never steps back: `ends[k]` is the commit that the best run of k + 1 commits ends with.
    ends: list[int] = []
    values: list[int] = []
    before = [-1] * len(seconds)
    for at, second in enumerate(seconds):
        length = len(values) if not values or second >= values[-1] else bisect_right(values, second)
        before[at] = ends[length - 1] if length else -1
        if length == len(ends):
            ends.append(at)
            values.append(second)
        else:
            ends[length], values[length] = at, second
    kept = set()
    at = ends[-1]
    while at >= 0:
        kept.add(at)
        at = before[at]
    place = values[0] if not kept else seconds[min(kept)]
    places = []
    for at, second in enumerate(seconds):
        if at in kept:
            place = second
        places.append(place)
    return tuple(places)


@dataclass(frozen=True, slots=True)
class Window:
    """The stretch of time that a ribbon shows, seconds since 1970, both ends included."""

    first: int
    last: int

    @property
    def span(self) -> int:
        """Return its length in seconds, at least 1."""
        return max(1, self.last - self.first + 1)

    def edge(self, column: int, width: int) -> int:
        """Return the first second of a column of a ribbon so many cells wide."""
        return self.first - (-column * self.span // width)

    def column(self, second: int, width: int) -> int:
        """Return the column that a second stands in; beyond 0 and `width` where the window does not show it."""
        return (second - self.first) * width // self.span


def whole(course: Course) -> Window:
    """Return the window on all of a history."""
    return Window(course.places[0], course.places[-1]) if len(course) else Window(0, 0)


def zoomed(course: Course, window: Window, around: int, closer: bool) -> Window:
    """Return a window half or twice as long in which a commit keeps its place, within the history.

    Args:
        around: The commit to keep in sight.
        closer: Half as long; else twice.
    """
    everything = whole(course)
    span = window.span // 2 if closer else window.span * 2 + 1
    if span >= everything.span:
        return everything
    if span < _SHORTEST:
        return window
    here = course.places[around]
    share = (here - window.first) / window.span
    kept = min(round(share * span), span - 1) if 0 <= share <= 1 else span // 2
    return _within(everything, here - kept, span)


def followed(course: Course, window: Window, at: int) -> Window:
    """Return the window moved just so far that a commit is in sight."""
    here = course.places[at]
    if window.first <= here <= window.last:
        return window
    margin = window.span // _NEAREST_SHARE
    first = here - margin if here < window.first else here - window.span + 1 + margin
    return _within(whole(course), first, window.span)


def _within(everything: Window, first: int, span: int) -> Window:
    first = max(everything.first, min(first, everything.last - span + 1))
    return Window(first, first + span - 1)


def column_of(course: Course, window: Window, width: int, at: int) -> int:
    """Return the column of a commit; below 0 or from `width` on where the window does not show it."""
    return window.column(course.places[at], width)


def commit_in(course: Course, window: Window, width: int, column: int) -> int:
    """Return the commit that a column means: its last, or the one before it where it has none."""
    column = max(0, min(column, width - 1))
    return course.last_before(window.edge(column + 1, width))


def counts(course: Course, window: Window, width: int) -> tuple[tuple[int, ...], ...]:
    """Return for each hand how many commits stand in each column."""
    edges = [bisect_left(course.places, window.edge(column, width)) for column in range(width + 1)]
    return tuple(
        tuple(own[edges[column + 1]] - own[edges[column]] for column in range(width)) for own in course.sums
    )


@dataclass(frozen=True, slots=True)
class Pointers:
    """Where one is on a ribbon.

    Args:
        mark: The commit it is compared with; None for now.
        here_words: What may stand beside the sign of the one, the longest first.
        signs: Of the one and of the other.
    """

    here: int
    mark: int | None
    here_words: tuple[str, ...]
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
    hands: tuple[str, ...] = HANDS,
) -> list[Line]:
    """Draw a history.

    Args:
        course: With one commit at least.
        pointers: Where one is.
        width: Cells; every line takes exactly as many, or fewer at its end.
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
    shown = [
        (name, own, _LIT[hand])
        for hand, (name, own) in enumerate(zip(hands, per_hand, strict=True))
        if course.sums[hand][-1]
    ]
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
