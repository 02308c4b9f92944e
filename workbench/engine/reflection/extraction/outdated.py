"""Leaves out what was stated of a thing before it was stated again: “it costs 612 a month”, then “655 a month”."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine.language.calendar import ENGLISH_MONTH_IN_FULL, ENGLISH_WEEKDAY
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.extraction.particulars import particulars
from workbench.engine.reflection.extraction.worth import terms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from workbench.engine.catalog.records import FactRecord
    from workbench.engine.reflection.extraction.candidates import Candidate

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
