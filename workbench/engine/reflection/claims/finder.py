"""Turns statements that exclude each other into items for review: what replaced what, and what contradicts what."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items
from workbench.engine.reflection.claims.clauses import Mode
from workbench.engine.reflection.claims.comparing import pairs_of
from workbench.engine.reflection.claims.judging import judge, spoke
from workbench.engine.reflection.claims.model import CLEARLY, Measured
from workbench.engine.reflection.claims.reading import read_claims
from workbench.engine.reflection.claims.stating import evidence, person, speaker_name, statement, target
from workbench.engine.reflection.third_person import mid_sentence, third_person

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.claims.comparing import Pair
    from workbench.engine.reflection.claims.judging import Judged
    from workbench.engine.reflection.claims.model import Origin
    from workbench.engine.reflection.claims.statements import Statement
    from workbench.engine.reflection.model import Snapshot
    from workbench.engine.reflection.work import Work

_LONGEST_QUESTION: Final = 160
_SURE: Final = 0.85
_MOST_SIDES: Final = 3
_LONG_AGO: Final = lazy_pattern(
    r"\b(?:back\s+in|(?:in|since)\s+(?:19|20)\d\d|(?:years?|months?|decades?)\s+(?:ago|back)|back\s+then|as\s+a\s+(?:kid|child|student)"
    r"|when\s+i\s+was|last\s+(?:year|semester|autumn|winter|summer|spring|fall))\b|[去前]年|小时候|以前",
    re.IGNORECASE,
)


@dataclass
class _Conflict:
    """A pair with the others that say the same on either side."""

    best: Judged
    earlier: list[Measured | Statement] = field(default_factory=list)
    later: list[Measured | Statement] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.add(self.best.pair)

    def add(self, pair: Pair) -> None:
        """Take in what says the same, a passage once."""
        for side, claim in ((self.earlier, pair.earlier), (self.later, pair.later)):
            if len(side) < _MOST_SIDES and all(each.origin is not claim.origin for each in side):
                side.append(claim)

    @property
    def places(self) -> set[tuple[int, int]]:
        """Return where the words of either side stand."""
        return {_place(claim) for claim in (*self.earlier, *self.later)}


def find_conflicts(snapshot: Snapshot, work: Work) -> tuple[ReviewItem, ...]:
    """Return what has changed and what contradicts itself, best first; no model of language is asked.

    Compared are statements about the same: in the new passages, in older ones near them and in recorded facts. Each
    item quotes both sides word for word, and tells what spoke for it.

    Args:
        snapshot: What the cycle looks at; `earlier` is asked a bounded number of times.
        work: Told of progress; may call it off.

    Raises:
        Cancelled: The cycle was called off.
    """
    claims = read_claims(snapshot, work)
    work.check()
    judged = [
        each
        for each in map(judge, pairs_of(claims.measured, claims.statements, claims.weights))
        if each.is_raised
    ]
    work.check()
    return tuple(_item(snapshot, each) for each in _conflicts(judged))


def _conflicts(judged: Iterable[Judged]) -> list[_Conflict]:
    """Put together what says the same; of each statement only the surest conflict is kept."""
    found: list[_Conflict] = []
    taken: dict[tuple[int, int], _Conflict] = {}
    order = lambda each: (-each.sureness, each.pair.later.origin.order, each.pair.earlier.origin.order)  # noqa: E731
    for each in sorted(judged, key=order):
        places = {_place(each.pair.earlier), _place(each.pair.later)}
        homes = [taken[place] for place in places if place in taken]
        home = next(
            (conflict for conflict in (*homes, *found) if _says_the_same(conflict.best.pair, each.pair)), None
        )
        if home is None and not homes:
            home = _Conflict(each)
            found.append(home)
        elif home is not None:
            home.add(each.pair)
        if home is not None:
            taken.update(dict.fromkeys(places, home))
    return found


def _place(claim: Measured | Statement) -> tuple[int, int]:
    return claim.origin.order, claim.span.end


def _says_the_same(one: Pair, other: Pair) -> bool:
    if one.family != other.family:
        return False
    earlier, later = (one.earlier, other.earlier), (one.later, other.later)
    if isinstance(one.earlier, Measured):
        return all(
            isinstance(first, Measured)
            and isinstance(second, Measured)
            and first.value.dimension == second.value.dimension
            and first.value.same_as(second.value)
            and bool(first.heads & second.heads)
            for first, second in (earlier, later)
        )
    if one.family == "denials":
        return bool(_denial(one).denied & _denial(other).denied) and (
            _denial(one).denied == _denial(other).denied or _place(_denial(one)) == _place(_denial(other))
        )
    return any(_place(first) == _place(second) for first, second in (earlier, later))


def _denial(pair: Pair) -> Statement:
    earlier, later = pair.earlier, pair.later
    if isinstance(earlier, Measured) or isinstance(later, Measured):
        message = "Values are not compared by what is denied."
        raise TypeError(message)
    return earlier if earlier.denies else later


def _item(snapshot: Snapshot, conflict: _Conflict) -> ReviewItem:
    pair = conflict.best.pair
    old, new = pair.earlier, pair.later
    before, after = _said(snapshot, old), _said(snapshot, new)
    quotes = evidence((each.origin, each.span) for each in (*conflict.earlier, *conflict.later))
    about, needs = _of_fact(*(each.origin for each in (*conflict.earlier, *conflict.later))) or (
        target(snapshot, ((old.origin, old.span), (new.origin, new.span)))
        if pair.family == "values"
        else person(snapshot, new.origin)
    )
    confidence: items.Confidence = "high" if conflict.best.sureness >= _SURE else "medium"
    if not _replaces(conflict):
        return items.contradiction(
            about,
            _question(snapshot, pair),
            before,
            after,
            quotes,
            reason=f"Both are said, and nothing tells which holds: {spoke(pair)}.",
            confidence=confidence,
            needs=needs,
        )
    day = min((each.origin.passage.day for each in conflict.later if each.origin.passage.day), default="")
    since = min((each.origin.passage.day for each in conflict.earlier if each.origin.passage.day), default="")
    return items.supersession(
        about,
        before,
        after,
        quotes,
        reason=f"{_change(old, new)}: {spoke(pair)}.",
        confidence=confidence,
        held_since=since or None,
        until=day or None,
        since=day or None,
        needs=needs,
    )


def _replaces(conflict: _Conflict) -> bool:
    """Return whether the later statement took the earlier one's place; else nobody can tell which holds."""
    pair = conflict.best.pair
    old, new = pair.earlier, pair.later
    if all(each.origin.fact for each in (*conflict.earlier, *conflict.later)):
        return False
    if isinstance(old, Measured) or isinstance(new, Measured):
        return True
    if pair.family == "words":
        return new.change == CLEARLY or bool(new.places & old.places and new.change)
    if new.denies:
        return new.change == CLEARLY and not new.never
    first, then = old.origin.passage.day, new.origin.passage.day
    long_ago = _LONG_AGO.search(new.origin.passage.text, new.span.start, new.span.end)
    return new.change == CLEARLY or bool(first and then > first and new.done and not long_ago)


