"""Files outside the workspace: found by folder and glob, opened without following links, reread only when changed."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

from workbench.engine.file_access import Stamp, expand_home, write_state
from workbench.engine.values import dataclass

# Folders that hold no written memory.
_SKIPPED = frozenset({"node_modules", "__pycache__"})
_VERSION = 2


class OutsideMask(Protocol):
    """Masks what must not enter the index from files elsewhere."""

    def policy(self) -> str:
        """Return the masking policy in 16 characters; files are read again when it changes."""
        ...

    def elsewhere(self, content: bytes) -> bytes:
        """Return a file's content, masked."""
        ...

    def text(self, text: str) -> str:
        """Return a text, masked."""
        ...


@dataclass(frozen=True, slots=True)
class OutsideFile:
    """A regular file found on disk.

    Args:
        relative: Its POSIX path below the searched folder, or its own name if it was named directly.
    """

    place: Path
    relative: str
    stamp: Stamp


def absolute(path: str, root: Path) -> Path:
    """Return the place of a configured path, resolving `~` and `..` lexically.

    Args:
        path: Absolute, relative to the workspace, or starting with `~`.
        root: The workspace folder, absolute.
    """
    return Path(os.path.normpath(root / expand_home(path)))


def is_folder(place: Path) -> bool:
    """Return True for a readable folder that is not a symlink."""
    return stat.S_ISDIR(_mode(place))


def is_file(place: Path) -> bool:
    """Return True for a readable regular file that is not a symlink."""
    return stat.S_ISREG(_mode(place))


def has_link(place: Path, below: Path | None = None) -> bool:
    """Return whether the last part of a path, or one above it, is a symlink.

    Args:
        place: An absolute path.
        below: Check only parts from this folder down; None checks all. Links that the system or its owner
            placed above a workspace are allowed.
    """
    parts = [place, *place.parents]
    if below is not None and below in parts:
        parts = parts[: parts.index(below)]
    return any(stat.S_ISLNK(_mode(part)) for part in parts)


def files_below(folder: Path, wanted: Callable[[str], bool]) -> Iterator[OutsideFile]:
    """Walk a folder in order of names, skipping links, hidden entries, special files and the unreadable.

    Args:
        folder: An absolute path that is not a symlink.
        wanted: Selects files by their path below the folder.
    """
    waiting = [(os.fspath(folder), "")]
    while waiting:
        place, prefix = waiting.pop()
        try:
            with os.scandir(place) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            # Gone meanwhile, or unreadable for this user.
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
    """Return one file by its absolute path, or None if it is not a regular file."""
    stamp = _stamp(os.fspath(place))
    return OutsideFile(place, place.name, stamp) if stamp else None


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
    """Split a path before its first component with a wildcard; the second part may be empty."""
    parts = path.split("/")
    first = next((at for at, part in enumerate(parts) if any(mark in part for mark in "*?[")), None)
    if first is None:
        return path, ""
    fixed = "/".join(parts[:first])
    return (fixed or "/") if path.startswith("/") else fixed, "/".join(parts[first:])


def matches_glob(relative: str, pattern: str) -> bool:
    """Return whether a path matches; a matching folder includes everything in it, an empty pattern everything.

    Args:
        relative: POSIX path of a file below the glob's fixed folder.
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
    """Add the positions after each `**`, which may match no folder at all."""
    further = set(reached)
    for at in sorted(reached):
        while at < len(wanted) and wanted[at] == "**":
            at += 1
            further.add(at)
    return further


@dataclass(frozen=True, slots=True)
class SeenFile:
    """What is known of a file.

    Args:
        digest: Of the part taken; never empty.
        size: Number of bytes taken.
    """

    stamp: Stamp
    digest: bytes
    size: int


class SeenFiles:
    """Records of files seen, by path; derived, so losing them only costs reading again.

    Args:
        place: The file that keeps them, outside the workspace; None keeps them for this run only.
        policy: Returns the masking policy; records made under another one are dropped.
    """

    def __init__(self, place: Path | None, policy: Callable[[], str]) -> None:
        self._place = place
        self._policy = policy
        self._seen_under, self._seen = _read(place) if place else ("", {})
        self._kept = (self._seen_under, dict(self._seen))

    def get(self, path: str) -> SeenFile | None:
        """Return the record of a file, or None."""
        if self._seen_under != self._policy():
            self._seen_under, self._seen = self._policy(), {}
        return self._seen.get(path)

    def replace(self, seen: Mapping[str, SeenFile]) -> None:
        """Keep exactly these records, also for the next run if the disk allows."""
        self._seen = dict(seen)
        known = (self._seen_under, self._seen)
        if self._place is None or known == self._kept:
            return
        kept = [_VERSION, self._seen_under, [_row(*item) for item in self._seen.items()]]
        # Where it cannot be written, the next run reads the files again.
        if write_state(self._place, json.dumps(kept).encode()):
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
