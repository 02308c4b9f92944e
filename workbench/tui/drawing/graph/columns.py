"""Places a tree in columns: the centre, and rings of boxes to its left and right, so that no line meets another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.tui.drawing.graph.boxes import measure
from workbench.tui.drawing.graph.stands import (
    MOST_SLACK,
    TRUNK,
    Columns,
    Stand,
    middle,
    run_width,
    stack_sides,
    stand_for,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.tui.drawing.graph.boxes import Style
    from workbench.tui.drawing.graph.tree import Branch


def place(
    root: Branch, left: Sequence[Branch], right: Sequence[Branch], style: Style, *, width: int, height: int
) -> Columns | None:
    """Place a centre with what hangs on either side of it; None where there is no width for it.

    Args:
        root: The centre; its own children are not looked at.
        left: What hangs on its left side, from the top.
        right: What hangs on its right side.
        style: Of all boxes.
        width: Cells there are.
        height: Lines there are; a line is left empty between boxes where there are enough of them, and the result
            is higher where there are too few.
    """
    # The centre has lines to spare, but no cells: pinning it must not cost its sides their place.
    centre = Stand(root, measure(root.card, 1, replace(style, status_below=True)), 0, 0)
    sides = {
        side: [stand_for(each, style, 1, side) for each in hung] for side, hung in ((-1, left), (1, right))
    }
    centre.children = sides[-1] + sides[1]
    stands = list(centre.walk())
    extent = _across(centre.box.width, stands, style, width)
    if extent is None:
        return None
    lines = 0
    for space in (1, 0):
        lines = _down(centre, sides, space)
        if lines <= height:
            break
    return Columns(centre, *extent, lines)


def _down(centre: Stand, sides: dict[int, list[Stand]], space: int) -> int:
    """Give every box its lines; return how many all take."""
    tops = {}
    for side, hung in sides.items():
        top = 0
        for each in hung:
            top = _stack(each, top, space) + space
        tops[side] = middle(hung)
    return stack_sides(centre, tops)


def _stack(stand: Stand, top: int, space: int) -> int:
    """Put a box beside the middle of what hangs on it, nothing above `top`; return the line after the last."""
    below = top
    for child in stand.children:
        below = _stack(child, below, space) + space
    stand.y = top
    if stand.children:
        below -= space
        wanted = middle(stand.children) - stand.box.body
        if wanted < top:
            for child in stand.children:
                child.shift(top - wanted)
            below += top - wanted
        else:
            stand.y = wanted
    return max(below, stand.y + stand.box.height)


def _across(
    core: int, stands: Sequence[Stand], style: Style, width: int
) -> tuple[int, dict[tuple[int, int], int]] | None:
    """Give every box its cells; return how many all take, and where the columns end.

    Args:
        core: Cells of the centre.
        stands: All boxes.
        style: Of all boxes.
        width: Cells there are.
    """
    widths: dict[tuple[int, int], int] = {}
    gutters: dict[tuple[int, int], int] = {}
    for each in stands:
        at = (each.side, each.depth)
        widths[at] = max(widths.get(at, 0), each.box.width)
        if each.depth:
            gutters[at] = max(gutters.get(at, 0), TRUNK + run_width((each.branch,)))
    needed = sum(widths.values()) + sum(gutters.values())
    if needed > width:
        return None
    slack = min(MOST_SLACK, (width - needed) // max(1, len(gutters)))
    total = needed + slack * len(gutters)
    before = sum(gutters[at] + slack + widths[at] for at in gutters if at[0] == -1)
    # The centre in the middle, as far as the sides let it.
    start = min(max(0, width // 2 - core // 2 - before), width - total) + before
    edges = {(-1, 0): start, (1, 0): start + core - 1}
    for side, depth in sorted(gutters, key=lambda at: at[1]):
        step = gutters[side, depth] + slack + widths[side, depth]
        edges[side, depth] = edges[side, depth - 1] + side * step
    for each in stands:
        own = widths[each.side, each.depth]
        each.width = own if style.framed else each.box.width
        if each.side == 0:
            each.x = start
        elif each.side == 1:
            each.x = edges[1, each.depth] - own + 1
        else:
            each.x = edges[-1, each.depth] + own - each.width
    return total, edges
