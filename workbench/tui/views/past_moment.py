"""Draws what was done at a moment of the history, by whom, and on whose approval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.ink import Line, Span, gap, ink, spread

if TYPE_CHECKING:
    from workbench.engine.results.audit import CommitView

NOW = "now"


def commit_line(
    view: CommitView | None, actor: str, place: str, width: int, *, went_back: bool = False
) -> Line:
    """Draw what a commit did, by whom and on whose approval.

    Args:
        view: None until it is read.
        actor: Who made it.
        place: Which of how many it is.
        width: Cells.
        went_back: Whether the clock stood earlier than at the commit before.
    """
    who = "by hand" if actor == "manual" else actor
    right: Line = (ink(who, "soft", max(8, width // 3)),)
    if view is not None and view.approval.strip(" —-"):
        right = (*right, ink(f" · {view.approval}", "faint", 18))
    left: Line = (Span(place, "faint"), gap(2))
    if went_back:
        left = (*left, Span("clock went back", "decide"), gap(2))
    if view is not None:
        _, dash, summary = view.subject.partition(" — ")
        left = (*left, ink(summary if dash else view.subject, "strong", width * 2, f"commit:{view.commit}"))
    return (gap(2), *spread(left, right, max(1, width - 4)))
