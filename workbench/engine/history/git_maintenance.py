"""Runs the git program isolated from configuration, and repacks history in the background when due."""

from __future__ import annotations

import fcntl
import os
import re
import selectors
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from workbench.engine.errors import Cancelled, HistoryError, Locked, StorageError
from workbench.engine.history.recovery import purge_is_unfinished
from workbench.engine.process import process_lock

if TYPE_CHECKING:
    from workbench.engine.history.history import History


# What git needs from the environment to run; everything else could change its behaviour.
_KEPT = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP")
_LOOK_AGAIN = 0.1  # seconds between checks for cancellation
_COUNTED = re.compile(rb"\((\d+)/(\d+)\)")
_importing = threading.Lock()

REPACK_LOCK = "workbench.repack"
# Loose objects cost an inode and a search each; large trees waste space long before there are many.
MANY_OBJECTS = 2_000
MANY_BYTES = 64 * 1024 * 1024
MANY_PACKS = 40
# Processes started here, polled now and then so that none remains a zombie.
_started: list[subprocess.Popen[bytes]] = []


@dataclass(frozen=True)
class Ran:
    """Git's exit status and output."""

    status: int
    out: str
    err: str


def git_available() -> bool:
    """Return True if the git program is installed."""
    return shutil.which("git") is not None


def require_git(purpose: str) -> None:
    """Check that the git program is installed.

    Args:
        purpose: What it is needed for, as in “to purge”.

    Raises:
        HistoryError: It is missing.
    """
    if not git_available():
        raise HistoryError(
            f"The git program is missing; it is needed {purpose}.",
            where="PATH",
            remedy="Install git from git-scm.com. Everything but this and repacking works without it.",
        )


def git_command(folder: Path, *arguments: str) -> list[str]:
    """Return the command line for git on a history.

    Args:
        folder: The git directory.
        arguments: The git command and its arguments.
    """
    plain = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0")
    return ["git", f"--git-dir={folder}", *plain, *arguments]


