"""The writer's lock: one writer at a time across threads and processes, and a record of the holder."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from workbench.engine.clock import render_time
from workbench.engine.errors import HistoryError, Locked, StorageError

LOCK_FILE = "workbench.lock"
QUEUE_FILE = "workbench.queue"

_FIRST_PAUSE = 0.0005
_LONGEST_PAUSE_AT_HEAD = 0.001
# A queue that moves is not one hanging writer, but waiting still has to end.
_MOST_ROUNDS = 12


@dataclass(frozen=True)
class HeldLock:
    """The acquired lock.

    Args:
        predecessor_died: Whether the last holder died without releasing it, so that there may be leftovers.
    """

    predecessor_died: bool


class WriterLock:
    """An advisory file lock of the operating system, which the kernel frees when its holder dies.

    A waiting writer holds the lock on a second file, so that a busy writer that reacquires the lock has to queue.
    Writers wait for that second lock in order of arrival.

    Args:
        path: The lock file; it remains when the lock is free.
        timeout: Seconds to wait for one holder. Each change of holder restarts the time, up to twelve times: a queue
            of many writers is not a writer that hangs.
    """

    def __init__(self, path: Path, *, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._thread = threading.Lock()
        self._owner: int | None = None

    @contextmanager
    def hold(self, actor: str, since: datetime) -> Iterator[HeldLock]:
        """Hold the lock for a block.

        Args:
            actor: The tag shown to waiting writers.
            since: The time shown to waiting writers.

        Raises:
            Locked: Another writer did not release the lock in time.
            StorageError: The lock file cannot be opened for writing.
            HistoryError: This thread holds it already (a planner tried to write).
        """
        if self._owner == threading.get_ident():
            raise HistoryError(
                "A change was started inside another change.",
                where=str(self._path),
                remedy="Return everything from one plan.",
            )
        patience = _Patience(self._path, self._timeout)
        while not self._thread.acquire(timeout=patience.left()):
            if patience.is_over():
                raise self._locked(_read_holder(self._path))
        try:
            handle = self._open(self._path)
            try:
                self._wait_in_turn(handle, patience)
                predecessor_died = os.fstat(handle).st_size > 0
                _write_holder(handle, actor, since)
                self._owner = threading.get_ident()
                try:
                    yield HeldLock(predecessor_died)
                finally:
                    # A killed holder leaves its name behind, which tells the next one to clean up.
                    self._owner = None
                    os.ftruncate(handle, 0)
            finally:
                os.close(handle)
        finally:
            self._thread.release()

    def was_abandoned(self) -> bool:
        """Return True if the last holder died without releasing the lock and nobody holds it now."""
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            if os.fstat(handle).st_size == 0:
                return False
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        else:
            return True
        finally:
            os.close(handle)

    def _wait_in_turn(self, handle: int, patience: _Patience) -> None:
        queue = self._open(self._path.with_name(QUEUE_FILE))
        if self._taken(queue):
            try:
                self._wait_at_head(handle, patience)
            finally:
                os.close(queue)
            return
        place = _Place(queue)
        try:
            while not place.has_come(patience.left()):
                if patience.is_over():
                    raise self._locked(_read_holder(self._path))
            if place.failure is not None:
                raise self._unable(place.failure)
            self._wait_at_head(handle, patience)
        finally:
            place.leave()

    def _open(self, path: Path) -> int:
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise StorageError(
                f"The history cannot be locked for writing: {error.strerror}.",
                where=str(self._path),
                remedy="Make the folder writable; reading works without.",
            ) from error

    def _wait_at_head(self, handle: int, patience: _Patience) -> None:
        pause = _FIRST_PAUSE
        while not self._taken(handle):
            if patience.is_over():
                raise self._locked(_read_holder(self._path))
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_AT_HEAD)

    def _taken(self, handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise self._unable(error) from error
        return True

    def _unable(self, error: OSError) -> StorageError:
        return StorageError(
            f"This file system cannot lock files: {error.strerror}.",
            where=str(self._path),
            remedy="Keep the workspace on a local disk.",
        )

    def _locked(self, holder: dict[str, str]) -> Locked:
        who = holder.get("program", "another program")
        return Locked(
            f"{who} (process {holder.get('pid', 'unknown')}, {holder.get('actor', 'unknown actor')}) "
            f"has been writing since {holder.get('since', 'an unknown time')}.",
            where=str(self._path),
            remedy=f"Try again; waited {self._timeout:g} s. If that process hangs, end it.",
        )


class _Patience:
    """How long one writer waits: for a single holder, not for a moving queue."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._rounds = 1
        self._seen = _turns(path)
        self._deadline = time.monotonic() + timeout

    def left(self) -> float:
        """Return the seconds until the next check."""
        return max(0.0, self._deadline - time.monotonic())

    def is_over(self) -> bool:
        """Return True if the time is up and the lock did not change hands meanwhile."""
        now = time.monotonic()
        if now < self._deadline:
            return False
        seen = _turns(self._path)
        if seen == self._seen or self._rounds == _MOST_ROUNDS:
            return True
        self._seen, self._rounds, self._deadline = seen, self._rounds + 1, now + self._timeout
        return False


class _Place:
    """A place in the kernel's first-come queue for a file lock.

    The kernel call runs on its own thread, since it cannot be cancelled: an abandoned place is released when its turn
    comes.

    Args:
        queue: The queue file, open; closed on leaving.
    """

    def __init__(self, queue: int) -> None:
        self._queue = queue
        self._guard = threading.Lock()
        self._come = threading.Event()
        self._was_left = False
        self.failure: OSError | None = None
        threading.Thread(target=self._stand, name="workbench-queue", daemon=True).start()

    def has_come(self, seconds: float) -> bool:
        """Wait for the turn; return whether it has come."""
        return self._come.wait(seconds)

    def leave(self) -> None:
        """Let the next writer go on."""
        with self._guard:
            self._was_left = True
            if self._come.is_set():
                os.close(self._queue)

    def _stand(self) -> None:
        try:
            fcntl.flock(self._queue, fcntl.LOCK_EX)
        except OSError as error:
            self.failure = error
        with self._guard:
            self._come.set()
            if self._was_left:
                os.close(self._queue)


def _turns(path: Path) -> int:
    """Return a value that changes whenever the lock is acquired or released."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _write_holder(handle: int, actor: str, since: datetime) -> None:
    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    holder = {"pid": str(os.getpid()), "program": program, "actor": actor, "since": render_time(since)}
    content = json.dumps(holder).encode() + b"\n"
    # A full disk may not prevent a lock that the kernel has already granted.
    with contextlib.suppress(OSError):
        os.pwrite(handle, content, 0)
        os.ftruncate(handle, len(content))


def _read_holder(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(key): str(value)[:200] for key, value in found.items()} if isinstance(found, dict) else {}
