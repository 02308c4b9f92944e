"""Owns what is done to the search index from the bench."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from workbench.tui.long_work import LongWork

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.tui.bench import Bench


class IndexWork(LongWork):
    """A synchronisation or a rebuild of the index, which goes on when its panel is closed.

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
        self.anew = False
        self.done = 0
        self.total = 0

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
        self.anew, self.done, self.total = anew, 0, 0
        act = self._bench.rebuild_index if anew else self._bench.sync_index
        self.start(lambda stopped: act(self._progress, stopped), "index")

    def _progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        self.tell(at_once=False)
