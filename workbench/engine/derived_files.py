"""Derived files: where to keep them when a disk fails, and SQLite's mapped memory beside them."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw

# Given a failed folder and the reason, returns another one, or None.
Fallback = Callable[[Path, str], Path | None]

# Tried in this order; None is the system's default for temporary files.
_TEMPORARY = (None, "/dev/shm")  # noqa: S108 - a folder of ours is made in it
_ROOM = 1 << 20
_SWITCH_SECONDS = 10.0
_SWITCH_PAUSE = 0.01


def nowhere_else(_folder: Path, _reason: str) -> None:
    """Return None: no other folder."""


def temporary_folder() -> tempfile.TemporaryDirectory[str] | None:
    """Return a new folder with room for a megabyte, deleted with the process; None if there is no room."""
    for base in _TEMPORARY:
        folder = None
        with suppress(OSError):
            folder = tempfile.TemporaryDirectory(prefix="workbench-", dir=base, ignore_cleanup_errors=True)
        if folder is not None:
            if not trouble_in(Path(folder.name), _ROOM):
                return folder
            folder.cleanup()
    return None


def trouble_in(folder: Path, size: int = 1 << 14) -> str:
    """Return why a folder cannot take a file of this size, or ""; creates the folder if missing."""
    probe = folder / f"room.{os.getpid()}.probe"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            probe.write_bytes(b"\xa5" * size)
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        return error.strerror or str(error)
    return ""


class DerivedFolder:
    """A folder of derived files, replaced by a temporary one if it cannot be written.

    Args:
        wanted: The folder.
        file: Name of a file in it; opened once to test the folder.
    """

    def __init__(self, wanted: Path, file: str) -> None:
        self.told = ""
        self._wanted = wanted
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()
        try:
            wanted.mkdir(parents=True, exist_ok=True)
            os.close(os.open(wanted / file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644))
        except OSError as error:
            self.elsewhere(wanted, error.strerror or str(error))

    @property
    def path(self) -> Path:
        """Return the folder in use."""
        temporary = self._temporary
        return self._wanted if temporary is None else Path(temporary.name)

    def elsewhere(self, failed: Path, reason: str) -> Path | None:
        """Return the temporary folder that replaces a failed one until this is closed.

        Args:
            failed: The failed folder, or one inside it.
            reason: What went wrong, for the warning.

        Returns:
            None if something else failed, the temporary folder failed too, or there is no room.
        """
        if not failed.is_relative_to(self._wanted):
            return None
        with self._lock:
            if self._temporary is None:
                self._temporary = temporary_folder()
                if self._temporary is None:
                    return None
                self.told = (
                    f"The cache folder {self._wanted} cannot be written ({reason.rstrip('.')}): "
                    "all of memory is read again each time."
                )
            return Path(self._temporary.name)

    def close(self) -> None:
        """Delete the temporary folder, if any."""
        with self._lock:
            if self._temporary is not None:
                self._temporary.cleanup()
                self._temporary = None


def let_go(connection: apsw.Connection) -> None:
    """Close a connection; what a failing disk rejects stays in the log."""
    import apsw

    with suppress(apsw.Error):
        connection.close()


def is_cut_short(error: Exception) -> bool:
    """Return True if SQLite found that another program truncated a file."""
    import apsw

    return bool(getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHORT_READ)


class Watch:
    """Watches a database in WAL mode and its `-shm` file, which SQLite maps into memory.

    If another program truncates a mapped file, the next access to the missing part kills the process (SIGBUS);
    if the file
    is deleted or replaced, it no longer separates writers. Check before each use of the database, which must never be
    vacuumed, since shrinking counts as truncation.

    Args:
        database: The file; a connection to it stays open while this is in use.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._shared = database.with_name(f"{database.name}-shm")
        self._database_seen: os.stat_result | None = None
        self._shared_seen: os.stat_result | None = None
        self._was_cut = False
        self._is_gone = False

    def is_whole(self) -> bool:
        """Return whether both are still the same files."""
        return not self.was_cut() and not self._is_gone

    def was_cut(self) -> bool:
        """Return whether one was truncated; the mapped one is then extended again, with useless content."""
        if not self._was_cut and not self._is_gone:
            self._look_at_both()
        return self._was_cut

    def _look_at_both(self) -> None:
        before = self._shared_seen
        self._database_seen = self._look(self._database, self._database_seen)
        self._shared_seen = after = self._look(self._shared, before)
        if before is not None and after is not None and after.st_size < before.st_size and not self._is_gone:
            with suppress(OSError):
                # By name: closing a descriptor of it would release SQLite's locks.
                os.truncate(self._shared, before.st_size)

    def _look(self, place: Path, before: os.stat_result | None) -> os.stat_result | None:
        try:
            now = place.stat()
        except OSError:
            self._is_gone |= before is not None
            return before
        if before is not None:
            self._is_gone |= (now.st_dev, now.st_ino) != (before.st_dev, before.st_ino)
            self._was_cut |= not self._is_gone and now.st_size < before.st_size
        return now


def keep_write_ahead_log(connection: apsw.Connection) -> None:
    """Switch a database to a write-ahead log, waiting for others that switch it at the same moment.

    SQLite answers busy at once where two connections want this lock of each other; its own timeout does not apply.

    Args:
        connection: Its busy timeout is what is waited per attempt where SQLite does wait.

    Raises:
        apsw.BusyError: The database is still locked after ten seconds.
    """
    import apsw

    deadline = time.monotonic() + _SWITCH_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_SWITCH_PAUSE)
        else:
            return
