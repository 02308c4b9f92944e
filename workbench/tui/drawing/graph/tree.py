"""The tree that is drawn: boxes with what is written in them, hung on one another by labelled runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.tui.drawing.graph.names import shorten
from workbench.tui.drawing.graph.ties import APART, INWARD, OUTWARD
from workbench.tui.text import cell_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.tui.drawing.graph.ties import Ties

# Words of one run; more of them make a second one.
_WIDEST_WORDS = 22

Note = tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class Card:
    """What is written in a box.

    Args:
        key: Of its region.
        name: Any text.
        type: Any text; empty for a group.
        score: 0-1; None for a group.
        status: To be said in a word; empty where nothing is to be said.
        dashed: Whether it is only named, without a file.
        group: Whether it stands for several.
        notes: Sentences below the name, as words and whether each must stay whole.
    """

    key: str
    name: str
    type: str = ""
    score: float | None = None
    status: str = ""
    dashed: bool = False
    group: bool = False
    notes: tuple[Note, ...] = ()


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


@dataclass(frozen=True, slots=True)
class Group:
    """A box that stands for several entities.

    Args:
        direction: How they are related to the box that they hang on.
        name: What is written in it.
        members: Ids.
        beyond: How many entities hang on these in turn.
    """

    key: str
    direction: str
    name: str
    members: tuple[str, ...]
    beyond: int = 0


Shown = Mapping[str, Sequence[str | Group]]


def cards_of(ties: Ties, shown: Shown) -> dict[str, Card]:
    """Return what is written in the box of each entity that has one.

    Args:
        ties: With a centre.
        shown: What hangs on each entity: entities and groups.
    """
    told = {(inner, outer) for inner, hung in shown.items() for outer in hung if isinstance(outer, str)}
    drawn = {ties.center, *(outer for _, outer in told)}
    return {id_: card_of(ties, id_, drawn, told) for id_ in drawn}


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


def card_of(ties: Ties, id_: str, drawn: set[str], told: set[tuple[str, str]]) -> Card:
    """Return what is written in the box of an entity.

    Args:
        ties: Of the view.
        id_: Of the entity.
        drawn: Ids of all that have boxes.
        told: Pairs whose relations are drawn, either way; the others are told in words.
    """
    node = ties.nodes[id_]
    notes: list[Note] = []
    if itself := ties.words.get((id_, id_)):
        notes.append((("↺", True), *((word, True) for word in _listed(itself)), ("itself", True)))
    others: dict[tuple[str, ...], list[str]] = {}
    beside = {
        other: words
        for other in ties.neighbours[id_]
        if other in drawn and (id_, other) not in told and (other, id_) not in told
        if (words := ties.words.get((id_, other)))
    }
    for other in sorted(beside, key=ties.relevance):
        others.setdefault(beside[other], []).append(shorten(ties.nodes[other].label))
    notes.extend(
        (
            ("also", True),
            *((word, True) for word in _listed(words)),
            *((word, False) for name in _listed(names) for word in name.split(" ") if word),
        )
        for words, names in others.items()
    )
    status = node.status if node.status in ("dormant", "archived", "pinned") else ""
    return Card(
        id_,
        node.label,
        node.type,
        node.score if node.known else 0.0,
        status,
        not node.known,
        notes=tuple(notes),
    )


def _listed(words: Sequence[str]) -> list[str]:
    """Put a comma after each but the last."""
    return [*(f"{word}," for word in words[:-1]), *words[-1:]]
