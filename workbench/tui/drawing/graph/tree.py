"""The tree that is drawn: boxes with what is written in them, hung on one another by labelled runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.display.cells import cell_width
from workbench.tui.drawing.graph.cards import Card
from workbench.tui.drawing.graph.grouping import Group
from workbench.tui.drawing.graph.ties import APART, INWARD, OUTWARD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.tui.drawing.graph.grouping import Shown
    from workbench.tui.drawing.graph.ties import Ties

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

    card: Card
    runs: tuple[Run, ...] = ()
    children: tuple[Branch, ...] = ()

    def walk(self) -> Iterator[Branch]:
        """Give this branch and all that hang on it."""
        yield self
        for child in self.children:
            yield from child.walk()


def grow(ties: Ties, shown: Shown, cards: Mapping[str, Card], *, joined: bool = True) -> Branch:
    """Return the tree to draw.

    Args:
        ties: With a centre.
        shown: What hangs on each entity: entities and groups.
        cards: What is written in the boxes of the entities.
        joined: Whether several relations may stand on one line.
    """
    widest = _WIDEST_WORDS if joined else 0

    def branch(id_: str, inner: str) -> Branch:
        runs = _runs(ties, inner, id_, widest) if inner else ()
        hung = (branch(each, id_) if isinstance(each, str) else _group(each) for each in shown.get(id_, ()))
        return Branch(cards[id_], runs, tuple(hung))

    return branch(ties.center, "")


def _group(group: Group) -> Branch:
    runs = (
        () if group.direction == APART else (Run("", group.direction != INWARD, group.direction != OUTWARD),)
    )
    notes = (((f"+ {group.beyond:,} beyond", True),),) if group.beyond else ()
    return Branch(Card(group.key, group.name, group=True, notes=notes), runs)


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
