"""What the bench asks about relevance: scores now, before and to come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.decay import DecayEntry, DecayView, Falls, ScorePoint
    from workbench.engine.results.memories import Score
    from workbench.tui.bench.answers import Outcome


class DecayCalls(Protocol):
    """Scores and forecasts."""

    def decay(self, lambda_: float | None = None) -> DecayView:
        """Return every memory’s score, quick enough for tens of thousands.

        Args:
            lambda_: Another rate per day to try; entries whose status would differ have it in `would_be`.
        """
        ...

    def score_course(self, view: DecayView, entry: DecayEntry, days: Sequence[int]) -> Sequence[ScorePoint]:
        """Return one memory’s scores on days counted from the view’s, if nobody touches it; reads nothing."""
        ...

    def score_terms(self, view: DecayView, entry: DecayEntry, day: int) -> Score | None:
        """Return a score on one day with the terms of the formula, at once; None where it is not known."""
        ...

    def falls(self, within: int, lambda_: float | None = None) -> Falls:
        """Return what passes a threshold within some days, the soonest first."""
        ...

    def keep_rate(self, lambda_: float) -> Outcome:
        """Make another rate of decay the workspace’s."""
        ...

    def reinforce(self, memory_ids: Sequence[str]) -> Outcome:
        """Count an access of memories."""
        ...
