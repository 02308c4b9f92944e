"""One memory's scores on any day, and each with its terms, out of an answer that is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from workbench.engine.decay.formula import UNENDING, Thresholds, day_of
from workbench.engine.decay.records import DecayRecord, explain, value_and_status
from workbench.engine.results.decay import DecayEntry, DecayView, ScorePoint
from workbench.engine.results.memories import Score

UNMADE = "unmade"
UNRECORDED = "unrecorded"


def course(view: DecayView, entry: DecayEntry, days: Sequence[int]) -> tuple[ScorePoint, ...]:
    """Return a memory's scores on some days if nobody touches it (design document §9.1).

    What is pinned or archived counts as that since its last access, what never decays by its store since it was
    made; earlier than that, nobody wrote down what the score was.

    Args:
        view: Its moment, rate and thresholds count.
        entry: One of its entries.
        days: Calendar days from the view's, negative in the past.

    Returns:
        A point for each of the days, in their order.
    """
    record, thresholds = record_of(entry), thresholds_of(view)
    today, made, last = _ordinals(view, entry)
    points = []
    for day in days:
        unknown = _unknown(today + day, made, last) if day < 0 else ""
        if unknown:
            points.append(ScorePoint(day, None, unknown))
            continue
        raw = record.raw(max(0, today + day - last), view.lambda_)
        points.append(ScorePoint(day, *value_and_status(raw, record, thresholds)))
    return tuple(points)


def terms(view: DecayView, entry: DecayEntry, day: int) -> Score | None:
    """Return a memory's score on one day with the terms of the formula; None where it is not known.

    Args:
        view: As for `course`.
        entry: Likewise.
        day: Calendar days from the view's, negative in the past.
    """
    today, made, last = _ordinals(view, entry)
    if day < 0 and _unknown(today + day, made, last):
        return None
    days = max(0, today + day - last)
    return explain(record_of(entry), days, view.lambda_, thresholds_of(view))


def thresholds_of(view: DecayView) -> Thresholds:
    """Return the thresholds that an answer was made with."""
    return Thresholds(view.active_threshold, view.fading_threshold, view.archive_threshold)


def record_of(entry: DecayEntry) -> DecayRecord:
    """Return what an entry's score depends on."""
    return DecayRecord(
        entry.id,
        entry.store,
        entry.base,
        entry.created,
        entry.last_accessed,
        entry.access_count,
        entry.pinned,
        entry.archived,
        UNENDING if entry.type_weight is None else entry.type_weight,
        entry.title,
    )


def _ordinals(view: DecayView, entry: DecayEntry) -> tuple[int, int, int]:
    """Return the days, as proleptic ordinals, of the view, of the making and of the first score that is known."""
    zone = view.now.tzinfo or UTC
    made = day_of(entry.created, zone)
    endless = entry.type_weight is None and not entry.archived
    return view.now.toordinal(), made, made if endless else day_of(entry.last_accessed, zone)


def _unknown(day: int, made: int, last: int) -> str:
    if day < made:
        return UNMADE
    return UNRECORDED if day < last else ""
