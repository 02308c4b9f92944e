"""Where the boxes of a drawing stand that has its centre in the middle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.display.cells import cell_width
from workbench.tui.drawing.graph.boxes import Box, measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbench.tui.drawing.graph.boxes import Style
    from workbench.tui.drawing.graph.tree import Branch

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
        for each in self.centre.walk():
            found.setdefault(each.side * (1 if self.hanging else each.depth), []).append(each)
        return [sorted(found[at], key=lambda each: each.y) for at in sorted(found)]


def stand_for(branch: Branch, style: Style, depth: int, side: int) -> Stand:
    """Return a branch as boxes of a style, with all that hangs on it, not yet in their places."""
    box = measure(branch.card, len(branch.runs), style)
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
    stands = list(centre.walk())
    centre.shift(-min(each.y for each in stands))
    return max(each.y + each.box.height for each in stands)


def middle(stands: Sequence[Stand]) -> int:
    """Return the line in the middle of the runs of some boxes."""
    rows = [row for each in stands for row in each.run_rows]
    return (rows[0] + rows[-1]) // 2 if rows else 0
