"""Brings a workspace up to date behind the bench, and tells it whenever memory has changed."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from workbench.engine.errors import StorageError, WorkbenchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.workspace import Workspace

# Seconds before what could not be taken in is tried again.
_RETRY = 5.0
# Seconds that leaving waits for what the background writes; another process may keep it waiting for longer.
_LONGEST_FAREWELL = 1.0
# Seconds that it waits for what the background only reads, of which nothing can be lost.
_FAREWELL_TO_READING = 0.1
# Seconds between two tellings of progress, at least.
_SHORTEST_PAUSE = 0.3
# Seconds that bringing the search index up to date may take before it is worth a word.
_LONG = 0.5
# Seconds between two looks at what was held back: it waits outside the workspace, where nothing tells of it.
_LOOK_AT_HELD = 2.0


class Follower:
    """Reads the files, takes in what was edited from outside, watches, and keeps the search index up to date.

    All of it happens on a thread of its own.

    Args:
        workspace: Opened with `reads_refresh=False`.
        changed: Called from any thread.
        broke: Told of what nobody expected, from any thread; nothing is followed any more then.
        unless: Returns what the work asks instead whether it is to end; see `Courtesy`.
    """

    def __init__(
        self,
        workspace: Workspace,
        changed: Callable[[], object],
        broke: Callable[[BaseException], object] = lambda _: None,
        unless: Callable[[Callable[[], bool]], Callable[[], bool]] = lambda stopped: stopped,
    ) -> None:
        self._workspace = workspace
        self._changed = changed
        self._broke = broke
        self._closed = threading.Event()
        self._is_over = unless(self._closed.is_set)
        self._behind = threading.Event()
        self._stop_watching: Callable[[], None] = lambda: None
        self.trouble = ""
        self.index = ""
        self.progress: tuple[int, int] | None = (0, 0)
        self._pace = Pace()
        self._reading = True
        self._thread = threading.Thread(target=self._run, name="follow changes", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it, without waiting long for what is under way."""
        self._closed.set()
        self._behind.set()
        self._thread.join(_FAREWELL_TO_READING if self._reading else _LONGEST_FAREWELL)
        farewell = threading.Thread(target=self._stop_watching, name="stop watching", daemon=True)
        farewell.start()
        farewell.join(_LONGEST_FAREWELL)

    def _run(self) -> None:
        try:
            self._follow()
        except BaseException as error:
            if not self._closed.is_set():
                self._broke(error)

    def _follow(self) -> None:
        self._try(lambda: self._workspace.refresh(progress=self._read, cancelled=self._is_over))
        self.progress = None
        # In this order: whoever leaves while this is reading finds nothing begun afterwards.
        self._reading = False
        if self._closed.is_set():
            return
        self._stop_watching = self._workspace.watch(lambda _paths: self._memory_changed())
        while not self._try(self._workspace.adopt) and not self._closed.is_set():
            self._tell()
            self._closed.wait(_RETRY)
        self._tell()
        search = self._workspace.settings.search
        interval = search.sync_minutes * 60 or None
        while not self._closed.is_set():
            self._bring_index_up_to_date()
            if search.watch:
                self._wait_for_change(interval)
                self._wait_for_quiet(search.watch_debounce_ms / 1000)
            else:
                self._closed.wait(interval)

    def _wait_for_change(self, longest: float | None) -> None:
        """Wait until files changed, and tell meanwhile of what an agent had held back.

        Args:
            longest: Seconds after which to go on all the same; None for never.
        """
        end = None if longest is None else time.monotonic() + longest
        held = self._held()
        while not self._behind.wait(_LOOK_AT_HELD) and (end is None or time.monotonic() < end):
            before, held = held, self._held()
            if held != before:
                self._tell()

    def _held(self) -> tuple[int, ...]:
        try:
            return tuple(each.number for each in self._workspace.secrets_held().held)
        except WorkbenchError:
            # The Inbox says why it cannot be read.
            return ()

    def _wait_for_quiet(self, seconds: float) -> None:
        """Wait until nothing changed for a while."""
        while self._behind.is_set() and not self._closed.is_set():
            self._behind.clear()
            self._behind.wait(seconds)

    def _memory_changed(self) -> None:
        self._behind.set()
        self._tell()

    def _bring_index_up_to_date(self) -> None:
        """Have search know everything, and tell about it only where that takes its time or fails."""
        begun = time.monotonic()
        pace = Pace()

        def progress(done: int, total: int) -> None:
            if time.monotonic() - begun >= _LONG:
                self.index = f"index {100 * done // total if total else 0}%"
                if pace.due():
                    self._tell()

        before = self.index
        try:
            self._workspace.index(progress=progress, cancelled=self._is_over)
        except WorkbenchError:
            # The panel and every search say why.
            self.index = "index behind"
            self._tell()
            return
        told = bool(before or self.index)
        self.index = ""
        if told:
            self._tell()

    def _read(self, done: int, all_: int) -> None:
        self.progress = (done, all_)
        if self._pace.due():
            self._tell()

    def _try(self, act: Callable[[], object]) -> bool:
        try:
            act()
        except StorageError:
            # A folder that cannot be written has a notice of its own; trying again would not help.
            return True
        except WorkbenchError as error:
            self.trouble = f"Edits from outside wait: {error.message}"
            return False
        self.trouble = ""
        return True

    def _tell(self) -> None:
        if not self._closed.is_set():
            self._changed()


class Pace:
    """Says when to tell of progress: at once, then ever more rarely, since each time everything is read again.

    Args:
        clock: Gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = self._next = clock()

    def due(self) -> bool:
        """Tell whether it is time; if so, the next time is later."""
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + max(_SHORTEST_PAUSE, now - self._begun)
        return True
