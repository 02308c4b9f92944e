"""Writes what a horizontal line means on it: the words of a relation, and a head that says where it points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.cells import cell_width

if TYPE_CHECKING:
    from workbench.tui.drawing.canvas import Canvas
    from workbench.tui.drawing.graph.tree import Run

LEFTWARD, RIGHTWARD = "◀", "▶"
HEAD_ROLE = "soft"
WORDS_ROLE = "text"


def write_run(canvas: Canvas, y: int, inner: int, outer: int, run: Run) -> None:
    """Write the words and the head of a line on it.

    Args:
        canvas: With the line.
        y: Its row.
        inner: The cell at the end next to the centre; the words stand near it.
        outer: The cell at its other end, to the left or to the right.
        run: What it means.
    """
    rightward = outer > inner
    if run.outward:
        write_head(canvas, outer, y, rightward=rightward)
    if run.inward:
        write_head(canvas, inner, y, rightward=not rightward)
    if run.words:
        size = cell_width(run.words) + 2
        # One more cell of line before the words where there is room.
        spare = min(1, abs(outer - inner) + 1 - size - 2)
        start = inner + 1 + spare if rightward else inner - spare - size
        canvas.write(start, y, f" {run.words} ", WORDS_ROLE)


def write_link(canvas: Canvas, y: int, start: int, end: int, there: str, back: str) -> None:
    """Write on one line what leads from its start to its end, and what leads back; each near where it points.

    Args:
        canvas: With the line.
        y: Its row.
        start: One end of it.
        end: Its other end, to the left or to the right.
        there: Words; safe, empty where nothing leads there.
        back: Words of the other direction.
    """
    left, right = (start, end) if start < end else (end, start)
    if there and back:
        leftward, rightward = (back, there) if start < end else (there, back)
        canvas.write(left + 1, y, f" {leftward} ", WORDS_ROLE)
        canvas.write(right - cell_width(rightward) - 2, y, f" {rightward} ", WORDS_ROLE)
    elif words := there or back:
        canvas.write(left + (right - left - cell_width(words) - 1) // 2, y, f" {words} ", WORDS_ROLE)


def write_head(canvas: Canvas, x: int, y: int, *, rightward: bool) -> None:
    """Write a head at an end of a line."""
    canvas.write(x, y, RIGHTWARD if rightward else LEFTWARD, HEAD_ROLE)
