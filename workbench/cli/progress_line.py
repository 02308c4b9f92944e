"""One line of progress on stderr that is written over; nothing where that is no terminal."""

from __future__ import annotations

import sys
import time

# Seconds between two tellings.
_PAUSE = 0.1


class ProgressLine:
    """Tells how far something has come; `end` takes the line away again."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._last = 0.0
        self._wrote = False

    def tell(self, line: str, *, at_once: bool = False) -> None:
        """Show a line in place of the one before, unless that was a moment ago.

        Args:
            line: Of plain text.
            at_once: Show it however short ago the last one was.
        """
        now = time.monotonic()
        if self._shown and (at_once or now - self._last >= _PAUSE):
            self._last = now
            self._wrote = True
            sys.stderr.write(f"\r{line}\x1b[K")
            sys.stderr.flush()

    def end(self) -> None:
        """Take the line away."""
        if self._wrote:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
