"""One open index file: connections for readers and the writer, and noticing that it is gone or damaged."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.derived_files import Watch, is_cut_short, let_go
from workbench.engine.errors import Locked, StorageError
from workbench.engine.recall.index.state import FileState, read_state, write_state

if TYPE_CHECKING:
    import apsw

    from workbench.engine.recall.index.scan import VectorMemory

DAMAGED = "recall.damaged"
# Each holds up to 16 MB of pages.
_MOST_IDLE = 3
# SQLite and sqlite-vec have no code of their own for tables that do not fit each other.
_MISFIT = re.compile(
    r"no such (table|column)|has no column|UNIQUE constraint|blob size mismatch|opening vector blob"
)


class IndexLost(StorageError):
    """The index was deleted or damaged while it was in use; asked again, it is another file, or built anew."""


class IndexFile:
    """An index file that may be deleted or damaged at any time; safe from several threads.

    Args:
        place: The file; made where it is missing.
        first_state: Its state where it is made.

    Raises:
        IndexLost: It is damaged, and set aside now.
        StorageError: It cannot be opened or made.
    """

    def __init__(self, place: Path, first_state: FileState | None = None) -> None:
        self.place = place
        self._lock = threading.Lock()
        self._write_lock = threading.RLock()
        self._idle: list[apsw.Connection] = []
        self._writer: apsw.Connection | None = None
        self._closed = False
        self._vectors: VectorMemory | None = None
        self._identity = _identity(place)
        self._watch = Watch(place)
        with self.translated():
            from workbench.engine.recall.index.schema import connect, create_tables, has_tables

            connection = connect(place)
            self._identity = _identity(place)
            if not has_tables(connection):
                create_tables(connection, (first_state or FileState()).values())
            self._writer = connection

    @property
    def vectors(self) -> VectorMemory:
        """Return the copy of its vectors in memory, not yet brought up to date."""
        with self._lock:
            if self._vectors is None:
                from workbench.engine.recall.index.scan import VectorMemory

                self._vectors = VectorMemory()
            return self._vectors

    def is_in_place(self) -> bool:
        """Tell whether the file that was opened is still the one by that name."""
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
        """Give a connection that sees one state throughout."""
        connection = self.begin_reading()
        try:
            with self.translated():
                yield connection
        finally:
            self.end_reading(connection)

    def begin_reading(self) -> apsw.Connection:
        """Return a connection in a transaction; give it back by `end_reading`."""
        with self.translated():
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                from workbench.engine.recall.index.schema import connect

                if not self.is_in_place():
                    raise self._lost()
                connection = connect(self.place)
            try:
                connection.execute("BEGIN")
                # The first look at a table is what fixes the state that the transaction sees.
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
        """Give the writing connection in a transaction, the state it sees, and a list for the state to leave.

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
        """Merge what many small changes left behind, after a building."""
        with self._write_lock, self.translated():
            connection = self._open_writer()
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """Let go of the file; a reader under way finishes first."""
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
        """Move a damaged file out of the way, unless another has taken its place already."""
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
        """Turn what SQLite raises into what callers can act on; a damaged file is set aside."""
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
            from workbench.engine.recall.index.schema import connect

            self._writer = connect(self.place)
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
