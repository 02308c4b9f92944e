"""Draws the line over a drawing: what it shows, how far around, and what it leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.ink import Line, Span, cut, gap, ink, spread

if TYPE_CHECKING:
    from workbench.engine.results.graph import GraphView

_NAME = 60
_MARGIN = 2
_WIDE = 64


def around_line(label: str, depth: int, view: GraphView | None, hidden: int, width: int) -> Line:
    """Draw what a neighbourhood is of, how many there are in it, and how many are hidden.

    Args:
        label: Name of the centre.
        depth: Hops.
        view: What is shown, or None until it is read.
        hidden: Entities that the filter leaves out.
        width: Cells.
    """
    hops = f"{depth} hop" + "s" * (depth > 1)
    words = [hops]
    if view is not None:
        count = max(0, len(view.nodes) - 1) + view.omitted
        words.insert(0, f"{count:,} around it")
        if view.omitted:
            words.append("the nearest are drawn")
    right: list[Span] = [Span(" · ".join(words), "soft")]
    if hidden:
        right += [
            Span(" · ", "soft"),
            Span(f"{hidden:,} hidden by the filter" if width >= _WIDE else f"{hidden:,} hidden", "decide"),
        ]
    return _inset((Span("Around ", "soft"), ink(label, "strong", _NAME)), tuple(right), width)


def path_line(start: str, goal: str, view: GraphView | None, width: int) -> Line:
    """Draw between which two entities a way is shown, and how long it is."""
    words = ""
    if view is not None:
        steps = len(view.nodes) - 1
        words = "no way" if steps < 0 else f"{steps} step" + "s" * (steps != 1)
    left = (
        Span("From ", "soft"),
        ink(start, "strong", _NAME),
        Span(" to ", "soft"),
        ink(goal, "strong", _NAME),
    )
    return _inset(left, (Span(words, "soft"),) if words else (), width)


def members_line(title: str, count: int, width: int) -> Line:
    """Draw which box of a drawing the table shows the entities of."""
    left = (Span("All of ", "soft"), ink(title, "strong", _NAME), gap(1), Span(f"{count:,}", "soft"))
    return _inset(left, (Span("esc leads back", "faint"),), width)


def _inset(left: Line, right: Line, width: int) -> Line:
    """Put two lines at the edges of what stands below."""
    return cut((gap(_MARGIN), *spread(left, right, width - _MARGIN - 1)), width)
