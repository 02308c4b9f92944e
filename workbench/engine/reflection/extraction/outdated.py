"""Leaves out what was stated of a thing before the same was stated anew: “it costs 612 a month”, then “655 a month”."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection.extraction.worth import terms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.reflection.extraction.candidates import Candidate

_DAY = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday)s?\b|\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{4}-\d\d(?:-\d\d)?\b",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    r"(?:(?P<sign>[$€£])\s?)?(?<![\w.])\d[\d.,:]*k?\s?(?P<unit>%|°C|[^\W\d_]+)?(?:\s+(?:per|an?)\s+(?P<rate>\w+))?"
)
_NAME = re.compile(r"(?<=[ (])[A-Z][\w’'+#-]*[\w+#]")
_LEAST_SHARED: Final = 0.5


def without_outdated(found: Iterable[Candidate]) -> list[Candidate]:
    """Return the statements without those that a later one about the same thing replaces.

    Two statements are about the same where the words for their subjects are, or the one’s are among the other’s and
    half of them; a later one replaces an earlier one where both give a value of one kind – a day, a number of the
    same unit, a name – and not the same.

    Args:
        found: Statements in the order of time; only those with a subject are compared.
    """
    statements = list(found)
    by_word: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for number, one in enumerate(statements):
        for word in terms_of(one.subject):
            by_word[one.entity, word].append(number)
    return [
        one
        for number, one in enumerate(statements)
        if not one.subject or not _is_replaced(number, statements, by_word)
    ]


def _is_replaced(
    number: int, statements: Sequence[Candidate], by_word: dict[tuple[str, str], list[int]]
) -> bool:
    one = statements[number]
    subject = terms_of(one.subject)
    later = {
        other for word in subject for other in by_word[one.entity, word] if statements[other].at > one.at
    }
    return any(
        _same_thing(subject, terms_of(statements[other].subject)) and _differ(one, statements[other])
        for other in later
    )


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
