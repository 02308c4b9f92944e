"""Draws a tree downward, where there is no width for columns: boxes indented, or a tree of words."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from workbench.display.canvas import (
    DOWN,
    LEFT,
    LINE_ROLE,
    RIGHT,
    UP,
    Canvas,
    Picture,
    Region,
    Steps,
    walk_list,
)
from workbench.display.cells import cell_width
from workbench.display.graph_drawing import boxes
from workbench.display.graph_drawing.boxes import LONGEST_NAME, Box, Style, measure, shorten
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
    """Place a tree; what points at a box comes before what it points at."""
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


# What a row of a compact tree begins with: its place among its siblings, and where the relation points.
ROW_STARTS = tuple(f"{corner}─{arrow}" for corner in "├└" for arrow in "→←↔")
_INDENT, _MOST_INDENT, _LEAST_ROOM = 3, 24, 12
_CURSOR, _BETWEEN = "▌", " · "


def draw_tree(root: Branch, width: int, chosen: str, *, plain: bool = False) -> Picture:
    """Draw a tree in lines of words, such as `├─← works at ── Jonas Ek · Karin Voss`; none is wider than `width`.

    What is related alike and has nothing hanging on it shares a line. A plain one is indented alone, and says in words
    where relations point.
    """
    tree = _CompactTree(max(1, width), chosen, plain=plain)
    tree.add_name(root, 1)
    tree.add_children(root, "")
    return tree.picture(root.caption.key)


class _CompactTree:
    """Lines in the making, and what stands in them."""

    def __init__(self, width: int, chosen: str, *, plain: bool) -> None:
        self._width = width
        self._plain = plain
        self._chosen = chosen
        self._parts: list[tuple[int, int, str, str, str]] = []
        self._regions: dict[str, Region] = {}
        self._rows: list[list[str]] = [[]]
        self._steps: Steps = {}
        self._x = self._y = self._hang = 0
        self._before = ""

    def add_children(self, branch: Branch, before: str) -> None:
        """Add what hangs on a branch, each kind in a row of its own, after a prefix that draws what goes on."""
        inward, others = sides_of(branch)
        kinds: dict[object, list[Branch]] = {}
        for child in inward + others:
            kind = (
                child.caption.key
                if child.children
                else (child.runs, child.caption.group and child.caption.key)
            )
            kinds.setdefault(kind, []).append(child)
        before = before[: max(0, min(_MOST_INDENT, self._width - _LEAST_ROOM))]
        for at, alike in enumerate(kinds.values()):
            last = at == len(kinds) - 1
            after = before + ("   " if last or self._plain else "│  ")
            sign = "  " if self._plain else "└─" if last else "├─"
            self._begin_row(before + sign, after, _lead(alike[0], plain=self._plain))
            for number, child in enumerate(alike):
                self.add_name(child, cell_width(_BETWEEN) if number else 1, branch.caption.key)
            for child in alike:
                self.add_children(child, after)

    def _begin_row(self, before: str, after: str, lead: str) -> None:
        """Begin a row with where its relation points and what it is called."""
        self._break(before, after)
        self._x -= 1
        self._rows.append([])
        for word in lead.split(" "):
            self._add_words(word)
            self._x += 1
        self._x -= 1

    def _break(self, before: str, after: str) -> None:
        self._y += 1
        self._before = after
        self._write(0, before, LINE_ROLE)
        self._x = self._hang = min(cell_width(before) + 1, self._width - 1)

    def _write(self, x: int, text: str, role: str, link: str = "") -> None:
        self._parts.append((x, self._y, text, role, link))

    def _add_words(self, text: str) -> None:
        if self._x > self._hang and self._x + cell_width(text) > self._width:
            self._break(self._before, self._before)
        self._write(self._x, text, "soft")
        self._x += cell_width(text)

    def add_name(self, branch: Branch, gap: int, inner: str = "") -> None:
        """Add a thing to the row, after a gap or a sign that parts it from the one before."""
        caption, key = branch.caption, branch.caption.key
        marked = key == self._chosen
        name = shorten(caption.name, max(1, min(LONGEST_NAME, self._width - self._hang)))
        if self._x > self._hang and self._x + gap + cell_width(name) > self._width:
            self._break(self._before, self._before)
            gap = 0
        elif gap > 1:
            self._write(self._x, _BETWEEN, "faint")
        x = min(self._x + gap, self._width - 1)
        if marked:
            self._write(x - 1, _CURSOR, "decide")
        role = "tab" if marked else "soft" if caption.group else score_role(caption.score) + "+strong"
        self._write(x, name, role, "" if caption.group else key)
        self._x = x + cell_width(name)
        self._regions[key] = Region(x, self._y, max(1, min(cell_width(name), self._width - x)), 1)
        said = caption.status or ("no file" if caption.dashed else "")
        notes = [" ".join(word for word, _ in note) for note in caption.notes]
        if told := "; ".join(each for each in (said, *notes) if each):
            for word in f"({told})".split(" "):
                self._x += 1
                self._add_words(word)
        row = self._rows[-1]
        if row:
            self._steps[row[-1], RIGHT], self._steps[key, LEFT] = key, row[-1]
        elif inner:
            self._steps[key, LEFT] = inner
        if inner:
            self._steps.setdefault((inner, RIGHT), key)
        row.append(key)

    def picture(self, home: str) -> Picture:
        """Return what was drawn."""
        canvas = Canvas(self._width, self._y + 1)
        for x, y, text, role, link in self._parts:
            canvas.write(x, y, text, role, link)
        lines: dict[int, list[str]] = {}
        for key, region in self._regions.items():
            lines.setdefault(region.y, []).append(key)
        ordered = list(lines.values())
        for upper, lower in pairwise(ordered):
            for key in upper:
                self._steps[key, DOWN] = self._nearest(key, lower)
            for key in lower:
                self._steps[key, UP] = self._nearest(key, upper)
        return Picture(canvas.lines(), self._regions, self._steps, home)

    def _nearest(self, key: str, others: list[str]) -> str:
        return min(others, key=lambda other: abs(self._regions[other].x - self._regions[key].x))


def _lead(branch: Branch, *, plain: bool) -> str:
    """Return what stands between the line of a tree and a name: where relations point, and what they are called."""
    if plain:
        told = [f"it {run.words}" if run.outward else f"{run.words} it" for run in branch.runs if run.words]
        return f"{', '.join(told)}:" if told else "also:"
    arrows = {(True, True): "↔", (True, False): "→", (False, True): "←"}
    said = [f"{arrows[run.outward, run.inward]} {run.words}".strip() for run in branch.runs]
    return f"{', '.join(said)} ──" if any(run.words for run in branch.runs) else "".join(said) or "─"
