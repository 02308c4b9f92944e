"""Decides which names of a log are worth a file of their own, and finds how these are joined.

Relations are what verbs state, and names that stand together again and again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection import items
from workbench.engine.reflection.extraction.facts import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.markdown.review import Evidence, ReviewItem
    from workbench.engine.reflection.extraction.naming import Mention, Voice
    from workbench.engine.reflection.items import Confidence
    from workbench.engine.reflection.model import Passage

_MOST_EVIDENCE: Final = 3
_TOGETHER: Final = 5
_MOST_TOGETHER: Final = 6
_MOST_PAIRS: Final = 200_000
_CERTAIN: Final = 3
GENERAL: Final = "relates-to"
_AROUND: Final = 70
_ENOUGH: Final = {"person": 2, "project": 2, "tool": 3, "concept": 3, "place": 4}
_UNMARKED: Final = 2
_GUESSED: Final = ("concept", "project")
_MANY: Final = 5


@dataclass
class Stated:
    """A relation with the passages that state it and where in their text; `explicit` where one was meant for memory."""

    from_: Mention
    relation: str
    to: Mention
    places: dict[int, int] = field(default_factory=dict)
    explicit: bool = False


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
    ) -> None:
        """Note that a passage states a relation; one that the workspace has no word for is left out."""
        if relation not in self._vocabulary or from_.entity == to.entity:
            return
        stated = self._stated.setdefault((from_.entity, relation, to.entity), Stated(from_, relation, to))
        stated.places.setdefault(at, start)
        stated.explicit |= explicit

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
        reason=f"{said}.",
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


@dataclass
class Naming:
    """Where an entity that the graph does not have is named.

    Args:
        mention: The first one.
        places: Index of each passage, with where in its text.
        marked: How often the text marks it as a name.
        labels: How it is written, with how often.
    """

    mention: Mention
    places: dict[int, int] = field(default_factory=dict)
    marked: int = 0
    labels: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, at: int, mention: Mention) -> None:
        """Count a mention in a passage."""
        self.places.setdefault(at, mention.start)
        self.marked += mention.marked
        self.labels[mention.label] += 1

    @property
    def label(self) -> str:
        """Return how it is written most often, capitals before small letters."""
        return max(self.labels, key=lambda label: (label != label.lower(), self.labels[label], label))

    @property
    def is_worth_a_file(self) -> bool:
        """Return whether it recurs, more often where its type is guessed and nothing marks it as a name."""
        guessed = self.mention.type in _GUESSED and not self.marked
        enough = _ENOUGH[self.mention.type] + (_UNMARKED if guessed else 0)
        return len(self.places) >= enough


def named_entity(naming: Naming, passages: Sequence[Passage]) -> ReviewItem:
    """Propose an entity that a log names repeatedly."""
    places = sorted(naming.places)
    evidence = [
        quoted(passages[at], around(passages[at].text, naming.places[at])) for at in places[:_MOST_EVIDENCE]
    ]
    times = len(places)
    return items.entity(
        naming.mention.entity,
        naming.label,
        evidence,
        reason=f"Named in {_counted(times)}{_span(places, passages)}.",
        confidence="high"
        if times >= _MANY and naming.marked
        else "medium"
        if naming.marked or times >= _MANY
        else "low",
    )


def speaking_entity(voice: Voice, spoken: Sequence[int], passages: Sequence[Passage]) -> ReviewItem:
    """Propose a person who speaks in a log."""
    first = max(spoken[:40], key=lambda at: min(len(passages[at].text), 60))
    return items.entity(
        voice.entity,
        voice.label,
        [quoted(passages[first], around(passages[first].text, 0))],
        reason=f"Speaks in {_counted(len(spoken))}{_span(spoken, passages)}.",
        confidence="high",
    )


def owning_entity(voice: Voice, evidence: Sequence[Evidence]) -> ReviewItem:
    """Propose the person whose memory it is; the first thing known of him is the evidence."""
    return items.entity(
        voice.entity,
        voice.label,
        evidence[:1],
        reason="It is the person whose memory this is.",
        confidence="high",
    )


def around(text: str, start: int) -> str:
    """Return the words around a place of a text, whole words of one line; of the first line where that is blank."""
    if not text[start : start + 1].strip():
        start = len(text) - len(text[start:].lstrip()) if text[start:].strip() else 0
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    begin = max(line_start, start - _AROUND)
    if begin > line_start:
        blank = text.find(" ", begin, start)
        begin = blank + 1 if blank >= 0 else start
    end = min(line_end, start + _AROUND)
    if end < line_end:
        blank = text.rfind(" ", start, end)
        end = blank if blank > start else end
    return text[begin:end].strip()


def _span(places: Sequence[int], passages: Sequence[Passage]) -> str:
    days = sorted({passages[at].day for at in places} - {""})
    if not days:
        return ""
    return f" between {days[0]} and {days[-1]}" if len(days) > 1 else f" on {days[0]}"


def _counted(passages: int) -> str:
    return f"{passages} passage{'s' if passages > 1 else ''}"
