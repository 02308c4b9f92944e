"""What the kernel tells of changes to a workspace's files, so that no question has to look at all of them."""

from __future__ import annotations

import os
import struct
import sys
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import layout

if TYPE_CHECKING:
    import ctypes

# Of <sys/inotify.h>. Modified, status changed, moved from and to, created, deleted, itself deleted or moved.
_CHANGED = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
_ONLY_FOLDERS_NO_LINKS = 0x01000000 | 0x02000000
_IS_FOLDER = 0x40000000
# Unmounted, lost for want of room, no longer watched, itself deleted or moved.
_ANYTHING = 0x2000 | 0x4000 | 0x8000 | 0x400 | 0x800
_CLOSE_ON_EXEC_NO_WAIT = os.O_CLOEXEC | os.O_NONBLOCK
_EVENT = struct.Struct("iIII")
_READ_AT_ONCE = 1 << 16
# More folders are as many watches of the user's, and better looked at.
_MOST_FOLDERS = 1_000
# For more files than these, a look at all is faster.
_MOST_PATHS = 500
# File systems on which nobody but this kernel changes a file: ext, XFS, Btrfs, tmpfs, overlay, F2FS, ZFS, bcachefs.
_LOCAL = frozenset(
    (0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x794C7630, 0xF2F52010, 0x2FC12FC1, 0xCA451A4E)
)
_MEMORY = "memory"


class ChangeNotices:
    """Changes of tracked files since the last question about them; thread-safe.

    The kernel queues a notice before the call that changes a file returns, so what was saved before the question is
    never missed. It tells nothing of a file that is changed through a hard link in another folder, or in mapped memory.

    Args:
        handle: Of an inotify instance; closed with this, or once nobody holds this any more.
        folders: Workspace-relative prefix ("" or "memory/…/") of each watched folder, by watch.
    """

    def __init__(self, handle: int, folders: dict[int, str]) -> None:
        self._handle: int | None = handle
        self._let_go = weakref.finalize(self, _close, handle)
        # At the end of the process the kernel closes it, and a thread may still be reading.
        self._let_go.atexit = False
        self._folders = folders
        self._lock = threading.Lock()
        # A forked process has the same queue, and would take notices away from this one.
        self._process = os.getpid()

    @classmethod
    def of(cls, root: Path) -> ChangeNotices | None:
        """Return the notices of a workspace from now on.

        Returns:
            None where the kernel tells none, or not of everything: on another system than Linux, on file systems that
            other machines may write to, where Python cannot call it, or if the user's watches are used up.
        """
        if not sys.platform.startswith("linux"):
            return None
        try:
            import ctypes
        except ImportError:
            return None
        library = ctypes.CDLL(None, use_errno=True)
        try:
            handle = library.inotify_init1(_CLOSE_ON_EXEC_NO_WAIT)
        except AttributeError:
            return None
        if handle < 0:
            return None
        folders: dict[int, str] = {}
        waiting = [""]
        try:
            while waiting:
                prefix = waiting.pop()
                place = os.fsencode(f"{root}/{prefix}")
                watch = library.inotify_add_watch(handle, place, _CHANGED | _ONLY_FOLDERS_NO_LINKS)
                if watch < 0 or len(folders) >= _MOST_FOLDERS or not _is_local(library, place):
                    os.close(handle)
                    return None
                folders[watch] = prefix
                # Watched first, so that a folder made meanwhile is listed or told of.
                waiting.extend(_folders_in(place, prefix))
        except OSError:
            os.close(handle)
            return None
        return cls(handle, folders)

    def take(self) -> frozenset[str] | None:
        """Return the tracked files that may have changed since the last call; None if any may have, folders too."""
        paths: set[str] = set()
        with self._lock:
            while self._handle is not None and self._process == os.getpid():
                try:
                    events = os.read(self._handle, _READ_AT_ONCE)
                except BlockingIOError:
                    if len(paths) <= _MOST_PATHS:
                        return frozenset(paths)
                    break
                except OSError:
                    break
                if not self._note(events, paths):
                    break
        self.close()
        return None

    def close(self) -> None:
        """Let go of the watches; any file may have changed from then on."""
        with self._lock:
            self._handle = None
            self._let_go()

    def _note(self, events: bytes, paths: set[str]) -> bool:
        """Add the paths that events name; return False if they do not say enough."""
        at = 0
        while at < len(events):
            watch, kind, _, length = _EVENT.unpack_from(events, at)
            at += _EVENT.size
            name = os.fsdecode(events[at : at + length].rstrip(b"\0"))
            at += length
            prefix = self._folders.get(watch)
            if kind & _ANYTHING or prefix is None:
                return False
            if not prefix and name == _MEMORY:
                return False
            if kind & _IS_FOLDER:
                # A folder that comes or goes brings files along; one whose status changed may now be read or not.
                if prefix and not name.startswith("."):
                    return False
            elif layout.is_tracked(prefix + name):
                paths.add(prefix + name)
        return True


def _close(handle: int) -> None:
    with suppress(OSError):
        os.close(handle)


def _folders_in(place: bytes, prefix: str) -> list[str]:
    """Return the prefixes of the folders in a folder that hold tracked files: at the top, of `memory/` alone."""
    found = []
    with os.scandir(place) as entries:
        for entry in entries:
            name = os.fsdecode(entry.name)
            is_followed = bool(prefix) or name == _MEMORY
            if is_followed and not name.startswith(".") and entry.is_dir(follow_symlinks=False):
                found.append(f"{prefix}{name}/")
    return found


def _is_local(library: ctypes.CDLL, place: bytes) -> bool:
    """Return whether a folder is on a file system that no other machine writes to."""
    import ctypes

    status = ctypes.create_string_buffer(512)
    # The kind comes first in what `statfs` tells, in one machine word.
    return (
        library.statfs(place, status) == 0 and ctypes.c_ulong.from_buffer(status).value & 0xFFFFFFFF in _LOCAL
    )
