"""Where one has been: the steps that `[` and `]` walk."""

from __future__ import annotations

from dataclasses import replace

from workbench.engine.values import dataclass

_LONGEST = 100


@dataclass(frozen=True)
class Step:
    """A stay somewhere.

    Args:
        place: Id of the place.
        spot: Where in it one was, as the place says: the entity in the middle, the moment looked at.
        row: Id of the row that the cursor was on.
        title: What it is called.
    """

    place: str
    spot: str = ""
    row: str = ""
    title: str = ""


class Trail:
    """Steps in the order in which they were made; one of them is the present one."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._at = -1

    def visit(self, step: Step, *, anew: bool) -> None:
        """Make a step; what lay ahead is given up.

        Args:
            step: Where one goes.
            anew: Whether it is a step even where one stays in the same spot.
        """
        here = self._steps[self._at] if self._steps else None
        if here is None or anew or (here.place, here.spot) != (step.place, step.spot):
            self._steps = [*self._steps[: self._at + 1], step][-_LONGEST:]
            self._at = len(self._steps) - 1

    def leave(self, row: str, title: str) -> None:
        """Keep which row the cursor was on when one went away."""
        if self._steps:
            self._steps[self._at] = replace(self._steps[self._at], row=row, title=title)

    def walk(self, by: int) -> Step | None:
        """Go back (-1) or forward (+1); returns where one is then, None where the trail ends."""
        if not 0 <= self._at + by < len(self._steps):
            return None
        self._at += by
        return self._steps[self._at]

    def beside(self, by: int) -> Step | None:
        """Return the step before the present one (-1), or after it (+1)."""
        at = self._at + by
        return self._steps[at] if 0 <= at < len(self._steps) else None
