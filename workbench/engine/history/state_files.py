"""Small files of derived state: replaced atomically but not flushed to disk; losing one costs only time."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from pathlib import Path
from typing import Any

from workbench.engine.history.journal import write_all


def replace_unflushed(place: Path, content: bytes, temporary: Path) -> None:
    """Replace a file's content atomically for readers; a power cut may leave it torn or empty.

    Args:
        place: The file; its folder exists.
        content: The whole content.
        temporary: A name beside it that no other writer uses.

    Raises:
        OSError: It cannot be written; the file is unchanged.
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
    """Reserve space for a file that will replace another.

    Otherwise ext4 flushes its content on renaming, which takes longer than everything else.
    """
    if size and hasattr(os, "posix_fallocate"):
        # File systems that do not support this lose nothing.
        with contextlib.suppress(OSError):
            os.posix_fallocate(handle, 0, size)


def read_state(file: Path) -> Any:
    """Load a JSON file of state; None if it is missing or unreadable."""
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None


def write_state(file: Path, content: bytes) -> bool:
    """Replace a file of state atomically; return whether it succeeded."""
    temporary = file.with_name(f"{file.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_unflushed(file, content, temporary)
    except OSError:
        return False
    return True
