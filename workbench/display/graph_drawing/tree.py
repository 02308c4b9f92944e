"""The tree that is drawn: boxes hung on one another by labelled runs, on one side of the centre or the other.

Where there is no width for columns it is drawn downward: boxes indented, or a tree of words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

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
from workbench.display.graph_drawing.boxes import LONGEST_NAME, Box, Caption, Style, measure, shorten
from workbench.display.graph_drawing.ties import APART, INWARD, OUTWARD, Group
from workbench.display.ink import score_role
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.display.graph_drawing.ties import Shown, Ties

# The line that boxes hang on runs below this cell of the box above.
_TRUNK = 1
_ENDS = 4
# Words of one run; more of them make a second one.
_WIDEST_WORDS = 22


class Hanging(Protocol):
    """What hangs in a tree."""

    @property
    def children(self) -> Sequence[Self]: ...


H = TypeVar("H", bound=Hanging)


def walk(top: H) -> Iterator[H]:
    """Give a box and all that hang on it."""
    yield top
    for child in top.children:
        yield from walk(child)


@dataclass
class Twig:
    """Where a box stands, and what hangs on it."""

    branch: Branch
    box: Box
    x: int
    y: int
    children: list[Twig] = field(default_factory=list)


@dataclass
class Indented:
    """A tree in its places, with the cells and lines that it takes."""

    root: Twig
    width: int
    height: int


def indent(root: Branch, style: Style) -> Indented:
    """Place a tree; what points at a box comes before what it points at."""
    twig, height = _twig(root, style, 0, 0)
    return Indented(twig, max(each.x + each.box.width for each in walk(twig)), height)


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
    for each in walk(tree.root):
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


@dataclass(frozen=True, slots=True)
class Run:
    """One horizontal line from a box to the one that it hangs on.

    Args:
        words: Written on it; safe.
        outward: Whether it points away from the centre.
        inward: Whether it points to the centre; a line of several entities at once may do both.
    """

    words: str
    outward: bool
    inward: bool


@dataclass(frozen=True, slots=True)
class Branch:
    """A box with what hangs on it.

    Args:
        runs: Lines to the box that it hangs on, from the top; none for the centre and what is apart.
    """

    caption: Caption
    runs: tuple[Run, ...] = ()
    children: tuple[Branch, ...] = ()


def grow(ties: Ties, shown: Shown, captions: Mapping[str, Caption], *, joined: bool = True) -> Branch:
    """Return the tree to draw.

    Args:
        shown: What hangs on each entity: entities and groups.
        captions: What is written in the boxes of the entities.
        joined: Whether several relations may stand on one line.
    """
    widest = _WIDEST_WORDS if joined else 0

    def branch(id_: str, inner: str) -> Branch:
        runs = _runs(ties, inner, id_, widest) if inner else ()
        hung = (branch(each, id_) if isinstance(each, str) else _group(each) for each in shown.get(id_, ()))
        return Branch(captions[id_], runs, tuple(hung))

    return branch(ties.center, "")


def _group(group: Group) -> Branch:
    runs = (
        () if group.direction == APART else (Run("", group.direction != INWARD, group.direction != OUTWARD),)
    )
    notes = (((f"+ {group.beyond:,} beyond", True),),) if group.beyond else ()
    return Branch(Caption(group.key, group.name, group=True, notes=notes), runs)


def _runs(ties: Ties, inner: str, outer: str, widest: int) -> tuple[Run, ...]:
    there, back = ties.words_between(inner, outer)
    return (
        *(Run(words, True, False) for words in _joined(there, widest)),
        *(Run(words, False, True) for words in _joined(back, widest)),
    )


def _joined(words: Sequence[str], widest: int) -> list[str]:
    lines: list[str] = []
    for word in words:
        if lines and cell_width(lines[-1]) + 2 + cell_width(word) <= widest:
            lines[-1] += ", " + word
        else:
            lines.append(word)
    return lines


Sides = tuple[tuple["Branch", ...], tuple["Branch", ...]]


def sides_of(root: Branch) -> Sides:
    """Return what only points at a centre, and all else that hangs on it."""
    left = tuple(each for each in root.children if each.runs and not any(run.outward for run in each.runs))
    kept = {each.caption.key for each in left}
    return left, tuple(each for each in root.children if each.caption.key not in kept)


def balanced(sides: Sides) -> Sides:
    """Move the last of the fuller side to the end of the other one until both have about as many boxes."""
    left, right = list(sides[0]), list(sides[1])
    sizes = [leaves(side) for side in (left, right)]
    while True:
        full, free = (left, right) if sizes[0] > sizes[1] else (right, left)
        if len(full) < 2 or max(sizes) - min(sizes) < 2 * leaves((full[-1],)):
            return tuple(left), tuple(right)
        moved = full.pop()
        free.append(moved)
        at = 0 if full is left else 1
        sizes[at] -= leaves((moved,))
        sizes[1 - at] += leaves((moved,))


def leaves(side: Sequence[Branch]) -> int:
    """Return how many boxes of a side stand at least below one another."""
    return sum(max(1, leaves(each.children)) for each in side)


LEFTWARD, RIGHTWARD = "◀", "▶"
HEAD_ROLE = "soft"
WORDS_ROLE = "text"


def write_run(canvas: Canvas, y: int, inner: int, outer: int, run: Run) -> None:
    """Write the words and the head of a line on it.

    Args:
        inner: The cell at the end next to the centre; the words stand near it.
        outer: The cell at its other end, to the left or to the right.
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
        end: Its other end, to the left or to the right.
        there: Words; safe, empty where nothing leads there.
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
