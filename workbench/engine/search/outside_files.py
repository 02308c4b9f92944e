"""Files outside the workspace: found by folder and glob, opened without following links, reread only when changed."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO, Protocol

from workbench.engine.catalog.file_rows import Stamp
from workbench.engine.file_access import expand_home

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
    return Path(os.path.normpath(root / expand_home(path)))


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


def split_glob(path: str) -> tuple[str, str]:
    """Part a path before its first component with a wildcard; the second part is empty where there is none."""
    parts = path.split("/")
    first = next((at for at, part in enumerate(parts) if any(mark in part for mark in "*?[")), None)
    if first is None:
        return path, ""
    fixed = "/".join(parts[:first])
    return (fixed or "/") if path.startswith("/") else fixed, "/".join(parts[first:])


def matches_glob(relative: str, pattern: str) -> bool:
    """Tell whether a path fits; a folder that fits stands for everything in it, an empty pattern for everything.

    Args:
        relative: POSIX path of a file below the folder that the glob begins at.
        pattern: Components with `*`, `?` and `[…]`, or `**` for any number of folders.
    """
    wanted = [part for part in pattern.split("/") if part not in ("", ".")]
    reached = _onward({0}, wanted)
    for name in relative.split("/"):
        if len(wanted) in reached:
            return True
        stepped = {at if wanted[at] == "**" else at + 1 for at in reached if _takes(wanted[at], name)}
        reached = _onward(stepped, wanted)
    return len(wanted) in reached


def _takes(part: str, name: str) -> bool:
    return part == "**" or fnmatchcase(name, part)


def _onward(reached: set[int], wanted: list[str]) -> set[int]:
    """Add the places behind each `**`, which may span no folder at all."""
    further = set(reached)
    for at in sorted(reached):
        while at < len(wanted) and wanted[at] == "**":
            at += 1
            further.add(at)
    return further


_VERSION = 2


@dataclass(frozen=True, slots=True)
class SeenFile:
    """What is known of a file.

    Args:
        stamp: What the file system said of it when it was last looked at.
        digest: Of what was taken of it; never empty.
        size: How many of its bytes were taken.
    """

    stamp: Stamp
    digest: bytes
    size: int


class SeenFiles:
    """What was seen of files, by their path; derived, so that a lost or broken one costs a reading.

    Args:
        place: The file it is kept in, outside the workspace; None keeps it for this run alone.
        policy: Returns what is masked in the files; what was seen of them under another policy is forgotten.
    """

    def __init__(self, place: Path | None, policy: Callable[[], str] = lambda: "") -> None:
        self._place = place
        self._policy = policy
        self._seen_under, self._seen = _read(place) if place else ("", {})
        self._kept = (self._seen_under, dict(self._seen))

    def get(self, path: str) -> SeenFile | None:
        """Return what is known of a file."""
        if self._seen_under != self._policy():
            self._seen_under, self._seen = self._policy(), {}
        return self._seen.get(path)

    def replace(self, seen: Mapping[str, SeenFile]) -> None:
        """Know these files and no others, also in the next run as far as the disk allows."""
        self._seen = dict(seen)
        known = (self._seen_under, self._seen)
        if self._place is None or known == self._kept:
            return
        temporary = self._place.with_name(f"{self._place.name}.{os.getpid()}.tmp")
        try:
            self._place.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(
                json.dumps([_VERSION, self._seen_under, [_row(*item) for item in self._seen.items()]]),
                "utf-8",
            )
            temporary.replace(self._place)
        except OSError:
            # The next run reads the files once more.
            temporary.unlink(missing_ok=True)
        else:
            self._kept = (self._seen_under, dict(self._seen))


def _row(path: str, seen: SeenFile) -> list[object]:
    return [path, *astuple(seen.stamp), seen.digest.hex(), seen.size]


def _read(place: Path) -> tuple[str, dict[str, SeenFile]]:
    try:
        version, policy, rows = json.loads(place.read_text("utf-8"))
        if version != _VERSION:
            return "", {}
        return str(policy), {
            str(path): SeenFile(
                Stamp(int(size), int(mtime), int(ctime), int(inode)), bytes.fromhex(digest), int(taken)
            )
            for path, size, mtime, ctime, inode, digest, taken in rows
        }
    except (OSError, ValueError, TypeError, RecursionError):
        return "", {}
