"""The bench’s calls about what is proposed and decided, answered by a real workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.tui import bench
from workbench.tui.workspace_bench.door import Door

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
    from workbench.tui.decisions import Step


class WorkspaceReview(Door):
    """The part of a workspace on which a person decides what is learned."""

    def review(self) -> Review:
        """Return the proposal that waits for decisions; one without items where none does."""
        return self._workspace.review()

    def decide(self, step: Step) -> bench.Outcome:
        """Write what a person decided about items of the proposal, or how they reworded one."""
        edit = step.edit
        if edit is None:
            changed = self._workspace.review_decide(step.decisions)
        else:
            changed = self._workspace.review_edit(
                edit.item_id,
                text=edit.text,
                fields=edit.fields or None,
                decision=step.decisions.get(edit.item_id),
            )
        self._tell()
        # What was decided shows by itself; only what is out of the ordinary is told.
        return bench.Outcome(" ".join(changed.warnings), changed.commit, changed.ids)

    def review_preview(self) -> ReviewPreview:
        """Return exactly what applying would write now."""
        return self._workspace.review_preview()

    def review_apply(self) -> Applied:
        """Apply what is approved and remember what is rejected, in one commit."""
        applied = self._workspace.review_apply()
        self._tell()
        return applied

    def review_source(self) -> str:
        """Return the proposal’s file as it is; empty where there is none."""
        path = layout.resolve(self._workspace.root, layout.PENDING_REFLECTION)
        try:
            return path.read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return ""

    def set_review_source(self, source: str, expected: str) -> bench.Outcome:
        """Replace the proposal’s file; refused as stale when it no longer reads `expected`."""
        changed = self._workspace.edit_file(layout.PENDING_REFLECTION, source, expected=expected)
        return self._did("Saved the proposal.", changed)

    def reflection_due(self) -> ReflectionDue:
        """Return whether a cycle of reflection should run, and why."""
        return self._workspace.reflection_due()

    def reflect(
        self, progress: Callable[[Progress], None], cancelled: Callable[[], bool], *, renew: bool = False
    ) -> Reflected:
        """Run a cycle of reflection, which writes a proposal and nothing else."""
        reflected = self._workspace.reflect(renew=renew, progress=progress, cancelled=cancelled)
        self._tell()
        return reflected
