"""Finds and opens files below a folder anywhere, never through a symbolic link."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from workbench.engine.catalog.files import Stamp
from workbench.engine.home_folder import from_home

# Folders that hold what nobody wrote as memory.
_SKIPPED = frozenset({"node_modules", "__pycache__"})
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class OutsideMask(Protocol):
    """Masks what must not get out of files elsewhere into the index."""

    def policy(self) -> str:
        """Return what is masked, in 16 characters: with another value, files are read again."""
        ...

    def elsewhere(self, content: bytes) -> bytes:
        """Return what may be read of a file."""
        ...

    def text(self, text: str) -> str:
        """Return what may be read of a text."""
        ...


class UnmaskedOutside:
    """Lets everything be read."""

    def policy(self) -> str:
        """Return that nothing is masked."""
        return ""

    def elsewhere(self, content: bytes) -> bytes:
        """Return the content."""
        return content

    def text(self, text: str) -> str:
        """Return the text."""
        return text


@dataclass(frozen=True, slots=True)
class OutsideFile:
    """A regular file that was found.

    Args:
        place: Where it is, absolute.
        relative: Its POSIX path below the folder that was searched; its own name where it was named itself.
        stamp: What the file system said of it.
    """

    place: Path
    relative: str
    stamp: Stamp


def absolute(path: str, root: Path) -> Path:
    """Return the place that a path of the settings names, `~` and `..` resolved by their words alone.

    Args:
        path: Absolute, relative to the workspace, or beginning with `~`.
        root: The workspace folder, absolute.
    """
    return Path(os.path.normpath(root / from_home(path)))


def is_folder(place: Path) -> bool:
    """Tell whether a folder stands there, and no link to one; what may not be looked at is none."""
    return stat.S_ISDIR(_mode(place))


def is_file(place: Path) -> bool:
    """Tell whether a regular file stands there, and no link to one; what may not be looked at is none."""
    return stat.S_ISREG(_mode(place))


def has_link(place: Path, below: Path | None = None) -> bool:
    """Tell whether the last part of a path, or one above it, is a symbolic link.

    Args:
        place: An absolute path.
        below: Parts from this folder up are not looked at; None looks at all of them. Links that the system or its
            owner laid above a workspace are no business of what stands inside it.
    """
    parts = [place, *place.parents]
    if below is not None and below in parts:
        parts = parts[: parts.index(below)]
    return any(stat.S_ISLNK(_mode(part)) for part in parts)


def files_below(folder: Path, wanted: Callable[[str], bool]) -> Iterator[OutsideFile]:
    """Walk a folder, in order of names; links, hidden entries, special files and what cannot be read are passed over.

    Args:
        folder: An absolute path that is no link.
        wanted: Tells of a file's path below the folder whether it is asked for.
    """
    waiting = [(os.fspath(folder), "")]
    while waiting:
        place, prefix = waiting.pop()
        try:
            with os.scandir(place) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            # Gone meanwhile, or closed to this user: nothing of it can be found.
            continue
        folders = []
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _SKIPPED:
                continue
            relative = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                folders.append((entry.path, relative + "/"))
            elif wanted(relative) and (stamp := _stamp(entry.path)):
                yield OutsideFile(Path(entry.path), relative, stamp)
        waiting.extend(reversed(folders))


def single_file(place: Path) -> OutsideFile | None:
    """Return one file by its absolute path; None where it is no regular file."""
    stamp = _stamp(os.fspath(place))
    return OutsideFile(place, place.name, stamp) if stamp else None


def open_unlinked(place: Path) -> BinaryIO | None:
    """Open a regular file for reading; None where it is gone, a link, special or not to be read.

    Args:
        place: An absolute path whose folders were found to be no links.
    """
    try:
        handle = os.open(place, _FLAGS)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    return os.fdopen(handle, "rb")


def _mode(place: Path) -> int:
    try:
        return os.lstat(place).st_mode
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return 0


def _stamp(place: str) -> Stamp | None:
    try:
        status = os.lstat(place)
    except OSError:
        return None
    return Stamp.of(status) if stat.S_ISREG(status.st_mode) else None