def git_environment() -> dict[str, str]:
    """Return an environment that isolates git from everything outside the repository."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {
        **kept,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        # A history is complete; the remote that its config names could be any program.
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        # Replacement refs are ignored.
        "GIT_NO_REPLACE_OBJECTS": "1",
        "HOME": os.devnull,
        "LC_ALL": "C",
    }


def run_git(
    folder: Path,
    *arguments: str,
    progress: Callable[[int, int], None] = lambda *_: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Ran:
    """Run git on a history and wait; the caller checks the exit status.

    Args:
        folder: The git directory.
        arguments: The git command and its arguments.
        progress: Called with git's progress on standard error: done, total.
        cancelled: Polled while git runs.

    Raises:
        Cancelled: `cancelled` returned True; git has ended.
        HistoryError: Git cannot be started.
    """
    process = start_git(folder, *arguments)
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = bytearray(), bytearray()
    try:
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ, out)
            waiting.register(process.stderr, selectors.EVENT_READ, err)
            while waiting.get_map():
                if cancelled():
                    raise Cancelled("Cancelled.")
                for key, _ in waiting.select(_LOOK_AGAIN):
                    chunk = os.read(key.fd, 65536)
                    key.data.extend(chunk)
                    if not chunk:
                        waiting.unregister(key.fileobj)
                    elif key.data is err and (counted := _COUNTED.findall(chunk)):
                        progress(int(counted[-1][0]), int(counted[-1][1]))
        status = process.wait()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
        process.stderr.close()
    return Ran(status, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def start_git(
    folder: Path, *arguments: str, in_background: bool = False, pass_fds: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """Start git on a history.

    Args:
        folder: The git directory.
        arguments: The git command and its arguments.
        in_background: Let it outlive this process at low priority, with its output discarded.
        pass_fds: File descriptors to inherit.

    Raises:
        HistoryError: Git cannot be started.
    """
    require_git(f"for `git {arguments[0]}`")
    gitpython = _gitpython()
    # GitPython adds to this process's environment; `env -i` keeps that from git.
    variables = [f"{name}={value}" for name, value in git_environment().items()]
    clean = [shutil.which("env") or "/usr/bin/env", "-i", *variables]
    nice = ["nice", "-n", "19"] if in_background and shutil.which("nice") else []
    try:
        started = gitpython.Git(folder).execute(
            [*nice, *clean, *git_command(folder, *arguments)],
            as_process=True,
            with_stdout=not in_background,
            pass_fds=pass_fds,
            start_new_session=in_background,
        )
    except (OSError, gitpython.GitError) as error:
        raise HistoryError(
            f"The git program cannot be run: {error}.",
            where=str(folder),
            remedy="Install git from git-scm.com, and give yourself the right to run it.",
        ) from error
    # Otherwise GitPython would terminate the process when its wrapper is collected.
    process: subprocess.Popen[bytes] = started.proc
    started.proc = None
    if in_background and process.stderr is not None:
        process.stderr.close()
    return process


def _gitpython() -> ModuleType:
    """Import GitPython, which runs the configured git program at import, in the isolated environment."""
    with _importing:
        if "git" not in sys.modules:
            aside = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("GIT_")}
            os.environ["GIT_PYTHON_REFRESH"] = "quiet"
            try:
                return import_module("git")
            finally:
                del os.environ["GIT_PYTHON_REFRESH"]
                os.environ.update(aside)
        return sys.modules["git"]


@dataclass(frozen=True)
class LooseObjects:
    """The loose objects of a history, their bytes, and its packs."""

    objects: int
    size: int
    packs: int


def count_loose_objects(
    folder: Path, *, enough_objects: int = MANY_OBJECTS, enough_bytes: int = MANY_BYTES
) -> LooseObjects:
    """Count the loose objects in a git directory, stopping early once repacking is due.

    Args:
        folder: The git directory.
        enough_objects: Stop past this many objects.
        enough_bytes: Stop past this many bytes.
    """
    objects = size = 0
    store = folder / "objects"
    packs = sum(1 for entry in _listed(store / "pack") if entry.name.endswith(".pack"))
    for group in _listed(store):
        if len(group.name) != 2:
            continue
        for entry in _listed(Path(group.path)):
            # A concurrent repack may remove objects meanwhile.
            with suppress(FileNotFoundError):
                size += entry.stat(follow_symlinks=False).st_size
                objects += 1
        if objects > enough_objects or size > enough_bytes:
            break
    return LooseObjects(objects, size, packs)


def repack_if_due(
    history: History,
    *,
    many_objects: int = MANY_OBJECTS,
    many_bytes: int = MANY_BYTES,
    many_packs: int = MANY_PACKS,
) -> subprocess.Popen[bytes] | None:
    """Start repacking in a separate process if it is due; return at once.

    Loose objects are gathered into packs, and small packs into larger ones. Every object exists at all times, so
    readers and writers continue. A lock held by the process prevents a second one. Listing the loose objects is
    cheap enough for the end of a session, not for every change.

    Args:
        history: The workspace's history.
        many_objects: Repack past this many loose objects,
        many_bytes: or this many bytes of them,
        many_packs: or this many packs.

    Returns:
        The process, which may outlive this one; None if nothing is due, one is already running, or git is missing
        (see `History.warnings`).
    """
    if not history.exists:
        return None
    folder = history.store.path
    _started[:] = [process for process in _started if process.poll() is None]
    clutter = count_loose_objects(folder, enough_objects=many_objects, enough_bytes=many_bytes)
    if clutter.objects <= many_objects and clutter.size <= many_bytes and clutter.packs <= many_packs:
        return None
    if not git_available():
        return None
    return _start(folder)


@contextmanager
def repacking_paused(folder: Path, wait: float) -> Iterator[None]:
    """Keep background repacking out for a block, waiting for one that is running.

    Args:
        folder: The git directory.
        wait: Seconds.

    Raises:
        Locked: A running repack did not end in time.
        StorageError: The lock file cannot be written.
    """
    with process_lock(folder / REPACK_LOCK, wait) as alone:
        if not alone:
            raise Locked(
                "The history is being repacked or purged by another process; nothing was changed.",
                where=str(folder),
                remedy=f"Try again in a minute; waited {wait:g} s.",
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
            # Objects to be purged may not be packed again.
            return None
        # The child owns the lock once it inherits the handle; the kernel frees it when the child ends.
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
