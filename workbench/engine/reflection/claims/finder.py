"""Finds values that changed and statements that cannot both hold: as items for review, or of two statements alone.

Choices are paired with what they turn away from: a switch, a stop, another preference, another home; what somebody
says he has never done with what he says he has.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items
from workbench.engine.reflection.claims.chinese import Change, find_changed
from workbench.engine.reflection.claims.deeds import DOING, DONE, TRIES, is_getting, is_light
from workbench.engine.reflection.claims.likely import DENIALS, VALUES, WORDS, find_likely
from workbench.engine.reflection.claims.model import Origin, Postings
from workbench.engine.reflection.claims.reading import (
    Claims,
    evidence,
    person,
    read_claims,
    speaker_key,
    speaker_name,
    statement,
    target,
)
from workbench.engine.reflection.claims.updates import find_updates
from workbench.engine.reflection.claims.vocabulary import (
    ENDED,
    FAVOURITE,
    FEELS,
    HOLDER,
    HOLDS,
    IS,
    LIVES,
    OCCUPIES,
    PREFERS,
    STOPPED,
    SWITCHED,
    WORKS,
)
from workbench.engine.reflection.english import BASE_FORMS, mid_sentence, third_person
from workbench.engine.reflection.model import Passage
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.markdown.review import Evidence, ReviewItem
    from workbench.engine.reflection.claims.likely import Likely, Said
    from workbench.engine.reflection.claims.model import (
        Alternative,
        Choice,
        Deed,
        Denial,
        Measured,
        Span,
        Weights,
    )
    from workbench.engine.reflection.claims.updates import Update
    from workbench.engine.reflection.items import Confidence
    from workbench.engine.reflection.model import Snapshot, Work

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
_DIFFERS: Final = {
    VALUES: "The later statement speaks of the same and gives another value.",
    DENIALS: "What was denied has been done or begun since.",
    WORDS: "The later statement speaks of the same and tells of a change.",
}
_IN_PROJECT = lazy_pattern(r"\s+(?:in|for|on)\s+this\s+\w+\b|\s+before$", re.IGNORECASE)
_FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)
_SAME_PLACE: Final = 0.6
_ALIKE: Final = {FEELS: 0.8, HOLDS: 0.72}
"""How similar what is felt about, or what is so, has to be on both sides."""
_ONE_AT_A_TIME: Final = frozenset((FAVOURITE, HOLDER, LIVES, WORKS))
_NEEDED: Final = {DONE: 0.55, DOING: 0.65, TRIES: 0.85}
"""How much of what is denied the other side must speak of, by how surely it says that it was done."""
_SAME_VERB: Final = 0.2
_COVERED: Final = 0.6
_ENOUGH: Final = 2
"""Words in common where neither the verb nor a name is."""
_YET: Final = 0.2
_NEARLY: Final = 0.5
_MOST_SIDES: Final = 3


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
    recorded = [claim for claim in claims.measured if claim.origin.fact]
    updates = find_updates(claims.measured, weights)
    found = [_update(snapshot, update) for update in updates if not _is_recorded(update, recorded)]
    work.check()
    found += [_opposition(snapshot, each) for each in find_oppositions(claims.denials, claims.deeds, weights)]
    work.check()
    found += [_turn(snapshot, turn) for turn in find_turns(claims.choices, claims.deeds, weights)]
    work.check()
    told = [proof for _, item in found for proof in item.evidence]
    for earlier, change in find_changed(claims.changes, claims.said, weights):
        certainty, item = _turn(snapshot, Turn(earlier, change, replaces=True))
        if not any(_is_same(item.evidence[-1], proof) for proof in told):
            found.append((certainty, item))
    told = [proof for _, item in found for proof in item.evidence]
    for pair in find_likely(claims.said, weights):
        odds, item = _likely(snapshot, pair)
        if not any(_is_same(item.evidence[-1], proof) for proof in told):
            found.append((odds, item))
    return tuple(item for _, item in sorted(found, key=lambda pair: -pair[0]))


def _is_same(one: Evidence, other: Evidence) -> bool:
    """Return whether one quote is of the other."""
    return one.id == other.id and (one.quote in other.quote or other.quote in one.quote)


def _is_recorded(update: Update, recorded: Sequence[Measured]) -> bool:
    """Return whether a fact says the new value of the same already, and the old one stands in none."""
    new = update.new[0]
    return not any(claim.origin.fact for claim in (*update.old, *update.new)) and any(
        claim.value.same_as(new.value) and claim.terms & new.terms for claim in recorded
    )


def _update(snapshot: Snapshot, update: Update) -> tuple[float, ReviewItem]:
    old, new = update.old[-1], update.new[0]
    before = _said(snapshot, old.origin, old.span)
    after = statement(new.origin, new.span, snapshot.owner, before)
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
        reason="The later statement says what it became."
        if isinstance(new, Change)
        else _TURNS.get(new.kind, "The later statement turns away from the earlier one."),
        confidence="medium",
        held_since=old.origin.passage.day or None,
        until=new.origin.passage.day or None,
        since=new.origin.passage.day or None,
        needs=needs,
    )


def _likely(snapshot: Snapshot, pair: Likely) -> tuple[float, ReviewItem]:
    old, new = pair.earlier, pair.later
    before = _said(snapshot, old.origin, old.span)
    after = statement(new.origin, new.span, snapshot.owner, before)
    about, needs = target(snapshot, ((old.origin, old.span), (new.origin, new.span)))
    about, needs = _of_fact(old.origin) or (about, needs)
    quotes = evidence([(old.origin, old.span), (new.origin, new.span)])
    name = mid_sentence(speaker_name(new.origin, snapshot.owner))
    certain = 1 / (1 + math.exp(-pair.odds))
    confidence: Confidence = "medium" if certain >= _SURE else "low"
    if pair.family == DENIALS and (
        "never" in new.cues
        or old.origin.passage.day == new.origin.passage.day
        or ("never" not in old.cues and not new.cues & {"ends", "new"})
    ):
        return certain, items.contradiction(
            about,
            f"Two statements of {name} do not go together: which holds?",
            before,
            after,
            quotes,
            reason="They speak of the same, and one denies or dislikes what the other says.",
            confidence=confidence,
            needs=needs,
        )
    return certain, items.supersession(
        about,
        before,
        after,
        quotes,
        reason=_DIFFERS[pair.family],
        confidence=confidence,
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
    verb = rest.partition(" ")[0].casefold()
    if not (verb.endswith("ed") or verb in BASE_FORMS):
        # “I never want to” denies no deed.
        plain = ""
    if not plain or len(plain) > _LONGEST_QUESTION or not denial.never:
        return f"Two statements of {mid_sentence(name)} cannot both hold: which does?"
    return f"Has {mid_sentence(name)} ever {plain}?"


def cannot_both_hold(earlier: str, later: str, owner: str) -> bool:
    """Return whether two statements cannot both hold, as a cycle of reflection would see it.

    Args:
        earlier: What was said first.
        later: What was said after it.
        owner: The person's name as core memory has it; empty where it does not say.
    """
    claims = Claims(owner=owner)
    for order, text in enumerate((earlier, later), 1):
        passage = Passage(
            f"said:{order}", text, "", order, order, _FIRST + timedelta(seconds=order), type="fact"
        )
        claims.read(Origin(passage, order, speaker_key("", owner)))
    claims = claims.in_order()
    weights = claims.weights
    return bool(
        find_updates(claims.measured, weights)
        or find_oppositions(claims.denials, claims.deeds, weights)
        or find_turns(claims.choices, claims.deeds, weights)
        or find_changed(claims.changes, claims.said, weights)
    )


@dataclass(frozen=True)
class Turn:
    """A choice and what it stands against.

    Args:
        old: What was said before.
        new: The choice.
        replaces: Whether the new one is said to take the old one's place; else nobody can tell which holds.
    """

    old: Choice | Deed | Said
    new: Choice | Change
    replaces: bool


def find_turns(choices: Sequence[Choice], deeds: Sequence[Deed], weights: Weights) -> list[Turn]:
    """Return the choices that something said before does not agree with, each once.

    Args:
        choices: Oldest first.
        deeds: Oldest first.
        weights: Of the words.
    """
    done = Postings()
    for number, deed in enumerate(deeds):
        done.add(number, deed.terms)
    chosen = Postings()
    found: list[Turn] = []
    for number, choice in enumerate(choices):
        turn = None
        if choice.origin.is_new:
            earlier = [choices[other] for other in chosen.near(_keys(choice, weights))]
            turn = next(_against_choices(choice, earlier, weights), None) or next(
                _against_deeds(choice, [deeds[other] for other in done.near(weights.rarest(choice.against))]),
                None,
            )
        if turn is not None:
            found.append(turn)
        chosen.add(number, {choice.kind, *choice.chosen, *choice.about})
    return found


def _keys(choice: Choice, weights: Weights) -> list[str]:
    """Return by what to look for what a choice may stand against."""
    if choice.kind in (OCCUPIES, *_ALIKE):
        return weights.rarest(choice.about)
    return [choice.kind, *weights.rarest(choice.against)]


def _against_choices(choice: Choice, earlier: Sequence[Choice], weights: Weights) -> Iterator[Turn]:
    for other in earlier:
        if (
            other.origin.speaker != choice.origin.speaker
            or other.origin.passage.id == choice.origin.passage.id
        ):
            continue
        if _takes_the_other(other, choice):
            yield Turn(other, choice, choice.change > 0)
        elif (
            choice.kind == other.kind == PREFERS
            and choice.against
            and choice.chosen
            and not choice.chosen & choice.against
        ):
            elsewhere = choice.about and other.about and not choice.about & other.about
            swapped = (
                choice.against <= other.chosen and bool(other.against) and choice.chosen <= other.against
            )
            if swapped and not elsewhere:
                yield Turn(other, choice, choice.change > 0)
        elif choice.kind in (SWITCHED, STOPPED) and other.kind in (PREFERS, SWITCHED, WORKS, LIVES):
            if choice.against and choice.against <= other.chosen:
                yield Turn(other, choice, replaces=True)
        elif choice.kind == ENDED and other.kind == IS:
            if choice.against <= other.chosen:
                # “Vegetarian and allergic to nuts” does not end as a whole.
                yield Turn(other, choice, replaces=other.chosen == choice.against)
        elif choice.kind == other.kind and choice.kind in _ALIKE:
            if choice.chosen != other.chosen and _same_thing(other, choice, weights):
                yield Turn(other, choice, choice.change > 0)
        elif choice.kind == other.kind == OCCUPIES:
            if choice.change and _same_place(other, choice, weights):
                yield Turn(other, choice, replaces=True)
        elif (
            choice.kind == other.kind
            and choice.kind in _ONE_AT_A_TIME
            and choice.about == other.about
            and not choice.chosen & other.chosen
        ):
            yield Turn(other, choice, choice.change > 0)


def _takes_the_other(other: Choice, choice: Choice) -> bool:
    """Return whether somebody now prefers just what was preferred less: “tabs to spaces”, then only “spaces”."""
    if not choice.kind == other.kind == PREFERS or choice.against or not other.against:
        return False
    told = choice.chosen | choice.about
    return (
        choice.chosen == other.against or (len(other.against) > 1 and other.against <= told)
    ) and not other.chosen <= told


def _same_thing(other: Choice, choice: Choice, weights: Weights) -> bool:
    """Return whether a feeling, or what is so, is denied of the very thing that it is said of."""
    shared = len(choice.about & other.about)
    enough = shared > 1 or (choice.kind == FEELS and choice.about == other.about)
    return enough and weights.similarity(choice.about, other.about) >= _ALIKE[choice.kind]


def _same_place(other: Choice, choice: Choice, weights: Weights) -> bool:
    """Return whether two things of different names are said to have the same place."""
    return (
        not choice.chosen & other.chosen
        and weights.similarity(choice.about, other.about) >= _SAME_PLACE
        and not choice.chosen & other.about
        and not other.chosen & choice.about
    )


def _against_deeds(choice: Choice, deeds: Sequence[Deed]) -> Iterator[Turn]:
    if choice.kind not in (SWITCHED, STOPPED) or not choice.against:
        return
    for deed in deeds:
        if (
            deed.origin.order < choice.origin.order
            and deed.origin.speaker == choice.origin.speaker
            and deed.strength >= DOING
            and choice.against <= deed.terms
            and (choice.kind == SWITCHED or deed.verb in choice.about)
        ):
            yield Turn(deed, choice, replaces=True)


@dataclass(frozen=True)
class Opposition:
    """A denial with what speaks against it.

    Args:
        denials: Saying the same, oldest first, at most two.
        deeds: Best first, at most three, each of another passage.
        score: How surely they cannot both hold, 0–1 and a little more.
    """

    denials: tuple[Denial, ...]
    deeds: tuple[Deed, ...]
    score: float


def find_oppositions(denials: Sequence[Denial], deeds: Sequence[Deed], weights: Weights) -> list[Opposition]:
    """Return the denials that something speaks against, those that say the same together.

    Args:
        denials: Oldest first.
        deeds: Oldest first.
        weights: Of the words.
    """
    postings = Postings()
    for number, deed in enumerate(deeds):
        postings.add(number, deed.terms)
    found: list[Opposition] = []
    for group in _groups(denials, weights):
        best: dict[str, tuple[float, int]] = {}
        for denial in group:
            for alternative in denial.alternatives:
                for number in postings.near(weights.rarest(alternative.stems)):
                    deed = deeds[number]
                    score = _score(denial, alternative, deed, weights)
                    place = deed.origin.passage.id + deed.origin.fact
                    if score and (place not in best or score > best[place][0]):
                        best[place] = score, number
        if best:
            ranked = sorted(best.values(), key=lambda pair: (-pair[0], pair[1]))
            kept = tuple(deeds[number] for number in _sides(ranked, deeds))
            found.append(Opposition((group[0], *group[1:][-1:]), kept, ranked[0][0]))
    return found


def _sides(ranked: list[tuple[float, int]], deeds: Sequence[Deed]) -> list[int]:
    """Return the best, the first that was said of those nearly as good and as sure, the first at all, the next best."""
    good = [number for score, number in ranked if score >= _NEARLY * ranked[0][0]]
    sure = [number for number in good if deeds[number].strength >= deeds[good[0]].strength]
    return list(dict.fromkeys((good[0], min(sure), min(good), *good)))[:_MOST_SIDES]


def _score(denial: Denial, alternative: Alternative, deed: Deed, weights: Weights) -> float:
    if denial.origin.speaker != deed.origin.speaker or not (denial.origin.is_new or deed.origin.is_new):
        return 0.0
    if _is_one_breath(denial.origin, deed.origin):
        return 0.0
    coverage = weights.coverage(alternative.stems, deed.terms, denial.names)
    same = denial.verb == deed.verb or (is_getting(denial.verb) and is_getting(deed.verb))
    if deed.presupposed and is_light(deed.verb) and is_light(denial.verb) and coverage >= _COVERED:
        same = True
    names = alternative.stems & denial.names
    if (deed.verb == "hav" and not same) or (names and not names & deed.terms):
        return 0.0
    if len(alternative.stems & deed.terms) < _ENOUGH and not same and not names:
        return 0.0
    plain = alternative.core - denial.names
    if (names and plain and not plain & deed.terms) or (deed.head and deed.head not in alternative.stems):
        return 0.0
    needed = _NEEDED[deed.strength] + (_YET if denial.has_yet else 0.0)
    if coverage + (_SAME_VERB if same else 0.0) < needed or (denial.has_yet and not same):
        return 0.0
    focus = weights.similarity(alternative.stems, deed.terms)
    return (0.7 * coverage + 0.3 * focus) * deed.strength + (_SAME_VERB if same else 0.0)


def _is_one_breath(one: Origin, other: Origin) -> bool:
    """Return whether both are of one message of a conversation, whose sentences are meant together."""
    return (
        bool(one.passage.speaker) and not one.fact and not other.fact and one.passage.id == other.passage.id
    )


def _all_stems(denial: Denial) -> frozenset[str]:
    return frozenset().union(*(alternative.stems for alternative in denial.alternatives))


def _groups(denials: Sequence[Denial], weights: Weights) -> list[list[Denial]]:
    """Put denials of the same together."""
    groups: list[list[Denial]] = []
    postings = Postings()
    of: list[int] = []
    for number, denial in enumerate(denials):
        stems = _all_stems(denial)
        home = -1
        for other in postings.near(weights.rarest(stems)):
            same = _all_stems(denials[other])
            if (
                denials[other].origin.speaker == denial.origin.speaker
                and weights.similarity(stems, same) >= 0.7
            ):
                home = of[other]
                break
        if home < 0:
            home = len(groups)
            groups.append([])
        groups[home].append(denial)
        of.append(home)
        postings.add(number, stems)
    return groups
