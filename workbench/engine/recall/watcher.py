"""Notices that files of the workspace changed, whoever changed them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import layout

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent


class Watcher:
    """Calls back, on a thread of its own, once changes have been quiet for a while.

    Args:
        root: The workspace folder, absolute.
        changed: Called after each quiet spell; what changed is for the callee to find out.
        quiet: Seconds without a further event before the call.
    """

    def __init__(self, root: Path, changed: Callable[[], None], *, quiet: float = 0.3) -> None:
        self._root = root
        self._changed = changed
        self._quiet = quiet
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._stopped = False
        self._observer = _observe(root, self._note)

    def stop(self) -> None:
        """Stop watching; a call that is already under way is waited for."""
        with self._lock:
            self._stopped = True
            timer, self._timer = self._timer, None
        self._observer.stop()
        self._observer.join()
        if timer is not None:
            timer.cancel()
            if timer is not threading.current_thread():
                timer.join()

    def _note(self, place: str) -> None:
        try:
            path = Path(os.path.realpath(place)).relative_to(self._root).as_posix()
        except ValueError:
            return
        watched = layout.is_tracked(path) or path == "memory" or path.startswith("memory/")
        if not watched or path in layout.PROJECTIONS or any(p.startswith(".") for p in path.split("/")):
            return
        with self._lock:
            if self._stopped:
                return
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(self._quiet, self._changed)
            self._timer.daemon = True
            self._timer.start()


class _Stoppable:
    """The part of watchdog's observer that is used here."""

    def stop(self) -> None: ...
    def join(self) -> None: ...


def _observe(root: Path, note: Callable[[str], None]) -> _Stoppable:
    from watchdog.events import FileSystemEventHandler
    from watchdog.observers import Observer

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            if event.event_type in ("opened", "closed_no_write"):
                return
            note(os.fsdecode(event.src_path))
            if event.dest_path:
                note(os.fsdecode(event.dest_path))

    observer = Observer()
    handler = Handler()
    # The root is watched flat: a user's own repository beside the memory may hold any number of folders.
    observer.schedule(handler, str(root), recursive=False)
    if (root / "memory").is_dir():
        observer.schedule(handler, str(root / "memory"), recursive=True)
    observer.start()
    return observer  # type: ignore[return-value]  # watchdog types its observer as a factory
