"""Owns what is done to the search index from the bench: one thing at a time, on its own thread, and it can stop."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from workbench.engine.errors import WorkbenchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.tui.bench import Bench

# Seconds between two tellings of progress, at least.
_PACE = 0.08


class IndexWork:
    """A synchronisation or a rebuild of the index, which goes on when its panel is closed.

    Args:
        bench: The engine.
        moved: Called from any thread when it came further or to an end.
        clock: Gives seconds.
    """

    def __init__(
        self, bench: Bench, moved: Callable[[], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._bench = bench
        self._moved = moved
        self._clock = clock
        self._told = 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.anew = False
        self.done = 0
        self.total = 0
        self.problem = ""
        self.cancelled = False

    @property
    def running(self) -> bool:
        """Tell whether something is under way."""
        return self._thread is not None

    @property
    def words(self) -> str:
        """Say in a word or two what is under way; empty while nothing is."""
        if not self.running:
            return ""
        share = f" {100 * self.done // self.total}%" if self.total else "…"
        return f"index{share}"

    def begin(self, *, anew: bool) -> None:
        """Bring the index up to date, or build it anew; nothing where something is under way already."""
        if self.running:
            return
        self.anew, self.done, self.total, self.problem, self.cancelled = anew, 0, 0, "", False
        self._stop.clear()
        self._thread = threading.Thread(target=self._work, name="index", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Have it stop soon."""
        if self.running:
            self.cancelled = True
            self._stop.set()

    def _work(self) -> None:
        act = self._bench.rebuild_index if self.anew else self._bench.sync_index
        try:
            act(self._progress, self._stop.is_set)
        except WorkbenchError as error:
            self.problem = f"{error.message} {error.remedy or ''}".strip()
        finally:
            self._thread = None
            self._moved()

    def _progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        if (now := self._clock()) - self._told >= _PACE:
            self._told = now
            self._moved()
