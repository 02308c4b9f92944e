"""Index files: names and shapes, which one answers and which is built, connections, and damage."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.catalog.tables import delete_database
from workbench.engine.errors import Locked, StorageError
from workbench.engine.file_access import Watch, is_cut_short, let_go
from workbench.engine.patterns import lazy_pattern
from workbench.engine.process import try_lock
from workbench.engine.search.chunks import ChunkMarks, ChunkSize
from workbench.engine.search.index.tables import (
    FileState,
    VectorMemory,
    ask,
    connect,
    create_tables,
    has_tables,
    read_state,
    write_state,
)
from workbench.engine.search.index.words import LengthMemory
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    import apsw


DAMAGED = "recall.damaged"
# Each holds up to 16 MB of pages.
# Kilobytes of pages that a large change may hold before it writes them.
_WRITING_CACHE = 16_000
_MOST_IDLE = 3
# SQLite reports mismatched tables with no error code of their own.
_MISFIT = lazy_pattern(r"no such (table|column)|has no column")
BUILDER_LOCK = "recall.lock"
EMBEDDING_LOCK = "recall-embedding.lock"
CACHE = "recall-vectors.sqlite"
_NAME = lazy_pattern(r"recall-([0-9a-f]{12})-(\d{1,9})\.sqlite")
_IN_USE = "recall-{}.used"
# Raised when the format of tables, chunks, terms or units changes.
INDEX_VERSION = 7


class IndexLost(StorageError):
    """The index was deleted or damaged during use; a retry gets another or a rebuilt file."""


class IndexFile:
    """An index file that may be deleted or damaged at any time; thread-safe.

    Args:
        place: The file; created if missing.

    Raises:
        IndexLost: It is damaged and was set aside.
        StorageError: It cannot be opened or created.
    """

    def __init__(self, place: Path, first_state: FileState | None = None) -> None:
        self.place = place
        self._lock = threading.Lock()
        self._write_lock = threading.RLock()
        self._idle: list[apsw.Connection] = []
        self._writer: apsw.Connection | None = None
        self._closed = False
        self._vectors: VectorMemory | None = None
        self.lengths = LengthMemory()
        self._owners: tuple[int, dict[int, str]] = (0, {})
        self._marks: tuple[int, object, ChunkMarks] | None = None
        self._identity = _identity(place)
        self._watch = Watch(place)
        with self.translated():
            connection = connect(place, _WRITING_CACHE)
            self._identity = _identity(place)
            if not has_tables(connection):
                create_tables(connection, (first_state or FileState()).values())
            self._writer = connection

    @property
    def vectors(self) -> VectorMemory:
        """Return the in-memory copy of its vectors, not yet refreshed."""
        with self._lock:
            if self._vectors is None:
                self._vectors = VectorMemory()
            return self._vectors

    def owners(self, moves: int) -> dict[int, str]:
        """Return the memory of each chunk, as far as somebody asked and added it.

        Args:
            moves: Of the state that is asked.
        """
        with self._lock:
            if moves > self._owners[0]:
                self._owners = (moves, {})
            return self._owners[1] if moves == self._owners[0] else {}

    def marks(self, moves: int, basis: object) -> ChunkMarks:
        """Return the marks kept for a basis, which is compared by identity.

        Args:
            moves: Of the state that is asked.
        """
        with self._lock:
            kept = self._marks
            if kept is None or kept[0] != moves or kept[1] is not basis:
                kept = (moves, basis, ChunkMarks())
                self._marks = kept
            return kept[2]

    def is_in_place(self) -> bool:
        """Return whether the opened file still has its name."""
        if self._identity is None or self._identity != _identity(self.place):
            return False
        if not self._watch.is_whole():
            with suppress(StorageError):
                self.set_aside()
            return False
        return True

    def state(self) -> FileState:
        """Return its state as last committed."""
        with self.reading() as connection:
            return read_state(connection)

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Yield a connection that sees one state throughout."""
        connection = self.begin_reading()
        try:
            with self.translated():
                yield connection
        finally:
            self.end_reading(connection)

    def begin_reading(self) -> apsw.Connection:
        """Return a connection in a transaction; return it with `end_reading`."""
        with self.translated():
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                if not self.is_in_place():
                    raise self._lost()
                connection = connect(self.place)
            try:
                connection.execute("BEGIN")
                # The first read of a table fixes the state that the transaction sees.
                connection.execute("SELECT 1 FROM state LIMIT 1").fetchall()
            except BaseException:
                connection.close()
                raise
            return connection

    def end_reading(self, connection: apsw.Connection) -> None:
        """Take a connection back."""
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        with self._lock:
            if not self._closed and len(self._idle) < _MOST_IDLE:
                self._idle.append(connection)
                return
        let_go(connection)

    @contextmanager
    def change(self) -> Iterator[tuple[apsw.Connection, FileState, list[FileState]]]:
        """Yield the writing connection in a transaction, the state it sees, and a list to receive the new state.

        Raises:
            IndexLost: The file is gone or damaged.
            StorageError: It cannot be written; nothing was changed.
        """
        with self._write_lock, self.translated():
            if not self.is_in_place():
                raise self._lost()
            connection = self._open_writer()
            connection.execute("BEGIN IMMEDIATE")
            try:
                left: list[FileState] = []
                before = read_state(connection)
                yield connection, before, left
                if left and left[-1] != before:
                    write_state(connection, left[-1])
                connection.execute("COMMIT")
            except BaseException:
                # Some errors end the transaction themselves.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def settle(self) -> None:
        """Merge what many small changes left behind, after a build."""
        with self._write_lock, self.translated():
            connection = self._open_writer()
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """Close the file; a reader in progress finishes first."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        with self._write_lock:
            if self._writer is not None:
                let_go(self._writer)
                self._writer = None
        for connection in idle:
            let_go(connection)

    def set_aside(self) -> None:
        """Move a damaged file away, unless another has already replaced it."""
        if self._identity is None or self._identity != _identity(self.place):
            return
        try:
            self.place.replace(self.place.with_name(DAMAGED))
            for suffix in ("-wal", "-shm"):
                Path(f"{self.place}{suffix}").unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(
                f"The search index is damaged and cannot be moved out of the way: {error.strerror or error}.",
                where=str(self.place),
                remedy="Delete it, or give the right to write there.",
            ) from error

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Translate SQLite errors into the engine's; set a damaged file aside."""
        import apsw

        if self._watch.was_cut():
            self.set_aside()
            raise self._lost()
        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError, apsw.ConstraintError, UnicodeDecodeError) as error:
            self.set_aside()
            raise self._lost() from error
        except (apsw.BusyError, apsw.LockedError) as error:
            raise Locked(
                "Another process is writing to the search index.",
                where=str(self.place),
                remedy="Try again in a moment.",
            ) from error
        except (apsw.Error, OSError) as error:
            if is_cut_short(error) or (isinstance(error, apsw.SQLError) and _MISFIT.search(str(error))):
                self.set_aside()
                raise self._lost() from error
            if self._identity is not None and not self.is_in_place():
                raise self._lost() from error
            raise StorageError(
                f"The search index cannot be kept: {error}.",
                where=str(self.place),
                remedy="Make room or give the right to write there,"
                " or name another folder in WORKBENCH_PATHS_CACHE.",
            ) from error

    def _open_writer(self) -> apsw.Connection:
        if self._writer is None:
            self._writer = connect(self.place, _WRITING_CACHE)
        return self._writer

    def _lost(self) -> IndexLost:
        return IndexLost(
            "The search index was deleted or damaged.",
            where=str(self.place),
            remedy="Search again: it is rebuilt from the files.",
        )


