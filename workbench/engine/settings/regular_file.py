"""Reads a file of settings, and only a file: a pipe in its place would keep the program waiting for ever."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


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
