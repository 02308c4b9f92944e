"""Places a tree in columns: the centre, and rings of boxes to its left and right, so that no line meets another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.tui.drawing.graph.boxes import Box, measure
from workbench.tui.text import cell_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.tui.drawing.graph.boxes import Style
    from workbench.tui.drawing.graph.tree import Branch

# Cells between a column and the first cell of its runs: a stub and the trunk that the runs leave.
TRUNK = 2
# What a run needs beside its words: a cell at each end, and a space on both sides of the words.
ENDS = 4
_MOST_SLACK = 6


@dataclass
class Stand:
    """Where a box stands.

    Args:
        depth: Hops from the centre.
        side: -1 left of the centre, 1 right of it, 0 for the centre.
        x: First cell.
        y: First line.
        width: Cells.
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

    def walk(self) -> Iterator[Stand]:
        """Give this box and all that hang on it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def shift(self, lines: int) -> None:
        """Move it down with all that hangs on it."""
        for each in self.walk():
            each.y += lines


@dataclass
class Columns:
    """A tree in its places.

    Args:
        centre: With both sides hung on it.
        width: Cells it takes.
        edges: By side and depth, the last cell of a column away from the centre.
        height: Lines it takes.
    """

    centre: Stand
    width: int
    edges: dict[tuple[int, int], int]
    height: int

    def columns(self) -> list[list[Stand]]:
        """Return the boxes column by column from the left, each from the top."""
        found: dict[int, list[Stand]] = {}
        for each in self.centre.walk():
            found.setdefault(each.side * each.depth, []).append(each)
        return [sorted(found[at], key=lambda each: each.y) for at in sorted(found)]


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
    centre = Stand(root, measure(root.card, 1, style), 0, 0)
    sides = {side: [_stand(each, style, 1, side) for each in hung] for side, hung in ((-1, left), (1, right))}
    centre.children = sides[-1] + sides[1]
    stands = list(centre.walk())
    extent = _across(centre.box.width, stands, style, width)
    if extent is None:
        return None
    lines = 0
    for space in (1, 0):
        lines = _down(centre, sides, stands, space)
        if lines <= height:
            break
    return Columns(centre, *extent, lines)


def _down(centre: Stand, sides: dict[int, list[Stand]], stands: Sequence[Stand], space: int) -> int:
    """Give every box its lines; return how many all take."""
    anchors = {side: _stack_side(hung, space) for side, hung in sides.items()}
    anchor = max(centre.box.height // 2, *anchors.values())
    for side, hung in sides.items():
        for each in hung:
            each.shift(anchor - anchors[side])
    centre.y = anchor - centre.box.height // 2
    centre.shift(-min(each.y for each in stands))
    return max(each.y + each.box.height for each in stands)


def _stand(branch: Branch, style: Style, depth: int, side: int) -> Stand:
    box = measure(branch.card, len(branch.runs), style)
    return Stand(branch, box, depth, side, [_stand(each, style, depth + 1, side) for each in branch.children])


def _stack_side(stands: list[Stand], space: int) -> int:
    """Put boxes below one another from line 0; return the line in the middle of their runs."""
    top = 0
    for each in stands:
        top = _stack(each, top, space) + space
    return _middle(stands)


def _middle(stands: Sequence[Stand]) -> int:
    rows = [row for each in stands for row in each.run_rows]
    return (rows[0] + rows[-1]) // 2 if rows else 0


def _stack(stand: Stand, top: int, space: int) -> int:
    """Put a box beside the middle of what hangs on it, nothing above `top`; return the line after the last."""
    below = top
    for child in stand.children:
        below = _stack(child, below, space) + space
    stand.y = top
    if stand.children:
        below -= space
        wanted = _middle(stand.children) - stand.box.body
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
            words = max((cell_width(run.words) + 2 for run in each.branch.runs if run.words), default=0)
            gutters[at] = max(gutters.get(at, 0), TRUNK + ENDS - 2 + words)
    needed = sum(widths.values()) + sum(gutters.values())
    if needed > width:
        return None
    slack = min(_MOST_SLACK, (width - needed) // max(1, len(gutters)))
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
