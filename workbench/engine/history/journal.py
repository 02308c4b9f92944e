"""The writer's lock, and the journal: what was decided is on disk first, so that a crash can be finished.

The journal is one file, appended to and flushed once per transaction. It carries the new objects, so that they need no
flush of their own; from time to time they are flushed together and the journal starts over.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from workbench.engine.clock import render_time
from workbench.engine.errors import HistoryError, Locked, StorageError
from workbench.engine.file_access import flush_to_disk, write_all
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

JOURNAL_FILE = "workbench.journal"
# Past this size in bytes the objects are flushed and the journal starts over.
CHECKPOINT_SIZE = 256 * 1024

_BEGIN = lazy_pattern(rb"^begin ([a-z0-9]+) (\d+) ([0-9a-f]{64})$")
_END = lazy_pattern(rb"^(done|void) ([a-z0-9]+)$")

LOCK_FILE = "workbench.lock"
QUEUE_FILE = "workbench.queue"

_FIRST_PAUSE = 0.0005
_LONGEST_PAUSE_AT_HEAD = 0.001
# A queue that moves is not one hanging writer, but waiting still has to end.
_MOST_ROUNDS = 12


@dataclass(frozen=True)
class FileStep:
    """A work file to change from one content to another; None means no file."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Record:
    """One transaction in the journal.

    Args:
        parent: The commit before it; None before the first.
        commits: Its commits, oldest first: hash, raw object, and blobs by path that differ from the parent.
        blobs: Contents of new blobs by hash; empty if they were flushed beforehand.
        files: The work files to write; empty if they already match the commits.
        objects: Every object it wrote, for the next flush.
    """

    transaction: str
    parent: str | None
    commits: tuple[tuple[str, bytes, Mapping[str, str | None]], ...]
    blobs: Mapping[str, bytes]
    files: tuple[FileStep, ...]
    objects: tuple[str, ...]

    @property
    def head(self) -> str:
        """Return the commit that the branch will point at."""
        return self.commits[-1][0]


@dataclass(frozen=True)
class JournalState:
    """The content of a journal.

    Args:
        same_boot: Whether the machine has not rebooted since it was begun, so that no write was lost.
        records: The complete transactions in order, without the cancelled ones.
        unfinished: The last of them, if it was not marked as done.
        whole: Number of readable bytes from the start.
    """

    same_boot: bool
    records: tuple[Record, ...]
    unfinished: Record | None
    whole: int


