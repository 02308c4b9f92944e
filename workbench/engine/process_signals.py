"""Being told of the signals that end a process, rather than ended by them at once."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@contextlib.contextmanager
def told_of_signals(told: Callable[[str], object]) -> Iterator[None]:
    """Be told of SIGTERM, SIGINT and SIGHUP by their names. Main thread only.

    One that is ignored stays so: `nohup` and a shell's background jobs ask for that.

    Args:
        told: Called for each, on the main thread; returns at once.
    """

    def handle(number: int, _frame: FrameType | None) -> None:
        told(signal.Signals(number).name)

    with _handling(handle):
        yield


@contextlib.contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt as SIGINT does, so that what is under way can say how far it came.

    Main thread only.
    """

    def handle(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with _handling(handle):
        yield


@contextlib.contextmanager
def _handling(handle: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    heeded = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handle) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