def _identity(place: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(place)  # noqa: PTH116 - asked before every question
    except OSError:
        return None
    return status.st_dev, status.st_ino


@dataclass(frozen=True)
class IndexFileName:
    """An index file's name: the digest of its shape, and its generation counted from 1."""

    digest: str
    generation: int

    @property
    def name(self) -> str:
        return f"recall-{self.digest}-{self.generation}.sqlite"


def index_files(folder: Path) -> list[IndexFileName]:
    """Return the existing index files, newest generation first."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
    except OSError:
        return []
    found = [IndexFileName(match[1], int(match[2])) for match in map(_NAME.fullmatch, names) if match]
    return sorted(found, key=lambda named: -named.generation)


class InUse:
    """While held, tells other processes that the files of a shape are in use.

    Args:
        folder: Of the index files; exists.
    """

    def __init__(self, folder: Path, digest: str) -> None:
        self._handle: int | None = None
        place = folder / _IN_USE.format(digest)
        # Without this mark others may delete the files, which are then rebuilt.
        with suppress(OSError):
            self._handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(self._handle, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def delete_older(folder: Path, kept: IndexFileName) -> None:
    """Delete what the new file replaces: older ones of its shape, and unused other shapes."""
    for named in index_files(folder):
        if named.digest == kept.digest:
            if named.generation < kept.generation:
                delete_database(folder / named.name)
        elif _is_unused(folder, named.digest):
            delete_database(folder / named.name)
    _delete_orphans(folder)


def delete_all(folder: Path) -> None:
    """Delete everything an index keeps in its folder."""
    for named in index_files(folder):
        delete_database(folder / named.name)
    delete_database(folder / CACHE)
    (folder / DAMAGED).unlink(missing_ok=True)
    _delete_orphans(folder)


def size_bytes(folder: Path) -> int:
    """Return the total size on disk."""
    total = 0
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith("recall"):
                with suppress(OSError):
                    total += entry.stat().st_size
    return total


def _is_unused(folder: Path, digest: str) -> bool:
    try:
        handle = os.open(folder / _IN_USE.format(digest), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError:
        return False
    try:
        return try_lock(folder, handle, fcntl.LOCK_EX)
    finally:
        os.close(handle)


def _delete_orphans(folder: Path) -> None:
    """Delete side files of index files that are gone."""
    names = {named.name for named in index_files(folder)}
    digests = {named.digest for named in index_files(folder)}
    for entry in list(os.scandir(folder)) if folder.is_dir() else ():
        base = entry.name.removesuffix("-wal").removesuffix("-shm")
        if base != entry.name and _NAME.fullmatch(base) and base not in names:
            Path(entry.path).unlink(missing_ok=True)
        used = re.fullmatch(r"recall-([0-9a-f]{12})\.used", entry.name)
        if used and used[1] not in digests and _is_unused(folder, used[1]):
            Path(entry.path).unlink(missing_ok=True)


@dataclass(frozen=True)
class IndexShape:
    """How an index was made; indexes of the same shape are interchangeable.

    Args:
        embedder: Fingerprint of the embedder, or "" without vectors.
        reading: Other inputs of the memories: the catalog's version and its zone.
    """

    size: ChunkSize
    embedder: str
    reading: str

    @property
    def digest(self) -> str:
        """Return twelve letters and digits that identify the shape."""
        parts = (INDEX_VERSION, self.size.tokens, self.size.overlap, self.embedder, self.reading)
        text = "\n".join(map(str, parts))
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


class OpenFiles:
    """The open index files of a folder; thread-safe.

    The newest complete file of the wanted shape answers; failing that, a complete file of another shape; failing
    that, the one being built.
    """

    def __init__(self, folder: Path, shape: IndexShape) -> None:
        self._folder = folder
        self._shape = shape
        self._lock = threading.RLock()
        self._open: dict[IndexFileName, IndexFile] = {}
        self._in_use: InUse | None = None
        self._seen: list[IndexFileName] = []
        self._settled: IndexFile | None = None

    def make_folder(self) -> None:
        """Create the folder if missing.

        Raises:
            StorageError: It cannot be created.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"The search index cannot be kept: {error.strerror or error}.",
                where=str(self._folder),
                remedy="Give the right to write there, or name another folder in WORKBENCH_PATHS_CACHE.",
            ) from error

    def answering(self) -> IndexFile:
        """Return the file that answers now.

        Raises:
            IndexLost: It is gone or damaged; a retry gets another.
            StorageError: It cannot be opened.
        """
        with self._lock:
            present = index_files(self._folder)
            if self._settled is not None and present == self._seen and self._settled.is_in_place():
                return self._settled
            self._settled = None
            self._close_gone(present)
            own = [named for named in present if named.digest == self._shape.digest]
            for named in own:
                if (file := self._file(named)).state().complete:
                    self._settled, self._seen = file, present
                    return file
            others = [named for named in present if named not in own]
            for named in sorted(others, key=self._age):
                if (file := self._file(named)).state().complete:
                    return file
            return self._file(own[0]) if own else self.to_build()

    def to_build(self, *, another: bool = False) -> IndexFile:
        """Return the file to build: the newest of the wanted shape, created if missing.

        Args:
            another: Make one more beside a complete one.
        """
        with self._lock:
            own = [named for named in index_files(self._folder) if named.digest == self._shape.digest]
            if not own:
                return self._file(IndexFileName(self._shape.digest, 1))
            newest = own[0]
            if another and self._file(newest).state().complete:
                newest = IndexFileName(newest.digest, newest.generation + 1)
            return self._file(newest)

    def share_built(self) -> float | None:
        """Return the share built of a file that has not taken over yet, else None."""
        with self._lock:
            file = self.to_build()
            with file.reading() as connection:
                state = file.state()
                files = int(ask(connection, "SELECT count(*) FROM files")[0][0])
            if state.complete or not state.wanted:
                return None
            return min(1.0, files / state.wanted)

    def others_answer(self) -> bool:
        """Return whether a file of another shape but the same embedder answers meanwhile, with all its vectors."""
        with self._lock:
            file = self.answering()
            state = file.state()
            return state.shape != self._shape.digest and state.embedder == self._shape.embedder

    def clear_away(self, file: IndexFile) -> None:
        """Delete what a complete file has replaced, even if the process responsible died."""
        with self._lock:
            if len(index_files(self._folder)) == 1:
                return
            named = next(named for named, each in self._open.items() if each is file)
            delete_older(self._folder, named)
            self._close_gone(index_files(self._folder))

    def close(self) -> None:
        """Close all files; they reopen on demand."""
        with self._lock:
            self._settled = None
            for file in self._open.values():
                file.close()
            self._open.clear()
            if self._in_use is not None:
                self._in_use.close()
                self._in_use = None

    def _file(self, named: IndexFileName) -> IndexFile:
        known = self._open.get(named)
        if known is not None and known.is_in_place():
            return known
        self.make_folder()
        if self._in_use is None:
            self._in_use = InUse(self._folder, self._shape.digest)
        if known is not None:
            known.close()
        state = FileState(shape=self._shape.digest, embedder=self._shape.embedder)
        file = self._open[named] = IndexFile(self._folder / named.name, state)
        return file

    def _close_gone(self, present: list[IndexFileName]) -> None:
        for named in [named for named in self._open if named not in present]:
            self._open.pop(named).close()

    def _age(self, named: IndexFileName) -> float:
        try:
            return -(self._folder / named.name).stat().st_mtime
        except OSError:
            return 0.0
