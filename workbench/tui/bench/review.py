"""What the bench asks about the proposal that waits for decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.reviews import (
        Applied,
        Progress,
        Reflected,
        ReflectionDue,
        Review,
        ReviewPreview,
    )
    from workbench.tui.bench.answers import Outcome
    from workbench.tui.decisions import Step


class ReviewCalls(Protocol):
    """Reflection, and deciding on what it proposes."""

    def review(self) -> Review:
        """Return the proposal that waits for decisions; one without an id where none does."""
        ...

    def decide(self, step: Step) -> Outcome:
        """Write what a person decided about items of the proposal, or how they reworded one."""
        ...

    def review_preview(self) -> ReviewPreview:
        """Return exactly what applying would write now."""
        ...

    def review_apply(self) -> Applied:
        """Apply what is approved and remember what is rejected, in one commit."""
        ...

    def review_source(self) -> str:
        """Return the proposal’s file as it is; empty where there is none."""
        ...

    def set_review_source(self, source: str, expected: str) -> Outcome:
        """Replace the proposal’s file; refused as stale when it no longer reads `expected`."""
        ...

    def reflection_due(self) -> ReflectionDue:
        """Return whether a cycle of reflection should run, and why."""
        ...

    def reflect(
        self, progress: Callable[[Progress], None], cancelled: Callable[[], bool], *, renew: bool = False
    ) -> Reflected:
        """Run a cycle of reflection, which writes a proposal and nothing else.

        Args:
            progress: Told how far it is, from the calling thread.
            cancelled: Asked now and then whether to stop; nothing is written then.
            renew: Write the waiting proposal anew.
        """
        ...
