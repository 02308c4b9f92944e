"""Reads a memory file for the catalog: its bytes with the very stamp they had, and nothing through a link."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

# Parsing all of a file that is larger than any memory would keep everything else waiting.
MOST_BYTES = 4 * 1024 * 1024
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the file system says of a file, enough to notice that it changed."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """Return the stamp of a file with this status."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as it was read.

    Args:
        content: Its bytes; of a larger file the whole lines within the first 4 MiB.
        cut: Whether there is more.
        unreadable: Why it cannot be read, or None.
        masked: Whether secrets in it gave way to masks.
    """

    stamp: Stamp
    content: bytes
    cut: bool = False
    unreadable: str | None = None
    masked: bool = False

    @property
    def digest(self) -> bytes:
        """Return a digest that tells whether a file that was touched has changed; empty where it is unreadable."""
        if self.unreadable is not None:
            return b""
        return hashlib.blake2b(self.content, digest_size=16, salt=b"cut" if self.cut else b"").digest()

    @property
    def blob(self) -> bytes | None:
        """Return the 20 bytes by which git names this content; None where not all of it was read."""
        if self.cut or self.masked or self.unreadable is not None:
            return None
        return hashlib.sha1(b"blob %d\0" % len(self.content) + self.content, usedforsecurity=False).digest()


def read_file(root: Path, path: str) -> FileContent | None:
    """Read a tracked file; None where there is none, or where it is a link or no regular file.

    Args:
        root: The workspace folder, absolute.
        path: Workspace-relative.
    """
    if "\0" in path:
        return None
    try:
        if _behind_a_link(root, path):
            return None
        handle = os.open(f"{root}/{path}", _FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return _unreadable(root, path, error)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return None
        content = _read(handle, min(status.st_size, MOST_BYTES) + 1)
    except OSError as error:
        return _unreadable(root, path, error)
    finally:
        os.close(handle)
    if len(content) <= MOST_BYTES:
        return FileContent(Stamp.of(status), content)
    end = content.rfind(b"\n", 0, MOST_BYTES) + 1
    return FileContent(Stamp.of(status), content[: end or MOST_BYTES], cut=True)


def _behind_a_link(root: Path, path: str) -> bool:
    place = str(root)
    for part in path.split("/")[:-1]:
        place = f"{place}/{part}"
        if stat.S_ISLNK(os.lstat(place).st_mode):
            return True
    return False


def _read(handle: int, most: int) -> bytes:
    content = os.read(handle, most)
    while len(content) < most and (more := os.read(handle, most - len(content))):
        content += more
    return content


def _unreadable(root: Path, path: str, error: OSError) -> FileContent | None:
    try:
        status = os.lstat(root / path)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return FileContent(Stamp.of(status), b"", unreadable=error.strerror or str(error))
