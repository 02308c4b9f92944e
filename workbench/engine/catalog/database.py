"""The catalog's database file: one writing and one reading connection, and detection of its loss."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine.catalog.tables import connect, delete_database, open_database
from workbench.engine.errors import Locked, StorageError
from workbench.engine.file_access import Fallback, Watch, is_cut_short, let_go, nowhere_else
from workbench.engine.layout import shown

if TYPE_CHECKING:
    import apsw

_Identity = tuple[int, int]
_MOST_COURTESY = 0.05
# Seconds to wait for a process that is opening the file, and between two attempts.
_LONGEST_OPENING = 10.0
_LOOK = 0.005


class DatabaseLost(Exception):
    """The file was damaged, deleted, replaced or out of reach; an empty one replaces it."""


@dataclass
class _Opened:
    """The connections to one file; their errors concern that file, even after it was replaced."""

    identity: _Identity
    writer: apsw.Connection
    watch: Watch
    reader: apsw.Connection | None = None
    # Distinguishes readers, since each counts changes from the start.
    reader_number: int = 0

    def close(self) -> None:
        for connection in (self.reader, self.writer):
            if connection is not None:
                let_go(connection)


class Database:
    """An SQLite file that may be deleted, damaged or replaced at any time.

    Readers never wait for writers: they have a connection of their own and see the last commit.

    Args:
        place: The file; created with its folder if missing.
        fingerprint: What its rows depend on besides the files; a database with another fingerprint is rebuilt.
        elsewhere: Alternative folder if the disk or a permission fails.
    """

    def __init__(self, place: Path, fingerprint: str, elsewhere: Fallback = nowhere_else) -> None:
        self.place = place
        self._elsewhere = elsewhere
        self._fingerprint = fingerprint
        self._write_lock = threading.RLock()
        self._read_lock = threading.Lock()
        # The innermost of the three locks.
        self._open_lock = threading.Lock()
        self._opened: _Opened | None = None
        # In folders that failed; their connections may be in use until this is closed.
        self._former: list[tuple[Path, _Opened | None]] = []
        self._readers_opened = 0
        self._reading = 0
        self._read_done = threading.Condition()
        self._courteous_from = 0.0

    def ask(self, question: str, values: Sequence[str | int | float | None] = ()) -> list[tuple[Any, ...]]:
        """Run a query and return all its rows.

        Raises:
            DatabaseLost: The file is not the one that was opened; repeat the query.
            Locked: Another process prevents opening it.
            StorageError: It cannot be read.
        """
        with self._read_done:
            self._reading += 1
        try:
            with self._read_lock, self._at_file() as opened:
                # Surrogates, from file names or input, cannot be stored.
                kept = tuple(shown(value) if isinstance(value, str) else value for value in values)
                return self._reader(opened).execute(question, kept).fetchall()
        finally:
            with self._read_done:
                self._reading -= 1
                self._read_done.notify_all()

    def version(self) -> Hashable:
        """Return a value that differs after any change by any process; raises like `ask`."""
        with self._read_lock, self._at_file() as opened:
            ((changes,),) = self._reader(opened).execute("PRAGMA data_version").fetchall()
            return opened.identity, opened.reader_number, changes

    @contextmanager
    def connection(self) -> Iterator[apsw.Connection]:
        """Provide the writing connection to one thread at a time; raises like `ask`."""
        with self._write_lock, self._at_file() as opened:
            yield opened.writer

    @contextmanager
    def change(self) -> Iterator[apsw.Connection]:
        """Provide the writing connection in a transaction, rolled back on errors; raises like `ask`."""
        with self.connection() as connection:
            # Locks for writing first: a read that becomes a write fails if another process wrote meanwhile.
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                # Some errors end the transaction themselves.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def give_way(self) -> None:
        """Yield the processor to waiting readers, for at most half of the time."""
        if not self._reading or time.monotonic() < self._courteous_from:
            return
        started = time.monotonic()
        with self._read_done:
            self._read_done.wait_for(lambda: not self._reading, timeout=_MOST_COURTESY)
        now = time.monotonic()
        self._courteous_from = now + (now - started)

    def close(self) -> None:
        """Close the file; a later query opens it again."""
        with self._write_lock, self._read_lock, self._open_lock:
            opened, self._opened = self._opened, None
            for each in (opened, *(opened for _, opened in self._former)):
                if each is not None:
                    each.close()
            self._former = [(place, None) for place, _ in self._former]

    def destroy(self) -> None:
        """Delete the file, a file set aside, and those in folders that failed."""
        self.close()
        for place, _ in self._former:
            delete_database(place)
        if self.place.parent.exists():
            with self._alone():
                delete_database(self.place)
                self._damaged_place().unlink(missing_ok=True)

    @contextmanager
    def _at_file(self) -> Iterator[_Opened]:
        """Provide the open file, and translate SQLite's errors for callers."""
        import apsw

        opened = self._current()
        try:
            yield opened
        except (apsw.CorruptError, apsw.NotADBError) as error:
            self._discard(opened)
            raise DatabaseLost from error
        except (apsw.BusyError, apsw.LockedError) as error:
            raise self._locked() from error
        except _out_of_reach() as error:
            if opened.identity != self._identity_on_disk():
                self._drop(opened)
                raise DatabaseLost from error
            if is_cut_short(error):
                # The file or its journal was truncated.
                self._discard(opened)
                raise DatabaseLost from error
            raise self._unusable(str(error)) from error

    def _discard(self, opened: _Opened) -> None:
        """Set a damaged file aside and drop its connections."""
        try:
            self._put_away(opened)
        finally:
            self._drop(opened)

    def _put_away(self, opened: _Opened) -> None:
        try:
            with self._alone():
                self._set_aside(opened.identity)
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error

    def _current(self) -> _Opened:
        with self._open_lock:
            if self._opened is None:
                self._opened = self._open()
            elif self._opened.identity != self._identity_on_disk():
                self._opened = None
                raise DatabaseLost
            elif not self._opened.watch.is_whole():
                opened, self._opened = self._opened, None
                self._put_away(opened)
                raise DatabaseLost
            return self._opened

    def _drop(self, opened: _Opened) -> None:
        """Drop a lost file without closing it: another thread may be using it."""
        with self._open_lock:
            if self._opened is opened:
                self._opened = None

    def _open(self) -> _Opened:
        try:
            self.place.parent.mkdir(parents=True, exist_ok=True)
            with self._alone():
                # First as it is, then after setting the existing file aside.
                for _ in range(2):
                    identity = self._present()
                    writer = self._writer_at(identity)
                    if writer is not None:
                        return _Opened(identity, writer, Watch(self.place))
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error
        raise DatabaseLost

    def _present(self) -> _Identity:
        """Return the file's identity, creating an empty file if it is missing."""
        identity = self._identity_on_disk()
        if identity is not None:
            return identity
        # Leftovers of a deleted file belong to connections that still have it open.
        delete_database(self.place)
        with self.place.open("ab") as file:
            status = os.fstat(file.fileno())
        return status.st_dev, status.st_ino

    def _writer_at(self, identity: _Identity) -> apsw.Connection | None:
        """Open the file for writing; None if it was unusable and was set aside."""
        import apsw

        try:
            writer = open_database(self.place, self._fingerprint)
        except (apsw.CorruptError, apsw.NotADBError):
            self._set_aside(identity)
            return None
        except (apsw.BusyError, apsw.LockedError) as error:
            raise self._locked() from error
        except _out_of_reach() as error:
            if identity != self._identity_on_disk():
                raise DatabaseLost from error
            raise self._unusable(str(error)) from error
        if writer is None:
            delete_database(self.place)
        elif identity != self._identity_on_disk():
            writer.close()
            raise DatabaseLost
        return writer

    def _reader(self, opened: _Opened) -> apsw.Connection:
        """Return the reading connection, opened at the first query."""
        if opened.reader is None:
            reader = connect(self.place)
            if opened.identity != self._identity_on_disk():
                reader.close()
                self._drop(opened)
                raise DatabaseLost
            opened.reader = reader
            self._readers_opened += 1
            opened.reader_number = self._readers_opened
        return opened.reader

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock the folder against other threads and processes that create, open or set aside the file."""
        descriptor = os.open(self.place.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            until = time.monotonic() + _LONGEST_OPENING
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError as error:
                    if time.monotonic() >= until:
                        raise self._locked() from error
                    time.sleep(_LOOK)
            yield
        finally:
            os.close(descriptor)

    def _identity_on_disk(self) -> _Identity | None:
        try:
            status = os.stat(self.place)  # noqa: PTH116 - called before every query
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _set_aside(self, identity: _Identity) -> None:
        """Set a damaged file aside, unless another process has already replaced it."""
        if identity != self._identity_on_disk():
            return
        self.place.replace(self._damaged_place())
        for suffix in ("-wal", "-shm"):
            Path(f"{self.place}{suffix}").unlink(missing_ok=True)

    def _damaged_place(self) -> Path:
        return self.place.with_name(f"{self.place.name}.damaged")

    def _locked(self) -> Locked:
        return Locked(
            "Another process is writing to the catalog of memories.",
            where=str(self.place),
            remedy="Try again in a moment.",
        )

    def _unusable(self, reason: str) -> StorageError | DatabaseLost:
        """Return the error for a failing disk or permission, after moving elsewhere if possible."""
        folder = self._elsewhere(self.place.parent, reason)
        if folder is not None:
            self._former.append((self.place, self._opened))
            self.place = folder / self.place.name
            return DatabaseLost()
        return StorageError(
            f"The catalog of memories cannot be kept: {reason}.",
            where=str(self.place),
            remedy="Make room or give the right to write there, or name another folder in WORKBENCH_PATHS_CACHE.",
        )


def _out_of_reach() -> tuple[type[Exception], ...]:
    """Return the SQLite errors caused by the disk or a permission."""
    import apsw

    return (apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError)
