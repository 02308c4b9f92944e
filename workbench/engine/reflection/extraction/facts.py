"""Makes proposals of groups of statements: the fact, who says so how often, and how sure that makes it.

Statements that say the same are brought together, and ordered so that each adds something to those before it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Final

from workbench.engine.language.denials import is_turned_down
from workbench.engine.markdown.review import Evidence
from workbench.engine.memory.wording import text_key
from workbench.engine.reflection import items
from workbench.engine.reflection.extraction.worth import terms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.catalog.records import FactRecord
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.extraction.candidates import Candidate
    from workbench.engine.reflection.items import Confidence
    from workbench.engine.reflection.model import Passage

LONGEST_QUOTE: Final = 200
_MOST_EVIDENCE: Final = 4
_KNOWN_ALREADY: Final = 0.85
_KNOWN_FROM_HERE: Final = 0.4
_MOST_SOURCED: Final = 20
_PLAIN: Final = frozenset(("milestone", "family", "health", "work", "home", "pet", "identity", "decision"))
_PASSING: Final = frozenset(("preference", "technical", "plan", "own", "acquaintance"))
_SURE: Final = 4.0
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
MOST_ORDERED: Final = 400
"""Statements that are put in order; what is worth less is left for a later cycle."""
_SAME: Final = 0.6
_FEWEST_IMPLIED: Final = 2
_MOST_COMPARED: Final = 60
_DAYS_APART: Final = 10
_PER_DOUBLING: Final = 0.6
_RECURRING: Final = 3
_REPETITION: Final = 2.2
_SAME_PERSON: Final = 0.02
_LISTED: Final = frozenset(("technical", "own"))


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


@dataclass
class Group:
    """Statements that say the same of one entity.

    Args:
        best: The one to propose.
        others: Those that say just as much.
        implying: Those of other groups that say all this and more.
    """

    best: Candidate
    others: list[Candidate] = field(default_factory=list)
    implying: list[Candidate] = field(default_factory=list)

    @property
    def all(self) -> tuple[Candidate, ...]:
        """Return the statements that support it, one of each passage, in the order of time."""
        by_passage: dict[int, Candidate] = {}
        for one in (self.best, *self.others, *self.implying):
            by_passage.setdefault(one.at, one)
        return tuple(by_passage[at] for at in sorted(by_passage))

    @property
    def support(self) -> int:
        """Return in how many passages it is said, alone or with more."""
        return len(self.all)

    @property
    def value(self) -> float:
        """Return the best one's worth, raised for every doubling of the passages that say it."""
        return self.best.value + _PER_DOUBLING * math.log2(self.support)


def group(found: Iterable[Candidate], check: Callable[[], None] = lambda: None) -> list[Group]:
    """Bring together what says the same of the same entity; what is denied never joins what is affirmed.

    Two statements say the same where they share three fifths of their telling words and each has some of its own,
    or none has. Events whose dates lie more than
    ten days apart stay apart. A statement whose words another one has too is supported by it.

    Args:
        found: The statements.
        check: Called between them; may raise.
    """
    groups: list[Group] = []
    by_word: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for one in sorted(found, key=lambda each: (-each.value, each.at)):
        check()
        number = _same(one, groups, by_word)
        if number is None:
            number = len(groups)
            groups.append(Group(one))
            for word in one.terms:
                by_word[one.entity, word].append(number)
        else:
            groups[number].others.append(one)
    for each in groups:
        check()
        each.implying = _implying(each.best, groups, by_word)
    return [each for each in groups if not _corrected(each.best, groups, by_word)]


