"""Draws how much of a token budget is used, so that it can be read without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Line, Span, column, gap, ink, line_width

if TYPE_CHECKING:
    from workbench.engine.errors import BudgetExceeded

FULL, HALF, REST, OVER, CAP = "━", "╸", "─", "▒", "┃"
_SMALLEST_BAR = 8


def budget_bar(used: int, budget: int, width: int) -> Line:
    """Draw a bar; what passes the budget stands hatched behind a mark at the cap.

    Args:
        used: Tokens.
        budget: Tokens that there is room for.
        width: Cells.
    """
    if used <= budget:
        halves = round(2 * width * used / budget) if budget else 0
        halves = max(1, halves) if used else 0
        full, half = divmod(halves, 2)
        bar = FULL * full + HALF * half
        return (Span(bar, "store.core"), Span(REST * (width - len(bar)), "rule"))
    fitting = min(width - 2, max(1, round((width - 1) * budget / used)))
    return (
        Span(FULL * fitting, "store.core"),
        Span(CAP, "danger.strong"),
        Span(OVER * (width - 1 - fitting), "danger"),
    )


def budget_figures(used: int, budget: int, *, words: bool = True) -> Line:
    """Write the same in figures: `1,876 / 3,000`, and what is left or over."""
    over = used > budget
    figures = (
        Span(f"{used:>5,}", "danger.strong" if over else "text"),
        Span(" / ", "faint"),
        Span(f"{budget:>5,}", "soft"),
    )
    if not words:
        return (*figures, Span(" over" if over else "     ", "danger.strong"))
    rest = f"{used - budget:,} over" if over else f"{budget - used:,} left"
    return (*figures, gap(2), column(rest, 11, "danger.strong" if over else "faint", right=True))


def budget_line(
    label: str, used: int, budget: int, width: int, *, label_width: int = 18, role: str = "strong"
) -> Line:
    """Draw a labelled bar with its figures, as wide as there is room.

    Args:
        label: Name of the block, or of the whole.
        used: Tokens.
        budget: Tokens that there is room for.
        width: Cells of the line.
        label_width: Cells of the label, so that bars below one another begin together.
        role: Of the label.
    """
    figures = budget_figures(used, budget, words=width >= 72)
    room = width - label_width - line_width(figures) - 3
    if room < _SMALLEST_BAR:
        return (ink(label, role, max(1, width - 14)), gap(1), *budget_figures(used, budget, words=False)[:3])
    return (column(label, label_width, role), gap(1), *budget_bar(used, budget, room), gap(2), *figures)


def problem_lines(problem: str, width: int) -> list[Line]:
    """Say why a text was not taken."""
    return [(Span(piece, "danger"),) for piece in wrap(problem, width, limit=12)]


def over_cap_lines(error: BudgetExceeded, width: int) -> list[Line]:
    """Say by how much core memory would pass its cap, and what could go instead, with what each would give back."""
    lines = problem_lines(error.message, width)
    lines += [BLANK, (Span("What could go:", "soft"),)]
    lines += [
        (Span(f"{tokens:>5,}", "soft"), gap(2), ink(text, "text", max(1, width - 7)))
        for text, tokens in error.candidates
    ]
    return lines
