"""The daemon's schedule: computes what is due from the time and past work, without doing anything."""

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
"""Seconds between looks at the clock, which may be set, or the machine may have slept."""
# Seconds between checks whether there is enough new material to reflect on.
_ASKING_PACE = 60.0
# Under continuous writing, still update the index now and then.
_MOST_DEBOUNCES = 10


class Duty(StrEnum):
    """Recurring work; when several are due, in this order."""

    SETTINGS = "settings"
    ADOPT = "adopt"
    SYNC = "sync"
    UPKEEP = "upkeep"
    REFLECT = "reflect"


# Seconds before the first retry after a failure, and the most between two.
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
        steady: Monotonic seconds; may pause while the machine sleeps.
    """

    wall: datetime
    steady: float


@dataclass(frozen=True)
class Record:
    """History of one duty.

    Args:
        done: Start of the last successful run.
        tried: Monotonic start of the last run.
        failures: Consecutive failures.
        first_change: Monotonic time of the first file change since the last run began, or None.
        last_change: That of the last change.
    """

    done: Moment | None = None
    tried: float = 0.0
    failures: int = 0
    first_change: float | None = None
    last_change: float = 0.0

    def changed(self, steady: float) -> Record:
        """Return the record with a file change added."""
        first = steady if self.first_change is None else self.first_change
        return replace(self, first_change=first, last_change=steady)

    def begun(self, steady: float) -> Record:
        """Return the record at the start of a run: later changes count for the next."""
        return replace(self, tried=steady, first_change=None)

    def went_well(self, begun: Moment) -> Record:
        """Return the record after a successful run."""
        return replace(self, done=begun, failures=0)

    def failed(self) -> Record:
        """Return the record after a failed run."""
        return replace(self, failures=self.failures + 1)


@dataclass(frozen=True)
class Course:
    """The records of all duties."""

    records: Mapping[Duty, Record] = field(default_factory=lambda: {duty: Record() for duty in Duty})

    def of(self, duty: Duty) -> Record:
        return self.records[duty]

    def with_(self, duty: Duty, record: Record) -> Course:
        return Course({**self.records, duty: record})

    def changed(self, steady: float) -> Course:
        return Course({duty: record.changed(steady) for duty, record in self.records.items()})


def seconds_until(duty: Duty, course: Course, now: Moment, settings: Settings) -> float:
    """Return the time until a duty is due.

    Args:
        duty: The duty.
        course: Past work.
        now: The time by both clocks.
        settings: The intervals.

    Returns:
        Seconds; 0 if due, infinity if only a file change makes it due.
    """
    record = course.of(duty)
    if record.failures:
        first, most = _PATIENCE[duty]
        # Further doublings exceed the maximum anyway.
        patience = min(first * 2.0 ** min(record.failures - 1, 20), most)
        return max(record.tried + patience - now.steady, 0.0)
    if record.done is None:
        return 0.0
    return max(_REGULAR[duty](record, record.done, now, settings), 0.0)


def next_duty(course: Course, now: Moment, settings: Settings) -> Duty | None:
    """Return the first duty that is due, or None."""
    return next((duty for duty in Duty if seconds_until(duty, course, now, settings) <= 0), None)


def longest_wait(course: Course, now: Moment, settings: Settings) -> float:
    """Return the seconds until something is due, capped because the clock may be set."""
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
    """Return the seconds until the next look at files without any event."""
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
    """Return the seconds between two times, correct across changes to and from summer time."""
    return (later.astimezone(UTC) - earlier.astimezone(UTC)).total_seconds()


_REGULAR: Final[Mapping[Duty, Callable[[Record, Moment, Moment, Settings], float]]] = {
    Duty.SETTINGS: _on_change,
    Duty.ADOPT: _on_change,
    Duty.SYNC: _sync,
    Duty.UPKEEP: _upkeep,
    Duty.REFLECT: _reflect,
}
