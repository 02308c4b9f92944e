"""What wakes a thread that waits: another thread, or a handler of signals."""

from __future__ import annotations

import contextlib
import os
import select


class Alarm:
    """Wakes one thread that waits; it may be rung from any thread, and from a handler of signals.

    An event of `threading` cannot be set by a handler that interrupts the very thread that waits for it.
    """

    def __init__(self) -> None:
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._reads, False)
        os.set_blocking(self._writes, False)

    def ring(self) -> None:
        """Wake whoever waits now, or will wait next."""
        # A pipe that is full wakes as well.
        with contextlib.suppress(BlockingIOError):
            os.write(self._writes, b"!")

    def wait(self, seconds: float) -> None:
        """Wait until it rings, for so many seconds at most."""
        if select.select([self._reads], [], [], max(seconds, 0.0))[0]:
            with contextlib.suppress(BlockingIOError):
                os.read(self._reads, 65_536)

    def close(self) -> None:
        """Let go of the pipe; nobody rings any more."""
        os.close(self._reads)
        os.close(self._writes)
