"""Pairs statements that may speak of the same, and names what speaks for and against their excluding each other."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from workbench.engine.reflection.claims.clauses import Mode
from workbench.engine.reflection.claims.model import CLEARLY
from workbench.engine.reflection.claims.value import APPOINTED_DIMENSIONS
from workbench.engine.reflection.claims.weights import Postings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from workbench.engine.reflection.claims.model import Measured, Origin
    from workbench.engine.reflection.claims.statements import Statement
    from workbench.engine.reflection.claims.weights import Weights

Family = Literal["values", "denials", "words"]

_HEADS: Final = 2
_FARTHEST: Final = 2.0
"""Powers of ten between two values; what lies farther apart are two things."""
_MONTH: Final = 30.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements that may exclude each other.

    Args:
        family: What they are compared by: values of one dimension, a denial, or the words.
        earlier: As it was said first.
        later: As it was said after that.
        features: What speaks for or against it, by name; each about 0–1.
    """

    family: Family
    earlier: Measured | Statement
    later: Measured | Statement
    features: Mapping[str, float]


def pairs_of(
    measured: Sequence[Measured], statements: Sequence[Statement], weights: Weights
) -> Iterator[Pair]:
    """Yield the pairs that may exclude each other, each with its features.

    Args:
        measured: Values, oldest first.
        statements: Oldest first.
        weights: Of the words.
    """
    much = min(math.log10(1 + len(statements)) / 4, 1.0)
    for pairs in (*_values(measured, weights), *_others(statements, weights)):
        alike = [each.features.get("subject", each.features.get("spoken of", 0.0)) for each in pairs]
        for pair, likeness in zip(pairs, alike, strict=True):
            nearest = {"nearest": 1.0} if likeness == max(alike) else {}
            others = sum(each >= 0.8 * likeness for each in alike) - 1
            crowd = {"others as near": min(others / 4, 1.0)} if others else {}
            yield replace(pair, features={**pair.features, **nearest, **crowd, "much was read": much})


def _values(claims: Sequence[Measured], weights: Weights) -> Iterator[list[Pair]]:
    postings = Postings()
    several = Counter(
        (claim.origin.speaker, claim.value.dimension, head, claim.value.amount)
        for claim in claims
        for head in claim.heads
    )
    many = Counter((speaker, dimension, head) for speaker, dimension, head, _ in several)
    for number, later in enumerate(claims):
        if later.origin.is_new or later.origin.fact:
            keys = [*weights.rarest(later.terms), *weights.rarest(later.heads)[:_HEADS]]
            near = [claims[other] for other in postings.nearest(keys, weights)]
            yield [
                Pair("values", earlier, later, _of_values(earlier, later, weights, many))
                for earlier in near
                if _comparable(earlier, later) and _same_measure(earlier, later)
            ]
        postings.add(number, later.terms | later.heads)


def _comparable(one: Measured | Statement, other: Measured | Statement) -> bool:
    """Return whether two statements may be held against each other: of himself, everybody speaks for himself."""
    earlier, later = one.origin, other.origin
    if earlier.speaker != later.speaker and (one.own or other.own or earlier.subject or later.subject):
        return False
    if earlier.passage.id == later.passage.id or _is_older(later, earlier):
        return False
    of_one = bool(earlier.fact) and earlier.fact.partition("#")[0] == later.fact.partition("#")[0]
    return later.is_new or earlier.is_new or of_one


def _is_older(one: Origin, other: Origin) -> bool:
    """Return whether one was said before the other; a recorded fact comes first in order, but may be the younger."""
    first, second = one.passage.moment, other.passage.moment
    return first is not None and second is not None and first.date() < second.date()


def _same_measure(earlier: Measured, later: Measured) -> bool:
    one, other = earlier.value, later.value
    return (
        one.dimension == other.dimension
        and one.tool == other.tool
        and earlier.aims == later.aims
        and not one.same_as(other)
        and (one.per == other.per or not (one.per and other.per))
        and not (earlier.labels and later.labels and not earlier.labels & later.labels)
        and _orders(earlier, later) <= _FARTHEST
    )


def _orders(one: Measured, other: Measured) -> float:
    if (
        one.value.dimension in (*APPOINTED_DIMENSIONS, "version")
        or min(one.value.amount, other.value.amount) <= 0
    ):
        return 0.0
    return abs(math.log10(one.value.amount / other.value.amount))


