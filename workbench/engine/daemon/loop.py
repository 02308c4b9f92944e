"""The daemon: what is due when, and the loop that waits, does it and reports it."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.daemon.process import only_one, write_status
from workbench.engine.errors import Cancelled, Locked, NotFound, StorageError, WorkbenchError
from workbench.engine.process import Alarm, ending_signals_reported
from workbench.engine.reflection.due import last_planned, next_scheduled
from workbench.engine.results.audit import DaemonDue, DaemonStatus
from workbench.engine.search.updater import Watcher
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.engine.settings.sections import Settings
    from workbench.engine.workspace import Workspace


LONGEST_WAIT: Final = 60.0
"""Seconds between looks at the clock, which may be set, or the machine may have slept."""
# Seconds between checks whether there is enough new material to reflect on.
_ASKING_PACE = 60.0
# Seconds that files have to be quiet before other devices hear of them.
_UNSENT_FOR = 60.0
# Under continuous writing, still update the index now and then.
_MOST_DEBOUNCES = 10
# The clocks differ by more than this many seconds only if one was set, or the machine slept.
_JUMP = 90.0
# Another writing process is a problem only after keeping this one waiting this many times.
_PATIENT_WITH_WRITERS = 3
_FILES_NAMED = 5


class Duty(StrEnum):
    """Recurring work; when several are due, in this order."""

    SETTINGS = "settings"
    ADOPT = "adopt"
    SYNC = "sync"
    UPKEEP = "upkeep"
    REFLECT = "reflect"
    DEVICES = "devices"


# Seconds before the first retry after a failure, and the most between two.
_PATIENCE: Final[Mapping[Duty, tuple[float, float]]] = {
    Duty.SETTINGS: (2.0, 300.0),
    Duty.ADOPT: (1.0, 300.0),
    Duty.SYNC: (2.0, 300.0),
    Duty.UPKEEP: (30.0, 900.0),
    Duty.REFLECT: (60.0, 3600.0),
    Duty.DEVICES: (60.0, 3600.0),
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
    midnight = datetime.combine(
        now.wall.date() + timedelta(days=1), datetime.min.time(), tzinfo=now.wall.tzinfo
    )
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


def _devices(record: Record, done: Moment, now: Moment, settings: Settings) -> float:
    minutes = settings.sync.minutes
    if not minutes:
        return math.inf
    regular = done.steady + minutes * 60 - now.steady
    if record.first_change is None:
        return regular
    return min(regular, record.last_change + _UNSENT_FOR - now.steady)


def _between(earlier: datetime, later: datetime) -> float:
    """Return the seconds between two times, correct across changes to and from summer time."""
    return (later.astimezone(UTC) - earlier.astimezone(UTC)).total_seconds()


_REGULAR: Final[Mapping[Duty, Callable[[Record, Moment, Moment, Settings], float]]] = {
    Duty.SETTINGS: _on_change,
    Duty.ADOPT: _on_change,
    Duty.SYNC: _sync,
    Duty.UPKEEP: _upkeep,
    Duty.REFLECT: _reflect,
    Duty.DEVICES: _devices,
}


# Regular duties worth announcing; reflection has its own time.
_TOLD_AHEAD: Final = (Duty.SYNC, Duty.UPKEEP)


@dataclass(frozen=True)
class Told:
    """One line of the daemon's log.

    Args:
        time: Aware, in the workspace's zone.
        what: `start`, `ready`, `settings`, `adopt`, `sync`, `upkeep`, `reflect`, `devices`, `hooks`, `clock`,
            `status` or `end`.
        text: What was done or failed, one or two sentences.
        problem: Whether something failed.
    """

    time: datetime
    what: str
    text: str
    problem: bool = False


class Daemon:
    """Maintains one workspace until stopped.

    Args:
        open_door: Opens the workspace with its present settings; reading must not refresh.
        tell: Called with each log line.
        beside: What else it serves once everything was looked at, until it ends; is given what tells a problem.
        steady: Monotonic clock, in seconds.
    """

    def __init__(
        self,
        open_door: Callable[[], Workspace],
        tell: Callable[[Told], None],
        *,
        beside: Callable[[Callable[[str], None]], AbstractContextManager[None]] | None = None,
        steady: Callable[[], float] = monotonic,
    ) -> None:
        self._open_door = open_door
        self._tell_line = tell
        self._beside = beside
        self._steady = steady
        self._alarm = Alarm()
        self._ended_by = ""
        self._change_noted = self._is_ready = False
        self._course = Course()
        self._problems: dict[str, str] = {}
        self._status = DaemonStatus(running=True, pid=os.getpid())
        self._doing = {
            Duty.SETTINGS: self._follow_settings,
            Duty.ADOPT: self._adopt,
            Duty.SYNC: self._sync,
            Duty.UPKEEP: self._keep_up,
            Duty.REFLECT: self._reflect,
            Duty.DEVICES: self._carry,
        }

    def run(self) -> DaemonStatus:
        """Maintain the workspace until a signal or `end` stops it.

        Returns:
            The final status.

        Raises:
            Locked: Another daemon maintains it.
            NotFound: The workspace was deleted or moved, or never existed.
            StorageError: The lock cannot be taken, or its file was deleted meanwhile.
            InvalidSetting: The settings are invalid at the start.
        """
        with (
            contextlib.closing(self._alarm),
            self._alarm.rung_by_signals(),
            ending_signals_reported(self.end),
        ):
            self._door = self._open_door()
            self._opened_with = self._door.settings
            root = self._door.root
            self._state = self._door.state
            with only_one(self._state, root) as lock:
                self._places = {place: _identity(place) for place in (root, lock)}
                self._root = root
                self._status = replace(self._status, since=self._door.now())
                self._tell("start", f"Looks after {root} as process {os.getpid()}.")
                # After an unexpected error the status stays, and so reports that this daemon died.
                try:
                    self._look_after()
                except WorkbenchError as error:
                    self._farewell(str(error), problem=True)
                    raise
                self._farewell(f"Ended by {self._ended_by}.")
        return self._status

    def end(self, reason: str) -> None:
        """Stop as soon as the current work can be left; callable from any thread or signal handler.

        Args:
            reason: For the log, such as `SIGTERM`.
        """
        self._ended_by = self._ended_by or reason
        self._alarm.ring()

    def _is_ended(self) -> bool:
        return bool(self._ended_by)

    def _look_after(self) -> None:

        self._keep_status()
        watcher = Watcher(self._root, self._alarm.ring, noted=self._note_paths)
        with contextlib.ExitStack() as others:
            others.callback(watcher.stop)
            before = self._moment()
            while not self._ended_by:
                now = self._moment()
                self._notice_jump(before, now)
                before = now
                self._check_places()
                if self._change_noted:
                    self._change_noted = False
                    self._course = self._course.changed(now.steady)
                duty = next_duty(self._course, now, self._door.settings)
                if duty is None:
                    if not self._is_ready:
                        self._is_ready = True
                        if self._beside is not None:
                            others.enter_context(self._beside(self._tell_beside))
                        self._tell("ready", "Everything was looked at; waits for changes.")
                    self._alarm.wait(longest_wait(self._course, now, self._door.settings))
                    continue
                self._do(duty, now)
                before = self._moment()
                self._keep_status()

    def _note_paths(self, paths: frozenset[str] | None) -> None:
        # Changes to the audit log alone come from this program, which has refreshed everything itself.
        if paths is None or paths - {layout.AUDIT_LOG}:
            self._change_noted = True

    def _do(self, duty: Duty, now: Moment) -> None:
        record = self._course.of(duty)
        self._course = self._course.with_(duty, record.begun(now.steady))
        try:
            self._doing[duty](record)
        except (WorkbenchError, OSError) as error:
            # Failures below a missing folder are not news.
            self._check_places()
            if self._ended_by:
                return
            # Changes made meanwhile are kept for the next try.
            failed = self._course.of(duty).failed()
            self._course = self._course.with_(duty, failed)
            if not isinstance(error, Locked) or failed.failures >= _PATIENT_WITH_WRITERS:
                self._tell_problem(duty, str(error))
        else:
            self._course = self._course.with_(duty, self._course.of(duty).went_well(now))
            self._tell_solved(duty)

    def _follow_settings(self, record: Record) -> None:
        if record.done is None:
            return
        door = self._open_door()
        # An open door follows some settings by itself; what it was opened with tells whether anything changed.
        if door.settings == self._opened_with:
            door.close()
            return
        if door.state != self._state:
            door.close()
            raise StorageError(
                "The settings name another state folder.",
                where="paths.state",
                remedy="Restart the daemon; until then the old settings hold.",
            )
        self._door.close()
        self._door, self._opened_with = door, door.settings
        self._tell("settings", "The settings were read again.")

    def _adopt(self, _record: Record) -> None:
        self._take_in()

    def _take_in(self) -> None:
        """Adopt outside edits first; later steps would do it in passing, unreported."""
        adopted = self._door.adopt()
        if adopted.commit is None:
            return
        alerts = f"; {_counted(len(adopted.ids), 'alert')} raised" if adopted.ids else ""
        warnings = "".join(f" {warning}" for warning in adopted.warnings)
        count = _counted(len(adopted.files), "file")
        self._tell(
            "adopt", f"Took in {count} edited from outside: {_named(adopted.files)}{alerts}.{warnings}"
        )
        self._status = replace(self._status, last_adoption=self._door.now())

    def _carry(self, _record: Record) -> None:
        """Bring memory and its remote together, where a person has named one."""
        door = self._door
        if not door.settings.sync.minutes or door.sync_status().remote is None:
            return
        try:
            synced = door.sync(cancelled=self._is_ended)
        except Cancelled:
            return
        if synced.sent or synced.received:
            sent, received = _counted(synced.sent, "commit"), _counted(synced.received, "commit")
            waits = f"; {_counted(synced.conflicts, 'conflict')} in the Inbox" if synced.conflicts else ""
            purged = "; what another device purged is gone here too" if synced.purged else ""
            self._tell("devices", f"Synced: {sent} sent, {received} received{waits}{purged}.")
        for warning in synced.warnings:
            self._tell("devices", warning)

    def _sync(self, record: Record) -> None:
        # Reading a large memory for the first time takes long; what was read by then is kept.
        self._door.refresh(cancelled=self._is_ended)
        if self._is_ended():
            return
        index = self._door.index(cancelled=self._is_ended)
        if self._is_ended():
            return
        if record.done is None or record.first_change is not None:
            chunks, files = _counted(index.chunks, "chunk"), _counted(index.files, "file")
            self._tell("sync", f"Search knows {chunks} of {files}.")
        self._status = replace(self._status, last_sync=self._door.now())

    def _keep_up(self, _record: Record) -> None:
        self._take_in()
        files = self._door.upkeep(cancelled=self._is_ended).files
        if layout.DECAY_SCORES in files:
            self._tell("upkeep", "Folded accesses into the scores.")
        if layout.AUDIT_ARCHIVE in files:
            self._tell("upkeep", "Pruned the audit log into its monthly digests.")
        self._save_ended_sessions()

    def _save_ended_sessions(self) -> None:
        for row in self._door.sessions().sessions:
            if row.flush.ended and row.flush.due and not self._ended_by:
                told = self._door.session_flush(row.key).told
                self._tell("upkeep", f"A session of {row.key} had ended. {told}")

    def _reflect(self, _record: Record) -> None:
        if not self._door.reflection_due(trigger="schedule").due:
            return
        self._take_in()
        reflected = self._door.reflect(if_due=True, trigger="schedule", cancelled=self._is_ended)
        if reflected.id:
            self._tell("reflect", f"{reflected.id}: {reflected.reason}")
            self._status = replace(self._status, last_reflection=self._door.now())
        else:
            self._tell("reflect", reflected.reason)

    def _farewell(self, text: str, *, problem: bool = False) -> None:
        """Close the workspace and log it; if the workspace is gone, write nothing in its place."""
        if _identity(self._root) == self._places[self._root]:
            self._door.close()
        self._tell("end", text, problem=problem)
        self._status = replace(
            self._status,
            running=False,
            ended=self._door.now(),
            next_due=(),
            problems=tuple(self._problems.values()),
        )
        write_status(self._state, self._status)

    def _check_places(self) -> None:
        """Check that the workspace and the lock are those of the start.

        Raises:
            NotFound: The workspace is gone or was replaced by another folder.
            StorageError: The lock file is gone, so that a second daemon could start.
        """
        for place, identity in self._places.items():
            if _identity(place) == identity:
                continue
            if place == self._root:
                raise NotFound(
                    "The workspace was deleted or moved away.",
                    where=str(place),
                    remedy="Start the daemon again where it is now.",
                )
            raise StorageError(
                "The lock of this daemon was deleted.",
                where=str(place),
                remedy="Start it again, and leave the state folder alone.",
            )

    def _notice_jump(self, before: Moment, now: Moment) -> None:
        gone = (now.wall - before.wall).total_seconds()
        jump = gone - (now.steady - before.steady)
        if abs(jump) > _JUMP:
            told = timedelta(seconds=round(abs(jump)))
            direction = "on" if jump > 0 else "back"
            self._tell("clock", f"The clock went {direction} by {told}: it was set, or the machine slept.")
            # Files on another machine may have changed during sleep, with no event.
            self._course = self._course.changed(now.steady)

    def _moment(self) -> Moment:
        return Moment(self._door.now(), self._steady())

    def _tell(self, what: str, text: str, *, problem: bool = False) -> None:
        # A log that cannot be written is no reason to stop.
        with contextlib.suppress(OSError):
            self._tell_line(Told(self._door.now(), what, text, problem))

    def _tell_beside(self, text: str) -> None:
        self._tell("hooks", text, problem=True)

    def _tell_problem(self, what: str, text: str) -> None:
        """Report a problem and what it prevents once, however often it recurs."""
        is_known = text in self._problems.values()
        self._problems[what] = text
        if not is_known:
            self._tell(what, text, problem=True)

    def _tell_solved(self, what: str) -> None:
        if self._problems.pop(what, None) is not None:
            self._tell(what, "This works again.")

    def _keep_status(self) -> None:
        now = self._moment()
        settings = self._door.settings
        waits = ((duty, seconds_until(duty, self._course, now, settings)) for duty in _TOLD_AHEAD)
        due = [
            DaemonDue(str(duty), now.wall + timedelta(seconds=wait)) for duty, wait in waits if isfinite(wait)
        ]
        planned = next_scheduled(now.wall, settings.reflection)
        if planned is not None:
            due.append(DaemonDue(str(Duty.REFLECT), planned))
        due.sort(key=lambda one: one.at)
        self._status = replace(
            self._status, next_due=tuple(due), problems=tuple(dict.fromkeys(self._problems.values()))
        )
        if write_status(self._state, self._status):
            self._tell_solved("status")
        else:
            self._tell_problem(
                "status", f"{self._state}: The status cannot be written. Make room on that disk."
            )


def _identity(place: Path) -> tuple[int, int] | None:
    try:
        status = place.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _named(files: tuple[str, ...]) -> str:
    shown = ", ".join(files[:_FILES_NAMED])
    more = len(files) - _FILES_NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown
