"""Repacks history when it is due, in the background, in nobody's way and never twice."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.errors import Locked, StorageError
from workbench.engine.history.git_program import git_available, start_git
from workbench.engine.history.unfinished_purge import purge_is_unfinished
from workbench.engine.process_lock import process_lock

if TYPE_CHECKING:
    import subprocess

    from workbench.engine.history.history import History

REPACK_LOCK = "workbench.repack"
# Loose objects cost an inode and a search each; big trees cost space long before they are many.
MANY_OBJECTS = 2_000
MANY_BYTES = 64 * 1024 * 1024
MANY_PACKS = 40
# Processes started here; each is asked after now and then, so that none stays as a zombie.
_started: list[subprocess.Popen[bytes]] = []


@dataclass(frozen=True)
class Clutter:
    """What lies loose in a history: objects, their bytes, and packs."""

    objects: int
    size: int
    packs: int


def measure_clutter(
    folder: Path, *, enough_objects: int = MANY_OBJECTS, enough_bytes: int = MANY_BYTES
) -> Clutter:
    """Count what lies loose in a git directory, stopping where it is enough to be due.

    Args:
        folder: The git directory.
        enough_objects: Counting stops past this many.
        enough_bytes: Counting stops past this many bytes.
    """
    objects = size = 0
    store = folder / "objects"
    packs = sum(1 for entry in _listed(store / "pack") if entry.name.endswith(".pack"))
    for group in _listed(store):
        if len(group.name) != 2:
            continue
        for entry in _listed(Path(group.path)):
            # A repacking of another process may take objects away meanwhile.
            with suppress(FileNotFoundError):
                size += entry.stat(follow_symlinks=False).st_size
                objects += 1
        if objects > enough_objects or size > enough_bytes:
            break
    return Clutter(objects, size, packs)


def repack_if_due(
    history: History,
    *,
    many_objects: int = MANY_OBJECTS,
    many_bytes: int = MANY_BYTES,
    many_packs: int = MANY_PACKS,
) -> subprocess.Popen[bytes] | None:
    """Start repacking in a process of its own where enough lies loose; return at once.

    Loose objects are gathered into packs, and small packs into larger ones; nothing is ever without a copy, so
    writers and readers go on meanwhile. A lock that the process holds keeps a second one from starting. Cheap
    enough for the end of a session, not for every change: it lists the loose objects.

    Args:
        history: Of the workspace.
        many_objects: Repack past this many loose objects,
        many_bytes: or this many bytes of them,
        many_packs: or this many packs.

    Returns:
        The process, which may outlive this one; None where nothing is due, one is running, or git is missing
        (`History.warnings` says so).
    """
    if not history.exists:
        return None
    folder = history.store.path
    _started[:] = [process for process in _started if process.poll() is None]
    clutter = measure_clutter(folder, enough_objects=many_objects, enough_bytes=many_bytes)
    if clutter.objects <= many_objects and clutter.size <= many_bytes and clutter.packs <= many_packs:
        return None
    if not git_available():
        return None
    return _start(folder)


@contextmanager
def no_repacking(folder: Path, wait: float) -> Iterator[None]:
    """Keep the background from repacking during a block; wait for what is at work already.

    Args:
        folder: The git directory.
        wait: Seconds.

    Raises:
        Locked: A repacking did not end in time.
        StorageError: The lock's file cannot be written.
    """
    with process_lock(folder / REPACK_LOCK, wait) as alone:
        if not alone:
            raise Locked(
                "The history is being repacked or purged by another process; nothing was changed.",
                where=str(folder),
                remedy=f"Try again in a minute; it was waited for {wait:g} s.",
            )
        yield


def _start(folder: Path) -> subprocess.Popen[bytes] | None:
    try:
        handle = os.open(folder / REPACK_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise StorageError(
            f"History cannot be repacked: {error.strerror}.",
            where=str(folder),
            remedy="Make the folder writable.",
        ) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return None
        if purge_is_unfinished(folder):
            # What is going must not be packed again.
            return None
        # The lock is the child's as soon as it inherits the handle, and the kernel frees it when the child ends.
        arguments = ("repack", "-d", "-l", "-q", "--geometric=2", "--window-memory=64m", "--threads=1")
        process = start_git(folder, *arguments, in_background=True, pass_fds=(handle,))
        _started.append(process)
        return process
    finally:
        os.close(handle)


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []
