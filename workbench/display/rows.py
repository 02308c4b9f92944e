"""Draws one row of a list at a width: the text first, whole as long as can be, then what goes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.budget import budget_bar
from workbench.display.ink import Span, ink, line_width, spread

if TYPE_CHECKING:
    from datetime import date

    from workbench.display.ink import Line
    from workbench.engine.results.memories import CoreBlock, CoreItem, TimelineEntry

# Cells that a text has before anything beside it gets one.
_TEXT_FIRST = 40
_BAR = 20


def memory_row(store: str, text: str, beside: str, width: int, *, faded: bool = False) -> Line:
    """Draw a memory in a list.

    Args:
        store: Whose sign and hue it has.
        text: What it says.
        beside: A word at the right margin, left out where the text would have fewer than 40 cells.
        width: Cells.
        faded: Whether it is dormant or archived.
    """
    left = (
        Span(words.sign(store) + " ", f"store.{store}"),
        ink(text, "soft" if faded else "text"),
    )
    return beside_row(left, beside, width)


def beside_row(left: Line, beside: str, width: int) -> Line:
    """Draw a row with a remark at its right, as long as the row keeps 40 cells, or all it needs."""
    right: Line = (ink(beside, "soft"),) if beside else ()
    if right and width - line_width(right) - 2 < min(_TEXT_FIRST, line_width(left)):
        right = ()
    return spread(left, right, width)


def entry_row(entry: TimelineEntry, width: int) -> Line:
    """Draw an entry of the timeline."""
    faded = entry.status in ("dormant", "archived")
    beside = "archived" if entry.status == "archived" else entry.time or ""
    return memory_row("episodic", words.without_id(entry.title or entry.text), beside, width, faded=faded)


def item_row(item: CoreItem, width: int) -> Line:
    """Draw an item of core memory."""
    return memory_row("core", item.text, "◆" if item.pinned else "", width)


def heading_row(text: str, beside: str, width: int) -> Line:
    """Draw a heading, and a quiet remark at its right where both fit."""
    head, right = ink(text.upper(), "soft+strong"), ink(beside, "faint")
    fits = beside and line_width((head, right)) + 2 <= width
    return spread((head,), (right,) if fits else (), width)


def block_row(block: CoreBlock, width: int) -> Line:
    """Draw the heading of a block of core memory, with how full it is."""
    if block.budget is None:
        return heading_row(block.name, f"{block.tokens:,} tokens", width)
    used = f"{block.tokens:,} of {block.budget:,} "
    cells = _BAR if width >= 64 else 10
    right = (
        Span(used, "danger" if block.tokens > block.budget else "faint"),
        *(budget_bar if block.tokens > block.budget > 0 else _bar)(block.tokens, block.budget, cells),
    )
    return spread((ink(block.name.upper(), "soft+strong"),), right, width)


def _bar(used: int, budget: int, width: int) -> Line:
    return bar(used / budget if budget else 1.0, width)


def bar(share: float, width: int) -> Line:
    """Draw a share of a whole; more than all of it is drawn as a danger."""
    full = round(max(0.0, min(1.0, share)) * width)
    return (
        Span("━" * full, "danger" if share > 1 else "store.core"),
        Span("─" * (width - full), "rule"),
    )


def day_heading(on: date, today: date) -> str:
    """Return the words of a day's heading."""
    named = f"{on:%A} {on.day} {on:%B}" + (f" {on.year}" if on.year != today.year else "")
    near = {0: "Today, ", 1: "Yesterday, "}.get((today - on).days, "")
    return near + named
