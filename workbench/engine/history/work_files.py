"""Writes work files so that each is whole or untouched: beside itself, flushed, then renamed."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from workbench.engine import layout
from workbench.engine.errors import StorageError
from workbench.engine.history.journal import sync_folder, write_all
from workbench.engine.history.swapping import swap

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a link"),
)
_TEMPORARY = re.compile(r"^\.workbench-[a-z0-9]+-\d+\.tmp$")


@dataclass(frozen=True)
class Stamp:
    """What the file system says of a file, enough to notice that it changed."""

    size: int
    modified: int
    changed: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def stamp_of(place: Path) -> Stamp | None:
    """Return a file's stamp, or None where nothing is there."""
    try:
        return Stamp.of(place.lstat())
    except (FileNotFoundError, NotADirectoryError):
        return None


class Staging:
    """New contents laid beside the files they will replace.

    Args:
        root: The workspace folder, absolute.
        transaction: Its id, for the temporary names.
    """

    def __init__(self, root: Path, transaction: str) -> None:
        self._root = root
        self._transaction = transaction
        self._staged: dict[str, Path] = {}
        self._made: list[Path] = []

    def lay(self, path: str, content: bytes) -> None:
        """Write a file's new content beside it, flushed.

        Raises:
            OutsideWorkspace: The path leads out, or over a link.
            StorageError: It cannot be written, or something that is no regular file has its name.
        """
        place = layout.resolve(self._root, path)
        refuse_what_is_no_file(place, path)
        try:
            self._make_folder(place.parent)
            temporary = place.with_name(f".workbench-{self._transaction}-{len(self._staged)}.tmp")
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
            handle = os.open(temporary, flags, 0o666)
            self._staged[path] = temporary
            try:
                with contextlib.suppress(FileNotFoundError):
                    os.fchmod(handle, place.lstat().st_mode & 0o7777)
                write_all(handle, content)
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise cannot_write(path, error) from error

    def place(self, path: str, before: bytes | None = None) -> bool:
        """Let the new content take the file's name, if the file reads as it did; tell whether it does.

        Whoever saves a file between a look at it and the moment its name is taken would lose what they wrote:
        therefore the two change names, and back where what was got is not what was looked at.

        Args:
            path: Of a file that was laid.
            before: What the file said when it was looked at; None takes the name whatever it says.
        """
        temporary, place = self._staged[path], self._root / path
        if before is None or not swap(temporary, place):
            temporary.replace(place)
            del self._staged[path]
            return True
        if temporary.read_bytes() != before:
            swap(temporary, place)
            return False
        self.drop(path)
        return True

    def drop(self, path: str) -> None:
        """Throw one new content away."""
        self._staged.pop(path).unlink(missing_ok=True)

    def discard(self) -> None:
        """Throw away what was not placed, and folders made for it."""
        for temporary in self._staged.values():
            with contextlib.suppress(OSError):
                temporary.unlink()
        self._staged.clear()
        for folder in reversed(self._made):
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _make_folder(self, folder: Path) -> None:
        missing = []
        while not folder.is_dir():
            missing.append(folder)
            folder = folder.parent
        for one in reversed(missing):
            one.mkdir(exist_ok=True)
            self._made.append(one)
            sync_folder(one.parent)


def remove_temporary_files(root: Path) -> None:
    """Remove what writers that died left beside work files."""
    waiting = [root / "memory"]
    _remove_in(root)
    while waiting:
        folder = waiting.pop()
        waiting.extend(_remove_in(folder))


def _remove_in(folder: Path) -> list[Path]:
    """Remove left temporary files of one folder; return the folders in it."""
    folders = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith("."):
                    folders.append(folder / entry.name)
            elif _TEMPORARY.match(entry.name):
                (folder / entry.name).unlink(missing_ok=True)
    return folders


def refuse_what_is_no_file(place: Path, path: str) -> None:
    """Leave alone what is no regular file: a folder, a named pipe, a socket or a device.

    Raises:
        StorageError: Such a thing has this name.
    """
    try:
        mode = place.lstat().st_mode
    except OSError:
        # Nothing is there, or writing will say why it cannot be looked at.
        return
    if not stat.S_ISREG(mode):
        kind = next((name for is_one, name in _KINDS if is_one(mode)), "something else")
        raise StorageError(
            f"There is {kind} by this name, which is no file to write to.",
            where=path,
            remedy="Move it away, or choose another name. Nothing was changed.",
        )


def cannot_write(path: str, error: OSError) -> StorageError:
    """Return the error to raise where a work file cannot be written."""
    return StorageError(
        f"The file cannot be written: {error.strerror or error}.",
        where=path,
        remedy="Free some space, or make the file and its folder writable. Nothing was changed.",
    )
