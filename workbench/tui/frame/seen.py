"""Knows what had been painted when a key was typed, so that no key acts on what nobody has seen."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

INERT = 0.3
"""Seconds after its painting in which a question takes no answer; 0 takes whatever was typed whenever."""
# Paintings remembered; a key that waited longer than those is about the oldest.
_MOST = 64


class Seen:
    """What was painted, and when.

    Args:
        clock: Seconds, on the clock that keys are stamped with.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._rows: deque[tuple[float, str, str]] = deque(maxlen=_MOST)
        self._question_at: float | None = None

    def paint_row(self, place: str, key: str) -> None:
        """Note which row of a place is under the cursor on the screen from now on."""
        if not self._rows or self._rows[-1][1:] != (place, key):
            self._rows.append((self._clock(), place, key))

    def row_at(self, place: str, typed_at: float) -> str:
        """Return the row of a place that was under the cursor on the screen; empty where another place was shown."""
        if not INERT:
            return ""
        shown = next((each for each in reversed(self._rows) if each[0] <= typed_at), None)
        return shown[2] if shown is not None and shown[1] == place else ""

    def ask(self) -> None:
        """Note that a question is asked; it cannot be read yet."""
        self._question_at = None

    def paint_question(self) -> None:
        """Note that the question can be read from now on."""
        if self._question_at is None:
            self._question_at = self._clock()

    def may_answer(self, typed_at: float) -> bool:
        """Return whether what was typed then may answer the question."""
        if not INERT:
            return True
        return self._question_at is not None and typed_at - self._question_at >= INERT
