"""The writer's lock: one writer at a time, among threads and processes, and word of who holds it."""

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
# Many may stand in the queue, one at its head.
_LONGEST_PAUSE_IN_QUEUE = 0.01
_LONGEST_PAUSE_AT_HEAD = 0.001


@dataclass(frozen=True)
class Held:
    """The lock in hand.

    Args:
        predecessor_died: Whether the last holder went without letting go, so that leavings may lie about.
    """

    predecessor_died: bool


class WriterLock:
    """An advisory lock of the operating system on one file, which the kernel frees when its holder dies.

    Whoever waits holds the lock on a second file meanwhile, so that a busy writer that lets go and comes again has
    to stand behind.

    Args:
        path: The lock's file; it stays when the lock is free.
        timeout: Seconds to wait for another holder.
    """

    def __init__(self, path: Path, *, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._thread = threading.Lock()
        self._owner: int | None = None

    @contextmanager
    def hold(self, actor: str, since: datetime) -> Iterator[Held]:
        """Take the lock for a block.

        Args:
            actor: The tag shown to whoever waits.
            since: The time shown to whoever waits.

        Raises:
            Locked: Another writer did not let go in time.
            StorageError: The lock's file cannot be opened for writing.
            HistoryError: This thread holds it already (a planner tried to write).
        """
        if self._owner == threading.get_ident():
            raise HistoryError(
                "A change was started inside another change.",
                where=str(self._path),
                remedy="Return everything from one plan.",
            )
        deadline = time.monotonic() + self._timeout
        if not self._thread.acquire(timeout=self._timeout):
            raise self._locked(_read_holder(self._path))
        try:
            handle = self._open(self._path)
            try:
                self._wait_in_turn(handle, deadline)
                predecessor_died = os.fstat(handle).st_size > 0
                _write_holder(handle, actor, since)
                self._owner = threading.get_ident()
                try:
                    yield Held(predecessor_died)
                finally:
                    # Whoever is killed leaves its name behind, which tells the next holder to clean up.
                    self._owner = None
                    os.ftruncate(handle, 0)
            finally:
                os.close(handle)
        finally:
            self._thread.release()

    def was_abandoned(self) -> bool:
        """Tell whether the last holder died without letting go, and nobody holds the lock now."""
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

    def _wait_in_turn(self, handle: int, deadline: float) -> None:
        queue = self._open(self._path.with_name(QUEUE_FILE))
        try:
            self._wait(queue, deadline, _LONGEST_PAUSE_IN_QUEUE)
            self._wait(handle, deadline, _LONGEST_PAUSE_AT_HEAD)
        finally:
            os.close(queue)

    def _open(self, path: Path) -> int:
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise StorageError(
                f"The history cannot be locked for writing: {error.strerror}.",
                where=str(self._path),
                remedy="Make the folder writable; reading works without.",
            ) from error

    def _wait(self, handle: int, deadline: float, longest_pause: float) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise self._locked(_read_holder(self._path)) from None
            except OSError as error:
                raise StorageError(
                    f"This file system cannot lock files: {error.strerror}.",
                    where=str(self._path),
                    remedy="Keep the workspace on a local disk.",
                ) from error
            time.sleep(pause)
            pause = min(pause * 2, longest_pause)

    def _locked(self, holder: dict[str, str]) -> Locked:
        who = holder.get("program", "another program")
        return Locked(
            f"{who} (process {holder.get('pid', 'unknown')}, {holder.get('actor', 'unknown actor')}) "
            f"has been writing since {holder.get('since', 'an unknown time')}.",
            where=str(self._path),
            remedy=f"Try again; it was waited for {self._timeout:g} s. If that process hangs, end it.",
        )


def _write_holder(handle: int, actor: str, since: datetime) -> None:
    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    holder = {"pid": str(os.getpid()), "program": program, "actor": actor, "since": render_time(since)}
    content = json.dumps(holder).encode() + b"\n"
    # A full disk must not keep anybody from a lock that the kernel has already given.
    with contextlib.suppress(OSError):
        os.pwrite(handle, content, 0)
        os.ftruncate(handle, len(content))


def _read_holder(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(key): str(value)[:200] for key, value in found.items()} if isinstance(found, dict) else {}