def in_order(groups: Iterable[Group]) -> list[Group]:
    """Return the worthiest groups, each next one chosen by its worth less what those before it say already.

    What those before it say altogether is left out.
    """
    waiting = sorted(groups, key=lambda each: (-each.value, each.best.at))[:MOST_ORDERED]
    values = [each.value for each in waiting]
    supports = [each.support for each in waiting]
    taken: defaultdict[str, int] = defaultdict(int)
    repeated = [0.0] * len(waiting)
    covered: defaultdict[str, set[str]] = defaultdict(set)
    left = set(range(len(waiting)))
    ordered: list[Group] = []
    while left:
        chosen = max(
            left,
            key=lambda n: (
                values[n] - _REPETITION * repeated[n] - _SAME_PERSON * taken[waiting[n].best.entity],
                -n,
            ),
        )
        left.remove(chosen)
        ordered.append(waiting[chosen])
        best = waiting[chosen].best
        taken[best.entity] += 1
        covered[best.entity] |= best.terms
        for n in tuple(left):
            other = waiting[n].best
            if other.entity != best.entity or not other.terms:
                continue
            if _is_said_by(waiting[n], best, covered[best.entity]):
                left.remove(n)
                continue
            alike = said_before(other, best)
            if other.kind not in _LISTED:
                # What is said time and again may repeat what was told once in passing.
                alike /= max(1, supports[n] - _RECURRING + 2)
            repeated[n] = max(repeated[n], alike)
    return ordered


def _is_said_by(group: Group, before: Candidate, covered: set[str]) -> bool:
    """Return whether what was chosen before leaves nothing new to a group.

    Parts of lists that were given before add nothing, whichever lists they were; other statements only where one
    statement says all of it, and neither a date nor repetition speaks for saying it alone.
    """
    one = group.best
    if one.explicit or is_turned_down(one.text) != is_turned_down(before.text):
        return False
    if one.kind in _LISTED:
        return one.terms <= covered
    return one.terms <= before.terms and not one.dated and group.support < _RECURRING


def said_before(one: Candidate, before: Candidate) -> float:
    """Return which part of a statement’s telling words an earlier one of the same entity has."""
    if one.entity != before.entity or not one.terms:
        return 0.0
    return len(one.terms & before.terms) / len(one.terms)


def _same(one: Candidate, groups: Sequence[Group], by_word: dict[tuple[str, str], list[int]]) -> int | None:
    seen: dict[int, None] = {}
    for word in sorted(one.terms, key=lambda each: len(by_word.get((one.entity, each), ()))):
        seen.update(dict.fromkeys(by_word.get((one.entity, word), ())[:_MOST_COMPARED]))
        if len(seen) > _MOST_COMPARED:
            break
    for number in seen:
        best = groups[number].best
        shared = len(one.terms & best.terms)
        union = len(one.terms | best.terms)
        fewest = min(len(one.terms), len(best.terms))
        enough = shared >= 2 or (shared == fewest == 1 and one.kind == best.kind)
        one_says_more = shared == fewest and len(one.terms) != len(best.terms)
        if enough and not one_says_more and shared / union >= _SAME and _may_join(one, best):
            return number
    return None


def _implying(
    one: Candidate, groups: Sequence[Group], by_word: dict[tuple[str, str], list[int]]
) -> list[Candidate]:
    if len(one.terms) < _FEWEST_IMPLIED:
        return []
    rarest = min(one.terms, key=lambda word: (len(by_word.get((one.entity, word), ())), word))
    near = by_word.get((one.entity, rarest), ())[:_MOST_COMPARED]
    return [
        groups[number].best
        for number in near
        if one.terms < groups[number].best.terms and _may_join(one, groups[number].best)
    ]


def _corrected(one: Candidate, groups: Sequence[Group], by_word: dict[tuple[str, str], list[int]]) -> bool:
    """Return whether a later correction says “…, not …” of all this."""
    near = {number for word in one.terms for number in by_word.get((one.entity, word), ())[:_MOST_COMPARED]}
    return any(
        groups[number].best.kind == "correction"
        and groups[number].best.at > one.at
        and one.terms < groups[number].best.terms
        and is_turned_down(groups[number].best.text)
        for number in near
    )


def _may_join(one: Candidate, other: Candidate) -> bool:
    if is_turned_down(one.text) != is_turned_down(other.text):
        return False
    if one.explicit != other.explicit:
        return one.text == other.text
    if {word for word in one.terms if word[0].isdigit()} - other.terms and {
        w for w in other.terms if w[0].isdigit()
    } - one.terms:
        return False
    if (
        one.kind in ("event", "milestone", "achievement")
        and one.since
        and other.since
        and (one.dated or other.dated)
    ):
        first, second = (date.fromisoformat(f"{each.since}-01-01"[:10]) for each in (one, other))
        apart = abs((first - second).days)
        return apart <= _DAYS_APART
    return True
