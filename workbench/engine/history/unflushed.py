"""Replaces files that can be made anew: each whole or as it was, but not flushed to disk."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from workbench.engine.history.journal import write_all


def replace_unflushed(place: Path, content: bytes, temporary: Path) -> None:
    """Give a file new content, which readers see whole or not at all; a power cut may leave it torn or empty.

    Args:
        place: The file; its folder exists.
        content: All of it.
        temporary: A name beside it that no other writer uses.

    Raises:
        OSError: It cannot be written; the file is as it was.
    """
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        try:
            reserve(handle, len(content))
            write_all(handle, content)
        finally:
            os.close(handle)
        temporary.replace(place)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def reserve(handle: int, size: int) -> None:
    """Reserve room for a file that will take another's name.

    Without, ext4 flushes its content at that moment, which takes longer than all the rest.
    """
    if size and hasattr(os, "posix_fallocate"):
        # File systems that cannot do it lose nothing.
        with contextlib.suppress(OSError):
            os.posix_fallocate(handle, 0, size)
