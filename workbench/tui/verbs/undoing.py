"""Taking back the newest action, and doing it again."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING

from workbench.display.action_words import by_whom, named, of_file, plainly
from workbench.engine.errors import ConfirmationNeeded
from workbench.tui.verbs.act import LONGEST_QUOTE, Act

if TYPE_CHECKING:
    from workbench.engine.results.audit import NextStep
    from workbench.engine.workspace import Workspace


def deed(step: NextStep) -> str:
    """Return what a step did, in plain words, cut where they are long."""
    said = plainly(step.summary)
    if step.file:
        said = of_file(said, named(step.file))
    if len(said) <= LONGEST_QUOTE:
        return said
    kept = said[: LONGEST_QUOTE - 1]
    return f"{kept}…{'”' if kept.count('“') > kept.count('”') else ''}"


def undo(step: NextStep | None, written: Collection[str] = (), *, is_another: bool = False) -> Act | str:
    """Take back the newest action; ask first where it is somebody else's, or not what was done last.

    Args:
        step: The action.
        written: Commits that were written here: reflections, which a person said yes to a moment ago.
        is_another: Whether what was done last is no action of its own, so that this one is another or more than that.
    """
    if step is None:
        return "There is nothing to undo."
    what = f"{deed(step)} ({'yours' if step.own else by_whom(step.by)}, {step.timestamp:%H:%M})"
    call = partial(_undo, step.commit, f"Undone: {what}. ⸨redo⸩ redoes.", confirmed=not step.own)
    if step.own and is_another:
        return Act(call, f"The last step has no undo of its own; undo “{deed(step)}”?", "undo")
    if step.own or step.commit in written:
        return Act(call)
    return Act(call, f"Not yours ({by_whom(step.by)}): undo “{deed(step)}”?", "undo")


def redo(step: NextStep | None) -> Act | str:
    """Do again what was taken back last."""
    if step is None:
        return "There is nothing to redo."
    said = f"Redone: {deed(step)}. ⸨undo⸩ takes that back."
    commit, own = step.commit, step.own

    def again(workspace: Workspace) -> str:
        workspace.redo(confirmed=not own, expected=commit)
        return said

    return Act(again) if own else Act(again, f"Not yours ({by_whom(step.by)}): redo “{deed(step)}”?", "redo")


def _undo(commit: str, said: str, workspace: Workspace, *, confirmed: bool) -> str:
    try:
        workspace.undo(confirmed=confirmed, expected=commit)
    except ConfirmationNeeded:
        return "Something newer was done meanwhile; press ⸨undo⸩ again to see what."
    return said
