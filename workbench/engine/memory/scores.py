"""The scores of all memories in columns: now, on future days, and with another λ."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, tzinfo
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from workbench.engine.errors import InvalidInput
from workbench.engine.markdown.decay_scores import ScoreEntry
from workbench.engine.markdown.statements import WrittenAccesses
from workbench.engine.memory import decay
from workbench.engine.memory.decay import (
    ACTIVE,
    ARCHIVED,
    DORMANT,
    FADING,
    PINNED,
    UNENDING,
    Accesses,
    DecayContext,
    DecayRecord,
    MemoryFacts,
    Thresholds,
    base_of,
    day_of,
    decay_record,
    displayed,
    explain_score,
    first_dates,
    score_now,
    value_and_status,
    weight_of,
)
from workbench.engine.results.decay import DecayEntry, DecayView, Fall, Falls, ScorePoint
from workbench.engine.results.memories import Score
from workbench.engine.settings.sections import DecaySettings
from workbench.engine.values import dataclass, of_columns

_FATED: Final = {ARCHIVED: 0.0, PINNED: 1.0}

UNMADE = "unmade"
UNRECORDED = "unrecorded"


@dataclass(frozen=True)
class FactColumns:
    """`MemoryFacts` of all memories with a score, as columns of equal length."""

    ids: Sequence[str]
    stores: Sequence[str]
    sources: Sequence[str]
    created: Sequence[datetime | None]
    adopted: Sequence[datetime | None]
    pinned: Sequence[bool]
    titles: Sequence[str]
    tags: Sequence[tuple[str, ...]]
    entities: Sequence[tuple[str, ...]]
    used: Sequence[WrittenAccesses | None]

    def facts(self, row: int) -> MemoryFacts:
        """Return the facts of one memory."""
        return MemoryFacts(
            id=self.ids[row],
            store=self.stores[row],
            source=self.sources[row],
            created=self.created[row],
            adopted=self.adopted[row],
            pinned=self.pinned[row],
            title=self.titles[row],
            tags=self.tags[row],
            entities=self.entities[row],
            used=self.used[row],
        )


@dataclass(frozen=True)
class ScoreTable:
    """All inputs of the scores of all memories except the moment and the constants; see `DecayRecord`.

    Args:
        taken: The moment of the table; the same object stands in for unknown dates.
    """

    ids: Sequence[str]
    stores: Sequence[str]
    bases: Sequence[float]
    weights: Sequence[float]
    counts: Sequence[int]
    created: Sequence[datetime]
    accessed: Sequence[datetime]
    pinned: Sequence[bool]
    archived: Sequence[bool]
    titles: Sequence[str]
    tags: Sequence[tuple[str, ...]]
    entities: Sequence[tuple[str, ...]]
    taken: datetime
    zone: tzinfo

    @cached_property
    def days(self) -> list[int]:
        """The day of each memory's last access in the zone, as a proleptic ordinal."""
        zone = self.zone
        return [decay.day_of(moment, zone) for moment in self.accessed]

    @cached_property
    def boosts(self) -> list[float]:
        """Each memory's log2(access count + 1)."""
        known = {count: math.log2(count + 1) for count in set(self.counts)}
        return [known[count] for count in self.counts]

    @cached_property
    def fates(self) -> list[str]:
        """`archived` (by decision) or `pinned` for each memory not subject to the formula, else empty."""
        return [
            ARCHIVED if gone else PINNED if pin or weight == UNENDING else ""
            for gone, pin, weight in zip(self.archived, self.pinned, self.weights, strict=True)
        ]

    @cached_property
    def undated(self) -> list[int]:
        """The rows in which the table's moment stands in for a date."""
        return [
            row
            for row, (made, last) in enumerate(zip(self.created, self.accessed, strict=True))
            if made is self.taken or last is self.taken
        ]

    def record(self, row: int) -> DecayRecord:
        """Return the inputs of one memory's score."""
        return DecayRecord(
            self.ids[row],
            self.stores[row],
            self.bases[row],
            self.created[row],
            self.accessed[row],
            self.counts[row],
            self.pinned[row],
            self.archived[row],
            self.weights[row],
            self.titles[row],
            self.tags[row],
            self.entities[row],
        )

    def raws(self, today: int, lambda_: float) -> list[float]:
        """Return every memory's raw relevance on a day; meaningless for memories with a fate."""
        # There are few distinct days: each power is computed once, by the function that scores single memories.
        powers = {day: math.exp(-lambda_ * max(0, today - day)) for day in set(self.days)}
        return [
            base * powers[day] * boost * weight
            for base, day, boost, weight in zip(self.bases, self.days, self.boosts, self.weights, strict=True)
        ]


