"""What new passages teach: entities, facts, relations and merges, the most welcome first.

What was stated of a thing before it was stated again is left out: “it costs 612 a month”, then “655 a month”.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import replace
from itertools import combinations, islice
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import same_name
from workbench.engine.language.calendar import ENGLISH_MONTH_IN_FULL, ENGLISH_WEEKDAY
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items
from workbench.engine.reflection.extraction.connections import (
    Stated,
    around,
    named_entity,
    owning_entity,
    relation_item,
    speaking_entity,
    together_item,
)
from workbench.engine.reflection.extraction.facts import KnownFacts, anew, fact_item, group, in_order, quoted
from workbench.engine.reflection.extraction.lasting import comes_behind, is_over
from workbench.engine.reflection.extraction.reading import Reader
from workbench.engine.reflection.extraction.stated import particulars
from workbench.engine.reflection.extraction.worth import is_kept, odds_of, terms_of
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.catalog.records import EntityRecord, FactRecord
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.extraction.candidates import Candidate
    from workbench.engine.reflection.extraction.naming import Mention
    from workbench.engine.reflection.items import Confidence
    from workbench.engine.reflection.model import Agenda, Passage, Snapshot, Work

_STEP: Final = 200
_MOST_ODDS: Final = 1.5
_MOST_RELATIONS: Final = 200
_STATED_RELATION: Final = 2.8
_MOST_FOR_REPETITION: Final = 3.0
_MERGE: Final = 6.5
_TOGETHER: Final = 0.5
_FIRST_AREAS: Final = 5
_ON_AGENDA: Final = 0.2
_MOST: Final = 500
_MOST_OF_ONE_NAME: Final = 4
_MONTH: Final = f"(?:{ENGLISH_MONTH_IN_FULL})"
_DAY = lazy_pattern(
    rf"\b\d{{1,2}}\.? {_MONTH}(?: \d{{4}})?\b|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b|"
    rf"\b(?:{_MONTH}|{ENGLISH_WEEKDAY})s?\b|"
    r"\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{4}-\d\d(?:-\d\d)?\b",
    re.IGNORECASE,
)
_MEASURE = lazy_pattern(
    r"(?:(?P<sign>[$€£])\s?)?(?<![\w.])\d[\d.,:]*k?\s?(?P<unit>%|°C|[^\W\d_]+)?(?:\s+(?:per|an?)\s+(?P<rate>\w+))?"
)
_NAME = lazy_pattern(r"(?<=[ (])[A-Z][\w’'+#-]*[\w+#]")
_LEAST_SHARED: Final = 0.5
_MOST_COMPARED: Final = 20


def extract_knowledge(snapshot: Snapshot, agenda: Agenda, work: Work) -> tuple[ReviewItem, ...]:
    """Propose what the new passages of a snapshot teach.

    What the agenda names first is raised a little. Only the snapshot’s passages are read; the graph is asked once for
    each name and for the facts of each entity concerned.

    Args:
        snapshot: What to read, and what is known.
        agenda: Of the survey.
        work: Told of progress.

    Returns:
        Items of the kinds entity, fact, supersession, relation and merge, best first; an entity before the
        first item that needs it.

    Raises:
        Cancelled: The cycle was called off.
    """
    reader = Reader(snapshot)
    total = len(snapshot.passages)
    for at, passage in enumerate(snapshot.passages):
        if at % _STEP == 0:
            work.step(at, total)
        reader.read(at, passage)
    reader.settle()
    work.step(total, total)
    return _Proposing(snapshot, agenda, reader, work).items()


def _weighed(statements: Iterable[Candidate], passages: Sequence[Passage]) -> Iterator[Candidate]:
    """Yield what is worth a person's minute, its worth raised or lowered by what speaks for keeping it.

    What lasts comes first; what was planned for a day that has passed by the newest passage is left out.
    """
    moments = [passage.moment.date() if passage.moment else None for passage in passages]
    newest = max(filter(None, moments), default=None)
    for one in statements:
        if not one.features:
            yield one
            continue
        said = moments[one.at]
        if said and newest and is_over(one.text, one.features, said, newest):
            continue
        if is_kept(one.value, odds := odds_of(one.features), one.kind):
            # What was meant for memory has no odds; it comes before conversation that has good ones.
            behind = comes_behind(one.kind, one.features, (newest - said).days if said and newest else 0)
            yield replace(one, value=one.value + min(odds, _MOST_ODDS) - _MOST_ODDS / 2 - behind)


@dataclass(frozen=True)
class _Ranked:
    value: float
    item: ReviewItem
    needs: tuple[str, ...] = ()


class _Proposing:
    """Makes items of what was read."""

    def __init__(self, snapshot: Snapshot, agenda: Agenda, reader: Reader, work: Work) -> None:
        self._passages = snapshot.passages
        self._graph = snapshot.graph
        self._found = reader.found
        self._reader = reader
        self._work = work
        first = (area for area in agenda.areas[:_FIRST_AREAS] if area.entity)
        self._first = frozenset(at for area in first for at in area.passages)
        self._wanted: set[str] = set()

    def items(self) -> tuple[ReviewItem, ...]:
        """Return the items, best first."""
        ranked = [*self._facts(), *self._relations(), *self._merges()]
        ranked.sort(key=lambda each: -each.value)
        return self._with_entities(ranked)

    def _facts(self) -> Iterator[_Ranked]:
        known = KnownFacts(self._graph)
        standing = Standing(known.of)
        statements = (
            replace(one, value=one.value + _ON_AGENDA) if one.at in self._first else one
            for one in without_outdated(
                map(self._found.in_its_place, _weighed(self._found.statements, self._passages))
            )
        )
        groups = in_order(
            each
            for each in group(statements, self._work.check)
            if not known.say(each.best.entity, each.best.text, self._passages[each.best.at].id)
        )
        ceiling = math.inf
        for each in groups:
            needs = self._needs(each.best.entity)
            self._wanted.update(needs)
            # The order of the groups holds whatever their worth, so that what repeats stays behind.
            ceiling = min(ceiling, each.value)
            fact = standing.replaced(each.best)
            if fact is not None:
                yield _Ranked(ceiling, anew(fact, each, self._passages))
            else:
                yield _Ranked(ceiling, fact_item(each, self._passages, needs), needs)

    def _relations(self) -> list[_Ranked]:
        connections = self._reader.connections
        made: list[_Ranked] = []
        for one in connections.stated():
            ends = one.from_.entity, one.to.entity
            if self._is_told(one) and all(map(self._stands, ends)):
                needs = self._needs(*ends)
                value = _STATED_RELATION + min(_MOST_FOR_REPETITION, math.log2(len(one.places)))
                made.append(_Ranked(value + one.explicit, relation_item(one, self._passages, needs), needs))
        for left, right, times, places in connections.often_together():
            if self._stands(left) and self._stands(right) and not self._joined(left, right):
                needs = self._needs(left, right)
                item = together_item(left, right, times, places, self._passages, needs)
                made.append(_Ranked(_TOGETHER + math.log2(times) / 2, item, needs))
        return sorted(made, key=lambda each: -each.value)[:_MOST_RELATIONS]

    def _merges(self) -> Iterator[_Ranked]:
        found = self._found
        shared = self._reader.names.shared()
        for item in merges(shared, found.known, found.where, self._passages, self._graph):
            yield _Ranked(_MERGE, item)

    def _is_told(self, one: Stated) -> bool:
        """Return whether a relation is stated surely enough, and not in the graph already."""
        if len(one.places) < 2 and not one.explicit:
            return False
        return not any(
            edge.relation == one.relation and edge.to.removeprefix("entity:") == one.to.entity
            for edge in self._graph.edges_of(f"entity:{one.from_.entity}")
        )

    def _joined(self, left: str, right: str) -> bool:
        edges = self._graph.edges_of(f"entity:{left}")
        return any(f"entity:{right}" in (edge.from_, edge.to) for edge in edges)

    def _stands(self, entity: str) -> bool:
        """Return whether an entity is known, needed already, or worth being proposed."""
        found = self._found
        if entity in found.known or entity in self._wanted or entity in found.speakers:
            return True
        naming = found.named.get(entity)
        return entity in found.relatives or (naming is not None and naming.is_worth_a_file)

    def _needs(self, *entities: str) -> tuple[str, ...]:
        return tuple(
            entity
            for entity in dict.fromkeys(entities)
            if entity not in self._found.known and self._graph.entity(f"entity:{entity}") is None
        )

    def _with_entities(self, ranked: list[_Ranked]) -> tuple[ReviewItem, ...]:
        """Put each proposed entity before the first item that needs it."""
        done: set[str] = set()
        items: list[ReviewItem] = []
        for each in ranked:
            for need in each.needs:
                if need not in done:
                    done.add(need)
                    made = self._entity(need, each.item)
                    if made is not None:
                        items.append(made)
            items.append(each.item)
        return tuple(items)

    def _entity(self, entity: str, first: ReviewItem) -> ReviewItem | None:
        found = self._found
        if entity in found.speakers:
            return speaking_entity(found.speakers[entity], found.spoken[entity], self._passages)
        if entity in found.named:
            return named_entity(found.named[entity], self._passages)
        if found.owner is not None and entity == found.owner.entity:
            return owning_entity(found.owner, first.evidence)
        return None


# Finds entities of the graph that are evidently one: the same name under two types, or a name that is another’s.


def merges(
    shared: Iterable[tuple[EntityRecord, ...]],
    named: Mapping[str, Mention],
    where: Mapping[str, int],
    passages: Sequence[Passage],
    graph: Lookups,
) -> list[ReviewItem]:
    """Propose to merge entities of the graph of which passages use one name.

    Args:
        shared: For each such name the entities that have it.
        named: How passages name them first, by `type--slug`.
        where: Index of that passage.
        passages: Of the snapshot.
        graph: Asked once for each pair.
    """
    made: dict[frozenset[str], ReviewItem] = {}
    for records in islice(shared, _MOST):
        quote = next((name for name in map(_bare, records) if name in named), "")
        if not quote:
            continue
        passage = passages[where[quote]]
        for one, other in combinations(records[:_MOST_OF_ONE_NAME], 2):
            pair = frozenset((one.id, other.id))
            if pair not in made:
                keep, absorb = _by_weight(one, other, graph)
                reason, confidence = _why(one, other)
                made[pair] = items.merge(
                    _bare(keep),
                    _bare(absorb),
                    [quoted(passage, around(passage.text, named[quote].start))],
                    reason=reason,
                    confidence=confidence,
                )
    return list(made.values())


def _bare(record: EntityRecord) -> str:
    return record.id.removeprefix("entity:")


def _why(one: EntityRecord, other: EntityRecord) -> tuple[str, Confidence]:
    if same_name(one.label, other.label):
        if one.type != other.type:
            return f"“{one.label}” is in the graph once as {one.type} and once as {other.type}.", "medium"
        return f"“{one.label}” is in the graph twice.", "medium"
    return f"“{one.label}” and “{other.label}” share a name.", "low"


def _by_weight(one: EntityRecord, other: EntityRecord, graph: Lookups) -> tuple[EntityRecord, EntityRecord]:
    """Return the two with the one first that has more facts and relations."""
    first, second = (len(graph.facts_of(each.id)) + len(graph.edges_of(each.id)) for each in (one, other))
    return (one, other) if (first, other.id) >= (second, one.id) else (other, one)


def without_outdated(found: Iterable[Candidate]) -> list[Candidate]:
    """Return the statements without those that a later one about the same thing replaces.

    Two statements are about the same where the words for their subjects are, or the one’s are among the other’s and
    half of them; a later one replaces an earlier one where both give a value of one kind – a day, a number of the
    same unit, a name – and not the same.

    Args:
        found: Statements in the order of time; only those with a subject are compared.
    """
    statements = list(found)
    subjects = [terms_of(one.subject) if one.subject else frozenset[str]() for one in statements]
    later: defaultdict[str, list[int]] = defaultdict(list)
    left: list[Candidate] = []
    for number in reversed(range(len(statements))):
        one, subject = statements[number], subjects[number]
        places = [later[word] for word in subject]
        near = {other for place in places for other in place[-_MOST_COMPARED:]}
        if not any(
            statements[other].at > one.at
            and _same_thing(subject, subjects[other])
            and _differ(one, statements[other])
            for other in near
        ):
            left.append(one)
        for place in places:
            place.append(number)
    return left[::-1]


class Standing:
    """The standing facts of entities by what they state a value of; those of an entity are read once.

    Args:
        facts_of: Gives the facts of an entity `type--slug`, retired ones included.
    """

    def __init__(self, facts_of: Callable[[str], Sequence[FactRecord]]) -> None:
        self._facts_of = facts_of
        self._by_subject: dict[str, dict[frozenset[str], list[tuple[str, str, FactRecord]]]] = {}

    def replaced(self, one: Candidate) -> FactRecord | None:
        """Return the fact whose value of the same thing a statement gives again, or None."""
        subject = terms_of(one.subject)
        if not subject:
            return None
        if one.entity not in self._by_subject:
            self._by_subject[one.entity] = self._read(one.entity, one.label)
        for before, text, fact in self._by_subject[one.entity].get(subject, ()):
            if (fact.since or "") <= one.since and _differ(replace(one, text=text, subject=before), one):
                return fact
        return None

    def _read(self, entity: str, label: str) -> dict[frozenset[str], list[tuple[str, str, FactRecord]]]:
        found: defaultdict[frozenset[str], list[tuple[str, str, FactRecord]]] = defaultdict(list)
        for fact in self._facts_of(entity):
            text = fact.text.removeprefix(f"{label}’s ")
            subject = next((each.subject for each in particulars(text) if each.subject), "")
            if subject and not fact.retired:
                found[terms_of(subject)].append((subject, text, fact))
        return found


def _same_thing(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared == min(len(one), len(other)) and shared >= _LEAST_SHARED * max(len(one), len(other))


def _differ(one: Candidate, other: Candidate) -> bool:
    ours, theirs = _values(one), _values(other)
    kinds = ours.keys() & theirs.keys()
    return bool(kinds) and all(ours[kind].isdisjoint(theirs[kind]) for kind in kinds)


def _values(one: Candidate) -> dict[str, set[str]]:
    """Return the values of a statement by what they measure, leaving its subject out."""
    at = one.text.casefold().find(one.subject.casefold())
    says = one.text[at + len(one.subject) :] if at >= 0 else one.text
    values: defaultdict[str, set[str]] = defaultdict(set)
    for day in _DAY.finditer(says):
        values["day"].add(day.group().casefold())
    for found in _MEASURE.finditer(_DAY.sub(" ", says)):
        unit = (found["sign"] or found["unit"] or "").casefold().rstrip("s")
        values[f"{unit}/{found['rate'] or ''}"].add(found.group())
    if not values:
        values["name"] = {name.group() for name in _NAME.finditer(says)}
    return {kind: said for kind, said in values.items() if said}
