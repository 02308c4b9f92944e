"""Draws one row of a list: the text first, whole as long as can be, then what goes with it; and bars of budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.cells import wrap
from workbench.display.ink import (
    BLANK,
    Line,
    Span,
    at_right,
    column,
    gap,
    ink,
    line_width,
    spread,
)

if TYPE_CHECKING:
    from datetime import date

    from workbench.engine.errors import BudgetExceeded
    from workbench.engine.results.memories import CoreItem, TimelineEntry

FULL, HALF, REST, OVER, CAP = "━", "╸", "─", "▒", "┃"
_SMALLEST_BAR = 8


def budget_bar(used: int, budget: int, width: int) -> Line:
    """Draw a bar; what passes the budget stands hatched behind a mark at the cap.

    Args:
        budget: Tokens that there is room for.
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


def budget_figures(used: int, budget: int, *, words: bool) -> Line:
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
        budget: Tokens that there is room for.
        label_width: Cells of the label, so that bars below one another begin together.
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


_BAR = 20


def store_sign(store: str) -> Span:
    """Return the sign of a store in its hue, with the space behind it."""
    return Span(words.sign(store) + " ", f"store.{store}")


def memory_row(
    store: str, text: str, beside: str, width: int, *, state: str = "", faded: bool = False
) -> Line:
    """Draw a memory in a list.

    Args:
        store: Whose sign and hue it has.
        beside: A word at the right margin, left out where the text would have too few cells.
        state: A word or sign before it, which is always there.
        faded: Whether it is dormant or archived.
    """
    left = (store_sign(store), ink(text, "soft" if faded else "text"))
    return spread(left, at_right(line_width(left), state, beside, width), width)


def beside_row(left: Line, beside: str, width: int) -> Line:
    """Draw a row with a remark at its right, as long as the row keeps the cells that it needs."""
    return spread(left, at_right(line_width(left), "", beside, width), width)


def entry_row(entry: TimelineEntry, width: int) -> Line:
    """Draw an entry of the timeline."""
    faded = entry.status in ("dormant", "archived")
    state, beside = ("archived", "") if entry.status == "archived" else ("", entry.time or "")
    said = words.without_id(entry.title or entry.text)
    return memory_row("episodic", said, beside, width, state=state, faded=faded)


def item_row(item: CoreItem, width: int) -> Line:
    """Draw an item of core memory."""
    return memory_row("core", item.text, "", width, state="◆" if item.pinned else "")


def heading_row(text: str, beside: str, width: int) -> Line:
    """Draw a heading, and a quiet remark at its right where both fit."""
    head, right = ink(text.upper(), "soft+strong"), ink(beside, "faint")
    fits = beside and line_width((head, right)) + 2 <= width
    return spread((head,), (right,) if fits else (), width)


def block_row(name: str, tokens: int, budget: int | None, width: int) -> Line:
    """Draw the heading of core memory or a block of it, with how full it is."""
    if budget is None:
        return heading_row(name, f"{tokens:,} tokens", width)
    danger, cells = tokens > budget, _BAR if width >= 64 else 10
    right = (
        Span(f"{tokens:,} of {budget:,} ", "danger" if danger else "faint"),
        *budget_bar(tokens, budget, cells),
    )
    return spread((ink(name.upper(), "soft+strong"),), right, width)


def day_heading(on: date, today: date) -> str:
    """Return the words of a day's heading."""
    named = f"{on:%A} {on.day} {on:%B}" + (f" {on.year}" if on.year != today.year else "")
    near = {0: "Today, ", 1: "Yesterday, "}.get((today - on).days, "")
    return near + named