def build_score_table(
    columns: FactColumns,
    entries: Mapping[str, ScoreEntry],
    pending: Mapping[str, Accesses],
    context: DecayContext,
) -> ScoreTable:
    """Return the table of all memories; each row equals `decay_record`."""
    settings, now = context.settings, context.now
    base_by_source = {source: base_of(source, settings) for source in set(columns.sources)}
    weight_by_store = {store: weight_of(store, settings) for store in set(columns.stores)}
    dates = [first_dates(*known, now) for known in zip(columns.created, columns.adopted, strict=True)]
    pins = [pin or store == "vault" for pin, store in zip(columns.pinned, columns.stores, strict=True)]
    by_text = ScoreTable(
        ids=columns.ids,
        stores=columns.stores,
        bases=[base_by_source[source] for source in columns.sources],
        weights=[weight_by_store[store] for store in columns.stores],
        counts=[1] * len(dates),
        created=[made for made, _ in dates],
        accessed=[last for _, last in dates],
        pinned=pins,
        archived=[False] * len(dates),
        titles=columns.titles,
        tags=columns.tags,
        entities=columns.entities,
        taken=now,
        zone=context.zone,
    )
    used = {memory_id for memory_id, known in zip(columns.ids, columns.used, strict=True) if known}
    changed = used | entries.keys() | pending.keys()
    return update_score_table(by_text, columns, entries, pending, context, changed)


def update_score_table(
    table: ScoreTable,
    columns: FactColumns,
    entries: Mapping[str, ScoreEntry],
    pending: Mapping[str, Accesses],
    context: DecayContext,
    ids: Container[str],
) -> ScoreTable:
    """Return a table with some memories recomputed.

    Args:
        table: A table of the same columns on the same day.
        ids: The memories to recompute.
    """
    effective = replace(context, now=table.taken)
    bases, weights, counts = list(table.bases), list(table.weights), list(table.counts)
    created, accessed = list(table.created), list(table.accessed)
    pinned, archived = list(table.pinned), list(table.archived)
    for row, memory_id in enumerate(table.ids):
        if memory_id in ids:
            record = decay_record(
                columns.facts(row), entries.get(memory_id), pending.get(memory_id), effective
            )
            bases[row], weights[row], counts[row] = record.base, record.type_weight, record.access_count
            created[row], accessed[row] = record.created, record.last_accessed
            pinned[row], archived[row] = record.pinned, record.archived
    return replace(
        table,
        bases=bases,
        weights=weights,
        counts=counts,
        created=created,
        accessed=accessed,
        pinned=pinned,
        archived=archived,
    )


def table_of_records(records: Iterable[DecayRecord], context: DecayContext) -> ScoreTable:
    """Return the table of individually built records."""
    known = tuple(records)
    return ScoreTable(
        ids=[record.id for record in known],
        stores=[record.store for record in known],
        bases=[record.base for record in known],
        weights=[record.type_weight for record in known],
        counts=[record.access_count for record in known],
        created=[record.created for record in known],
        accessed=[record.last_accessed for record in known],
        pinned=[record.pinned for record in known],
        archived=[record.archived for record in known],
        titles=[record.title for record in known],
        tags=[record.tags for record in known],
        entities=[record.entities for record in known],
        taken=context.now,
        zone=context.zone,
    )


