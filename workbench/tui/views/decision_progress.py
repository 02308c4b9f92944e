"""Draws how old a proposal is and how far its decisions are: in words, and as a bar that needs no colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.ink import Line, Span, cut, ink, line_width, spread
from workbench.tui.decisions import tally

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.results.reviews import Review, ReviewItem
    from workbench.tui.decisions import Tally

_BAR = 24


def age_words(hours: float) -> str:
    """Return how long ago something was written, in words."""
    if hours < 1 / 60:
        return "just now"
    for size, name in ((48, "day"), (1, "hour"), (1 / 60, "minute")):
        if hours >= size:
            count = int(hours // (24 if name == "day" else size))
            return f"{count} {name}{'s' * (count != 1)} ago"
    return "just now"


def decided_words(counts: Tally) -> str:
    """Say how far the decisions are: “12 of 31 decided · 9 approved · 2 rejected · 1 deferred”."""
    named = ((counts.approved, "approved"), (counts.rejected, "rejected"), (counts.deferred, "deferred"))
    parts = [f"{counts.decided} of {counts.total} decided"]
    return " · ".join((*parts, *(f"{count} {word}" for count, word in named if count)))


def progress_lines(review: Review, items: Iterable[ReviewItem], width: int) -> list[Line]:
    """Draw how old a proposal is and how far its decisions are, in words and as a bar.

    Args:
        review: As it was read last.
        items: Its items, with what was decided since.
        width: Cells.
    """
    counts = tally(items)
    written = f" written {age_words(review.age_hours)}" if review.created is not None else " undated"
    age: list[Span] = [ink(review.id or "?", "strong"), Span(written, "soft")]
    if review.ageing:
        age.append(Span(" — ageing", "decide"))
    if not counts.total:
        return [cut(tuple(age), width)]
    bar = progress_bar(counts, min(_BAR, max(8, width - line_width(tuple(age)) - 2)))
    return [spread(tuple(age), bar, width), (ink(decided_words(counts), "text", width),)]


def progress_bar(counts: Tally, width: int) -> Line:
    """Draw decisions as shares of a bar, each with a stroke of its own; what waits comes last.

    Args:
        counts: Of decisions.
        width: Cells.
    """
    parts = (
        (counts.approved, "━", "text"),
        (counts.rejected, "╍", "soft"),
        (counts.deferred, "┄", "soft"),
        (counts.undecided, "─", "decide"),
    )
    spans: list[Span] = []
    used = seen = 0
    for count, stroke, role in parts:
        seen += count
        end = round(width * seen / counts.total) if counts.total else 0
        if count and end == used and used < width:
            end += 1
        if end > used:
            spans.append(Span(stroke * (end - used), role))
            used = end
    return tuple(spans)
