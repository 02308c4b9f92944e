"""Finds how entities are joined: relations that verbs state, and names that stand together again and again."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection import items
from workbench.engine.reflection.extraction.entities import around
from workbench.engine.reflection.extraction.facts import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.extraction.naming import Mention
    from workbench.engine.reflection.items import Confidence
    from workbench.engine.reflection.model import Passage

_MOST_EVIDENCE: Final = 3
_TOGETHER: Final = 5
_MOST_TOGETHER: Final = 6
_MOST_PAIRS: Final = 200_000
_CERTAIN: Final = 3
GENERAL: Final = "relates-to"


@dataclass
class Stated:
    """A relation with the passages that state it and where in their text; `explicit` where one was meant for memory."""

    from_: Mention
    relation: str
    to: Mention
    places: dict[int, int] = field(default_factory=dict)
    explicit: bool = False
    why: str = ""


class Connections:
    """Gathers what passages say about how entities are joined."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._vocabulary = frozenset(vocabulary)
        self._stated: dict[tuple[str, str, str], Stated] = {}
        self._together: Counter[tuple[str, str]] = Counter()
        # That two tools are named together says little of either.
        self._tools: set[tuple[str, str]] = set()
        self._where: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)

    def state(
        self,
        at: int,
        start: int,
        from_: Mention,
        relation: str,
        to: Mention,
        *,
        explicit: bool,
        why: str = "",
    ) -> None:
        """Note that a passage states a relation; one that the workspace has no word for is left out."""
        if relation not in self._vocabulary or from_.entity == to.entity:
            return
        stated = self._stated.setdefault((from_.entity, relation, to.entity), Stated(from_, relation, to))
        stated.places.setdefault(at, start)
        stated.explicit |= explicit
        stated.why = stated.why or why

    def together(self, at: int, mentions: Sequence[Mention]) -> None:
        """Note that a passage names these entities."""
        for one, other in combinations(mentions[:_MOST_TOGETHER], 2):
            pair = (one.entity, other.entity) if one.entity < other.entity else (other.entity, one.entity)
            if pair[0] != pair[1] and (pair in self._together or len(self._together) < _MOST_PAIRS):
                self._together[pair] += 1
                self._tools |= {pair} if one.type == other.type == "tool" else set()
                if len(self._where[pair]) < _MOST_EVIDENCE:
                    self._where[pair].append((at, one.start))

    def stated(self) -> Iterable[Stated]:
        """Return every stated relation."""
        return self._stated.values()

    def often_together(self) -> list[tuple[str, str, int, list[tuple[int, int]]]]:
        """Return pairs of entities that at least five passages name and no relation joins, most often first."""
        if GENERAL not in self._vocabulary:
            return []
        joined = {frozenset((from_, to)) for from_, _, to in self._stated}
        return [
            (*pair, times, self._where[pair])
            for pair, times in self._together.most_common()
            if times >= _TOGETHER and frozenset(pair) not in joined and pair not in self._tools
        ]


def relation_item(stated: Stated, passages: Sequence[Passage], needs: Sequence[str]) -> ReviewItem:
    """Propose a stated relation."""
    places = sorted(stated.places)
    times = len(places)
    confidence: Confidence = (
        "high" if stated.explicit or times >= _CERTAIN else "medium" if times > 1 else "low"
    )
    said = "Stated once" if times == 1 else f"Stated in {times} passages"
    return items.relation(
        stated.from_.entity,
        stated.relation,
        stated.to.entity,
        [
            quoted(passages[at], around(passages[at].text, stated.places[at]))
            for at in places[:_MOST_EVIDENCE]
        ],
        reason=stated.why or f"{said}.",
        confidence=confidence,
        since=passages[places[0]].day or None,
        needs=needs,
    )


def together_item(
    one: str,
    other: str,
    times: int,
    places: Sequence[tuple[int, int]],
    passages: Sequence[Passage],
    needs: Sequence[str],
) -> ReviewItem:
    """Propose the general relation between two entities that are named together again and again."""
    return items.relation(
        one,
        GENERAL,
        other,
        [quoted(passages[at], around(passages[at].text, start)) for at, start in places],
        reason=f"Named together in {times} passages; how they are joined is not said.",
        confidence="low",
        needs=needs,
    )