def _of_values(
    earlier: Measured, later: Measured, weights: Weights, many: Counter[tuple[str, str, str]]
) -> dict[str, float]:
    shared = earlier.terms & later.terms
    dimension = later.value.dimension
    crowd = min((many[later.origin.speaker, dimension, head] for head in later.heads), default=1)
    told = later.was is not None
    return _kept(
        {
            "subject": weights.similarity(earlier.terms, later.terms),
            "sentence": weights.similarity(earlier.context, later.context),
            "earlier names all": weights.coverage(later.terms, earlier.terms | earlier.context, frozenset()),
            "later names all": weights.coverage(earlier.terms, later.terms | later.context, frozenset()),
            "same head": bool(earlier.heads & later.heads),
            "heads cross": bool(earlier.heads & later.terms) and bool(later.heads & earlier.terms),
            "same heads": earlier.heads == later.heads,
            "no head": not (earlier.heads & later.terms or later.heads & earlier.terms),
            "several words": len(shared) > 1,
            "says new": later.change == CLEARLY and not later.aims,
            "may be new": later.change == 1,
            "new and alike": (later.change == CLEARLY and not later.aims)
            * weights.similarity(earlier.terms, later.terms),
            "earlier says new": earlier.change == CLEARLY,
            "was that": told and later.was is not None and later.was.same_as(earlier.value),
            "was another": told and later.was is not None and not later.was.same_as(earlier.value),
            "other label": earlier.labels != later.labels,
            "far apart": _orders(earlier, later),
            "unnamed": earlier.unnamed or later.unnamed,
            "bare": earlier.bare or later.bare,
            "stands": earlier.stands and later.stands,
            "both aim": later.aims,
            "one is a limit": earlier.value.bound != later.value.bound,
            "other rate": earlier.value.per != later.value.per,
            "count": dimension == "count",
            "money": dimension.startswith("money"),
            "day": dimension in APPOINTED_DIMENSIONS,
            "version": dimension == "version",
            "duration": dimension == "time",
            "names shared": bool(earlier.names & later.names),
            "names differ": bool(earlier.names - later.names) and bool(later.names - earlier.names),
            "one name more": bool(earlier.names ^ later.names),
            "crowded": min(math.log2(crowd), 4) / 4,
            "passed": _is_over(earlier, later),
            "other speaker": earlier.origin.speaker != later.origin.speaker,
            **_times(earlier.origin, later.origin),
        }
    )


def _is_over(earlier: Measured, later: Measured) -> bool:
    """Return whether what was appointed had passed when the later statement was made."""
    first, second = earlier.origin.passage.moment, later.origin.passage.moment
    if earlier.value.dimension != "date" or first is None or second is None:
        return False
    year, rest = divmod(int(earlier.value.amount), 10000)
    return (year or first.year, rest) < (second.year, second.month * 100 + second.day)


def _times(earlier: Origin, later: Origin) -> dict[str, float]:
    first, second = earlier.passage.moment, later.passage.moment
    if first is None or second is None:
        return {}
    days = (second - first).total_seconds() / 86400
    return {"same day": first.date() == second.date(), "long after": min(max(days, 0) / _MONTH, 4) / 4}


def _others(statements: Sequence[Statement], weights: Weights) -> Iterator[list[Pair]]:
    postings = Postings()
    for number, later in enumerate(statements):
        told = later.told
        if later.origin.is_new or later.origin.fact:
            keys = [
                *weights.rarest(told | later.aside),
                *weights.rarest(later.denied)[:_HEADS],
                *(f"@{place}" for place in later.places if later.change),
            ]
            near = [
                earlier
                for earlier in (statements[other] for other in postings.nearest(keys, weights))
                if _comparable(earlier, later)
            ]
            yield [
                Pair("denials", earlier, later, _of_denial(earlier, later, weights))
                for earlier in near
                if earlier.denies != later.denies and not _of_others(earlier, later)
            ]
            words = (
                Pair("words", e, later, _of_words(e, later, weights)) for e in near if _may_replace(e, later)
            )
            yield [
                pair
                for pair in words
                if {"sets that aside", "other name", "same place"} & pair.features.keys()
            ]
        postings.add(number, {*told, *later.aside, *later.denied, *(f"@{place}" for place in later.places)})


def _of_others(one: Statement, other: Statement) -> bool:
    """Return whether two statements begin with the names of different persons or things."""
    return one.subject != other.subject and not (one.own or other.own) and bool(one.subject and other.subject)


def _may_replace(earlier: Statement, later: Statement) -> bool:
    """Return whether both state something, and one says that it is new or sets something aside."""
    if not earlier.mode is later.mode is Mode.STATES or earlier.tries or later.tries:
        return False
    return later.change == CLEARLY or bool(later.aside or earlier.aside)


