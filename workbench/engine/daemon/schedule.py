"""What a daemon has to do, and when: told from the time and from what was done, without doing anything."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection.due import last_planned, next_scheduled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbench.engine.settings.sections import Settings

LONGEST_WAIT: Final = 60.0
"""Seconds after which the clock is looked at again: it may have been set, or the machine have slept."""
# Seconds between two questions whether enough is new to reflect on.
_ASKING_PACE = 60.0
# Somebody who never stops writing gets an index now and then all the same.
_MOST_DEBOUNCES = 10


class Duty(StrEnum):
    """Something that is done again and again; in this order where several are due."""

    SETTINGS = "settings"
    ADOPT = "adopt"
    SYNC = "sync"
    UPKEEP = "upkeep"
    REFLECT = "reflect"


# Seconds before the first further try of what failed, and the most between two.
_PATIENCE: Final[Mapping[Duty, tuple[float, float]]] = {
    Duty.SETTINGS: (2.0, 300.0),
    Duty.ADOPT: (1.0, 300.0),
    Duty.SYNC: (2.0, 300.0),
    Duty.UPKEEP: (30.0, 900.0),
    Duty.REFLECT: (60.0, 3600.0),
}


@dataclass(frozen=True)
class Moment:
    """A point in time by two clocks.

    Args:
        wall: Aware, in the workspace's zone; may jump.
        steady: Seconds that only ever go on, from anywhere; they may stand still while the machine sleeps.
    """

    wall: datetime
    steady: float


@dataclass(frozen=True)
class Record:
    """What is known of one duty.

    Args:
        done: When it was begun last and went well.
        tried: Steady seconds at which it was begun last, well or not.
        failures: Times in a row that it failed.
        first_change: Steady seconds of the first change of files since it was begun last; None where none was.
        last_change: Of the last one.
    """

    done: Moment | None = None
    tried: float = 0.0
    failures: int = 0
    first_change: float | None = None
    last_change: float = 0.0

    def changed(self, steady: float) -> Record:
        """Return it with a change of files noted."""
        first = steady if self.first_change is None else self.first_change
        return replace(self, first_change=first, last_change=steady)

    def begun(self, steady: float) -> Record:
        """Return it as it is when the duty begins: what changes from now on is for the next time."""
        return replace(self, tried=steady, first_change=None)

    def went_well(self, begun: Moment) -> Record:
        """Return it after the duty was done."""
        return replace(self, done=begun, failures=0)

    def failed(self) -> Record:
        """Return it after the duty could not be done."""
        return replace(self, failures=self.failures + 1)


@dataclass(frozen=True)
class Course:
    """The records of all duties."""

    records: Mapping[Duty, Record] = field(default_factory=lambda: {duty: Record() for duty in Duty})

    def of(self, duty: Duty) -> Record:
        """Return the record of one duty."""
        return self.records[duty]

    def with_(self, duty: Duty, record: Record) -> Course:
        """Return the course with another record of one duty."""
        return Course({**self.records, duty: record})

    def changed(self, steady: float) -> Course:
        """Return the course after files changed."""
        return Course({duty: record.changed(steady) for duty, record in self.records.items()})


def seconds_until(duty: Duty, course: Course, now: Moment, settings: Settings) -> float:
    """Return how long a duty can wait.

    Args:
        duty: The one that is asked about.
        course: What was done.
        now: The time by both clocks.
        settings: Say how often.

    Returns:
        Seconds; 0 where it is due, infinity where only a change of files brings it on.
    """
    record = course.of(duty)
    if record.failures:
        first, most = _PATIENCE[duty]
        # Beyond these doublings the longest is reached in any case.
        patience = min(first * 2.0 ** min(record.failures - 1, 20), most)
        return max(record.tried + patience - now.steady, 0.0)
    if record.done is None:
        return 0.0
    return max(_REGULAR[duty](record, record.done, now, settings), 0.0)


def next_duty(course: Course, now: Moment, settings: Settings) -> Duty | None:
    """Return the first duty that is due; None where none is."""
    return next((duty for duty in Duty if seconds_until(duty, course, now, settings) <= 0), None)


def longest_wait(course: Course, now: Moment, settings: Settings) -> float:
    """Return for how many seconds nothing is due, as far as the clock can be trusted."""
    return min(LONGEST_WAIT, *(seconds_until(duty, course, now, settings) for duty in Duty))


def _on_change(record: Record, done: Moment, now: Moment, settings: Settings) -> float:
    if record.first_change is not None:
        return 0.0
    return _interval(done, now, settings)


def _sync(record: Record, done: Moment, now: Moment, settings: Settings) -> float:
    search = settings.search
    regular = _interval(done, now, settings)
    if record.first_change is None or not search.watch:
        return regular
    quiet = search.watch_debounce_ms / 1000
    latest = record.first_change + _MOST_DEBOUNCES * quiet
    return min(record.last_change + quiet - now.steady, latest - now.steady, regular)


def _interval(done: Moment, now: Moment, settings: Settings) -> float:
    """Return what is left until files are looked at although nothing told of changes."""
    minutes = settings.search.sync_minutes
    return done.steady + minutes * 60 - now.steady if minutes else math.inf


def _upkeep(_record: Record, done: Moment, now: Moment, settings: Settings) -> float:
    if done.wall.date() != now.wall.date():
        return 0.0
    midnight = datetime.combine(now.wall.date() + timedelta(days=1), time(), tzinfo=now.wall.tzinfo)
    folding = done.steady + settings.decay.fold_minutes * 60 - now.steady
    return min(folding, _between(now.wall, midnight))


def _reflect(record: Record, done: Moment, now: Moment, settings: Settings) -> float:
    reflection = settings.reflection
    if reflection.frequency == "manual":
        return math.inf
    until = math.inf
    if record.first_change is not None:
        until = done.steady + _ASKING_PACE - now.steady
    planned = next_scheduled(now.wall, reflection)
    if planned is None:
        return until
    # The clock may have been set in either direction since.
    if last_planned(now.wall, reflection) != last_planned(done.wall, reflection):
        return 0.0
    return min(until, _between(now.wall, planned))


def _between(earlier: datetime, later: datetime) -> float:
    """Return the seconds that pass between two times, also where summer time begins or ends between them."""
    return (later.astimezone(UTC) - earlier.astimezone(UTC)).total_seconds()


_REGULAR: Final[Mapping[Duty, Callable[[Record, Moment, Moment, Settings], float]]] = {
    Duty.SETTINGS: _on_change,
    Duty.ADOPT: _on_change,
    Duty.SYNC: _sync,
    Duty.UPKEEP: _upkeep,
    Duty.REFLECT: _reflect,
}
