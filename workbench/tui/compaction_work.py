"""Owns a compaction of a session that is run from the bench."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from workbench.tui.long_work import LongWork

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.sessions import CompactionProgress
    from workbench.tui.bench import Bench, Outcome


class CompactionWork(LongWork):
    """One session at a time; called off, it changes nothing.

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
        self.name = ""
        self.progress: CompactionProgress | None = None
        self.outcome: Outcome | None = None

    def begin(self, name: str, key: str, place: str | None) -> None:
        """Compact a session; nothing where one is being compacted already.

        Args:
            name: What it goes by.
            key: Of the session.
            place: Where another program keeps it; None for an own one.
        """
        if self.running:
            return
        self.name, self.progress, self.outcome = name, None, None

        def compact(stopped: Callable[[], bool]) -> None:
            self.outcome = self._bench.compact_session(key, place, self._progress, stopped)

        self.start(compact, "compact")

    def _progress(self, progress: CompactionProgress) -> None:
        another = self.progress is None or self.progress.phase != progress.phase
        self.progress = progress
        self.tell(at_once=another)
