"""What to look into: new passages by known entity, topic, tag and day, the weightiest first (design §10.3, phase 1)."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import STOP_WORDS, terms
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.model import Agenda, Area
from workbench.engine.reflection.passages import find_named
from workbench.engine.reflection.rules.phrasing import counted, is_topical, listed
from workbench.engine.triggers.phrases import routing_cues

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from workbench.engine.reflection.model import Passage, Snapshot, Work

MOST_AREAS: Final = 80
"""Areas of an agenda; what is in none of the first ones is gathered by day, and all further days in one."""
_TYPE_WEIGHTS: Final = {
    "correction": 4.0,
    "decision": 3.5,
    "preference": 3.0,
    "fact": 2.0,
    "task": 2.0,
    "event": 1.5,
    "emotion": 1.0,
}
_CHAT_WEIGHT: Final = 1.0
_CONFIDENCE: Final = {"high": 1.2, "low": 0.7}
_EXPLICIT: Final = 1.5
_KNOWN: Final = 1.5
_NEW_DAYS: Final = 30.0
_FULL_WORDS: Final = 12
_WEIGHTIEST: Final = 5
_MOST_DAYS: Final = 20
_FEWEST_IN_TOPIC: Final = 3
_IMAGE: Final = lazy_pattern(r"\[image:[^\]]*\]", re.IGNORECASE)


def survey(snapshot: Snapshot, work: Work) -> Agenda:
    """Return the areas to look into, the weightiest first; every passage is in at least one.

    An area weighs the mean of its five weightiest passages, times `log2(1 + passages)` for recurrence, times
    `1 + 0.25 · (days - 1)`, at most twice, for lasting. A passage weighs by its type (corrections, decisions and
    preferences above chat), its confidence, whether the user asked for it, its substance and its age. Known entities
    weigh half as much again as topics.

    Args:
        snapshot: Only its passages are read, and the entities that they name.
        work: Told of progress.
    """
    passages = snapshot.passages
    weights = [passage_weight(passage, snapshot.now) for passage in passages]
    work.step(1, 3)
    named = find_named(passages, snapshot.graph, work)
    work.step(2, 3)
    areas: list[Area] = []
    labels: set[str] = set()
    for entity, where in named.passages.items():
        record = named.records[entity]
        labels.update((record.label.casefold(), *(alias.casefold() for alias in record.aliases)))
        areas.append(_area(record.label, where, passages, weights, entity.removeprefix("entity:")))
    for topic, where in _by_topic(passages).items():
        if topic.casefold() not in labels and len(where) > 1:
            areas.append(_area(topic, where, passages, weights))
    areas.sort(key=lambda area: (-area.weight, area.subject))
    kept = areas[: MOST_AREAS - _MOST_DAYS]
    covered = {at for area in kept for at in area.passages}
    rest = [at for at in range(len(passages)) if at not in covered]
    kept.extend(_by_day(rest, passages, weights))
    work.step(3, 3)
    return Agenda(tuple(sorted(kept, key=lambda area: (-area.weight, area.subject))))


def passage_weight(passage: Passage, now: datetime) -> float:
    """Return how much a passage matters, about 0.1–9."""
    weight = _TYPE_WEIGHTS.get(passage.type, _CHAT_WEIGHT) * _CONFIDENCE.get(passage.confidence, 1.0)
    if passage.source == "user-explicit":
        weight *= _EXPLICIT
    if not passage.type:
        substance = min(1.0, len(passage.text.split()) / _FULL_WORDS)
        weight *= 0.2 + 0.8 * substance
        if passage.text.rstrip().endswith("?"):
            weight *= 0.5
    if passage.moment is None:
        return weight
    age = max(0.0, (now - passage.moment).total_seconds() / 86_400)
    return weight * (0.7 + 0.3 * math.exp(-age / _NEW_DAYS))


def led_by(agenda: Agenda, themes: Iterable[str]) -> Agenda:
    """Return the agenda with the areas that recurring themes are about raised by half, weightiest first.

    Args:
        agenda: Of the survey.
        themes: Lines of meta-reflection, each beginning with what recurs: “Ningbo (in 4 of 6 reflections)”.
    """
    words = {term for theme in themes for term in terms(theme.partition(" (")[0])} - STOP_WORDS
    if not words:
        return agenda
    raised = [
        Area(
            area.subject,
            area.passages,
            area.weight * 1.5,
            f"{area.reason}; a theme of past reflections",
            area.entity,
        )
        if words.intersection(terms(area.subject))
        else area
        for area in agenda.areas
    ]
    return Agenda(tuple(sorted(raised, key=lambda area: (-area.weight, area.subject))))


def _by_topic(passages: Sequence[Passage]) -> dict[str, tuple[int, ...]]:
    """Return passages by tag; those without tags by the router’s topics and by words that recur in them."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    words: defaultdict[str, list[int]] = defaultdict(list)
    cues = routing_cues()
    ordinary = cues.words["stop_words"] | cues.words["no_names"] | STOP_WORDS
    bare = 0
    for at, passage in enumerate(passages):
        for tag in passage.tags:
            found[tag.casefold()].append(at)
        if passage.tags:
            continue
        bare += 1
        said = set(terms(_IMAGE.sub(" ", passage.text)))
        for topic in {cues.topics[word] for word in said if word in cues.topics}:
            found[topic].append(at)
        for word in said:
            if word not in ordinary and word not in cues.topics and is_topical(word):
                words[word].append(at)
    most = max(_FEWEST_IN_TOPIC, bare // 20)
    recurring = [word for word, where in words.items() if _FEWEST_IN_TOPIC <= len(where) <= most]
    recurring.sort(key=lambda word: (-_spread(words[word], passages), word))
    for word in recurring[:MOST_AREAS]:
        found.setdefault(word, words[word])
    return {topic: tuple(dict.fromkeys(where)) for topic, where in found.items()}


def _spread(where: Sequence[int], passages: Sequence[Passage]) -> float:
    return len(where) + 2.0 * len({passages[at].day for at in where})


def _by_day(rest: Sequence[int], passages: Sequence[Passage], weights: Sequence[float]) -> list[Area]:
    """Return what is in no other area by its day, the weightiest days on their own and the others together."""
    days: defaultdict[str, list[int]] = defaultdict(list)
    for at in rest:
        days[passages[at].day].append(at)
    ranked = sorted(days, key=lambda day: (-sum(weights[at] for at in days[day]), day))
    areas = [_area(day or "undated", days[day], passages, weights) for day in ranked[: _MOST_DAYS - 1]]
    others = sorted(at for day in ranked[_MOST_DAYS - 1 :] for at in days[day])
    if others:
        areas.append(_area("other days", others, passages, weights))
    # A day holds what nothing else does: it comes after what has a subject of its own.
    return [Area(a.subject, a.passages, a.weight * 0.5, a.reason, a.entity) for a in areas]


def _area(
    subject: str,
    where: Sequence[int],
    passages: Sequence[Passage],
    weights: Sequence[float],
    entity: str = "",
) -> Area:
    best = sorted((weights[at] for at in where), reverse=True)[:_WEIGHTIEST]
    days = {passages[at].day for at in where if passages[at].day}
    lasting = min(2.0, 1 + 0.25 * max(0, len(days) - 1))
    weight = sum(best) / max(1, len(best)) * math.log2(1 + len(where)) * lasting
    types = Counter(passages[at].type for at in where if passages[at].type)
    parts = [counted(number, kind) for kind, number in types.most_common(3)]
    said = counted(len(where), "passage")
    reason = f"{said} on {counted(len(days), 'day')}" if days else said
    if entity:
        weight *= _KNOWN
    return Area(
        subject, tuple(where), round(weight, 4), reason + (f", {listed(parts)}" if parts else ""), entity
    )
