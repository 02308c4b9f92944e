"""The bench’s calls about relevance, answered by a real workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.workspace_bench.door import Door, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.decay import DecayEntry, DecayView, Falls, ScorePoint
    from workbench.engine.results.memories import Score
    from workbench.tui import bench


class WorkspaceDecay(Door):
    """The part of a workspace that is scores and forecasts."""

    def decay(self, lambda_: float | None = None) -> DecayView:
        """Return every memory’s score, under another rate where one is given."""
        return self._workspace.decay(lambda_=lambda_)

    def score_course(self, view: DecayView, entry: DecayEntry, days: Sequence[int]) -> Sequence[ScorePoint]:
        """Return one memory’s scores on days counted from the view’s, if nobody touches it."""
        return self._workspace.decay_course(view, entry, days)

    def score_terms(self, view: DecayView, entry: DecayEntry, day: int) -> Score | None:
        """Return a score on one day with the terms of the formula; None where it is not known."""
        return self._workspace.decay_terms(view, entry, day)

    def falls(self, within: int, lambda_: float | None = None) -> Falls:
        """Return what passes a threshold within some days, the soonest first."""
        return self._workspace.decay_falls(within, lambda_=lambda_)

    def keep_rate(self, lambda_: float) -> bench.Outcome:
        """Make another rate of decay the workspace’s."""
        return self._did(f"λ is {lambda_:g} a day now.", self._workspace.decay_keep(lambda_))

    def reinforce(self, memory_ids: Sequence[str]) -> bench.Outcome:
        """Count an access of memories."""
        changed = self._workspace.reinforce(*memory_ids)
        return self._did(f"Reinforced {counted(memory_ids, 'memory')}.", changed)
