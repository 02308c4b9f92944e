"""The access journal: one line for each access since the last update of the scores file."""

from __future__ import annotations

import fcntl
import io
import json
import os
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from workbench.engine.clock import parse_time, render_time
from workbench.engine.errors import InvalidInput, StorageError
from workbench.engine.memory.decay import Accesses
from workbench.engine.values import dataclass

FILE = "accesses.jsonl"


@dataclass(frozen=True)
class Access:
    """One access.

    Args:
        end: The byte offset after its line.
        change: The change of memory that caused it, as in `EntryAccesses.changes`; empty if none did.
    """

    id: str
    moment: datetime
    end: int
    change: str = ""


@dataclass(frozen=True)
class JournalPage:
    """The content of the journal.

    Args:
        journal: The journal's own id; empty if there is no journal yet.
        accesses: In the order of writing.
        end: The byte offset after the last whole line.
    """

    journal: str = ""
    accesses: tuple[Access, ...] = ()
    end: int = 0

    def after(self, folded: Mapping[str, int]) -> tuple[Access, ...]:
        """Return the accesses not yet in the scores file.

        Args:
            folded: Its watermark: for each journal by id, the offset up to which it is included.
        """
        offset = folded.get(self.journal, 0)
        return tuple(access for access in self.accesses if access.end > offset)


def count_accesses(accesses: Sequence[Access]) -> dict[str, Accesses]:
    """Count accesses by memory id, with the latest time of each."""
    found: dict[str, Accesses] = {}
    for access in accesses:
        known = found.get(access.id)
        found[access.id] = Accesses(
            count=known.count + 1 if known else 1,
            last=max(known.last, access.moment) if known else access.moment,
        )
    return found


class AccessJournal:
    """A workspace's journal, shared by any number of processes and threads.

    Deleting the file loses only accesses not yet in the scores file.

    Args:
        folder: This workspace's state directory; created on the first write.
    """

    def __init__(self, folder: Path, new_id: Callable[[], str]) -> None:
        self._folder = folder
        self._path = folder / FILE
        self._new_id = new_id

    def record_access(self, memory_id: str, moment: datetime) -> None:
        """Record an access to a memory.

        Raises:
            StorageError: The journal cannot be written to.
        """
        self.record_accesses([memory_id], moment)

    def record_accesses(
        self, memory_ids: Sequence[str], moment: datetime, changes: Mapping[str, str] | None = None
    ) -> None:
        """Record simultaneous accesses to several memories.

        Args:
            changes: The change of memory that caused an access, by memory id; reverting the change removes the access.

        Raises:
            StorageError: The journal cannot be written to.
        """
        lines = b""
        for memory_id in memory_ids:
            line = {"id": memory_id, "at": render_time(moment)}
            if changes and memory_id in changes:
                line["change"] = changes[memory_id]
            lines += json.dumps(line).encode() + b"\n"
        if not lines:
            return
        with self._locked() as descriptor:
            _append(descriptor, lines)

    def record_standing(self, changes: Mapping[str, bool]) -> None:
        """Record which changes of memory were reverted or redone; their accesses follow.

        Args:
            changes: Whether each is effective now, by its transaction, followed by the item if only one is meant.

        Raises:
            StorageError: The journal cannot be written to.
        """
        if not self._path.exists():
            return
        with self._locked() as descriptor:
            told = {word for line in _lines(_content(descriptor)) for word in _change(line).split()}
            lines = [
                json.dumps({"change": change, "stands": stands}).encode() + b"\n"
                for change, stands in changes.items()
                if told.issuperset(change.split())
            ]
            if lines:
                _append(descriptor, b"".join(lines))

    def read(self) -> JournalPage:
        """Return the content of the journal without waiting for writers.

        Raises:
            StorageError: The journal exists and cannot be read.
        """
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return JournalPage()
        except OSError as error:
            raise _storage_error(error, self._path) from error
        return parse_journal(content)

    def drop_until(self, journal: str, offset: int) -> None:
        """Drop what the scores file now includes. Call it only after that commit.

        Args:
            journal: The id of the included journal; if another has replaced it, nothing is dropped.
            offset: The offset up to which it is included.

        Raises:
            StorageError: The journal cannot be written to.
        """
        if not journal or not self._path.exists():
            return
        with self._locked() as descriptor:
            content = _content(descriptor)
            if parse_journal(content).journal == journal:
                # A new id, because offsets of the old journal mean nothing in the new one.
                self._install(self._header() + content[offset:])

    def scrub(self, memory_ids: Collection[str]) -> None:
        """Blank out every line about some memories and their facts and relations.

        Offsets stay, so that the watermark in the scores file remains valid.

        Raises:
            StorageError: The journal cannot be written to.
        """
        if not memory_ids or not self._path.exists():
            return
        wanted = set(memory_ids)
        with self._locked() as descriptor:
            content = _content(descriptor)
            lines = _lines(content)
            for number, line in enumerate(lines[1:], 1):
                access = _access(line, 0)
                if _standing(line) is not None:
                    continue
                # An unreadable line may still contain the name.
                if access is None or access.id in wanted or access.id.partition("#^")[0] in wanted:
                    lines[number] = b" " * (len(line) - line.endswith(b"\n")) + b"\n" * line.endswith(b"\n")
            if (blanked := b"".join(lines)) != content:
                self._install(blanked)
            # A process that crashed while replacing the journal may have left a copy.
            for leftover in self._folder.glob(f"{FILE}.*.part"):
                leftover.unlink(missing_ok=True)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Hold the journal exclusively, open for appending, creating it if necessary."""
        try:
            descriptor = self._open()
        except OSError as error:
            raise _storage_error(error, self._path) from error
        try:
            yield descriptor
        except OSError as error:
            raise _storage_error(error, self._path) from error
        finally:
            os.close(descriptor)

    def _open(self) -> int:
        while True:
            try:
                descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
            except FileNotFoundError:
                self._create()
                continue
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            # The file may have been replaced while waiting; a write to the old one would be lost.
            try:
                if os.path.samestat(os.fstat(descriptor), self._path.stat()):
                    return descriptor
            except FileNotFoundError:
                pass
            os.close(descriptor)

    def _create(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        temporary = self._temporary(self._header(), "new")
        try:
            # A link is created atomically, and only if no other process was first.
            os.link(temporary, self._path)
        except FileExistsError:
            pass
        finally:
            temporary.unlink()

    def _install(self, content: bytes) -> None:
        self._temporary(content, "part").replace(self._path)

    def _temporary(self, content: bytes, suffix: str) -> Path:
        path = self._folder / f"{FILE}.{os.getpid()}-{self._new_id()}.{suffix}"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            _write(descriptor, content)
        finally:
            os.close(descriptor)
        return path

    def _header(self) -> bytes:
        return json.dumps({"journal": self._new_id()}).encode() + b"\n"


def parse_journal(content: bytes) -> JournalPage:
    """Parse a journal's bytes, skipping a torn last line and invalid lines."""
    journal = ""
    accesses = []
    taken_back: dict[str, bool] = {}
    end = 0
    for line in _lines(content):
        if not line.endswith(b"\n"):
            break
        start, end = end, end + len(line)
        if start == 0:
            # Even a damaged header has to identify the journal, or its lines could count twice.
            header = _object(line)
            journal = str((header or {}).get("journal") or f"damaged-{zlib.crc32(line):08x}")
        elif access := _access(line, end):
            accesses.append(access)
        elif standing := _standing(line):
            taken_back[standing[0]] = not standing[1]
    gone = {change for change, is_gone in taken_back.items() if is_gone}
    return JournalPage(journal, tuple(_standing_accesses(accesses, gone) if gone else accesses), end)


