"""The daemon as a process: its exclusive lock, its status file, and stopping it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine.clock import time_or_none
from workbench.engine.errors import Locked, StorageError
from workbench.engine.file_access import read_state, write_state
from workbench.engine.process import process_lock, try_lock
from workbench.engine.results import to_json
from workbench.engine.results.audit import DaemonDue, DaemonStatus

if TYPE_CHECKING:
    from datetime import datetime

_LOCK, _STATUS = "daemon.lock", "daemon.json"
# A process that asks for the status holds the lock for a moment.
_PATIENCE = 1.0
# Seconds that stopping one may take: its current work is finished or cancelled.
_LONGEST_FAREWELL = 60.0


@contextlib.contextmanager
def only_one(state: Path, root: Path) -> Iterator[Path]:
    """Hold the lock of the only daemon of a workspace.

    Args:
        state: The workspace's state folder.
        root: The workspace, for the message.

    Yields:
        The lock's file.

    Raises:
        Locked: One already runs; the message says which.
        StorageError: The lock cannot be taken.
    """
    try:
        state.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"The state folder cannot be made: {error.strerror}.",
            where=str(state),
            remedy="Give the right to write there, or name another folder: paths.state.",
        ) from error
    place = state / _LOCK
    with process_lock(place, _PATIENCE) as mine:
        if not mine:
            other = read_status(state)
            who = f"Process {other.pid}" if other.pid else "Another process"
            since = f" since {other.since:%Y-%m-%d %H:%M %Z}" if other.since else ""
            raise Locked(
                f"{who} looks after this memory{since}.",
                where=str(root),
                remedy="Let it, or end it with `workbench daemon stop`.",
            )
        # The previous daemon's status must not pass for this one's, even if nothing can be written.
        with contextlib.suppress(OSError):
            (state / _STATUS).unlink()
        yield place


def write_status(state: Path, status: DaemonStatus) -> bool:
    """Write the daemon's status; return whether that was possible."""
    content = json.dumps(to_json(status), ensure_ascii=False, indent=1) + "\n"
    return write_state(state / _STATUS, content.encode("utf-8", "replace"))


def read_status(state: Path) -> DaemonStatus:
    """Return whether a daemon runs, and its last status.

    Args:
        state: The workspace's state folder; it need not exist.
    """
    running = _is_held(state / _LOCK)
    found = read_state(state / _STATUS)
    if not isinstance(found, dict):
        return DaemonStatus(running)
    pid, since, ended = found.get("pid"), _time(found, "since"), _time(found, "ended")
    due = found.get("nextDue")
    problems = found.get("problems")
    return DaemonStatus(
        running=running,
        died=not running and since is not None and ended is None,
        pid=pid if isinstance(pid, int) and pid > 1 else None,
        since=since,
        ended=None if running else ended,
        last_sync=_time(found, "lastSync"),
        last_adoption=_time(found, "lastAdoption"),
        last_reflection=_time(found, "lastReflection"),
        next_due=tuple(_dues(due)) if running else (),
        problems=tuple(map(str, problems)) if isinstance(problems, list) else (),
    )


def end(state: Path, root: Path) -> DaemonStatus:
    """Stop the daemon of a workspace and wait for its end.

    Args:
        state: The workspace's state folder.
        root: The workspace, for messages.

    Returns:
        Its status before; `running` is false if there was none.

    Raises:
        Locked: It is still busy after a minute.
        StorageError: This user may not stop it, or its process id is unknown.
    """
    status = read_status(state)
    if not status.running:
        return status
    if status.pid is None:
        raise StorageError(
            "The daemon could not write down which process it is.",
            where=str(state / _STATUS),
            remedy="Make room on that disk, and end it where it was started.",
        )
    try:
        os.kill(status.pid, signal.SIGTERM)
    except ProcessLookupError:
        # It has just ended.
        return status
    except PermissionError as error:
        raise StorageError(
            f"Process {status.pid} belongs to somebody else.",
            where=str(root),
            remedy="Let its owner end it.",
        ) from error
    with process_lock(state / _LOCK, _LONGEST_FAREWELL) as gone:
        if not gone:
            raise Locked(
                f"Process {status.pid} is still finishing what it does.",
                where=str(root),
                remedy="Wait; it ends by itself.",
            )
    return status


def _is_held(place: Path) -> bool:
    try:
        handle = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not try_lock(place, handle, fcntl.LOCK_SH)
    finally:
        os.close(handle)


def _time(found: dict[str, Any], key: str) -> datetime | None:
    text = found.get(key)
    return time_or_none(text) if isinstance(text, str) else None


def _dues(due: object) -> Iterator[DaemonDue]:
    for one in due if isinstance(due, list) else ():
        if isinstance(one, dict) and (at := _time(one, "at")) is not None:
            yield DaemonDue(str(one.get("what")), at)
