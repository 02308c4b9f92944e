"""Owns a cycle of reflection that is run from the bench."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from workbench.tui.long_work import LongWork

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.reviews import Progress, Reflected
    from workbench.tui.bench import Bench


class ReflectionWork(LongWork):
    """A cycle; called off, it writes nothing.

    Args:
        bench: The engine.
        moved: Called from any thread when it came further or to an end.
        clock: Gives seconds.
    """

    def __init__(
        self, bench: Bench, moved: Callable[[], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(moved, clock)
        self._bench = bench
        self.progress: Progress | None = None
        self.result: Reflected | None = None

    def begin(self, *, renew: bool = False) -> None:
        """Run a cycle; nothing where one is under way already.

        Args:
            renew: Write the waiting proposal anew.
        """
        if self.running:
            return
        self.progress, self.result = None, None

        def reflect(stopped: Callable[[], bool]) -> None:
            self.result = self._bench.reflect(self._progress, stopped, renew=renew)

        self.start(reflect, "reflect")

    def _progress(self, progress: Progress) -> None:
        another = self.progress is None or self.progress.phase is not progress.phase
        self.progress = progress
        self.tell(at_once=another)
