"""Ending the serving in good order when a signal comes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ended_by_signals(end: Callable[[], None]) -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP end what is under way instead of the process.

    Args:
        end: Called for each signal, on the main thread; it returns at once.
    """

    def told(_number: int, _frame: FrameType | None) -> None:
        end()

    before = {number: signal.signal(number, told) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