class Journal:
    """The journal file; every method needs the writer's lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # The newest transaction, and the size of the file before it.
        self._appended: tuple[str, int] | None = None

    def is_settled(self) -> bool:
        """Return True if there is nothing to recover, reading only the end of the file."""
        try:
            with self._path.open("rb") as file:
                if _boot_of(file.readline()) != boot_id() or boot_id() is None:
                    return False
                begun = file.tell()
                size = file.seek(0, os.SEEK_END)
                if size == begun:
                    return True
                file.seek(max(begun, size - 256))
                tail = file.read()
        except FileNotFoundError:
            return True
        except OSError as error:
            raise self._failed(error) from error
        return tail.endswith(b"\n") and bool(_END.match(tail[:-1].rpartition(b"\n")[2]))

    def read(self) -> JournalState:
        """Read the whole journal; from the first unreadable record on, nothing happened."""
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return JournalState(True, (), None, 0)
        except OSError as error:
            raise self._failed(error) from error
        first, newline, _ = content.partition(b"\n")
        place = len(first) + len(newline)
        boot = boot_id()
        same_boot = boot is not None and _boot_of(first + newline) == boot
        if not newline:
            return JournalState(same_boot, (), None, 0)
        records: dict[str, Record] = {}
        unfinished: Record | None = None
        while place < len(content):
            line, newline, _ = content[place : place + 256].partition(b"\n")
            if not newline:
                break
            end = _END.match(line)
            if end:
                if end[1] == b"void":
                    records.pop(end[2].decode(), None)
                unfinished = None
                place += len(line) + 1
                continue
            begin = _BEGIN.match(line)
            if not begin:
                break
            start = place + len(line) + 1
            payload = content[start : start + int(begin[2])]
            end_of_record = start + len(payload) + 1
            # Without its line end, the next record would be appended to it and be lost.
            if content[end_of_record - 1 : end_of_record] != b"\n":
                break
            if hashlib.sha256(payload).hexdigest().encode() != begin[3]:
                break
            unfinished = _decode(payload)
            records[unfinished.transaction] = unfinished
            place = end_of_record
        return JournalState(same_boot, tuple(records.values()), unfinished, place)

    def append(self, record: Record) -> None:
        """Put a transaction on disk; from here on it happens.

        Raises:
            StorageError: It cannot be written; the journal is unchanged.
        """
        payload = _encode(record)
        digest = hashlib.sha256(payload).hexdigest()
        head = f"begin {record.transaction} {len(payload)} {digest}\n".encode()
        size = self._write(head + payload + b"\n", flush=True)
        self._appended = record.transaction, size

    def finish(self, transaction: str) -> None:
        """Mark a transaction as done. Not flushed: repeating it after a crash changes nothing."""
        self._write(f"done {transaction}\n".encode(), flush=False)

    def call_off(self, transaction: str) -> None:
        """Cancel the newest transaction, so that nobody carries it out; on a full disk, too.

        Raises:
            StorageError: The journal still holds it.
        """
        try:
            self._write(f"void {transaction}\n".encode(), flush=True)
        except StorageError:
            if self._appended is None or self._appended[0] != transaction:
                raise
            self.cut(self._appended[1])

    def cut(self, size: int) -> None:
        """Truncate an unreadable end."""
        try:
            with self._path.open("r+b") as file:
                file.truncate(size)
                os.fsync(file.fileno())
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._failed(error) from error

    def is_due(self) -> bool:
        """Return True if the journal is large enough to start over."""
        try:
            return self._path.stat().st_size > CHECKPOINT_SIZE
        except OSError:
            return False

    def clear(self) -> None:
        """Start over; everything in it must have been flushed."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise self._failed(error) from error

    def _write(self, content: bytes, *, flush: bool) -> int:
        """Append to the file; return its size before."""
        try:
            handle = os.open(
                self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644
            )
        except OSError as error:
            raise self._failed(error) from error
        try:
            size = os.fstat(handle).st_size
            if not size:
                content = f"workbench-journal 1 {boot_id() or '-'}\n".encode() + content
            try:
                write_all(handle, content)
                if flush:
                    os.fdatasync(handle) if hasattr(os, "fdatasync") else os.fsync(handle)
                    if not size:
                        flush_to_disk(self._path.parent)
            except OSError as error:
                with contextlib.suppress(OSError):
                    os.ftruncate(handle, size)
                raise self._failed(error) from error
            return size
        finally:
            os.close(handle)

    def _failed(self, error: OSError) -> StorageError:
        return StorageError(
            f"The journal cannot be used: {error.strerror or error}.",
            where=str(self._path),
            remedy="Free some space, or make the folder writable.",
        )


@cache
def boot_id() -> str | None:
    """Return an id of the machine's current boot, or None if it has none."""
    if sys.platform == "darwin":
        return _mac_boot_id()
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip() or None
    except (OSError, ValueError):
        return None


def _mac_boot_id() -> str | None:
    import ctypes

    text = ctypes.create_string_buffer(64)
    size = ctypes.c_size_t(len(text))
    failed = ctypes.CDLL(None).sysctlbyname(b"kern.bootsessionuuid", text, ctypes.byref(size), None, 0)
    return None if failed else text.value.decode("ascii", "replace") or None


def _boot_of(line: bytes) -> str | None:
    parts = line.decode("ascii", "replace").split()
    return parts[2] if len(parts) == 3 and parts[0] == "workbench-journal" else None


def _encode(record: Record) -> bytes:
    return json.dumps(
        {
            "transaction": record.transaction,
            "parent": record.parent,
            "commits": [
                [commit, base64.b64encode(raw).decode(), dict(changes)]
                for commit, raw, changes in record.commits
            ],
            "blobs": {blob: base64.b64encode(content).decode() for blob, content in record.blobs.items()},
            "files": [[step.path, step.before, step.after] for step in record.files],
            "objects": record.objects,
        }
    ).encode("ascii")


def _decode(payload: bytes) -> Record:
    found: dict[str, Any] = json.loads(payload)
    return Record(
        transaction=found["transaction"],
        parent=found["parent"],
        commits=tuple((commit, base64.b64decode(raw), changes) for commit, raw, changes in found["commits"]),
        blobs={blob: base64.b64decode(content) for blob, content in found["blobs"].items()},
        files=tuple(FileStep(*step) for step in found["files"]),
        objects=tuple(found["objects"]),
    )


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
