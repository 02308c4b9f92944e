"""The journal: decided transactions, on disk before anything else, so that a crash can be finished.

One file, appended to and flushed once per transaction. It carries the new objects, so that they need no flush
of their own; from time to time they are flushed together and the journal starts over.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from workbench.engine.errors import StorageError

JOURNAL_FILE = "workbench.journal"
# Past this size in bytes the objects are flushed and the journal starts over.
CHECKPOINT_SIZE = 256 * 1024

_BEGIN = re.compile(rb"^begin ([a-z0-9]+) (\d+) ([0-9a-f]{64})$")
_END = re.compile(rb"^(done|void) ([a-z0-9]+)$")


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
        transaction: Its id.
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
    """The journal file; every method needs the writer's lock.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

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
        self._write(head + payload + b"\n", flush=True)

    def finish(self, transaction: str) -> None:
        """Mark a transaction as done. Not flushed: repeating it after a crash changes nothing."""
        self._write(f"done {transaction}\n".encode(), flush=False)

    def call_off(self, transaction: str) -> None:
        """Mark a transaction as cancelled, after its caller was told that it failed."""
        self._write(f"void {transaction}\n".encode(), flush=True)

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

    def _write(self, content: bytes, *, flush: bool) -> None:
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
                        sync_folder(self._path.parent)
            except OSError as error:
                with contextlib.suppress(OSError):
                    os.ftruncate(handle, size)
                raise self._failed(error) from error
        finally:
            os.close(handle)

    def _failed(self, error: OSError) -> StorageError:
        return StorageError(
            f"The journal cannot be used: {error.strerror or error}.",
            where=str(self._path),
            remedy="Free some space, or make the folder writable. Nothing was changed.",
        )


def write_all(handle: int, content: bytes) -> None:
    """Write all bytes to an open file."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
