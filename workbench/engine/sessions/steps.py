"""Tells how far a compaction has come, and ends it where it is not wanted any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from workbench.engine.errors import Cancelled
from workbench.engine.results.session_changes import CompactionPhase, CompactionProgress

_EACH = 512

T = TypeVar("T")


@dataclass(frozen=True)
class Steps:
    """Who is told, and who is asked.

    Args:
        progress: Told how far it has come, on the calling thread.
        cancelled: Asked whether to stop.
    """

    progress: Callable[[CompactionProgress], None] = lambda _: None
    cancelled: Callable[[], bool] = lambda: False

    def tell(self, phase: CompactionPhase, done: int, total: int) -> None:
        """Say how much of a phase is done.

        Raises:
            Cancelled: It is not wanted any more.
        """
        if self.cancelled():
            raise Cancelled("The compaction was called off; the session is as it was.")
        self.progress(CompactionProgress(phase, done, total))

    def over(self, phase: CompactionPhase, items: Iterable[T], total: int) -> Iterator[T]:
        """Give the items of a phase, and say now and then how many of them were given."""
        for done, item in enumerate(items):
            if done % _EACH == 0:
                self.tell(phase, done, total)
            yield item
        self.tell(phase, total, total)
