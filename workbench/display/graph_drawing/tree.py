"""The tree that is drawn: boxes hung on one another by labelled runs, and on which side of the centre each hangs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.display.cells import cell_width
from workbench.display.graph_drawing.boxes import Caption
from workbench.display.graph_drawing.ties import APART, INWARD, OUTWARD, Group
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.display.canvas import Canvas
    from workbench.display.graph_drawing.ties import Shown, Ties

# Words of one run; more of them make a second one.
_WIDEST_WORDS = 22


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

    def walk(self) -> Iterator[Branch]:
        """Give this branch and all that hang on it."""
        yield self
        for child in self.children:
            yield from child.walk()


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