def _change(old: Measured | Statement, new: Measured | Statement) -> str:
    if isinstance(old, Measured) and isinstance(new, Measured):
        return f"{_written(old.value.written)} became {_written(new.value.written)}"
    return "The later statement takes the earlier one’s place"


def _of_fact(*origins: Origin) -> tuple[str, tuple[str, ...]] | None:
    """Return as target the first recorded fact; of one that has no id of its own, the entity it stands with."""
    fact = next((origin.fact for origin in origins if origin.fact), "")
    if not fact:
        return None
    return fact if "#^" in fact else fact.removeprefix("entity:"), ()


def _said(snapshot: Snapshot, claim: Measured | Statement) -> str:
    """Say what was claimed; what is only taken for granted is quoted: “Alex spoke of “the loan I had””."""
    if not isinstance(claim, Measured) and claim.granted and claim.mode is Mode.ASKS:
        words = _written(claim.origin.passage.text[claim.span.key : claim.span.end]).rstrip(" .,;:?!")
        return f"{speaker_name(claim.origin, snapshot.owner)} spoke of “{words[:_LONGEST_QUESTION]}”"
    return statement(claim.origin, claim.span, snapshot.owner)


def _written(value: str) -> str:
    return " ".join(value.split())


def _question(snapshot: Snapshot, pair: Pair) -> str:
    """Ask which of two statements holds: “Has Alex ever deployed to a cloud platform?”."""
    old, new = pair.earlier, pair.later
    if isinstance(old, Measured) and isinstance(new, Measured):
        return f"Which holds: {_written(old.value.written)} or {_written(new.value.written)}?"
    name = speaker_name(new.origin, snapshot.owner)
    if pair.family == "denials" and (denial := _denial(pair)).never:
        found = re.compile(r"never\s+(?:\w+ly\s+|even\s+|really\s+)*", re.IGNORECASE).search(
            denial.origin.passage.text, denial.span.start, denial.span.end
        )
        rest = denial.origin.passage.text[found.end() : denial.span.end] if found else ""
        rest = re.sub(
            r"\s+(?:in|for|on)\s+this\s+\w+$|\s+before$", "", " ".join(rest.split()).rstrip(" .,;:!")
        )
        said = third_person(f"I have {rest}", name)
        plain = said.removeprefix(f"{name} has ") if said.startswith(f"{name} has ") else ""
        if rest and plain and len(plain) <= _LONGEST_QUESTION:
            return f"Has {mid_sentence(name)} ever {plain}?"
    return f"Two statements of {mid_sentence(name)} cannot both hold: which does?"
