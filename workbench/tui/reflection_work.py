"""Owns a cycle of reflection that is run from the bench: one at a time, on its own thread, and it can be called off."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from workbench.engine.errors import WorkbenchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results import Progress, Reflected
    from workbench.tui.bench import Bench

# Seconds between two tellings of progress within a phase, at least.
_PACE = 0.08


class ReflectionWork:
    """A cycle, which goes on whatever one looks at meanwhile.

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
        self.progress: Progress | None = None
        self.result: Reflected | None = None
        self.problem = ""
        self.cancelled = False

    @property
    def running(self) -> bool:
        """Tell whether a cycle is under way."""
        return self._thread is not None

    def begin(self, *, renew: bool = False) -> None:
        """Run a cycle; nothing where one is under way already.

        Args:
            renew: Write the waiting proposal anew.
        """
        if self.running:
            return
        self.progress, self.result, self.problem, self.cancelled = None, None, "", False
        self._stop.clear()
        self._thread = threading.Thread(target=self._work, args=(renew,), name="reflect", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Have it stop soon; nothing is written then."""
        if self.running:
            self.cancelled = True
            self._stop.set()

    def _work(self, renew: bool) -> None:
        try:
            self.result = self._bench.reflect(self._progress, self._stop.is_set, renew=renew)
        except WorkbenchError as error:
            self.problem = error.told
        finally:
            self._thread = None
            self._moved()

    def _progress(self, progress: Progress) -> None:
        another = self.progress is None or self.progress.phase is not progress.phase
        self.progress = progress
        now = self._clock()
        if another or now - self._told >= _PACE:
            self._told = now
            self._moved()
