"""Brings together statements that say the same, and orders them so that each adds something to those before it."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Final

from workbench.engine.language.denials import is_turned_down

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from workbench.engine.reflection.extraction.candidates import Candidate

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
        apart = abs((date.fromisoformat(one.since) - date.fromisoformat(other.since)).days)
        return apart <= _DAYS_APART
    return True
