"""What is written in the boxes: names, types and status, and in words the relations that no line is drawn for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.tui.drawing.graph.names import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.tui.drawing.graph.grouping import Shown
    from workbench.tui.drawing.graph.ties import Ties

# Words of a sentence, and whether each must stay whole.
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


# The states that are said; the others are the ordinary case.
_SAID = ("dormant", "archived", "pinned")


def cards_of(ties: Ties, shown: Shown) -> dict[str, Card]:
    """Return what is written in the box of each entity that has one.

    Args:
        ties: With a centre.
        shown: What hangs on each entity: entities and groups.
    """
    told = {(inner, outer) for inner, hung in shown.items() for outer in hung if isinstance(outer, str)}
    drawn = {ties.center, *(outer for _, outer in told)}
    return {id_: card_of(ties, id_, drawn, told) for id_ in drawn}


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
    status = node.status if node.status in _SAID else ""
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
