"""Pairs what somebody says he has never done with what he says he has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.reflection.claims.deeds import DOING, DONE, TRIES, is_getting, is_light
from workbench.engine.reflection.claims.weights import Postings
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.reflection.claims.model import Alternative, Deed, Denial
    from workbench.engine.reflection.claims.weights import Weights

_NEEDED: Final = {DONE: 0.55, DOING: 0.65, TRIES: 0.85}
"""How much of what is denied the other side must speak of, by how surely it says that it was done."""
_SAME_VERB: Final = 0.2
_COVERED: Final = 0.6
_ENOUGH: Final = 2
"""Words in common where neither the verb nor a name is."""
_YET: Final = 0.2
_NEARLY: Final = 0.5
_MOST_SIDES: Final = 3


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
