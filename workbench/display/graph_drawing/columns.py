"""Places and draws a tree around its centre, in columns or hung below the first ring; no line meets another."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench.display.canvas import DOWN, LEFT, RIGHT, UP, Canvas, Picture, Region, Steps, walk_list
from workbench.display.cells import cell_width
from workbench.display.graph_drawing import boxes
from workbench.display.graph_drawing.boxes import Box, Style, measure
from workbench.display.graph_drawing.tree import walk, write_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.display.graph_drawing.tree import Branch

# Cells between a box and the first cell of its runs: a stub and the trunk that the runs leave.
TRUNK = 2
# What a run needs beside its words: a cell at each end, and a space on both sides of the words.
ENDS = 4
# Cells that lines are made longer by, for the eye, where there is room.
MOST_SLACK = 6


@dataclass
class Stand:
    """Where a box stands.

    Args:
        depth: Hops from the centre.
        side: -1 left of the centre, 1 right of it, 0 for the centre.
        x: First cell.
        y: First line.
        children: What hangs on it, from the top.
    """

    branch: Branch
    box: Box
    depth: int
    side: int
    children: list[Stand] = field(default_factory=list)
    x: int = 0
    y: int = 0
    width: int = 0

    @property
    def anchor(self) -> int:
        """The line that its own children are hung on."""
        return self.y + (self.box.height // 2 if self.side == 0 else self.box.body)

    @property
    def run_rows(self) -> range:
        """The lines of its runs."""
        first = self.y + self.box.body
        return range(first, first + len(self.branch.runs))

    def shift(self, lines: int) -> None:
        """Move it down with all that hangs on it."""
        for each in walk(self):
            each.y += lines


@dataclass
class Columns:
    """A tree in its places.

    Args:
        centre: With both sides hung on it.
        edges: By side and depth, the last cell of a column away from the centre.
        hanging: Whether what hangs on the boxes beside the centre stands below them rather than in columns of its own.
    """

    centre: Stand
    width: int
    edges: dict[tuple[int, int], int]
    height: int
    hanging: bool = False

    def columns(self) -> list[list[Stand]]:
        """Return the boxes column by column from the left, each from the top; all of a side where they hang."""
        found: dict[int, list[Stand]] = {}
        for each in walk(self.centre):
            found.setdefault(each.side * (1 if self.hanging else each.depth), []).append(each)
        return [sorted(found[at], key=lambda each: each.y) for at in sorted(found)]


def stand_for(branch: Branch, style: Style, depth: int, side: int) -> Stand:
    """Return a branch as boxes of a style, with all that hangs on it, not yet in their places."""
    box = measure(branch.caption, len(branch.runs), style)
    return Stand(
        branch, box, depth, side, [stand_for(each, style, depth + 1, side) for each in branch.children]
    )


def run_width(branches: Iterable[Branch]) -> int:
    """Return the cells that the longest of their runs needs."""
    words = (cell_width(run.words) + 2 for branch in branches for run in branch.runs if run.words)
    return ENDS - 2 + max(words, default=0)


def stack_sides(centre: Stand, tops: dict[int, int]) -> int:
    """Move both sides so that the middle of their runs is level with the centre; return the lines all take.

    Args:
        centre: With the boxes of each side below one another from line 0.
        tops: By side, the line in the middle of its runs.
    """
    anchor = max(centre.box.height // 2, *tops.values())
    for each in centre.children:
        each.shift(anchor - tops[each.side])
    centre.y = anchor - centre.box.height // 2
    stands = list(walk(centre))
    centre.shift(-min(each.y for each in stands))
    return max(each.y + each.box.height for each in stands)


def middle(stands: Sequence[Stand]) -> int:
    """Return the line in the middle of the runs of some boxes."""
    rows = [row for each in stands for row in each.run_rows]
    return (rows[0] + rows[-1]) // 2 if rows else 0


def place(
    root: Branch, left: Sequence[Branch], right: Sequence[Branch], style: Style, *, width: int, height: int
) -> Columns | None:
    """Place a centre with what hangs on either side of it; None where there is no width for it.

    Args:
        root: The centre; its own children are not looked at.
        left: What hangs on its left side, from the top.
        right: What hangs on its right side.
        height: Lines there are; a line is left empty between boxes where there are enough of them, and the result
            is higher where there are too few.
    """
    # The centre has lines to spare, but no cells: pinning it must not cost its sides their place.
    centre = Stand(root, measure(root.caption, 1, replace(style, status_below=True)), 0, 0)
    sides = {
        side: [stand_for(each, style, 1, side) for each in hung] for side, hung in ((-1, left), (1, right))
    }
    centre.children = sides[-1] + sides[1]
    stands = list(walk(centre))
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
    """Give every box its cells; return how many all take, and where the columns end."""
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


# The line that boxes hang on runs below the second cell of the box above, on the side of the centre.
TRUNK_BELOW = 1


def hang(
    root: Branch, left: Sequence[Branch], right: Sequence[Branch], style: Style, *, width: int, height: int
) -> Columns | None:
    """Place a tree; None where there is no width for it. Its parameters are those of `columns.place`."""
    centre = Stand(root, measure(root.caption, 1, style), 0, 0)
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
            _hang_across(each, edges[side, 0] + side * (gutter + 1))
    lines = 0
    for space in (1, 0):
        lines = _hang_down(centre, sides, space)
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


def _hang_across(stand: Stand, near: int) -> None:
    """Give a box its cells, and all that hang on it, from its cell next to the centre."""
    stand.width = stand.box.width
    stand.x = near if stand.side == 1 else near - stand.width + 1
    for child in stand.children:
        _hang_across(child, near + stand.side * _step(stand))


def _hang_down(centre: Stand, sides: dict[int, list[Stand]], space: int) -> int:
    """Give every box its lines; return how many all take."""
    tops = {}
    for side, hung in sides.items():
        top = 0
        for each in hung:
            for below in walk(each):
                below.y = top
                top += below.box.height
            top += space
        tops[side] = middle(hung)
    return stack_sides(centre, tops)


def draw_columns(columns: Columns, width: int, chosen: str) -> Picture:
    """Draw a tree in its places."""
    canvas = Canvas(max(width, columns.width), columns.height)
    stands = list(walk(columns.centre))
    for each in stands:
        marked = each.branch.caption.key == chosen
        boxes.draw(canvas, each.box, each.x, each.y, each.width, chosen=marked, centre=each.side == 0)
    for each in stands:
        for side in (-1, 1):
            _draw_runs(canvas, columns, each, side, chosen)
    regions = {
        each.branch.caption.key: Region(each.x, each.y, each.width, each.box.height)
        for each in sorted(stands, key=lambda each: (each.y, each.x))
    }
    return Picture(canvas.lines(), regions, steps_in_columns(columns), columns.centre.branch.caption.key)


def _draw_runs(canvas: Canvas, columns: Columns, stand: Stand, side: int, chosen: str) -> None:
    """Draw the lines from a box to those that hang on one side of it: a stub, a trunk, and a run to each."""
    hung = [child for child in stand.children if child.side == side and child.branch.runs]
    if not hung:
        return
    rows = [row for child in hung for row in child.run_rows]
    near = stand.x + stand.width - 1 if side == 1 else stand.x
    marked = stand.branch.caption.key == chosen
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
                marked = child.branch.caption.key == chosen
                boxes.leave(canvas, child.box, end, row, right=side == -1, chosen=marked)


def steps_in_columns(columns: Columns) -> Steps:
    """Walk columns: up and down in one, inward to what a box hangs on, outward to what hangs on it.

    Where nothing hangs on a box, outward leads to the nearest one of the next column.
    """
    steps: Steps = {}
    found = columns.columns()
    for at, column in enumerate(found):
        walk_list(steps, [each.branch.caption.key for each in column], UP, DOWN)
        for each in column:
            for direction, side, beside in ((LEFT, -1, at - 1), (RIGHT, 1, at + 1)):
                if not 0 <= beside < len(found):
                    continue
                hung = [child for child in each.children if child.side == side]
                goal = _nearest(each, hung or found[beside])
                steps[each.branch.caption.key, direction] = goal.branch.caption.key
        for each in column:
            for child in each.children:
                back = LEFT if child.side == 1 else RIGHT
                steps[child.branch.caption.key, back] = each.branch.caption.key
    return steps


def _nearest(stand: Stand, others: Sequence[Stand]) -> Stand:
    return min(others, key=lambda other: (abs(other.anchor - stand.anchor), other.y))
