"""Draws a moment of the history in words: when it was, what was done then, by whom, and on whose approval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.ink import Line, Span, gap, ink, spread
from workbench.tui.views.dates import MONTHS

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.results import CommitView

NOW = "now"
_MINUTE, _HOUR, _DAY, _WEEK, _MONTH, _YEAR = 60, 3600, 86_400, 604_800, 2_629_800, 31_557_600
# From how many seconds on a length of time is told in which unit.
_UNITS = (
    (2 * _YEAR, _YEAR, "year"),
    (2 * _MONTH, _MONTH, "month"),
    (2 * _WEEK, _WEEK, "week"),
    (_DAY, _DAY, "day"),
    (_HOUR, _HOUR, "hour"),
    (_MINUTE, _MINUTE, "minute"),
)


def short_moment(moment: datetime) -> str:
    """Return a moment in few words: “21 Oct 2026, 09:50”."""
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}, {moment:%H:%M}"


def how_long_ago(moment: datetime, now: datetime) -> str:
    """Return how long ago a moment was, in words: “4 weeks ago”."""
    seconds = (now - moment).total_seconds()
    if seconds <= -_MINUTE:
        return "later than now"
    for start, unit, word in _UNITS:
        if seconds >= start:
            count = int(seconds // unit)
            return f"{count} {word}{'s' * (count != 1)} ago"
    return "a moment ago"


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
