"""What passes a threshold in the days to come if nobody touches it."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from workbench.engine.decay import formula
from workbench.engine.decay.census import Census
from workbench.engine.decay.formula import Thresholds
from workbench.engine.decay.records import Reckoning
from workbench.engine.errors import InvalidInput
from workbench.engine.results.decay import Fall, Falls


class Passing(NamedTuple):
    """A threshold that is passed some days (from 1) after the last access, and the statuses around it."""

    days: int
    before: str
    after: str
    threshold: float


def passings(
    base: float, lambda_: float, access_count: int, type_weight: float, thresholds: Thresholds
) -> tuple[Passing, ...]:
    """Return every threshold that a score passes after the last access, the soonest first.

    Thresholds that are passed on one and the same day are passed at once, down to the lowest of them.

    Args:
        base: As for `formula.score`, and so the others.
        lambda_: Decay per day.
        access_count: From 1.
        type_weight: Finite.
        thresholds: Of the statuses.
    """
    value = formula.displayed(formula.score(base, lambda_, 0, access_count, type_weight))
    status = formula.status_of(value, thresholds)
    found: dict[int, Passing] = {}
    for threshold, below in thresholds.named:
        days = formula.days_until(threshold, base, lambda_, access_count, type_weight)
        if days:
            before = found[days].before if days in found else status
            found[days] = Passing(days, before, below, threshold)
            status = below
    return tuple(found.values())


def falls(census: Census, within: int, reckoning: Reckoning) -> Falls:
    """Return what passes a threshold in the days to come if nobody touches it, the soonest first, then by id.

    Args:
        census: The memories.
        within: Calendar days from today that are looked at, 0 or more.
        reckoning: The moment and the constants.

    Raises:
        InvalidInput: The days lie in the past.
    """
    if within < 0:
        raise InvalidInput("A forecast looks ahead.", remedy="Give a number of days from 0 on.")
    today = formula.day_of(reckoning.now, reckoning.zone)
    lambda_, thresholds = reckoning.settings.lambda_, reckoning.thresholds
    last_day = min(within, date.max.toordinal() - today)
    # Most memories share their terms with many others.
    known: dict[tuple[float, int, float], tuple[Passing, ...]] = {}
    found = []
    columns = zip(census.bases, census.counts, census.weights, census.days, census.fates, strict=True)
    for row, (base, count, weight, day, fate) in enumerate(columns):
        if fate:
            continue
        key = (base, count, weight)
        if key not in known:
            known[key] = passings(base, lambda_, count, weight, thresholds)
        for passing in known[key]:
            ahead = day + passing.days - today
            if 0 < ahead <= last_day:
                found.append((ahead, census.ids[row], row, passing))
    found.sort(key=lambda fall: fall[:3])
    return Falls(
        reckoning.now,
        lambda_,
        within,
        tuple(
            Fall(
                memory_id,
                census.stores[row],
                census.titles[row],
                passing.before,
                passing.after,
                passing.threshold,
                ahead,
                date.fromordinal(today + ahead),
            )
            for ahead, memory_id, row, passing in found
        ),
    )