def score_all(
    table: ScoreTable, context: DecayContext, *, forecast: Sequence[int] = (), lambda_: float | None = None
) -> DecayView:
    """Return all present scores, in the order of the table.

    Args:
        forecast: Calendar days from today, 0 or more: the keys of each entry's `forecast`, its scores (0-1) on these
            days without further access.
        lambda_: Another decay per day; `would_be` is set for entries whose status would differ.

    Raises:
        InvalidInput: A day is in the past, or λ is negative or not a number.
    """
    if any(day < 0 for day in forecast):
        raise InvalidInput("A forecast looks ahead.", remedy="Give a number of days from 0 on.")
    effective = context if lambda_ is None else with_decay_rate(context, lambda_)
    thresholds, rate = effective.thresholds, effective.settings.lambda_
    today = day_of(effective.now, effective.zone)
    raws = table.raws(today, rate)
    scores, statuses = scores_and_statuses(table, raws, thresholds)
    changes: Sequence[str | None] = [None] * len(scores)
    if lambda_ is not None:
        before = scores_and_statuses(table, table.raws(today, context.settings.lambda_), thresholds)[1]
        changes = [then if then != now else None for now, then in zip(before, statuses, strict=True)]
    ahead: Sequence[Mapping[str, float] | None] = [None] * len(scores)
    if forecast:
        ahead = forecasts(table, today, rate, forecast)
    steady = [weight == UNENDING for weight in table.weights]
    columns = (
        table.ids,
        table.stores,
        table.bases,
        [None if endless else weight for endless, weight in zip(steady, table.weights, strict=True)],
        table.counts,
        table.created,
        table.accessed,
        table.pinned,
        [
            None if endless or pin else raw
            for endless, pin, raw in zip(steady, table.pinned, raws, strict=True)
        ],
        scores,
        statuses,
        table.titles,
        ahead,
        changes,
        table.tags,
        table.entities,
        table.archived,
    )
    return DecayView(
        effective.now,
        rate,
        of_columns(DecayEntry, columns),
        thresholds.active,
        thresholds.fading,
        thresholds.archive,
    )


def moved_to_moment(known: DecayView, table: ScoreTable, context: DecayContext) -> DecayView:
    """Return the same scores at another moment of the same day, which stands in for unknown dates."""
    now, entries = context.now, known.entries
    if table.taken != now:
        changed = list(entries)
        for row in table.undated:
            changed[row] = dataclasses.replace(
                entries[row],
                created=now if table.created[row] is table.taken else table.created[row],
                last_accessed=now if table.accessed[row] is table.taken else table.accessed[row],
            )
        entries = tuple(changed)
    return dataclasses.replace(known, now=now, entries=entries)


def scores_and_statuses(
    table: ScoreTable, raws: Sequence[float], thresholds: Thresholds
) -> tuple[list[float], list[str]]:
    """Return the scores (0-1) and statuses for raw relevances; like `decay.value_and_status` for one."""
    active, fading, archive = thresholds.active, thresholds.fading, thresholds.archive
    scores = [_FATED[fate] if fate else min(1.0, raw) for raw, fate in zip(raws, table.fates, strict=True)]
    # Most memories share their score with many others.
    told = {
        each: ACTIVE
        if each >= active
        else FADING
        if each >= fading
        else DORMANT
        if each >= archive
        else ARCHIVED
        for each in set(scores)
    }
    return scores, [fate or told[score] for score, fate in zip(scores, table.fates, strict=True)]


Terms = tuple[float, float, int, int, bool, bool]
"""What alone tells the scores of two memories at one moment apart; see `explained_scores`."""


def explained_scores(
    table: ScoreTable, context: DecayContext, known: dict[Terms, Score] | None = None
) -> list[Score]:
    """Return every memory's present score with its terms explained.

    Args:
        known: Scores of the same day by their terms, shared by memories with equal ones; new ones are added.
    """
    known = {} if known is None else known
    found = []
    rows = zip(
        table.bases, table.weights, table.counts, table.days, table.pinned, table.archived, strict=True
    )
    for row, terms in enumerate(rows):
        score = known.get(terms)
        if score is None:
            score = known[terms] = score_now(table.record(row), context)
        found.append(score)
    return found


