"""Follows the files of a workspace: what changed since the last look, edits from outside taken in."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.engine.services.context import WorkspaceContext

# Hashes of size, time and number: of tens of thousands of files, these take half as much room.
_Stamps = dict[str, int]


class ChangeFollower:
    """Finds what changed in a workspace since the last look.

    The catalog cannot: this process and others keep it up to date.

    Args:
        changed: Called with the paths that differ from the last look, never twice at once.
    """

    def __init__(self, context: WorkspaceContext, changed: Callable[[frozenset[str]], None]) -> None:
        self._context = context
        self._changed = changed
        self._lock = threading.Lock()
        self._seen = self._stamps()

    def look(self) -> None:
        """Take in what was edited from outside, and tell what changed; the audit log counts as a file here.

        Raises:
            WorkbenchError: Something could not be taken in (another process holds the lock); what changed was told.
        """
        with self._lock:
            failure: WorkbenchError | None = None
            try:
                self._context.adopt()
                self._context.refresh()
            except WorkbenchError as error:
                # The files have changed all the same.
                failure = error
            seen = self._stamps()
            paths = {path for path, _ in self._seen.items() ^ seen.items()}
            self._seen = seen
            if paths:
                self._changed(frozenset(paths))
            if failure is not None:
                raise failure

    def _stamps(self) -> _Stamps:
        stamps = {
            path: hash((status.st_size, status.st_mtime_ns, status.st_ino))
            for path, status in layout.tracked_files(self._context.root).items()
        }
        # What changes no file, such as an acknowledgement, still has its line there.
        with suppress(OSError):
            status = (self._context.root / layout.AUDIT_LOG).lstat()
            stamps[layout.AUDIT_LOG] = hash((status.st_size, status.st_mtime_ns, status.st_ino))
        return stamps
