"""Notices changes to files of the workspace, by any program."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine import layout
from workbench.engine.errors import WorkbenchError

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch

# Under continuous writing, still look now and then.
_MOST_QUIET_SPELLS = 10
_FIRST_RETRY = 1.0
_LAST_RETRY = 30.0
_POLL_SECONDS = 5.0
# For more files than these, a full scan is faster.
_MOST_PATHS = 500
_READING = frozenset({"opened", "closed_no_write"})


class Watcher:
    """Calls back on its own thread once changes have settled.

    The folder `memory/` may be created, removed and created again meanwhile. A call that fails with an engine error
    (another process holds the lock) is retried later.

    Args:
        root: The workspace folder, absolute and without links.
        changed: Called after each quiet spell; the callee finds out what changed. Never called concurrently.
        quiet: Seconds without a further event before the call.
        noted: Called before each such call with the workspace-relative files that events named since the last;
            None if more may have changed than the events said, as after moving a folder or a failed call.
    """

    def __init__(
        self,
        root: Path,
        changed: Callable[[], None],
        *,
        quiet: float = 0.3,
        noted: Callable[[frozenset[str] | None], None] = lambda _paths: None,
    ) -> None:
        self._root = root
        self._changed = changed
        self._noted = noted
        self._paths: set[str] | None = set()
        self._quiet = quiet
        self._wake = threading.Condition()
        self._stopped = False
        self._first_event = 0.0
        self._last_event = 0.0
        self._pending = False
        self._memory_watch: ObservedWatch | None = None
        self._memory_identity: tuple[int, int] | None = None
        self._handler = _handler(self._note)
        self._observer = self._observe()
        self._thread = threading.Thread(target=self._run, name="workbench-watcher", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching and wait for a call in progress, unless called from within it."""
        with self._wake:
            self._stopped = True
            self._wake.notify_all()
        current = threading.current_thread()
        if current is not self._thread:
            self._thread.join()
        self._observer.stop()
        if current is not self._observer:
            self._observer.join()

    def _observe(self) -> BaseObserver:
        from watchdog.observers import Observer
        from watchdog.observers.polling import PollingObserver

        try:
            return self._start(Observer())
        except OSError:
            # The system is out of watches; polling finds the same, later.
            self._observer.unschedule_all()
            return self._start(PollingObserver(timeout=_POLL_SECONDS))

    def _start(self, observer: Any) -> BaseObserver:
        watched: BaseObserver = observer  # watchdog types its observers as factories
        # The root is watched flat: a repository beside the memory may hold any number of folders.
        watched.schedule(self._handler, str(self._root), recursive=False)
        self._observer = watched
        self._memory_watch = self._memory_identity = None
        self._follow_memory_folder()
        watched.start()
        return watched

    def _follow_memory_folder(self) -> None:
        """Watch the present `memory/` folder."""
        folder = self._root / "memory"
        try:
            status = folder.lstat()
        except OSError:
            identity = None
        else:
            identity = (status.st_dev, status.st_ino) if folder.is_dir() and not folder.is_symlink() else None
        if identity == self._memory_identity:
            return
        if self._memory_watch is not None:
            self._observer.unschedule(self._memory_watch)
            self._memory_watch = None
        self._memory_identity = None
        if identity is not None:
            self._memory_watch = self._observer.schedule(self._handler, str(folder), recursive=True)
            self._memory_identity = identity

    def _note(self, event: FileSystemEvent) -> None:
        if event.event_type in _READING or (event.is_directory and event.event_type == "modified"):
            return
        places = (os.fsdecode(event.src_path), os.fsdecode(event.dest_path or ""))
        concerned = [
            place for place in places if place and self._concerns(place, is_folder=event.is_directory)
        ]
        if not concerned:
            return
        with self._wake:
            if event.is_directory or len(self._paths or ()) > _MOST_PATHS:
                self._paths = None
            elif self._paths is not None:
                self._paths.update(Path(os.path.relpath(place, self._root)).as_posix() for place in concerned)
            self._last_event = time.monotonic()
            if not self._pending:
                self._pending = True
                self._first_event = self._last_event
                self._wake.notify_all()

    def _concerns(self, place: str, *, is_folder: bool) -> bool:
        path = os.path.relpath(place, self._root)
        # Even what changes no file, such as an acknowledgement, writes a line to the audit log.
        if layout.is_tracked(path) or path == layout.AUDIT_LOG:
            return True
        parts = Path(path).parts
        # The workspace itself has no part when deleted or moved away.
        return (
            is_folder and parts[:1] in ((), ("memory",)) and not any(part.startswith(".") for part in parts)
        )

    def _run(self) -> None:
        retry = _FIRST_RETRY
        while self._wait_for_quiet():
            try:
                watched = self._memory_identity
                self._follow_memory_folder()
                self._noted(self._take_paths() if watched == self._memory_identity else None)
                self._changed()
            except (WorkbenchError, OSError):
                with self._wake:
                    self._paths = None
                    self._wake.wait_for(lambda: self._stopped, timeout=retry)
                    self._pending = True
                retry = min(2 * retry, _LAST_RETRY)
            else:
                retry = _FIRST_RETRY

    def _take_paths(self) -> frozenset[str] | None:
        with self._wake:
            paths, self._paths = self._paths, set()
            return None if paths is None else frozenset(paths)

    def _wait_for_quiet(self) -> bool:
        """Wait for changes to start and end; return False if the watcher is stopped."""
        with self._wake:
            self._wake.wait_for(lambda: self._pending or self._stopped)
            while not self._stopped:
                latest = self._first_event + _MOST_QUIET_SPELLS * self._quiet
                left = min(self._last_event + self._quiet, latest) - time.monotonic()
                if left <= 0:
                    self._pending = False
                    return True
                self._wake.wait(left)
            return False


def _handler(note: Callable[[FileSystemEvent], None]) -> Any:
    from watchdog.events import FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            note(event)

    return Handler()
