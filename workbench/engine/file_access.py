"""Files outside the history: opened without following links, read only if regular, replaced atomically."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from workbench.engine.errors import InvalidInput, OutsideWorkspace, StorageError

_WRITE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
# Opening a pipe without O_NONBLOCK waits for a writer.
_READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_MOST_SHOWN = 300


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
