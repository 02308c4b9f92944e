"""Pairs choices with what they turn away from: a switch, a stop, another preference, another home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.reflection.claims.choice_patterns import (
    FAVOURITE,
    FEELS,
    HOLDER,
    HOLDS,
    LIVES,
    OCCUPIES,
    PREFERS,
    STOPPED,
    SWITCHED,
    WORKS,
)
from workbench.engine.reflection.claims.deeds import DOING
from workbench.engine.reflection.claims.weights import Postings
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.reflection.claims.model import Choice, Deed
    from workbench.engine.reflection.claims.weights import Weights


_SAME_PLACE: Final = 0.6
_ALIKE: Final = {FEELS: 0.8, HOLDS: 0.72}
"""How similar what is felt about, or what is so, has to be on both sides."""
_ONE_AT_A_TIME: Final = frozenset((FAVOURITE, HOLDER, LIVES, WORKS))


@dataclass(frozen=True)
class Turn:
    """A choice and what it stands against.

    Args:
        old: What was said before.
        new: The choice.
        replaces: Whether the new one is said to take the old one's place; else nobody can tell which holds.
    """

    old: Choice | Deed
    new: Choice
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
        elif choice.kind in (SWITCHED, STOPPED) and other.kind in (PREFERS, SWITCHED):
            if choice.against and choice.against <= other.chosen:
                yield Turn(other, choice, replaces=True)
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
