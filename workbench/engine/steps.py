"""Long work that reads something step by step: whom it tells how far it has come, and whom it asks whether to go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from workbench.engine.errors import Cancelled
from workbench.engine.values import dataclass

T = TypeVar("T")

# Asking at every item would cost more than reading it.
_EACH = 64


@dataclass(frozen=True)
class Progress:
    """How far a work has come.

    Args:
        phase: What it is at, in a word, as the work names it.
        done: Items of the phase.
        total: Items there are; 0 where nobody knows yet.
    """

    phase: str
    done: int
    total: int


@dataclass(frozen=True)
class Steps:
    """The steps of a work that can be called off.

    Args:
        ended: What is said when it is called off: what that means for what is stored.
        progress: Told how far it has come, on the thread of the work.
        cancelled: Asked whether to stop.
    """

    ended: str = "It was called off; nothing was changed."
    progress: Callable[[Progress], None] = lambda _: None
    cancelled: Callable[[], bool] = lambda: False

    @property
    def called_off(self) -> Cancelled:
        """Return the error that ends a work which was called off."""
        return Cancelled(self.ended)

    def tell(self, phase: str, done: int, total: int) -> None:
        """Say how much of a phase is done.

        Raises:
            Cancelled: It was called off.
        """
        if self.cancelled():
            raise self.called_off
        self.progress(Progress(phase, done, total))

    def over(self, phase: str, items: Iterable[T], total: int = 0) -> Iterator[T]:
        """Yield the items of a phase, saying now and then, and at its end, how many are done.

        Args:
            phase: As for `Progress`.
            items: Taken one by one.
            total: How many there are; 0 where nobody knows.

        Raises:
            Cancelled: It was called off.
        """
        done = 0
        for item in items:
            if done % _EACH == 0:
                self.tell(phase, done, total)
            yield item
            done += 1
        self.tell(phase, done, total or done)


UNTOLD = Steps()
"""Of a work that nobody waits for."""