def with_decay_rate(context: DecayContext, lambda_: float) -> DecayContext:
    """Return the same context with another λ.

    Raises:
        InvalidInput: λ is negative or not a number.
    """
    if not 0 <= lambda_ < math.inf:
        raise InvalidInput(
            "λ is a number from 0 on.",
            where=f"{lambda_}",
            remedy=f"The usual value is {DecaySettings().lambda_}.",
        )
    return dataclasses.replace(context, settings=dataclasses.replace(context.settings, lambda_=lambda_))


def forecasts(
    table: ScoreTable, today: int, lambda_: float, days: Sequence[int]
) -> list[Mapping[str, float]]:
    """Return every memory's scores (0-1) on future days without further access, by the day's number.

    Memories with equal terms share one forecast.

    Args:
        today: As a proleptic ordinal.
        days: Calendar days from today, 0 or more.
    """
    names = [str(day) for day in days]
    fated = {fate: MappingProxyType(dict.fromkeys(names, value)) for fate, value in _FATED.items()}
    # There are few distinct days: each power is computed once, by the function that scores single memories.
    later = {
        last: [math.exp(-lambda_ * max(0, today + day - last)) for day in days] for last in set(table.days)
    }
    known: dict[tuple[float, float, float, int], Mapping[str, float]] = {}
    found: list[Mapping[str, float]] = []
    forecast: Mapping[str, float]
    columns = zip(table.bases, table.boosts, table.weights, table.days, table.fates, strict=True)
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


def score_course(view: DecayView, entry: DecayEntry, days: Sequence[int]) -> tuple[ScorePoint, ...]:
    """Return a memory's scores on some days without further access (design document §9.1).

    Pinned or archived memories count as such since their last access, and those in stores without decay since their
    creation; earlier scores are unknown.

    Args:
        days: Calendar days from the view's, negative in the past.

    Returns:
        One point for each day, in order.
    """
    record, thresholds = _record_of(entry), _thresholds_of(view)
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


def score_terms(view: DecayView, entry: DecayEntry, day: int) -> Score | None:
    """Return a memory's score on one day with the terms of the formula; None if unknown.

    Args:
        day: Calendar days from the view's, negative in the past.
    """
    today, made, last = _ordinals(view, entry)
    if day < 0 and _unknown(today + day, made, last):
        return None
    days = max(0, today + day - last)
    return explain_score(_record_of(entry), days, view.lambda_, _thresholds_of(view))


def _thresholds_of(view: DecayView) -> Thresholds:
    """Return the thresholds used for a view."""
    return Thresholds(view.active_threshold, view.fading_threshold, view.archive_threshold)


def _record_of(entry: DecayEntry) -> DecayRecord:
    """Return the inputs of an entry's score."""
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
    """Return proleptic ordinals of the view's day, the creation, and the first day with a known score."""
    zone = view.now.tzinfo or UTC
    made = day_of(entry.created, zone)
    endless = entry.type_weight is None and not entry.archived
    return view.now.toordinal(), made, made if endless else day_of(entry.last_accessed, zone)


def _unknown(day: int, made: int, last: int) -> str:
    if day < made:
        return UNMADE
    return UNRECORDED if day < last else ""


class ThresholdCrossing(NamedTuple):
    """A threshold passed some days (from 1) after the last access, and the statuses on both sides."""

    days: int
    before: str
    after: str
    threshold: float


def threshold_crossings(
    base: float, lambda_: float, access_count: int, type_weight: float, thresholds: Thresholds
) -> tuple[ThresholdCrossing, ...]:
    """Return every threshold that a score passes after the last access, soonest first.

    Thresholds passed on the same day form one crossing to the lowest of them.

    Args:
        type_weight: Finite.
    """
    value = decay.displayed(decay.score(base, lambda_, 0, access_count, type_weight))
    status = decay.status_of(value, thresholds)
    found: dict[int, ThresholdCrossing] = {}
    for threshold, below in thresholds.named:
        days = decay.days_until(threshold, base, lambda_, access_count, type_weight)
        if days:
            before = found[days].before if days in found else status
            found[days] = ThresholdCrossing(days, before, below, threshold)
            status = below
    return tuple(found.values())