def _of_denial(earlier: Statement, later: Statement, weights: Weights) -> dict[str, float]:
    denial, deed = (earlier, later) if earlier.denies else (later, earlier)
    words = deed.told | deed.aside
    shared = denial.denied & words
    rarest = max(map(weights.of, shared), default=0.0)
    names = denial.denied & denial.names
    covered = weights.coverage(denial.denied, words, denial.names)
    verb = denial.verb in words
    told = denial.told | denial.denied
    tastes = (denial.likes and not denial.dislikes and deed.dislikes) or (
        denial.dislikes and deed.likes and not deed.dislikes
    )
    return _kept(
        {
            "spoken of": covered,
            "spoken of around": weights.coverage(denial.denied, deed.context | words, denial.names) - covered,
            "all spoken of": covered > 0.99,
            "same verb": verb,
            "same verb and thing": verb * covered,
            "same but for the denial": weights.similarity(told, deed.told) ** 2,
            "liked and not": tastes and bool(shared),
            "taken for granted": deed.granted,
            "focus": weights.similarity(denial.denied | {denial.verb}, words),
            "several words": len(shared) > 1,
            "three words": len(shared) > 2,
            "rare word": min(rarest / 6, 1),
            "name spoken of": bool(names & words),
            "name missing": bool(names) and not names <= words,
            "never": denial.never,
            "never and thing": denial.never * covered,
            "not yet": denial.yet,
            "only not": not denial.never and not denial.yet,
            "done": deed.done,
            "done and thing": deed.done * covered,
            "tries": deed.tries or deed.mode is Mode.AIMS,
            "asks": deed.mode is Mode.ASKS,
            "supposes": deed.supposes,
            "denial supposes": denial.supposes,
            "denial asks": denial.mode is Mode.ASKS,
            "denial aims": denial.mode is Mode.AIMS,
            "both of oneself": earlier.own and later.own,
            "says new": later.change == CLEARLY,
            "denied later": denial is later,
            "long denial": min(len(denial.denied) / 8, 1),
            "long deed": min(len(words) / 12, 1),
            "other speaker": earlier.origin.speaker != later.origin.speaker,
            **_times(earlier.origin, later.origin),
        }
    )


def _of_words(earlier: Statement, later: Statement, weights: Weights) -> dict[str, float]:
    one, other = earlier.told, later.told
    shared = one & other
    aside = max(
        weights.coverage(later.aside, one, frozenset()) if later.aside and not later.aside <= other else 0.0,
        weights.coverage(earlier.aside, other, frozenset())
        if earlier.aside and not earlier.aside <= one
        else 0.0,
    )
    more, less = other - one, one - other
    names_more, names_less = (later.names & more) - earlier.aside, (earlier.names & less) - later.aside
    slots = earlier.places & later.places
    return _kept(
        {
            "sets that aside": aside,
            "liked the other way": (earlier.likes and later.likes) * aside,
            "sets another aside": bool(later.aside) and aside < 0.5,
            "set aside and said new": (later.change == CLEARLY) * aside,
            "says new": later.change == CLEARLY,
            "may be new": later.change == 1,
            "earlier says new": earlier.change == CLEARLY,
            "subject": weights.similarity(one, other),
            "new and alike": (later.change == CLEARLY) * weights.similarity(one, other),
            "sentence": weights.similarity(earlier.context, later.context),
            "earlier names all": weights.coverage(other, one | earlier.context, frozenset()),
            "later names all": weights.coverage(one, other | later.context, frozenset()),
            "several words": len(shared) > 1,
            "three words": len(shared) > 2,
            "rare word": min(max(map(weights.of, shared), default=0.0) / 6, 1),
            "same place": bool(slots),
            "home or work": bool(slots & {"home", "employer", "manager", "favourite"}),
            "other name": bool(names_more) and bool(names_less),
            "other name in one place": bool(names_more) and bool(names_less) and bool(slots),
            "one name more": bool(names_more) != bool(names_less),
            "name shared": bool(shared & (earlier.names | later.names)),
            "same beginning": bool(earlier.terms and later.terms) and earlier.terms[0] == later.terms[0],
            "much else": min(len(more) / 10, 1),
            "much else before": min(len(less) / 10, 1),
            "one denies": earlier.denies != later.denies,
            "supposes": earlier.supposes or later.supposes,
            "both of oneself": earlier.own and later.own,
            "neither of oneself": not earlier.own and not later.own,
            "other speaker": earlier.origin.speaker != later.origin.speaker,
            **_times(earlier.origin, later.origin),
        }
    )


def _kept(features: Mapping[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in features.items() if value}
