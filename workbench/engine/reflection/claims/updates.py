"""Pairs values of the same thing: what it was, and what it is since."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection.claims.model import Postings
from workbench.engine.reflection.claims.values import APPOINTED_DIMENSIONS
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.reflection.claims.model import Measured, Weights

_NEEDED: Final = {2: 0.42, 1: 0.68, 0: 0.78}
"""Similarity at which two values are of the same thing, by how surely the later one is said to be new."""
_CLEARLY: Final = 2
_NEEDED_WITH_WAS: Final = 0.3
_ONE_HEAD: Final = 0.1
"""What is needed more where only one of the two names what the other measures."""
_SAME_TOOL: Final = 0.7
"""How similar two versions count: of one program, whatever else is said."""
_NAMED_WELL: Final = 2
"""Words of what is measured that both sides share, at which less is needed."""
_COVERED: Final = 0.9
_BY_CONTEXT: Final = 0.5
"""How similar two values count where all that the later one names is named in the sentence of the earlier."""
_FARTHEST: Final = 1.7
"""Powers of ten between two values of one thing; what lies farther apart are two things."""
_PER_ORDER: Final = 0.1
_PER_ORDER_UNNAMED: Final = 0.4
"""What each power of ten costs; more where the words only say “it” and do not name what is counted."""
_SOON: Final = timedelta(days=7)
_NEAR: Final = 0.7
_PAIR: Final = 2
_HEADS: Final = 2
"""Words of what is measured by which earlier values are looked up, besides the four that tell most."""
_MOST_SIDES: Final = 3


@dataclass(frozen=True)
class Update:
    """A value that took another's place.

    Args:
        old: Claims of the old value, oldest first, at most three.
        new: Claims of the new one.
        similarity: Of what they are values of, 0–1.
        change: How surely the words say that it changed (see `Measured`).
    """

    old: tuple[Measured, ...]
    new: tuple[Measured, ...]
    similarity: float
    change: int


def find_updates(claims: Sequence[Measured], weights: Weights) -> list[Update]:
    """Return the values that were replaced, each pair of values once.

    Args:
        claims: Oldest first.
        weights: Of the words.
    """
    postings = Postings()
    alike = _by_dimension(claims)
    pairs: list[tuple[float, int, int]] = []
    for number, later in enumerate(claims):
        best: tuple[float, int] | None = None
        if later.origin.is_new or later.origin.fact:
            for other in postings.near([*weights.rarest(later.terms), *weights.rarest(later.heads)[:_HEADS]]):
                if not _may_compare(claims[other], later):
                    continue
                score = _score(claims[other], later, weights)
                if not score and _only_two(claims[other], later, alike):
                    score = _BY_CONTEXT
                if score and (best is None or score > best[0] + 0.1):
                    best = score, other
        if best is not None:
            pairs.append((best[0], best[1], number))
        postings.add(number, later.terms)
    return list(_merged(claims, pairs, weights, postings))


def _by_dimension(claims: Sequence[Measured]) -> dict[tuple[str, str, str], list[Measured]]:
    """Return the claims by speaker, by what they are measured in and by the rate."""
    found: dict[tuple[str, str, str], list[Measured]] = {}
    for claim in claims:
        if not claim.bare:
            found.setdefault(_measure(claim), []).append(claim)
    return found


def _measure(claim: Measured) -> tuple[str, str, str]:
    return claim.origin.speaker, claim.value.dimension, claim.value.per


def _only_two(earlier: Measured, later: Measured, alike: dict[tuple[str, str, str], list[Measured]]) -> bool:
    """Return whether a value is said to be new, and the one before is the only other one of the same thing.

    Of counts the same is counted; of anything else the later says nothing that the earlier does not say.
    """
    is_count = later.value.dimension == "count"
    return (
        later.change == _CLEARLY
        and _measure(later) == _measure(earlier)
        and not (earlier.bare or later.bare or later.value.same_as(earlier.value))
        and (later.was is None or later.was.same_as(earlier.value))
        and (earlier.heads == later.heads if is_count else bool(later.heads) and later.terms <= earlier.terms)
        and earlier.origin.passage.id != later.origin.passage.id
        and not _is_older(later, earlier)
        and _comparable(earlier, later)
        and _orders_apart(earlier, later) <= _NEAR
        and len({each.value.amount for each in alike[_measure(later)] if _is_of(later, each)}) == _PAIR
    )


def _is_of(later: Measured, claim: Measured) -> bool:
    """Return whether a claim may be of what a later one is of."""
    return later.heads == claim.heads if later.value.dimension == "count" else later.heads <= claim.terms


def _may_compare(earlier: Measured, later: Measured) -> bool:
    """Return whether one of two claims is new, or both are recorded of one entity."""
    return later.origin.is_new or earlier.origin.is_new or _of_one_entity(earlier, later)


def _of_one_entity(one: Measured, other: Measured) -> bool:
    """Return whether both are recorded facts of one entity."""
    return bool(one.origin.fact) and _entity(one) == _entity(other)


def _entity(claim: Measured) -> str:
    return claim.origin.fact.partition("#")[0]


def _score(earlier: Measured, later: Measured, weights: Weights) -> float:
    """Return how surely the later value replaced the earlier, 0 where it did not."""
    if earlier.origin.passage.id == later.origin.passage.id or earlier.value.same_as(later.value):
        return 0.0
    if not _comparable(earlier, later) or _is_older(later, earlier):
        return 0.0
    similarity = _similarity(earlier, later, weights)
    change = later.change or earlier.change // _CLEARLY
    is_version = earlier.value.dimension == "version"
    if (
        not is_version
        and change < _CLEARLY
        and (earlier.labels != later.labels or len(earlier.terms & later.terms) < 2)
    ):
        return 0.0
    if (
        earlier.value.dimension == "version"
        and change < _CLEARLY
        and not (change and _is_higher(earlier, later))
    ):
        return 0.0
    if not change and not (earlier.stands and later.stands):
        return 0.0
    # “berth seven” counts nothing; it is a value only where the rest is the same, word for word.
    if not change and later.bare and not (_of_one_entity(earlier, later) and earlier.terms == later.terms):
        return 0.0
    if change < _CLEARLY and _is_over(earlier, later):
        return 0.0
    apart = _orders_apart(earlier, later)
    if apart > _FARTHEST and later.was is None:
        return 0.0
    if later.was is not None and not later.was.same_as(earlier.value):
        # What rose from 70 to 85 is not what stood at 94 before.
        return 0.0
    needed = _NEEDED[change] if later.was is None else _NEEDED_WITH_WAS
    if not (earlier.heads & later.terms and later.heads & earlier.terms):
        needed += _ONE_HEAD
    elif len(earlier.heads & later.heads) >= _NAMED_WELL:
        needed -= _ONE_HEAD
    return (
        similarity - (_PER_ORDER_UNNAMED if later.unnamed else _PER_ORDER) * apart
        if similarity >= needed
        else 0.0
    )


def _is_higher(earlier: Measured, later: Measured) -> bool:
    """Return whether a version is above another: programs are seldom taken back."""
    one, other = (
        [int(part) for part in claim.value.written.lstrip("vV").split(".") if part.isdigit()]
        for claim in (earlier, later)
    )
    return one < other


def _is_older(one: Measured, other: Measured) -> bool:
    """Return whether one was said before the other; a recorded fact comes first in order, but may be the younger."""
    first, second = one.origin.passage.moment, other.origin.passage.moment
    return first is not None and second is not None and first.date() < second.date()


def _is_over(earlier: Measured, later: Measured) -> bool:
    """Return whether what was appointed had passed when the later statement was made: then that is of another one."""
    first, second = earlier.origin.passage.moment, later.origin.passage.moment
    if earlier.value.dimension not in APPOINTED_DIMENSIONS or first is None or second is None:
        return False
    if earlier.value.dimension != "date":
        return second - first > _SOON
    year, rest = divmod(int(earlier.value.amount), 10000)
    return (year or first.year, rest) < (second.year, second.month * 100 + second.day)


def _orders_apart(one: Measured, other: Measured) -> float:
    """Return how many powers of ten lie between two amounts; 0 for days, times and versions."""
    if (
        one.value.dimension in (*APPOINTED_DIMENSIONS, "version")
        or min(one.value.amount, other.value.amount) <= 0
    ):
        return 0.0
    return abs(math.log10(one.value.amount / other.value.amount))


def _comparable(earlier: Measured, later: Measured) -> bool:
    one, other = earlier.value, later.value
    return (
        one.dimension == other.dimension
        and one.tool == other.tool
        and earlier.origin.speaker == later.origin.speaker
        and earlier.aims == later.aims
        and one.bound == other.bound
        and (one.per == other.per or not (one.per and other.per))
        and not (earlier.labels and later.labels and not earlier.labels & later.labels)
        and _same_head(earlier, later)
    )


def _same_head(earlier: Measured, later: Measured) -> bool:
    """Return whether each names what the other measures; one will do where the later one is said to be new."""
    one, other = earlier.heads & later.terms, later.heads & earlier.terms
    if later.change == _CLEARLY and later.value.dimension != "count":
        return bool(one or other)
    return bool(one and other)


def _similarity(earlier: Measured, later: Measured, weights: Weights) -> float:
    if later.value.dimension == "version":
        return _SAME_TOOL
    shared = earlier.terms & later.terms
    if (
        later.change == _CLEARLY
        and len(later.terms) > 1
        and shared & (earlier.heads | later.heads)
        and weights.coverage(later.terms, earlier.terms | earlier.context, frozenset()) >= _COVERED
    ):
        return max(_BY_CONTEXT, weights.similarity(earlier.terms, later.terms))
    told = later.was is not None and later.was.same_as(earlier.value)
    if len(shared) < 2 and not told and not (shared == earlier.terms or shared == later.terms):
        return 0.0
    return weights.similarity(earlier.terms, later.terms)


def _merged(
    claims: Sequence[Measured], pairs: list[tuple[float, int, int]], weights: Weights, postings: Postings
) -> Iterator[Update]:
    """Yield each pair of values once, with all who say either."""
    done: set[tuple[int, int]] = set()
    replaced: set[int] = set()
    for score, old, new in sorted(pairs, key=lambda pair: (-claims[pair[2]].change, -pair[0], pair[2])):
        if (old, new) in done or new in replaced:
            continue
        olds = [n for n in _alike(claims, old, weights, postings) if n < new]
        says_new = _alike(claims, new, weights, postings)
        news = [n for n in says_new if n > min(olds)]
        # A value that comes back belongs to another thing, or did not change.
        alternates = min(says_new) < old or max(_alike(claims, old, weights, postings)) > new
        replaced.update(news)
        done.update((o, n) for o in olds for n in news)
        change = claims[new].change
        if change < _CLEARLY and alternates and not _of_one_entity(claims[old], claims[new]):
            continue
        yield Update(_ends(claims, olds, old), _ends(claims, news, new), score, change)


def _alike(claims: Sequence[Measured], number: int, weights: Weights, postings: Postings) -> list[int]:
    """Return the claims that say the same value of the same thing, the claim itself included."""
    claim = claims[number]
    return sorted(
        {number}
        | {
            other
            for other in postings.near(weights.rarest(claim.terms))
            if claims[other].value.same_as(claim.value)
            and not (
                claims[other].origin.fact and claim.origin.fact and _entity(claims[other]) != _entity(claim)
            )
            and _comparable(claims[other], claim)
            and _similarity(claims[other], claim, weights) >= _NEEDED[2]
        }
    )


def _ends(claims: Sequence[Measured], numbers: list[int], best: int) -> tuple[Measured, ...]:
    """Return the best, the first and the last of claims that say the same, oldest first."""
    kept = sorted({best, numbers[0], numbers[-1]})
    return tuple(claims[number] for number in kept[:_MOST_SIDES])
