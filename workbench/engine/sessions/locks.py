"""The two lock files of a session store, and when an abandoned one may be removed.

Both are files beside what they protect, so that other programs that know these formats stay out too. This program
also locks them with the operating system, so that a lock whose owner died is recognised at once.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbench.engine.clock import time_or_none
from workbench.engine.errors import Locked, StorageError

WAIT_SECONDS = 10.0
STORE_STALE_SECONDS = 30.0
TRANSCRIPT_STALE_SECONDS = 30 * 60.0
# Another program creates its lock first and then writes to it.
_BEING_WRITTEN_SECONDS = 2.0
_STORE_PAUSE = 0.025
_OURS = "workbench"
_MOST_BYTES = 4096


@dataclass
class _Held:
    """A lock of this process: exclusive between threads, reentrant within one."""

    turn: threading.RLock = field(default_factory=threading.RLock)
    depth: int = 0
    handle: int = -1


_held: dict[str, _Held] = {}
_held_guard = threading.Lock()


def store_lock(store: Path, *, wait: float = WAIT_SECONDS) -> contextlib.AbstractContextManager[None]:
    """Hold `sessions.json.lock`; one untouched for 30 seconds is stale (research note §2.11).

    Args:
        store: The `sessions.json`; its folder exists.
        wait: Seconds to wait for its holder.

    Raises:
        Locked: Another process or thread holds it.
        StorageError: It cannot be created.
    """
    return _lock(
        store,
        wait,
        lambda now: {"pid": os.getpid(), "startedAt": int(now * 1000), _OURS: True},
        lambda _content, age: abs(age) > STORE_STALE_SECONDS,
        lambda _attempt: _STORE_PAUSE,
    )


def transcript_lock(
    transcript: Path, *, wait: float = WAIT_SECONDS
) -> contextlib.AbstractContextManager[None]:
    """Hold `FILE.jsonl.lock`; it is stale if its process is dead, it is older than half an hour, or has no date.

    Args:
        transcript: The `*.jsonl`; its folder exists.
        wait: Seconds to wait for its holder.

    Raises:
        Locked: Another process or thread holds it.
        StorageError: It cannot be created.
    """
    return _lock(
        transcript,
        wait,
        lambda now: {
            "pid": os.getpid(),
            "createdAt": datetime.fromtimestamp(now, UTC)
            .isoformat(timespec="milliseconds")
            .replace("+00:00", "Z"),
            _OURS: True,
        },
        _is_transcript_stale,
        lambda attempt: min(1.0, 0.05 * attempt),
    )


def _is_transcript_stale(content: Any, age: float) -> bool:
    created = time_or_none(str(content.get("createdAt"))) if isinstance(content, dict) else None
    if created is None:
        return age > _BEING_WRITTEN_SECONDS
    # A time in the future was recorded before the clock was set back.
    if abs(time.time() - created.timestamp()) > TRANSCRIPT_STALE_SECONDS:
        return True
    pid = content.get("pid")
    return isinstance(pid, int) and not isinstance(pid, bool) and pid > 0 and not _is_alive(pid)


@contextmanager
def _lock(
    place: Path,
    wait: float,
    content: Callable[[float], dict[str, Any]],
    is_stale: Callable[[Any, float], bool],
    pause: Callable[[int], float],
) -> Iterator[None]:
    lock = place.with_name(place.name + ".lock")
    name = os.path.realpath(lock)
    with _held_guard:
        held = _held.setdefault(name, _Held())
    until = time.monotonic() + wait
    if not held.turn.acquire(timeout=max(0.0, wait)):
        raise _busy(lock, None)
    try:
        if held.depth == 0:
            held.handle = _taken(lock, until, content, is_stale, pause)
        held.depth += 1
        try:
            yield
        finally:
            held.depth -= 1
            if held.depth == 0:
                _let_go(lock, held.handle)
    finally:
        held.turn.release()


def _taken(
    lock: Path,
    until: float,
    content: Callable[[float], dict[str, Any]],
    is_stale: Callable[[Any, float], bool],
    pause: Callable[[int], float],
) -> int:
    attempt = 0
    while True:
        attempt += 1
        handle = _made(lock, content(time.time()))
        if handle is not None:
            return handle
        if _take_away_stale(lock, is_stale):
            continue
        left = until - time.monotonic()
        if left <= 0:
            raise _busy(lock, _read(lock))
        time.sleep(min(pause(attempt), left))


def _made(lock: Path, content: dict[str, Any]) -> int | None:
    """Create a lock file with its content in one step and hold it; None if there is one already."""
    temporary = lock.with_name(f"{lock.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise _unusable(lock, error) from error
    try:
        os.write(handle, json.dumps(content).encode())
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.link(temporary, lock)
    except FileExistsError:
        os.close(handle)
        return None
    except OSError as error:
        os.close(handle)
        raise _unusable(lock, error) from error
    finally:
        temporary.unlink(missing_ok=True)
    return handle


def _take_away_stale(lock: Path, is_stale: Callable[[Any, float], bool]) -> bool:
    """Remove a lock that nobody holds any more; return whether it is worth another try at once.

    Who removes it holds the system's lock on that very file, so that nobody removes the one that took its place.
    """
    try:
        handle = os.open(lock, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return True
    except OSError as error:
        raise _unusable(lock, error) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise _unusable(lock, OSError(errno.EINVAL, "something there is no file"))
        content = _parsed(os.pread(handle, _MOST_BYTES, 0))
        abandoned = isinstance(content, dict) and content.get(_OURS) is True
        if not abandoned and not is_stale(content, time.time() - status.st_mtime):
            return False
        try:
            now = os.lstat(lock)
        except FileNotFoundError:
            return True
        if (now.st_dev, now.st_ino) == (status.st_dev, status.st_ino):
            lock.unlink(missing_ok=True)
        return True
    finally:
        os.close(handle)


def _let_go(lock: Path, handle: int) -> None:
    # If it was held so long that another process took it for stale, it is no longer ours.
    with contextlib.suppress(OSError):
        mine, there = os.fstat(handle), os.lstat(lock)
        if (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino):
            lock.unlink()
    os.close(handle)


def _read(lock: Path) -> Any:
    try:
        with lock.open("rb") as file:
            return _parsed(file.read(_MOST_BYTES))
    except OSError:
        return None


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        # The process exists but belongs to somebody else, or the number is impossible here.
        return True
    return True


def _busy(lock: Path, content: Any) -> Locked:
    pid = content.get("pid") if isinstance(content, dict) else None
    holder = f"process {pid}" if isinstance(pid, int) else "another program"
    return Locked(
        f"The session is being written by {holder}.",
        where=str(lock),
        remedy="Try again when it is done; a lock that was left behind is taken away by itself.",
    )


def _unusable(lock: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The lock cannot be taken: {error.strerror or error}.",
        where=str(lock),
        remedy="Give the right to write there, or choose another folder with sessions.path.",
    )
