"""Owns where each commit stands on a ribbon: in the order of history, by time, whatever the clocks said."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

# Who changes memory, in the order of their lanes.
PEOPLE, AGENTS, REFLECTION, UPKEEP = range(4)
HANDS = ("people", "agents", "reflection", "upkeep")
_STARTS = {"manual": PEOPLE, "reflection:": REFLECTION, "bot:reflection": REFLECTION, "system:": UPKEEP}
# A window on the ribbon is never shorter than this, in seconds.
_SHORTEST = 60
_NEAREST_SHARE = 3


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
        """Return where a commit is, told by its hash or by the beginning of one; None where there is none."""
        return next((at for at, name in enumerate(self.commits) if name.startswith(commit)), None)


def prepare_course(commits: Sequence[str], seconds: Sequence[int], actors: Sequence[str]) -> Course:
    """Prepare a history for a ribbon; takes n log n.

    Args:
        commits: Full hashes, oldest first.
        seconds: When each was made, seconds since 1970; may step back.
        actors: Who made each.
    """
    known = {actor: hand_of(actor) for actor in set(actors)}
    hands = bytes(known[actor] for actor in actors)
    sums = tuple(
        array("L", accumulate((own == hand for own in hands), initial=0)) for hand in range(len(HANDS))
    )
    return Course(tuple(commits), tuple(seconds), tuple(actors), _never_back(seconds), hands, sums)


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
        length = bisect_right(values, second)
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