_known_crossings = lru_cache(maxsize=1_024)(threshold_crossings)


def coming_passings(
    view: DecayView, entry: DecayEntry, within: int
) -> tuple[tuple[int, ThresholdCrossing], ...]:
    """Return the thresholds that a memory passes within some days, the soonest first, each with the days until then.

    Like `upcoming_changes` for one memory of a view: a list asks for the few that are in sight.
    """
    if entry.archived or entry.pinned or entry.type_weight is None:
        return ()
    since = view.now.toordinal() - day_of(entry.last_accessed, view.now.tzinfo or UTC)
    passings = _known_crossings(
        entry.base, view.lambda_, entry.access_count, entry.type_weight, _thresholds_of(view)
    )
    return tuple([(each.days - since, each) for each in passings if 0 < each.days - since <= within])


def next_passings(view: DecayView, within: int) -> dict[str, int]:
    """Return in how many days each memory passes its next threshold, by id; without those that pass none by then."""
    today, zone, thresholds = view.now.toordinal(), view.now.tzinfo or UTC, _thresholds_of(view)
    # Most memories share their terms with many others.
    known: dict[tuple[float, int, float], tuple[int, ...]] = {}
    found: dict[str, int] = {}
    for entry in view.entries:
        weight = entry.type_weight
        if weight is None or entry.pinned or entry.archived:
            continue
        terms = (entry.base, entry.access_count, weight)
        days = known.get(terms)
        if days is None:
            passings = threshold_crossings(terms[0], view.lambda_, terms[1], weight, thresholds)
            days = known[terms] = tuple(each.days for each in passings)
        since = today - day_of(entry.last_accessed, zone)
        for day in days:
            if day > since:
                if day - since <= within:
                    found[entry.id] = day - since
                break
    return found


def upcoming_changes(table: ScoreTable, within: int, context: DecayContext) -> Falls:
    """Return the memories that will pass a threshold without further access, soonest first, then by id.

    Args:
        within: Number of calendar days from today, 0 or more.

    Raises:
        InvalidInput: The number of days is negative.
    """
    if within < 0:
        raise InvalidInput("A forecast looks ahead.", remedy="Give a number of days from 0 on.")
    last = min(within, date.max.toordinal() - decay.day_of(context.now, context.zone))
    falls = falls_between(table, 1, last, context)
    return Falls(context.now, context.settings.lambda_, within, falls)


def falls_between(table: ScoreTable, first: int, last: int, context: DecayContext) -> tuple[Fall, ...]:
    """Return every threshold that a memory passes after its last access, by day, then by id.

    Args:
        first: Calendar days from today of the first day that counts, negative in the past.
        last: The same of the last day; none that the calendar does not have.
    """
    today = decay.day_of(context.now, context.zone)
    lambda_, thresholds = context.settings.lambda_, context.thresholds
    # Most memories share their terms with many others.
    known: dict[tuple[float, int, float], tuple[ThresholdCrossing, ...]] = {}
    found = []
    columns = zip(table.bases, table.counts, table.weights, table.days, table.fates, strict=True)
    for row, (base, count, weight, day, fate) in enumerate(columns):
        if fate:
            continue
        key = (base, count, weight)
        if key not in known:
            known[key] = threshold_crossings(base, lambda_, count, weight, thresholds)
        for passing in known[key]:
            ahead = day + passing.days - today
            if first <= ahead <= last:
                found.append((ahead, table.ids[row], row, passing))
    found.sort(key=lambda fall: fall[:3])
    return tuple(
        Fall(
            memory_id,
            table.stores[row],
            table.titles[row],
            passing.before,
            passing.after,
            passing.threshold,
            ahead,
            date.fromordinal(today + ahead),
        )
        for ahead, memory_id, row, passing in found
    )
