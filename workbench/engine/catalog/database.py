"""The catalog's database file: one connection that writes, one that reads, and noticing that it is gone."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine.errors import Locked, StorageError

if TYPE_CHECKING:
    import apsw

_MOST_COURTESY = 0.05


class DatabaseLost(Exception):
    """The file was damaged, deleted or replaced under an open connection; an empty one takes its place."""


class Database:
    """An SQLite file that may be deleted, damaged or replaced at any time.

    Readers never wait for writers: they have a connection of their own, and see what was last committed.

    Args:
        place: The file; made with its folder where it is missing.
        fingerprint: What its rows depend on besides the files; a database with another one is made anew.
    """

    def __init__(self, place: Path, fingerprint: str) -> None:
        self.place = place
        self._fingerprint = fingerprint
        self._write_lock = threading.RLock()
        self._read_lock = threading.Lock()
        self._writer: apsw.Connection | None = None
        self._reader: apsw.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._readers_opened = 0
        self._reading = 0
        self._read_done = threading.Condition()
        self._courteous_from = 0.0

    def ask(self, question: str, values: Sequence[str | int | float | None] = ()) -> list[tuple[Any, ...]]:
        """Ask one question and return all its rows.

        Raises:
            DatabaseLost: The file is not the one that was opened; ask again.
            Locked: Another process keeps it from being opened.
            StorageError: It cannot be read.
        """
        if self._identity is None:
            with self.connection():
                pass
        with self._read_done:
            self._reading += 1
        try:
            with self._read_lock, self._translated():
                return self._open_reader().execute(question, tuple(values)).fetchall()
        finally:
            with self._read_done:
                self._reading -= 1
                self._read_done.notify_all()

    def version(self) -> Hashable:
        """Return a value that is another one after any change, whoever made it; raises as `ask` does."""
        ((changes,),) = self.ask("PRAGMA data_version")
        return self._identity, self._readers_opened, changes

    @contextmanager
    def connection(self) -> Iterator[apsw.Connection]:
        """Give the writing connection to one thread at a time; raises as `ask` does."""
        with self._write_lock, self._translated():
            yield self._open_writer()

    @contextmanager
    def change(self) -> Iterator[apsw.Connection]:
        """Give the writing connection within a transaction; raises as `ask` does, and then nothing was changed."""
        with self.connection() as connection:
            # Taking the writer's turn first: a read that becomes a write fails where another wrote meanwhile.
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
        """Let readers finish that wait for this thread's share of the processor, for half of the time at most."""
        if not self._reading or time.monotonic() < self._courteous_from:
            return
        started = time.monotonic()
        with self._read_done:
            self._read_done.wait_for(lambda: not self._reading, timeout=_MOST_COURTESY)
        now = time.monotonic()
        self._courteous_from = now + (now - started)

    def close(self) -> None:
        """Let go of the file; a later question opens it again."""
        with self._write_lock, self._read_lock:
            self._close()

    def destroy(self) -> None:
        """Delete the file, and one that was set aside."""
        from workbench.engine.catalog.schema import delete_database

        with self._write_lock, self._read_lock:
            self._close()
            delete_database(self.place)
            self._damaged_place().unlink(missing_ok=True)

    def _open_writer(self) -> apsw.Connection:
        self._require_same_file()
        if self._writer is None:
            self._writer = self._open()
            self._identity = self._identity_on_disk()
        return self._writer

    def _open_reader(self) -> apsw.Connection:
        self._require_same_file()
        if self._identity is None:
            raise DatabaseLost
        if self._reader is None:
            from workbench.engine.catalog.schema import connect

            self._reader = connect(self.place)
            # The count of changes begins anew with each connection.
            self._readers_opened += 1
        return self._reader

    def _open(self) -> apsw.Connection:
        import apsw

        from workbench.engine.catalog.schema import open_database

        try:
            self.place.parent.mkdir(parents=True, exist_ok=True)
            before = self._identity_on_disk()
            try:
                return open_database(self.place, self._fingerprint)
            except (apsw.CorruptError, apsw.NotADBError):
                self._set_aside(before)
                return open_database(self.place, self._fingerprint)
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error

    def _close(self) -> None:
        for connection in (self._reader, self._writer):
            if connection is not None:
                connection.close()
        self._forget()

    def _forget(self) -> None:
        """Drop the connections without closing them: another thread may be using one at this moment."""
        self._reader = self._writer = self._identity = None

    def _require_same_file(self) -> None:
        if self._identity is not None and self._identity != self._identity_on_disk():
            self._forget()
            raise DatabaseLost

    def _identity_on_disk(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self.place)  # noqa: PTH116 - asked before every question
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _set_aside(self, identity: tuple[int, int] | None) -> None:
        """Move a damaged file out of the way, unless another process has replaced it already."""
        if identity is None or identity != self._identity_on_disk():
            return
        self.place.replace(self._damaged_place())
        for suffix in ("-wal", "-shm"):
            Path(f"{self.place}{suffix}").unlink(missing_ok=True)

    def _damaged_place(self) -> Path:
        return self.place.with_name(f"{self.place.name}.damaged")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what SQLite raises into what callers can act on."""
        import apsw

        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError) as error:
            self._set_aside(self._identity)
            self._forget()
            raise DatabaseLost from error
        except (apsw.BusyError, apsw.LockedError) as error:
            raise Locked(
                "Another process is writing to the catalog of memories.",
                where=str(self.place),
                remedy="Try again in a moment.",
            ) from error
        except (
            apsw.FullError,
            apsw.IOError,
            apsw.CantOpenError,
            apsw.ReadOnlyError,
            apsw.PermissionsError,
        ) as error:
            if self._identity is not None and self._identity != self._identity_on_disk():
                self._forget()
                raise DatabaseLost from error
            raise self._unusable(str(error)) from error

    def _unusable(self, reason: str) -> StorageError:
        return StorageError(
            f"The catalog of memories cannot be kept: {reason}.",
            where=str(self.place),
            remedy="Make room or give the right to write there, or name another folder in WORKBENCH_PATHS_CACHE.",
        )
