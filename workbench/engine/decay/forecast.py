"""What scores will be, what falls below a threshold when, and what another λ would change."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from workbench.engine.decay import formula
from workbench.engine.decay.records import DecayRecord, Reckoning, value_and_status, view
from workbench.engine.errors import InvalidInput
from workbench.engine.results import DecayView


@dataclass(frozen=True)
class Falling:
    """A memory that will pass a threshold if nobody touches it.

    Args:
        id: Its identifier.
        before: Its status until then.
        after: Its status from then on.
        threshold: The score it falls below, 0-1.
        days: In how many calendar days, from 1.
        on: The day, in the workspace's time zone.
    """

    id: str
    before: str
    after: str
    threshold: float
    days: int
    on: date


def forecast(records: Sequence[DecayRecord], days: Sequence[int], reckoning: Reckoning) -> DecayView:
    """Return all scores at the moment, each with its scores (0-1) some days from now if nobody touches it.

    Args:
        records: The memories, in the order wanted.
        days: Calendar days from today, 0 or more; the keys of each entry's `forecast`.
        reckoning: The moment and the constants.

    Raises:
        InvalidInput: A day lies in the past.
    """
    if any(day < 0 for day in days):
        raise InvalidInput("A forecast looks ahead.", remedy="Give a number of days from 0 on.")
    now = view(records, reckoning)
    entries = []
    for record, entry in zip(records, now.entries, strict=True):
        gone = formula.days_between(record.last_accessed, reckoning.now, reckoning.zone)
        ahead = {}
        for day in days:
            raw = record.raw(gone + day, reckoning.settings.lambda_)
            ahead[str(day)] = value_and_status(raw, record, reckoning.thresholds)[0]
        entries.append(dataclasses.replace(entry, forecast=ahead))
    return dataclasses.replace(now, entries=tuple(entries))


def falling(records: Iterable[DecayRecord], within: int, reckoning: Reckoning) -> list[Falling]:
    """Return what passes a threshold in the days to come if nobody touches it, the soonest first.

    Args:
        records: The memories.
        within: Calendar days from today that are looked at.
        reckoning: The moment and the constants.
    """
    today = reckoning.now.astimezone(reckoning.zone).date()
    lambda_ = reckoning.settings.lambda_
    found = []
    for record in records:
        if record.pinned or record.archived or record.type_weight == formula.UNENDING:
            continue
        gone = formula.days_between(record.last_accessed, reckoning.now, reckoning.zone)
        status = value_and_status(record.raw(gone, lambda_), record, reckoning.thresholds)[1]
        for threshold, below in reckoning.thresholds.named:
            day = formula.days_until(threshold, record.base, lambda_, record.access_count, record.type_weight)
            if day is None or not 0 < day - gone <= within:
                continue
            after = value_and_status(record.raw(day, lambda_), record, reckoning.thresholds)[1]
            # Thresholds that are passed on one and the same day make one fall.
            if after != below:
                continue
            ahead = day - gone
            found.append(Falling(record.id, status, after, threshold, ahead, today + timedelta(days=ahead)))
            status = after
    return sorted(found, key=lambda fall: (fall.days, fall.id))


def with_lambda(records: Sequence[DecayRecord], lambda_: float, reckoning: Reckoning) -> DecayView:
    """Return all scores as another λ would have them.

    Args:
        records: The memories, in the order wanted.
        lambda_: The other decay per day, 0 or more.
        reckoning: The moment and the constants in force.

    Returns:
        The view under the other λ; an entry whose status differs from the one in force has it in `would_be`.

    Raises:
        InvalidInput: λ is negative or no number.
    """
    if not 0 <= lambda_ < float("inf"):
        raise InvalidInput("λ is a number from 0 on.", where=f"{lambda_}", remedy="The usual value is 0.03.")
    other = dataclasses.replace(reckoning, settings=dataclasses.replace(reckoning.settings, lambda_=lambda_))
    now, then = view(records, reckoning), view(records, other)
    entries = tuple(
        dataclasses.replace(new, would_be=new.status if new.status != old.status else None)
        for old, new in zip(now.entries, then.entries, strict=True)
    )
    return dataclasses.replace(then, entries=entries)
