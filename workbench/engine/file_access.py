"""Files on disk: opened without following links, read only if regular, replaced atomically.

Derived files go elsewhere when a disk fails; SQLite maps memory beside them, which must not be cut short.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from workbench.engine.errors import InvalidInput, OutsideWorkspace, StorageError
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    import apsw


_WRITE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
# Opening a pipe without O_NONBLOCK waits for a writer.
_READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_MOST_SHOWN = 300

# Given a failed folder and the reason, returns another one, or None.
Fallback = Callable[[Path, str], Path | None]

# Tried in this order; None is the system's default for temporary files.
_TEMPORARY = (None, "/dev/shm")  # noqa: S108 - a folder of ours is made in it
_ROOM = 1 << 20
_SWITCH_SECONDS = 10.0
_SWITCH_PAUSE = 0.01


@contextmanager
def replace_file(place: Path, failing: str, remedy: str = "Make room there.") -> Iterator[BinaryIO]:
    """Yield a file for writing that replaces the present one once it is complete and on disk.

    Args:
        place: The file; its folder exists.
        failing: Beginning of the error message, for example `The session cannot be copied`.
        remedy: What to do about it.

    Raises:
        StorageError: It cannot be written; the present file is unchanged.
    """
    temporary = place.with_name(f"{place.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        handle = os.open(temporary, _WRITE_FLAGS, 0o600)
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, 0o600)
            yield file
            file.flush()
            os.fsync(handle)
        temporary.replace(place)
    except OSError as error:
        raise StorageError(
            f"{failing}: {error.strerror or error}.", where=str(place), remedy=remedy
        ) from error
    finally:
        # A read-only file system refuses even this, and what is told is what was refused first.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def expand_home(path: str | Path) -> Path:
    """Return a path to read with `~` expanded, unless it names an unknown user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def expand_writable(path: str | Path) -> Path:
    """Return a path to write with `~` expanded.

    Raises:
        InvalidInput: It begins with the home of an unknown user.
    """
    place = expand_home(path)
    if place.parts[:1] and place.parts[0].startswith("~"):
        raise InvalidInput(
            "This user is unknown.", where=str(path)[:_MOST_SHOWN], remedy="Begin the path with ~/ or /."
        )
    return place


def printable_path(path: str) -> str:
    """Return a path for display: printable and not too long."""
    text = "".join(each if each.isprintable() else "\ufffd" for each in path)
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"


class NotAFile(OSError):
    """The path leads to a folder, a pipe or a device."""


def open_regular_file(place: Path, *, follow_links: bool = False) -> BinaryIO:
    """Open a regular file for reading, without waiting for the writer of a pipe.

    Args:
        place: The file. Links in the path of its folder are followed in any case.
        follow_links: Whether the file itself may be a symlink.

    Raises:
        NotAFile: It is a folder, a pipe or a device.
        OSError: It does not exist, is a symlink (ELOOP) or cannot be read.
    """
    handle = os.open(place, _READ_FLAGS if follow_links else _READ_FLAGS | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotAFile(errno.EINVAL, "not a regular file")
    return os.fdopen(handle, "rb")


def read_regular_file(path: Path, most: int | None = None) -> bytes | None:
    """Return the content of a file or symlinked file, or None if it does not exist.

    Args:
        path: The file.
        most: Read only this many bytes.

    Raises:
        NotAFile: It is a folder, a pipe or a device.
        OSError: It cannot be read.
    """
    try:
        opened = open_regular_file(path, follow_links=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with opened:
        return opened.read(-1 if most is None else most)


def open_outside_file(place: Path) -> BinaryIO | None:
    """Open a file that the user named outside the history; None if it does not exist.

    Raises:
        OutsideWorkspace: It is a symlink, a folder, a pipe or a device.
        StorageError: It cannot be read.
    """
    try:
        return open_regular_file(place)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if isinstance(error, NotAFile) or error.errno == errno.ELOOP:
            raise OutsideWorkspace(
                "This is not a regular file.",
                where=printable_path(str(place)),
                remedy="Links are never followed: name the file itself.",
            ) from error
        raise StorageError(
            f"The file cannot be read: {error.strerror}.",
            where=printable_path(str(place)),
            remedy="Give yourself the right to read it.",
        ) from error


def write_all(handle: int, content: bytes) -> None:
    """Write all bytes to an open file."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]


def flush_to_disk(place: Path) -> None:
    """Flush a file, or the entries of a folder, to disk."""
    handle = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_unflushed(place: Path, content: bytes, temporary: Path, *, mode: int = 0o666) -> None:
    """Replace a file's content atomically for readers; a power cut may leave it torn or empty.

    Args:
        place: The file; its folder exists.
        content: The whole content.
        temporary: A name beside it that no other writer uses.
        mode: Its permissions; the umask takes from them.

    Raises:
        OSError: It cannot be written; the file is unchanged.
    """
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
        try:
            reserve(handle, len(content))
            write_all(handle, content)
        finally:
            os.close(handle)
        temporary.replace(place)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def reserve(handle: int, size: int) -> None:
    """Reserve space for a file that will replace another.

    Otherwise ext4 flushes its content on renaming, which takes longer than everything else.
    """
    if size and hasattr(os, "posix_fallocate"):
        # File systems that do not support this lose nothing.
        with suppress(OSError):
            os.posix_fallocate(handle, 0, size)


def why_unwritable(folder: Path, size: int) -> OSError | None:
    """Return the error with which a folder refuses a new file in a folder of its own; None if it takes one.

    Args:
        folder: An existing folder.
        size: Of the file, in bytes.
    """
    probe = folder / f".probe-{os.getpid()}-{threading.get_ident()}"
    try:
        probe.mkdir()
        handle = os.open(probe / "file", _WRITE_FLAGS, 0o600)
        try:
            write_all(handle, bytes(size))
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        return error
    finally:
        with suppress(OSError):
            (probe / "file").unlink(missing_ok=True)
            probe.rmdir()
    return None


def make_private(folder: Path) -> None:
    """Make a folder that its owner alone may enter, or take others' permissions from one that is there.

    Raises:
        OSError: It cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.stat().st_mode & 0o077:
        # Some file systems have no permissions.
        with suppress(PermissionError):
            folder.chmod(0o700)


def read_state(file: Path) -> Any:
    """Load a JSON file of state; None if it is missing or unreadable."""
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None


def write_state(file: Path, content: bytes) -> bool:
    """Replace a file of state, which its owner alone may read, atomically; return whether it succeeded."""
    temporary = file.with_name(f"{file.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_unflushed(file, content, temporary, mode=0o600)
    except OSError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Stamp:
    """The file system's metadata of a file, enough to notice a change."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def stamp_of(place: Path) -> Stamp | None:
    """Return a file's stamp, or None if there is no file."""
    try:
        return Stamp.of(place.lstat())
    except (FileNotFoundError, NotADirectoryError):
        return None


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
        self._is_closed = False
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
            None if something else failed, the temporary folder failed too, there is no room, or this is closed.
        """
        if not failed.is_relative_to(self._wanted):
            return None
        with self._lock:
            if self._is_closed:
                return None
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
        """Delete the temporary folder, if any; whoever still reads gets no other."""
        with self._lock:
            self._is_closed = True
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
