"""Draws a tree downward, each box indented under the one that it hangs on, where there is no width for columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.display.cells import cell_width
from workbench.tui.drawing.canvas import Canvas
from workbench.tui.drawing.graph import boxes
from workbench.tui.drawing.graph.boxes import Box, measure
from workbench.tui.drawing.graph.runs import write_run
from workbench.tui.drawing.graph.sides import sides_of
from workbench.tui.drawing.graph.stepping import DOWN, LEFT, RIGHT, UP, Steps, walk_list
from workbench.tui.drawing.picture import Picture, Region

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.tui.drawing.graph.boxes import Style
    from workbench.tui.drawing.graph.tree import Branch

# The line that boxes hang on runs below this cell of the box above.
_TRUNK = 1
_ENDS = 4


@dataclass
class Twig:
    """Where a box stands, and what hangs on it."""

    branch: Branch
    box: Box
    x: int
    y: int
    children: list[Twig] = field(default_factory=list)

    def walk(self) -> Iterator[Twig]:
        """Give this box and all that hang on it."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass
class Indented:
    """A tree in its places, with the cells and lines that it takes."""

    root: Twig
    width: int
    height: int


def indent(root: Branch, style: Style) -> Indented:
    """Place a tree; what points at a box comes before what it points at.

    Args:
        root: Of the tree.
        style: Of all boxes.
    """
    twig, height = _twig(root, style, 0, 0)
    return Indented(twig, max(each.x + each.box.width for each in twig.walk()), height)


def _twig(branch: Branch, style: Style, x: int, y: int) -> tuple[Twig, int]:
    twig = Twig(branch, measure(branch.card, len(branch.runs), style), x, y)
    below = y + twig.box.height
    words = [cell_width(run.words) for child in branch.children for run in child.runs]
    inner = x + _TRUNK + 1 + _ENDS + max(words, default=0)
    inward, others = sides_of(branch)
    for child in inward + others:
        hung, below = _twig(child, style, inner, below)
        twig.children.append(hung)
    return twig, below


def draw_indented(tree: Indented, width: int, chosen: str) -> Picture:
    """Draw a tree in its places."""
    canvas = Canvas(max(width, tree.width), tree.height)
    regions: dict[str, Region] = {}
    steps: Steps = {}
    for each in tree.root.walk():
        key = each.branch.card.key
        boxes.draw(canvas, each.box, each.x, each.y, each.box.width, chosen=key == chosen)
        regions[key] = Region(each.x, each.y, each.box.width, each.box.height)
        for child in each.children:
            steps[child.branch.card.key, LEFT] = key
        if each.children:
            steps[key, RIGHT] = each.children[0].branch.card.key
        _draw_runs(canvas, each)
    walk_list(steps, list(regions), UP, DOWN)
    return Picture(canvas.lines(), regions, steps, tree.root.branch.card.key)


def _draw_runs(canvas: Canvas, twig: Twig) -> None:
    trunk = twig.x + _TRUNK
    hung = [child for child in twig.children if child.branch.runs]
    if hung:
        last = hung[-1]
        canvas.down(trunk, twig.y + twig.box.height - 1, last.y + len(last.branch.runs) - 1)
    for child in hung:
        for row, run in enumerate(child.branch.runs, child.y):
            canvas.across(row, trunk, child.x - 1)
            write_run(canvas, row, trunk + 1, child.x - 1, run)
