"""Makes proposals of groups of statements: the fact, who says so how often, and how sure that makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.markdown.review import Evidence
from workbench.engine.memory.wording import text_key
from workbench.engine.reflection import items
from workbench.engine.reflection.extraction.worth import terms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.catalog.records import FactRecord
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.extraction.candidates import Candidate
    from workbench.engine.reflection.extraction.grouping import Group
    from workbench.engine.reflection.items import Confidence
    from workbench.engine.reflection.model import Passage

LONGEST_QUOTE: Final = 200
_MOST_EVIDENCE: Final = 4
_KNOWN_ALREADY: Final = 0.85
_KNOWN_FROM_HERE: Final = 0.4
_MOST_SOURCED: Final = 20
_PLAIN: Final = frozenset(("milestone", "family", "health", "work", "home", "pet", "identity", "decision"))
_PASSING: Final = frozenset(("preference", "technical", "plan", "own", "acquaintance"))
_SURE: Final = 4.5
# What somebody wants help with now may be over tomorrow.
_ATTEMPT: Final = " trying to "
_REASONS: Final = {
    "milestone": "tells of a turn in life",
    "family": "says something of family",
    "health": "says something of health",
    "work": "says something of work or studies",
    "home": "says something of home and origin",
    "pet": "says something of pets",
    "own": "says something of work or belongings",
    "recorded": "stated of it by name",
    "acquaintance": "names somebody",
    "possession": "says something of possessions",
    "begun": "says what was begun, is done or was given up",
    "achievement": "tells of something achieved",
    "event": "tells what happened",
    "plan": "says what is planned",
    "preference": "says what is liked or minded",
    "routine": "says what is done regularly",
    "identity": "says who somebody is",
    "decision": "tells of a decision",
    "circumstance": "states a number, a day or a name",
    "technical": "says how something is built",
}


class KnownFacts:
    """Tells whether the graph says something already; each entity’s facts are read once."""

    def __init__(self, graph: Lookups) -> None:
        self._graph = graph
        self._said: dict[str, tuple[frozenset[str], tuple[frozenset[str], ...]]] = {}
        self._facts: dict[str, Sequence[FactRecord]] = {}
        self._sourced: dict[str, tuple[frozenset[str], ...]] = {}

    def say(self, entity: str, text: str, source: str) -> bool:
        """Return whether a fact of the entity, retired ones included, says the same or more.

        Args:
            entity: `type--slug`.
            text: The statement.
            source: The memory that states it; a fact from that memory need share but two fifths of the words.
        """
        if entity not in self._said:
            facts = self.of(entity)
            self._said[entity] = (
                frozenset(text_key(fact.text) for fact in facts),
                tuple(terms_of(fact.text) for fact in facts),
            )
        keys, said = self._said[entity]
        if text_key(text) in keys:
            return True
        terms = terms_of(text)
        if not terms:
            return False
        return any(len(terms & each) >= _KNOWN_ALREADY * len(terms) for each in said) or any(
            len(terms & each) >= _KNOWN_FROM_HERE * len(terms) for each in self._facts_from(source)
        )

    def of(self, entity: str) -> Sequence[FactRecord]:
        """Return the facts of an entity, retired ones included.

        Args:
            entity: `type--slug`.
        """
        if entity not in self._facts:
            self._facts[entity] = self._graph.facts_of(f"entity:{entity}")
        return self._facts[entity]

    def _facts_from(self, source: str) -> tuple[frozenset[str], ...]:
        """Return the words of every fact that names a memory as its source."""
        if source not in self._sourced:
            named = [mention for mention in self._graph.mentions(source) if mention.startswith("entity:")]
            facts = {
                fact.id: fact
                for entity in dict.fromkeys(mention.partition("#")[0] for mention in named[:_MOST_SOURCED])
                for fact in self._graph.facts_of(entity)
                if source in fact.provenance
            }
            self._sourced[source] = tuple(terms_of(fact.text) for fact in facts.values())
        return self._sourced[source]


def fact_item(group: Group, passages: Sequence[Passage], needs: Sequence[str]) -> ReviewItem:
    """Propose what a group of statements says.

    Args:
        group: Statements of the same.
        passages: Of the snapshot.
        needs: Proposed entities that it is about.
    """
    best = group.best
    return items.fact(
        best.entity,
        best.text,
        _evidence(group, passages),
        reason=_reason(group, passages),
        confidence=_confidence(group),
        since=best.since or None,
        needs=needs,
    )


def anew(fact: FactRecord, group: Group, passages: Sequence[Passage]) -> ReviewItem:
    """Propose that what a group of statements says takes the place of a fact.

    Args:
        fact: Of the same entity, on the same thing.
        group: Statements of the same.
        passages: Of the snapshot.
    """
    best = group.best
    return items.supersession(
        fact.id,
        fact.text,
        best.text,
        (Evidence(fact.id, fact.text[:LONGEST_QUOTE]), *_evidence(group, passages)),
        reason="The same thing is stated again, with another value.",
        confidence=_confidence(group),
        held_since=fact.since,
        until=best.since or None,
        since=best.since or None,
    )


def quoted(passage: Passage, quote: str) -> Evidence:
    """Cite a passage with its words, cut at a word where they are long."""
    line = " ".join(quote.split())
    if len(line) > LONGEST_QUOTE:
        line = line[:LONGEST_QUOTE].rpartition(" ")[0] or line[:LONGEST_QUOTE]
    return Evidence(passage.id, line)


def _evidence(group: Group, passages: Sequence[Passage]) -> tuple[Evidence, ...]:
    found: dict[str, Evidence] = {}
    for one in (group.best, *_latest_last(group)):
        evidence = quoted(passages[one.at], one.quote)
        found.setdefault(evidence.id, evidence)
    return tuple(found.values())[:_MOST_EVIDENCE]


def _latest_last(group: Group) -> Iterable[Candidate]:
    return (one for one in group.all if one is not group.best)


def _reason(group: Group, passages: Sequence[Passage]) -> str:
    best = group.best
    days = sorted({passages[one.at].day for one in group.all} - {""})
    what = best.explicit or _REASONS.get(best.kind, "said in passing")
    if group.support == 1:
        return _sentence(f"{what}, on {days[0]}" if days else what)
    span = f" between {days[0]} and {days[-1]}" if len(days) > 1 else f" on {days[0]}" if days else ""
    return _sentence(f"{what}; said {group.support} times{span}")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _confidence(group: Group) -> Confidence:
    best = group.best
    if best.explicit or group.support > 2 or (group.support > 1 and best.kind in _PLAIN):
        return "high"
    if _ATTEMPT in best.text:
        return "low"
    passing = best.kind in _PASSING and best.value < _SURE and group.support == 1
    return "low" if passing else "medium"
