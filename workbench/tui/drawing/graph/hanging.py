"""Places a tree with its centre in the middle and the first ring beside it; what is further out hangs below that."""

from __future__ import annotations

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

# The line that boxes hang on runs below the second cell of the box above, on the side of the centre.
TRUNK_BELOW = 1


def hang(
    root: Branch, left: Sequence[Branch], right: Sequence[Branch], style: Style, *, width: int, height: int
) -> Columns | None:
    """Place a tree; None where there is no width for it. Its parameters are those of `columns.place`."""
    centre = Stand(root, measure(root.card, 1, style), 0, 0)
    sides = {
        side: [stand_for(each, style, 1, side) for each in hung] for side, hung in ((-1, left), (1, right))
    }
    centre.children = sides[-1] + sides[1]
    core = centre.width = centre.box.width
    gutters = {side: TRUNK + run_width(each.branch for each in hung) for side, hung in sides.items() if hung}
    extents = {side: max((_outward(each, 0) for each in hung), default=0) for side, hung in sides.items()}
    needed = core + sum(gutters.values()) + sum(extents.values())
    if needed > width:
        return None
    slack = min(MOST_SLACK, (width - needed) // max(1, len(gutters)))
    gutters = {side: size + slack for side, size in gutters.items()}
    total = needed + slack * len(gutters)
    before = gutters.get(-1, 0) + extents[-1]
    centre.x = min(max(0, width // 2 - core // 2 - before), width - total) + before
    edges = {(-1, 0): centre.x, (1, 0): centre.x + core - 1}
    for side, gutter in gutters.items():
        for each in sides[side]:
            _across(each, edges[side, 0] + side * (gutter + 1))
    lines = 0
    for space in (1, 0):
        lines = _down(centre, sides, space)
        if lines <= height:
            break
    return Columns(centre, total, edges, lines, hanging=True)


def _step(stand: Stand) -> int:
    """Return how much further out the boxes stand that hang on one."""
    return TRUNK_BELOW + 1 + run_width(child.branch for child in stand.children)


def _outward(stand: Stand, start: int) -> int:
    """Return the cells that a box takes with all that hangs on it, from the line that it begins at."""
    further = start + _step(stand)
    return max([start + stand.box.width, *(_outward(child, further) for child in stand.children)])


def _across(stand: Stand, near: int) -> None:
    """Give a box its cells, and all that hang on it, from its cell next to the centre."""
    stand.width = stand.box.width
    stand.x = near if stand.side == 1 else near - stand.width + 1
    for child in stand.children:
        _across(child, near + stand.side * _step(stand))


def _down(centre: Stand, sides: dict[int, list[Stand]], space: int) -> int:
    """Give every box its lines; return how many all take."""
    tops = {}
    for side, hung in sides.items():
        top = 0
        for each in hung:
            for below in each.walk():
                below.y = top
                top += below.box.height
            top += space
        tops[side] = middle(hung)
    return stack_sides(centre, tops)
