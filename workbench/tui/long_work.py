"""Long work that is begun from the bench: one at a time, on its own thread, told at a pace, and it can stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from workbench.engine.errors import WorkbenchError

# Seconds between two tellings of progress, at least.
_PACE = 0.08


class LongWork:
    """What all long work has in common; it goes on whatever one looks at meanwhile.

    Args:
        moved: Called from any thread when it came further or to an end.
        clock: Gives seconds.
    """

    def __init__(self, moved: Callable[[], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._moved = moved
        self._clock = clock
        self._told = 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.problem = ""
        self.cancelled = False

    @property
    def running(self) -> bool:
        """Tell whether something is under way."""
        return self._thread is not None

    def cancel(self) -> None:
        """Have it stop soon."""
        if self.running:
            self.cancelled = True
            self._stop.set()

    def start(self, work: Callable[[Callable[[], bool]], object], name: str) -> None:
        """Begin; whoever calls has seen that nothing is under way.

        Args:
            work: Does it, asking whether it was called off. Its errors become the `problem`.
            name: Of the thread.
        """
        self.problem, self.cancelled = "", False
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, args=(work,), name=name, daemon=True)
        self._thread.start()

    def tell(self, *, at_once: bool) -> None:
        """Say that it came further, unless that was said a moment ago."""
        now = self._clock()
        if at_once or now - self._told >= _PACE:
            self._told = now
            self._moved()

    def _run(self, work: Callable[[Callable[[], bool]], object]) -> None:
        try:
            work(self._stop.is_set)
        except WorkbenchError as error:
            self.problem = error.told
        finally:
            self._thread = None
            self._moved()
