"""Locks between processes: one at a time does something, and a sign that a file is in use."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.engine.errors import StorageError

_PAUSE = 0.005


@contextmanager
def process_lock(place: Path, wait: float) -> Iterator[bool]:
    """Try to be the only one who does something; tell whether that worked. The kernel lets go when a process dies.

    Args:
        place: The lock's file; its folder exists.
        wait: Seconds to wait for another one.

    Raises:
        StorageError: The file cannot be made, or the file system has no locks.
    """
    try:
        handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise _unusable(place, error) from error
    try:
        yield _taken(place, handle, time.monotonic() + wait)
    finally:
        os.close(handle)


def _taken(place: Path, handle: int, until: float) -> bool:
    while not try_lock(place, handle, fcntl.LOCK_EX):
        if time.monotonic() >= until:
            return False
        time.sleep(_PAUSE)
    return True


def try_lock(place: Path, handle: int, kind: int) -> bool:
    """Take a lock without waiting; False where somebody else has it."""
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise _unusable(place, error) from error
    return True


def _unusable(place: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The lock cannot be taken: {error.strerror or error}.",
        where=str(place),
        remedy="Give the right to write there, or name another folder on a local disk: paths.cache, paths.state.",
    )
