"""Draws a tree downward, where there is no width for columns: boxes indented, or lines of words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.display.canvas import DOWN, LEFT, RIGHT, UP, Canvas, Picture, Region, Steps, walk_list
from workbench.display.cells import cell_width, wrap
from workbench.display.graph_drawing import boxes
from workbench.display.graph_drawing.boxes import Box, Style, measure, packed, shorten
from workbench.display.graph_drawing.tree import sides_of, write_run
from workbench.display.ink import score_role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.display.graph_drawing.tree import Branch

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
    twig = Twig(branch, measure(branch.caption, len(branch.runs), style), x, y)
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
        key = each.branch.caption.key
        boxes.draw(canvas, each.box, each.x, each.y, each.box.width, chosen=key == chosen)
        regions[key] = Region(each.x, each.y, each.box.width, each.box.height)
        for child in each.children:
            steps[child.branch.caption.key, LEFT] = key
        if each.children:
            steps[key, RIGHT] = each.children[0].branch.caption.key
        _draw_runs(canvas, each)
    walk_list(steps, list(regions), UP, DOWN)
    return Picture(canvas.lines(), regions, steps, tree.root.branch.caption.key)


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


# What a relation begins with, by where it points: from the centre, to it, or both.
ARROWS = ("→", "←", "↔")
_MOST_INDENT = 8
_Row = tuple[int, tuple[tuple[str, str], ...]]


def draw_list(root: Branch, width: int, chosen: str) -> Picture:
    """Draw `→ uses  Name` for each box, indented under what it hangs on; every line takes at most `width` cells."""
    width = max(1, width)
    rows: list[_Row] = []
    regions: dict[str, Region] = {}
    steps: Steps = {}

    def add(branch: Branch, depth: int, inner: str) -> None:
        key = branch.caption.key
        indent = min(2 * max(0, depth - 1), _MOST_INDENT, max(0, width - 8))
        first = len(rows)
        rows.extend((indent, line) for line in _lines(branch, width - indent, key == chosen))
        regions[key] = Region(indent, first, width - indent, len(rows) - first)
        if inner:
            steps[key, LEFT] = inner
            steps.setdefault((inner, RIGHT), key)
        inward, others = sides_of(branch)
        for child in inward + others:
            add(child, depth + 1, key)

    add(root, 0, "")
    walk_list(steps, list(regions), UP, DOWN)
    canvas = Canvas(width, len(rows))
    for y, (x, parts) in enumerate(rows):
        for text, role in parts:
            x = canvas.write(x, y, text, role)
    return Picture(canvas.lines(), regions, steps, root.caption.key)


def _lines(branch: Branch, width: int, chosen: bool) -> list[tuple[tuple[str, str], ...]]:
    caption = branch.caption
    role = "tab" if chosen else "soft" if caption.group else score_role(caption.score) + "+strong"
    mark = "▸" if chosen else ""
    name = shorten(mark + caption.name, max(1, min(24, width)))
    after = f" · {caption.status}" if caption.status else " · no file" if caption.dashed else ""
    lines: list[tuple[tuple[str, str], ...]] = []
    for at, run in enumerate(branch.runs):
        arrow = "↔ " if run.outward and run.inward else "→ " if run.outward else "← "
        lead = f"{arrow}{run.words}  " if run.words else arrow
        here = at == len(branch.runs) - 1
        if not here or cell_width(lead) + cell_width(name) > width:
            lines.extend(((piece, "soft"),) for piece in wrap(lead, width))
        else:
            lines.append(((lead, "soft"), (name, role)))
            name = ""
    if name:
        lines.append(((name, role),))
    lines[-1] = (*lines[-1], (after, "soft")) if _width(lines[-1]) + cell_width(after) <= width else lines[-1]
    room = max(1, width - 2)
    lines.extend((("  ", "soft"), (line, "soft")) for note in caption.notes for line in _note(note, room))
    return lines


def _note(note: tuple[tuple[str, bool], ...], width: int) -> tuple[str, ...]:
    fitting = tuple((word, whole and cell_width(word) <= width) for word, whole in note)
    return packed(fitting, width)


def _width(line: tuple[tuple[str, str], ...]) -> int:
    return sum(cell_width(text) for text, _ in line)