def _standing_accesses(accesses: Iterable[Access], gone: Collection[str]) -> Iterator[Access]:
    """Yield the accesses not caused by a reverted change or item."""
    for access in accesses:
        transaction, *items = access.change.split() or [""]
        left = [item for item in items if f"{transaction} {item}" not in gone]
        if transaction not in gone and (left or not items):
            yield replace(access, change=" ".join((transaction, *left)))


def _lines(content: bytes) -> list[bytes]:
    """Split at line feeds only, unlike `splitlines`."""
    return io.BytesIO(content).readlines()


def _access(line: bytes, end: int) -> Access | None:
    found = _object(line)
    if found is None or not isinstance(found.get("id"), str) or not isinstance(found.get("at"), str):
        return None
    try:
        change = found.get("change")
        return Access(found["id"], parse_time(found["at"]), end, change if isinstance(change, str) else "")
    except InvalidInput:
        return None


def _standing(line: bytes) -> tuple[str, bool] | None:
    found = _object(line) or {}
    change, stands = found.get("change"), found.get("stands")
    return (change, stands) if isinstance(change, str) and isinstance(stands, bool) else None


def _change(line: bytes) -> str:
    found = _access(line, 0)
    return found.change if found else ""


def _object(line: bytes) -> dict[str, str] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _content(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, 0)


def _append(descriptor: int, lines: bytes) -> None:
    """Write lines at the end, beginning a new one if a crashed writer left half a line."""
    torn = os.pread(descriptor, 1, os.fstat(descriptor).st_size - 1) != b"\n"
    _write(descriptor, (b"\n" if torn else b"") + lines)


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def _storage_error(error: OSError, path: Path) -> StorageError:
    return StorageError(
        f"The journal of accesses cannot be used: {error.strerror}.",
        where=str(path),
        remedy="Make room or give yourself the right to write there, or set paths.state to another folder.",
    )
