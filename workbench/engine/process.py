"""This process and others: shared locks, termination signals, the use of memory, programs the user names."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from workbench.engine.errors import StorageError

_PAUSE = 0.005
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@contextmanager
def process_lock(place: Path, wait: float) -> Iterator[bool]:
    """Try to hold an exclusive lock; yield whether that worked. The kernel releases it when a process dies.

    Args:
        place: The lock file; its folder exists.
        wait: Seconds to wait for its holder.

    Raises:
        StorageError: The file cannot be created, or the file system has no locks.
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
    """Take a lock without waiting; return False if it is held elsewhere."""
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


class Alarm:
    """Wakes one waiting thread; may be rung from any thread or signal handler.

    A `threading` event cannot be set by a handler that interrupts the thread waiting for it.
    """

    def __init__(self) -> None:
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._reads, False)
        os.set_blocking(self._writes, False)

    def ring(self) -> None:
        """Wake the thread that waits now or next."""
        # A full pipe wakes as well.
        with contextlib.suppress(BlockingIOError):
            os.write(self._writes, b"!")

    def wait(self, seconds: float) -> None:
        """Wait until it rings, at most this many seconds."""
        if select.select([self._reads], [], [], max(seconds, 0.0))[0]:
            with contextlib.suppress(BlockingIOError):
                os.read(self._reads, 65_536)

    @contextmanager
    def rung_by_signals(self) -> Iterator[None]:
        """Let the interpreter ring at each signal that is handled. Main thread only.

        A handler in Python runs on the main thread alone, which may have been about to wait, and then waits on.
        """
        before = signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)

    def close(self) -> None:
        """Close the pipe; it must not be rung any more."""
        os.close(self._reads)
        os.close(self._writes)


@contextlib.contextmanager
def ending_signals_reported(told: Callable[[str], object]) -> Iterator[None]:
    """Report SIGTERM, SIGINT and SIGHUP by name. Main thread only.

    An ignored signal stays ignored: `nohup` and a shell's background jobs ask for that.

    Args:
        told: Called for each, on the main thread; must return at once.
    """

    def handle(number: int, _frame: FrameType | None) -> None:
        told(signal.Signals(number).name)

    with _signal_handler(handle):
        yield


@contextlib.contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Make SIGTERM and SIGHUP interrupt like SIGINT, so that running work can report how far it came.

    Main thread only.
    """

    def handle(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with _signal_handler(handle):
        yield


@contextlib.contextmanager
def _signal_handler(handle: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    heeded = [number for number in _ENDING_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handle) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class NotRunnable(Exception):
    """A program cannot be run; the text says why, without a full stop."""


def find_program(command: str, setting: str, workspace: Path, environment: Mapping[str, str]) -> str:
    """Return the path of a program that the user named; nothing in a workspace is ever run.

    Args:
        command: Its name, or an absolute path, which may begin with `~`.
        setting: That names it, for messages.
        workspace: The workspace folder.
        environment: Its PATH is looked through, without relative folders.

    Raises:
        NotRunnable: The program is missing, its home folder is not known, or it lies in the workspace.
    """
    if os.sep in command or command.startswith("~"):
        try:
            path = Path(command).expanduser()
        except RuntimeError as error:
            raise NotRunnable(f"the home folder in “{command}” is not known") from error
        if not path.is_absolute():
            raise NotRunnable(f"{setting} must be the name of a program or an absolute path")
        found = shutil.which(path)
    else:
        found = shutil.which(command, path=absolute_search_path(environment))
    if found is None:
        raise NotRunnable(f"the program “{command}” was not found")
    if Path(found).resolve().is_relative_to(workspace.resolve()):
        raise NotRunnable("the program lies in the workspace, and nothing there is run")
    return found


def absolute_search_path(environment: Mapping[str, str]) -> str:
    """Return the PATH without relative folders."""
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if Path(folder).is_absolute())


def end_program(process: subprocess.Popen[bytes]) -> None:
    """Kill a program that leads a process group of its own, with its children, and wait for it."""
    # Systems differ in how they report an empty group.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


# Of glibc’s malloc.h; blocks of more bytes than this are given back to the system as soon as they are free.
_M_MMAP_THRESHOLD, _M_ARENA_MAX, _LARGE_BLOCK = -3, -8, 128 * 1024


def share_freed_memory() -> None:
    """Have all threads use what any of them freed; call it before there are threads.

    Elsewhere each would keep what it needed most: with six of them over 100 MB that nobody uses. Only glibc does
    so, and only there anything happens.
    """
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        # musl and macOS have no such function.
        library.mallopt(_M_ARENA_MAX, 1)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Pause Python's garbage collection while tens of thousands of long-lived values are created.

    The collector would scan them again and again. If several threads are inside, the first to have entered ends
    it for all.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
