"""Indexes what is read of a large memory in a process of its own, while this one reads on.

Python runs one thread at a time, and reading Markdown takes as long as indexing it. Both processes keep to the locks of
catalog and index; if the other one fails, this one does its work.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final

from workbench.engine.clock import SystemClock
from workbench.engine.roles import parse_role
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.settings.layers import load_settings

# With fewer files to read, starting a process takes longer than it saves.
_MANY_FILES: Final = 2_000
_PAUSE: Final = 0.1
_LAST: Final = b"."
# Only modules that this process could import, whatever its working folder.
_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from workbench.engine.services.index_beside import index_what_is_read; index_what_is_read(*sys.argv[2:])"
)


class IndexBeside(AbstractContextManager["IndexBeside"]):
    """Another process that indexes a workspace, from `begin` to the end of a `with`.

    Args:
        context: Of the workspace.
    """

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, unread: int) -> None:
        """Start it, unless it runs, there are too few files to read, something is indexed, or others embed it.

        An index that holds something would lose what is not read yet.
        """
        if self._process is not None or unread < _MANY_FILES:
            return
        finder = self._context.finder
        if not finder.embeds_at_once or finder.status().files:
            return
        path = json.dumps([str(entry) for entry in sys.path])
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(
                # Nothing in the working folder is imported.
                [
                    sys.executable,
                    "-P",
                    "-c",
                    _PROGRAM,
                    path,
                    str(self._context.root),
                    str(self._context.derived),
                    self._context.zone.key,
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                # Ctrl-C is for the parent; this process ends with its input.
                start_new_session=True,
            )

    def finish(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """Wait until it has indexed everything; all files are read.

        Args:
            progress: Called with files done and in total.
            cancelled: Polled; then it stops.
        """
        if self._process is None:
            return
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(_LAST)
            self._process.stdin.flush()
        while not cancelled():
            if not select.select([self._process.stdout], [], [], _PAUSE)[0]:
                continue
            told = self._process.stdout.readline().split()
            if not told:
                return
            progress(int(told[0]), int(told[1]))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            # Without anybody to tell it more, it stops after the file it is at.
            with self._process, contextlib.suppress(OSError):
                assert self._process.stdin is not None
                self._process.stdin.close()


def index_what_is_read(root: str, derived: str, zone: str) -> None:
    """Index what the catalog holds, again and again until somebody says that it holds everything, or nobody is there.

    Args:
        root: The workspace folder.
        derived: The folder of catalog and index; where they are kept elsewhere by now, there is nothing to do.
        zone: The time zone of the catalog: with another, each process would rebuild it over and over.
    """
    folder = Path(root)
    settings = replace(load_settings(folder), timezone=zone)
    context = WorkspaceContext(
        folder, parse_role("reader"), None, SystemClock(), settings, reads_refresh=False
    )
    is_last = is_alone = False

    def look() -> None:
        nonlocal is_last, is_alone
        if not is_alone and select.select([0], [], [], 0)[0]:
            told = os.read(0, 1)
            is_last, is_alone = is_last or told == _LAST, not told

    def cancelled() -> bool:
        look()
        return is_alone

    def say(done: int, total: int) -> None:
        sys.stdout.write(f"{done} {total}\n")
        sys.stdout.flush()

    with contextlib.closing(context), contextlib.suppress(BrokenPipeError):
        while not is_alone and str(context.derived) == derived:
            look()
            is_over = is_last
            context.finder.sync(progress=say if is_over else lambda _done, _total: None, cancelled=cancelled)
            if is_over:
                return
            time.sleep(_PAUSE)
