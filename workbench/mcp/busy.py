"""Whether calls are under way, so that a client which says no more still gets its answers."""

from __future__ import annotations

import threading
import time
from types import TracebackType

_QUIET_S = 0.15
"""How long nothing may have begun or ended before nothing more is expected of what was read."""


class Busy:
    """Counts the calls that are under way; entered and left with each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = 0
        self._changed = time.monotonic()

    def is_quiet(self, since: float) -> bool:
        """Tell whether no call is under way and none came or went for a moment.

        Args:
            since: When the last message came, by `time.monotonic`.
        """
        with self._lock:
            return not self._calls and time.monotonic() - max(self._changed, since) > _QUIET_S

    def __enter__(self) -> None:
        self._count(1)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._count(-1)

    def _count(self, step: int) -> None:
        with self._lock:
            self._calls += step
            self._changed = time.monotonic()
