"""Writes what a horizontal line means on it: the words of a relation, and a head that says where it points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.text import cell_width

if TYPE_CHECKING:
    from workbench.tui.drawing.canvas import Canvas

LEFTWARD, RIGHTWARD = "◀", "▶"
HEAD_ROLE = "soft"
WORDS_ROLE = "text"


def write_run(canvas: Canvas, y: int, first: int, second: int, words: str, *, to_second: bool) -> None:
    """Write the words and the head of a line on it.

    Args:
        y: Its row.
        first: The cell at its one end; the words stand near it.
        second: The cell at its other end, to the left or to the right.
        words: Safe; with a space on both sides they leave a cell at each end.
        to_second: Whether it points at the second end.
    """
    pointed = second if to_second else first
    rightward = (second > first) == to_second
    canvas.write(pointed, y, RIGHTWARD if rightward else LEFTWARD, HEAD_ROLE)
    if words:
        size = cell_width(words) + 2
        # One more cell of line before the words where there is room.
        spare = min(1, abs(second - first) + 1 - size - 2)
        start = first + 1 + spare if second > first else first - spare - size
        canvas.write(start, y, f" {words} ", WORDS_ROLE)
