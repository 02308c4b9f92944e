"""All scores at a moment: as they are, on days to come, and as another λ would have them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
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
from workbench.engine.decay.records import Reckoning
from workbench.engine.errors import InvalidInput
from workbench.engine.results import DecayEntry, DecayView

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
        days = _Days(census, today, rate, forecast)
        ahead = [Ahead(days, row) for row in range(len(scores))]
    steady = [weight == UNENDING for weight in census.weights]
    entries = map(
        DecayEntry,
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
    return DecayView(told.now, rate, tuple(entries), thresholds.active, thresholds.fading, thresholds.archive)


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


def reckoning_with(reckoning: Reckoning, lambda_: float) -> Reckoning:
    """Return the same moment and constants with another λ.

    Raises:
        InvalidInput: λ is negative or no number.
    """
    if not 0 <= lambda_ < math.inf:
        raise InvalidInput("λ is a number from 0 on.", where=f"{lambda_}", remedy="The usual value is 0.03.")
    return dataclasses.replace(reckoning, settings=dataclasses.replace(reckoning.settings, lambda_=lambda_))


class _Days:
    """The days of a forecast, shared by all that is foretold for them."""

    def __init__(self, census: Census, today: int, lambda_: float, days: Sequence[int]) -> None:
        self.by_name = {str(day): day for day in days}
        self.census = census
        self.today = today
        self.lambda_ = lambda_

    def score(self, row: int, day: int) -> float:
        """Return a memory's score some days from today."""
        census = self.census
        if fate := census.fates[row]:
            return _FATED[fate]
        power = math.exp(-self.lambda_ * max(0, self.today + day - census.days[row]))
        return displayed(census.bases[row] * power * census.boosts[row] * census.weights[row])


class Ahead(Mapping[str, float]):
    """One memory's scores on the days of a forecast, reckoned when they are looked at."""

    __slots__ = ("_days", "_row")

    def __init__(self, days: _Days, row: int) -> None:
        self._days = days
        self._row = row

    def __getitem__(self, day: str) -> float:
        return self._days.score(self._row, self._days.by_name[day])

    def __iter__(self) -> Iterator[str]:
        return iter(self._days.by_name)

    def __len__(self) -> int:
        return len(self._days.by_name)

    def __repr__(self) -> str:
        return repr(dict(self))
