"""Draws what going back to a moment would change, counted by store."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Line, Span, column, cut, gap, ink
from workbench.tui.views.memory import STORE_SIGNS, STORE_TITLES

if TYPE_CHECKING:
    from workbench.engine.results.audit import Comparison

_NAME = 14
# What came since then goes, and what went comes back.
_COLUMNS = (("removed", "+", "come back"), ("changed", "~", "change"), ("added", "−", "go"))


def going_back_lines(when: str, comparison: Comparison, width: int) -> list[Line]:
    """Draw the question.

    Args:
        when: The moment in words.
        comparison: What is different now from then.
        width: Cells.
    """
    counts = Counter((each.store, _kind(each.change)) for each in comparison.memories)
    stores = list(dict.fromkeys(each.store for each in comparison.memories))
    files = len(comparison.files)
    lines: list[Line] = [
        (ink(f"Go back to {when}?", "strong", width),),
        BLANK,
        *((Span(each),) for each in wrap("All of memory reads again as it did then:", width)),
        BLANK,
    ]
    for store in stores:
        figures: Line = ()
        for kind, sign, word in _COLUMNS:
            if count := counts[store, kind]:
                figures = (*figures, Span(f"{sign}{count:,}", "strong"), Span(f" {word}", "soft"), gap(3))
        head = (
            Span(STORE_SIGNS.get(store, STORE_SIGNS["file"]) + " ", f"store.{store}"),
            column(STORE_TITLES.get(store, store), _NAME),
        )
        lines.append(cut((*head, *figures), width))
    lines += [
        BLANK,
        *(
            (Span(each, "soft"),)
            for each in wrap(
                f"{files:,} file{'s are' if files != 1 else ' is'} written, in one commit. Nothing is lost: what came "
                "since stays in the history, and u takes it all back.",
                width,
            )
        ),
        BLANK,
        (
            Span("⏎", "strong"),
            Span("  go back", "soft"),
            gap(4),
            Span("esc", "strong"),
            Span("  stay", "soft"),
        ),
    ]
    return lines


def _kind(change: str) -> str:
    return "changed" if change == "scored" else change
