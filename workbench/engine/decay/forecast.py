"""What scores will be, what falls below a threshold when, and what another λ would change."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from datetime import date

from workbench.engine.decay import formula
from workbench.engine.decay.records import DecayRecord, Reckoning, value_and_status, view
from workbench.engine.errors import InvalidInput
from workbench.engine.results import DecayView, Fall, Falls


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
    today = reckoning.now.astimezone(reckoning.zone).toordinal()
    entries = []
    for record, entry in zip(records, now.entries, strict=True):
        gone = today - record.last_accessed.astimezone(reckoning.zone).toordinal()
        ahead = {}
        for day in days:
            raw = record.raw(max(0, gone + day), reckoning.settings.lambda_)
            ahead[str(day)] = value_and_status(raw, record, reckoning.thresholds)[0]
        entries.append(dataclasses.replace(entry, forecast=ahead))
    return dataclasses.replace(now, entries=tuple(entries))


def falls(records: Iterable[DecayRecord], within: int, reckoning: Reckoning) -> Falls:
    """Return what passes a threshold in the days to come if nobody touches it, the soonest first.

    Thresholds that a memory passes on one and the same day make one fall, past the lowest of them.

    Args:
        records: The memories.
        within: Calendar days from today that are looked at, 0 or more.
        reckoning: The moment and the constants.

    Raises:
        InvalidInput: The days lie in the past.
    """
    if within < 0:
        raise InvalidInput("A forecast looks ahead.", remedy="Give a number of days from 0 on.")
    today = reckoning.now.astimezone(reckoning.zone).toordinal()
    lambda_ = reckoning.settings.lambda_
    within = min(within, date.max.toordinal() - today)
    found = []
    for record in records:
        if record.pinned or record.archived or record.type_weight == formula.UNENDING:
            continue
        last = record.last_accessed.astimezone(reckoning.zone).toordinal()
        status = value_and_status(record.raw(max(0, today - last), lambda_), record, reckoning.thresholds)[1]
        for threshold, below in reckoning.thresholds.named:
            day = formula.days_until(threshold, record.base, lambda_, record.access_count, record.type_weight)
            # Of a memory whose last access lies ahead, the score stays what it is until then.
            if not day or not 0 < last + day - today <= within:
                continue
            after = value_and_status(record.raw(day, lambda_), record, reckoning.thresholds)[1]
            if after != below:
                continue
            ahead = last + day - today
            on = date.fromordinal(today + ahead)
            found.append(Fall(record.id, record.store, record.title, status, after, threshold, ahead, on))
            status = after
    found.sort(key=lambda fall: (fall.days, fall.id))
    return Falls(reckoning.now, lambda_, within, tuple(found))


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
    other = reckoning_with(reckoning, lambda_)
    now, then = view(records, reckoning), view(records, other)
    entries = tuple(
        dataclasses.replace(new, would_be=new.status if new.status != old.status else None)
        for old, new in zip(now.entries, then.entries, strict=True)
    )
    return dataclasses.replace(then, entries=entries)


def reckoning_with(reckoning: Reckoning, lambda_: float) -> Reckoning:
    """Return the same moment and constants with another λ.

    Raises:
        InvalidInput: λ is negative or no number.
    """
    if not 0 <= lambda_ < float("inf"):
        raise InvalidInput("λ is a number from 0 on.", where=f"{lambda_}", remedy="The usual value is 0.03.")
    return dataclasses.replace(reckoning, settings=dataclasses.replace(reckoning.settings, lambda_=lambda_))
