"""All scores at a moment: as they are, on days to come, and as another λ would have them."""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import repeat
from types import MappingProxyType
from typing import Final

from workbench.engine.decay.census import Census
from workbench.engine.decay.formula import (
    ACTIVE,
    ARCHIVED,
    DORMANT,
    FADING,
    PINNED,
    UNENDING,
    Thresholds,
    day_of,
    displayed,
)
from workbench.engine.decay.records import Reckoning, assess
from workbench.engine.errors import InvalidInput
from workbench.engine.results.decay import DecayEntry, DecayView
from workbench.engine.results.memories import Score

_FATED: Final = {ARCHIVED: 0.0, PINNED: 1.0}


def view(
    census: Census, reckoning: Reckoning, *, forecast: Sequence[int] = (), lambda_: float | None = None
) -> DecayView:
    """Return all scores at the moment, in the order of the census.

    Args:
        census: The memories.
        reckoning: The moment and the constants in force.
        forecast: Calendar days from today, 0 or more: the keys of each entry's `forecast`, its scores (0-1) on
            these days if nobody touches it.
        lambda_: Another decay per day; entries whose status differs from the one in force have it in `would_be`.

    Raises:
        InvalidInput: A day lies in the past, or λ is negative or no number.
    """
    if any(day < 0 for day in forecast):
        raise InvalidInput("A forecast looks ahead.", remedy="Give a number of days from 0 on.")
    told = reckoning if lambda_ is None else reckoning_with(reckoning, lambda_)
    thresholds, rate = told.thresholds, told.settings.lambda_
    today = day_of(told.now, told.zone)
    raws = census.raws(today, rate)
    scores, statuses = graded(census, raws, thresholds)
    changes: Sequence[str | None] = [None] * len(scores)
    if lambda_ is not None:
        before = graded(census, census.raws(today, reckoning.settings.lambda_), thresholds)[1]
        changes = [then if then != now else None for now, then in zip(before, statuses, strict=True)]
    ahead: Sequence[Mapping[str, float] | None] = [None] * len(scores)
    if forecast:
        ahead = forecasts(census, today, rate, forecast)
    steady = [weight == UNENDING for weight in census.weights]
    columns = (
        census.ids,
        census.stores,
        census.bases,
        [None if endless else weight for endless, weight in zip(steady, census.weights, strict=True)],
        census.counts,
        census.created,
        census.accessed,
        census.pinned,
        [
            None if endless or pin else raw
            for endless, pin, raw in zip(steady, census.pinned, raws, strict=True)
        ],
        scores,
        statuses,
        census.titles,
        ahead,
        changes,
        census.tags,
        census.entities,
        census.archived,
    )
    return DecayView(
        told.now, rate, _entries(columns), thresholds.active, thresholds.fading, thresholds.archive
    )


def _entries(columns: Sequence[Sequence[object]]) -> tuple[DecayEntry, ...]:
    """Return the entries whose fields stand in columns, in the order in which the class names them.

    Filling one field of all of them after the other takes a third of the time that making each one takes.
    """
    entries = tuple(map(DecayEntry.__new__, repeat(DecayEntry, len(columns[0]))))
    for field, column in zip(dataclasses.fields(DecayEntry), columns, strict=True):
        fill = getattr(DecayEntry, field.name).__set__
        deque(map(fill, entries, column), maxlen=0)
    return entries


def at_another_moment(known: DecayView, census: Census, reckoning: Reckoning) -> DecayView:
    """Return the same scores at another moment of the same day, which stands for dates that nobody wrote down.

    Args:
        known: What `view` answered for the census.
        census: The memories.
        reckoning: The moment.
    """
    now, entries = reckoning.now, known.entries
    if census.taken != now:
        changed = list(entries)
        for row in census.undated:
            changed[row] = dataclasses.replace(
                entries[row],
                created=now if census.created[row] is census.taken else census.created[row],
                last_accessed=now if census.accessed[row] is census.taken else census.accessed[row],
            )
        entries = tuple(changed)
    return dataclasses.replace(known, now=now, entries=entries)


def graded(census: Census, raws: Sequence[float], thresholds: Thresholds) -> tuple[list[float], list[str]]:
    """Return the scores (0-1) and statuses that go with raw relevance; as `records.value_and_status` for one.

    Args:
        census: The memories.
        raws: Their raw relevance, 0 or more.
        thresholds: Of the statuses.
    """
    active, fading, archive = thresholds.active, thresholds.fading, thresholds.archive
    scores = [
        (min(1.0, raw)) if not fate else _FATED[fate] for raw, fate in zip(raws, census.fates, strict=True)
    ]
    statuses = [
        fate
        or (
            ACTIVE
            if score >= active
            else FADING
            if score >= fading
            else DORMANT
            if score >= archive
            else ARCHIVED
        )
        for score, fate in zip(scores, census.fates, strict=True)
    ]
    return scores, statuses


def assessed(census: Census, reckoning: Reckoning) -> list[Score]:
    """Return every memory's score at the moment, its terms explained.

    Memories whose terms are the same have one and the same score.

    Args:
        census: The memories.
        reckoning: The moment and the constants.
    """
    known: dict[tuple[float, float, int, int, bool, bool], Score] = {}
    found = []
    rows = zip(
        census.bases, census.weights, census.counts, census.days, census.pinned, census.archived, strict=True
    )
    for row, terms in enumerate(rows):
        score = known.get(terms)
        if score is None:
            score = known[terms] = assess(census.record(row), reckoning)
        found.append(score)
    return found


def reckoning_with(reckoning: Reckoning, lambda_: float) -> Reckoning:
    """Return the same moment and constants with another λ.

    Raises:
        InvalidInput: λ is negative or no number.
    """
    if not 0 <= lambda_ < math.inf:
        raise InvalidInput("λ is a number from 0 on.", where=f"{lambda_}", remedy="The usual value is 0.03.")
    return dataclasses.replace(reckoning, settings=dataclasses.replace(reckoning.settings, lambda_=lambda_))


def forecasts(census: Census, today: int, lambda_: float, days: Sequence[int]) -> list[Mapping[str, float]]:
    """Return every memory's scores (0-1) on days to come if nobody touches it, by the day's number.

    Memories whose terms are the same have one and the same forecast.

    Args:
        census: The memories.
        today: As a proleptic ordinal.
        lambda_: Decay per day.
        days: Calendar days from today, 0 or more.
    """
    names = [str(day) for day in days]
    fated = {fate: MappingProxyType(dict.fromkeys(names, value)) for fate, value in _FATED.items()}
    # Few days and many memories: each power is taken once, by the very function that scores one memory.
    later = {
        last: [math.exp(-lambda_ * max(0, today + day - last)) for day in days] for last in set(census.days)
    }
    known: dict[tuple[float, float, float, int], Mapping[str, float]] = {}
    found: list[Mapping[str, float]] = []
    forecast: Mapping[str, float]
    columns = zip(census.bases, census.boosts, census.weights, census.days, census.fates, strict=True)
    for base, boost, weight, last, fate in columns:
        terms = (base, boost, weight, last)
        if fate:
            forecast = fated[fate]
        elif (same := known.get(terms)) is not None:
            forecast = same
        else:
            scores = [displayed(base * power * boost * weight) for power in later[last]]
            forecast = known[terms] = MappingProxyType(dict(zip(names, scores, strict=True)))
        found.append(forecast)
    return found
