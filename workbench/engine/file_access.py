"""Files outside the history: opened without following links, read only when regular, replaced as a whole."""

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


@contextmanager
def replace_file(place: Path, failing: str, remedy: str = "Make room there.") -> Iterator[BinaryIO]:
    """Give a file to be written, which takes the place of the one there once it is whole and on the disk.

    Args:
        place: The file; its folder exists.
        failing: What does not work then, for example `The session cannot be copied`.
        remedy: What to do about it.

    Raises:
        StorageError: The disk does not take it; the file is as it was.
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
    """Return a path to be read, with `~` written out; that of a user nobody knows stays as it is, and leads nowhere."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def expand_writable(path: str | Path) -> Path:
    """Return a path to be written to, with `~` written out.

    Raises:
        InvalidInput: It begins with the folder of a user nobody knows.
    """
    place = expand_home(path)
    if place.parts[:1] and place.parts[0].startswith("~"):
        raise InvalidInput(
            "Nobody of that name has a folder here.", where=str(path)[:300], remedy="Begin with ~/ or with /."
        )
    return place


class NotAFile(OSError):
    """A folder, a pipe or a device stands there."""


def read_regular_file(path: Path, most: int | None = None) -> bytes | None:
    """Return what a file holds, at most so many bytes of it, or None where nothing stands.

    Raises:
        NotAFile: What stands there is no file.
        OSError: It cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotAFile(errno.EINVAL, "no file stands there")
        with open(handle, "rb", closefd=False) as file:
            return file.read(-1 if most is None else most)
    finally:
        os.close(handle)


_READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def open_regular_file(place: Path) -> BinaryIO | None:
    """Open a file for reading; None where there is none.

    Raises:
        OutsideWorkspace: A link stands there, or something that is no plain file.
        StorageError: It may not be read.
    """
    try:
        handle = os.open(place, _READ_FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _not_regular(place) from error
        raise StorageError(
            f"The file cannot be read: {error.strerror}.",
            where=str(place),
            remedy="Give the right to read it.",
        ) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _not_regular(place)
    return os.fdopen(handle, "rb")


def _not_regular(place: Path) -> OutsideWorkspace:
    return OutsideWorkspace(
        "This is no plain file of a session.",
        where=str(place),
        remedy="Links are never followed; put the file there.",
    )
