"""Turns what people claim into items for review: values that changed, and statements that cannot both hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items
from workbench.engine.reflection.claims.choice_patterns import FEELS, HOLDS, OCCUPIES
from workbench.engine.reflection.claims.deeds import TRIES
from workbench.engine.reflection.claims.oppositions import find_oppositions
from workbench.engine.reflection.claims.reading import read_claims
from workbench.engine.reflection.claims.stating import evidence, person, speaker_name, statement, target
from workbench.engine.reflection.claims.turns import find_turns
from workbench.engine.reflection.claims.updates import find_updates
from workbench.engine.reflection.third_person import mid_sentence, third_person

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.claims.model import Deed, Denial, Origin, Span
    from workbench.engine.reflection.claims.oppositions import Opposition
    from workbench.engine.reflection.claims.turns import Turn
    from workbench.engine.reflection.claims.updates import Update
    from workbench.engine.reflection.items import Confidence
    from workbench.engine.reflection.model import Snapshot
    from workbench.engine.reflection.work import Work

_LONGEST_QUESTION: Final = 160
_SURE: Final = 0.7
_LONG_AGO: Final = lazy_pattern(
    r"\b(?:back\s+in|(?:in|since)\s+(?:19|20)\d\d|(?:years?|months?|decades?)\s+(?:ago|back)|back\s+then|as\s+a\s+(?:kid|child|student)"
    r"|when\s+i\s+was|last\s+(?:year|semester|autumn|winter|summer|spring|fall))\b",
    re.IGNORECASE,
)
_TURNS: Final = {
    OCCUPIES: "The later statement names another in the same place.",
    FEELS: "The later statement feels otherwise about the same.",
    HOLDS: "The later statement says the opposite of the same.",
}
_IN_PROJECT = lazy_pattern(r"\s+(?:in|for|on)\s+this\s+\w+\b|\s+before$", re.IGNORECASE)


def find_conflicts(snapshot: Snapshot, work: Work) -> tuple[ReviewItem, ...]:
    """Return what has changed and what contradicts itself, best first; no model is asked.

    Compared are statements of one speaker about the same: in the new passages, in older ones near them and in
    recorded facts. Each item quotes both sides word for word.

    Args:
        snapshot: What the cycle looks at; `earlier` is asked a bounded number of times.
        work: Told of progress; may call it off.

    Raises:
        Cancelled: The cycle was called off.
    """
    claims = read_claims(snapshot, work)
    weights = claims.weights
    work.check()
    found = [_update(snapshot, update) for update in find_updates(claims.measured, weights)]
    work.check()
    found += [_opposition(snapshot, each) for each in find_oppositions(claims.denials, claims.deeds, weights)]
    work.check()
    found += [_turn(snapshot, turn) for turn in find_turns(claims.choices, claims.deeds, weights)]
    return tuple(item for _, item in sorted(found, key=lambda pair: -pair[0]))


def _update(snapshot: Snapshot, update: Update) -> tuple[float, ReviewItem]:
    old, new = update.old[-1], update.new[0]
    before, after = _said(snapshot, old.origin, old.span), _said(snapshot, new.origin, new.span)
    about, needs = target(snapshot, ((old.origin, old.span), (new.origin, new.span)))
    sides = [(claim.origin, claim.span) for claim in (*update.old, *update.new)]
    about, needs = _of_fact(*(claim.origin for claim in update.old)) or (about, needs)
    if all(claim.origin.fact for claim in (*update.old, *update.new)):
        return update.similarity + 0.5, items.contradiction(
            about,
            f"Which holds: {_written(old.value.written)} or {_written(new.value.written)}?",
            before,
            after,
            evidence(sides),
            reason="Both are recorded as facts, and neither is superseded.",
            confidence="medium",
        )
    confidence: Confidence = "high" if update.change == 2 and update.similarity >= _SURE else "medium"
    said = "says so" if update.change == 2 else "gives another value"
    return update.similarity + update.change / 2, items.supersession(
        about,
        before,
        after,
        evidence(sides),
        reason=f"{_written(old.value.written)} became {_written(new.value.written)}: the later statement {said}.",
        confidence=confidence if update.change else "low",
        held_since=update.old[0].origin.passage.day or None,
        until=new.origin.passage.day or None,
        since=new.origin.passage.day or None,
        needs=needs,
    )


def _opposition(snapshot: Snapshot, opposition: Opposition) -> tuple[float, ReviewItem]:
    denial, deed = opposition.denials[0], opposition.deeds[0]
    never, did = _said(snapshot, denial.origin, denial.span), _done(snapshot, deed)
    denied = [(each.origin, each.span) for each in opposition.denials]
    done = [(each.origin, each.span) for each in opposition.deeds]
    confidence: Confidence = "high" if opposition.score >= _SURE else "medium"
    about, needs = _of_fact(denial.origin, deed.origin) or person(snapshot, denial.origin)
    last_denied = max(each.origin.passage.day for each in opposition.denials)
    days = [each.origin.passage.day for each in opposition.deeds if each.strength > TRIES] or [
        deed.origin.passage.day
    ]
    if last_denied and min(days) > last_denied and not any(map(_is_long_ago, opposition.deeds)):
        day = min(days)
        return opposition.score + 0.5, items.supersession(
            about,
            never,
            did,
            evidence([*denied, *done]),
            reason="What was denied has been done or begun since.",
            confidence="medium",
            held_since=denial.origin.passage.day,
            until=day,
            since=day,
            needs=needs,
        )
    sides = [(never, denied), (did, done)]
    if (deed.origin.order, deed.span.start) < (denial.origin.order, denial.span.start):
        sides.reverse()
    (this, first), (that, second) = sides
    return opposition.score + 1, items.contradiction(
        about,
        _question(snapshot, denial),
        this,
        that,
        evidence([*first, *second]),
        reason=f"{speaker_name(denial.origin, snapshot.owner)} says both, and nothing tells which holds.",
        confidence=confidence,
        needs=needs,
    )


def _is_long_ago(deed: Deed) -> bool:
    """Return whether what was done is said to be long over, so that a denial in between was wrong already."""
    return _LONG_AGO.search(deed.origin.passage.text, deed.span.start, deed.span.end) is not None


def _turn(snapshot: Snapshot, turn: Turn) -> tuple[float, ReviewItem]:
    old, new = turn.old, turn.new
    before, after = _said(snapshot, old.origin, old.span), _said(snapshot, new.origin, new.span)
    about, needs = _of_fact(old.origin) or person(snapshot, new.origin)
    quotes = evidence([(old.origin, old.span), (new.origin, new.span)])
    if not turn.replaces:
        return 0.9, items.contradiction(
            about,
            f"What holds for {mid_sentence(speaker_name(new.origin, snapshot.owner))}: the one or the other?",
            before,
            after,
            quotes,
            reason="Both are said, and nothing tells that one took the other’s place.",
            confidence="medium",
            needs=needs,
        )
    return 1.2, items.supersession(
        about,
        before,
        after,
        quotes,
        reason=_TURNS.get(new.kind, "The later statement turns away from the earlier one."),
        confidence="medium",
        held_since=old.origin.passage.day or None,
        until=new.origin.passage.day or None,
        since=new.origin.passage.day or None,
        needs=needs,
    )


def _of_fact(*origins: Origin) -> tuple[str, tuple[str, ...]] | None:
    """Return as target the first recorded fact; of one that has no id of its own, the entity it stands with."""
    fact = next((origin.fact for origin in origins if origin.fact), "")
    if not fact:
        return None
    return fact if "#^" in fact else fact.removeprefix("entity:"), ()


def _said(snapshot: Snapshot, origin: Origin, span: Span) -> str:
    return statement(origin, span, snapshot.owner)


def _done(snapshot: Snapshot, deed: Deed) -> str:
    """Say what was done; what is only taken for granted is quoted: “Alex spoke of “the loan I had””."""
    if not deed.presupposed:
        return _said(snapshot, deed.origin, deed.span)
    words = " ".join(deed.origin.passage.text[deed.span.key : deed.span.end].split()).rstrip(" .,;:?!")
    return f"{speaker_name(deed.origin, snapshot.owner)} spoke of “{words[:_LONGEST_QUESTION]}”"


def _written(value: str) -> str:
    return " ".join(value.split())


def _question(snapshot: Snapshot, denial: Denial) -> str:
    """Ask what a denial denies: “Has Alex ever deployed to a cloud platform?”."""
    name = speaker_name(denial.origin, snapshot.owner)
    rest = " ".join(denial.origin.passage.text[denial.span.key : denial.span.end].split()).rstrip(" .,;:!")
    rest = _IN_PROJECT.sub("", _IN_PROJECT.sub("", rest))
    if denial.meant:
        verb, _, tail = rest.partition(" ")
        rest = f"{verb} {denial.meant} {tail}".rstrip()
    said = third_person(f"I have {rest}", name)
    plain = said.removeprefix(f"{name} has ") if said.startswith(f"{name} has ") else ""
    if not plain or len(plain) > _LONGEST_QUESTION or not denial.never:
        return f"Two statements of {mid_sentence(name)} cannot both hold: which does?"
    return f"Has {mid_sentence(name)} ever {plain}?"
