"""Draws a tree that stands in columns, and says how a cursor walks in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.drawing.canvas import Canvas
from workbench.tui.drawing.graph import boxes
from workbench.tui.drawing.graph.hanging import TRUNK_BELOW
from workbench.tui.drawing.graph.runs import write_run
from workbench.tui.drawing.graph.stands import TRUNK
from workbench.tui.drawing.graph.stepping import steps_in_columns
from workbench.tui.drawing.picture import Picture, Region

if TYPE_CHECKING:
    from workbench.tui.drawing.graph.stands import Columns, Stand


def draw_columns(columns: Columns, width: int, chosen: str) -> Picture:
    """Draw a tree in its places."""
    canvas = Canvas(max(width, columns.width), columns.height)
    stands = list(columns.centre.walk())
    for each in stands:
        marked = each.branch.card.key == chosen
        boxes.draw(canvas, each.box, each.x, each.y, each.width, chosen=marked, centre=each.side == 0)
    for each in stands:
        for side in (-1, 1):
            _draw_runs(canvas, columns, each, side, chosen)
    regions = {
        each.branch.card.key: Region(each.x, each.y, each.width, each.box.height)
        for each in sorted(stands, key=lambda each: (each.y, each.x))
    }
    return Picture(canvas.lines(), regions, steps_in_columns(columns), columns.centre.branch.card.key)


def _draw_runs(canvas: Canvas, columns: Columns, stand: Stand, side: int, chosen: str) -> None:
    """Draw the lines from a box to those that hang on one side of it: a stub, a trunk, and a run to each."""
    hung = [child for child in stand.children if child.side == side and child.branch.runs]
    if not hung:
        return
    rows = [row for child in hung for row in child.run_rows]
    near = stand.x + stand.width - 1 if side == 1 else stand.x
    marked = stand.branch.card.key == chosen
    if columns.hanging and stand.depth:
        trunk = stand.x + TRUNK_BELOW if side == 1 else near + stand.width - 1 - TRUNK_BELOW
        last = stand.y + stand.box.height - 1
        canvas.down(trunk, last, rows[-1])
        boxes.leave_below(canvas, stand.box, trunk, last, chosen=marked)
        first = trunk + side
    else:
        trunk = columns.edges[side, stand.depth] + side * TRUNK
        straight = rows == [stand.anchor]
        first = near + side if straight else trunk + side
        canvas.across(stand.anchor, near + side, trunk)
        canvas.down(trunk, min(stand.anchor, *rows), max(stand.anchor, *rows))
        if not (straight and hung[0].branch.runs[0].inward):
            boxes.leave(
                canvas, stand.box, near, stand.anchor, right=side == 1, chosen=marked, centre=stand.side == 0
            )
    for child in hung:
        end = child.x if side == 1 else child.x + child.width - 1
        for row, run in zip(child.run_rows, child.branch.runs, strict=True):
            canvas.across(row, trunk, end - side)
            write_run(canvas, row, first, end - side, run)
            if not run.outward:
                marked = child.branch.card.key == chosen
                boxes.leave(canvas, child.box, end, row, right=side == -1, chosen=marked)
