"""What the scores of all memories depend on, column by column, so that tens of thousands are reckoned at once."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.engine.decay import formula
from workbench.engine.decay.formula import ARCHIVED, PINNED, UNENDING
from workbench.engine.decay.records import (
    Accesses,
    DecayRecord,
    MemoryFacts,
    Reckoning,
    base_of,
    begun,
    compose,
    weight_of,
)

if TYPE_CHECKING:
    from workbench.engine.documents.decay_scores import ScoreEntry


@dataclass(frozen=True)
class FactColumns:
    """What the texts of memories that have a score say; see `MemoryFacts`. All columns are equally long."""

    ids: Sequence[str]
    stores: Sequence[str]
    sources: Sequence[str]
    created: Sequence[datetime | None]
    adopted: Sequence[datetime | None]
    pinned: Sequence[bool]
    titles: Sequence[str]
    tags: Sequence[tuple[str, ...]]
    entities: Sequence[tuple[str, ...]]

    def facts(self, row: int) -> MemoryFacts:
        """Return what one memory's text says."""
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
        )


@dataclass(frozen=True)
class Census:
    """Everything that the scores of all memories depend on but the moment and the constants; see `DecayRecord`.

    Args:
        taken: The moment at which it was taken; the very object stands where nobody wrote down a date.
        zone: The workspace's.
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
        """Return the day of each memory's last access in the zone, as a proleptic ordinal."""
        zone = self.zone
        return [formula.day_of(moment, zone) for moment in self.accessed]

    @cached_property
    def boosts(self) -> list[float]:
        """Return each memory's log2(access count + 1)."""
        known = {count: math.log2(count + 1) for count in set(self.counts)}
        return [known[count] for count in self.counts]

    @cached_property
    def fates(self) -> list[str]:
        """Return `archived` (by hand) or `pinned` for each memory where the formula has no say, else nothing."""
        return [
            ARCHIVED if gone else PINNED if pin or weight == UNENDING else ""
            for gone, pin, weight in zip(self.archived, self.pinned, self.weights, strict=True)
        ]

    @cached_property
    def undated(self) -> list[int]:
        """Return the rows in which the moment of the census stands for a date."""
        return [
            row
            for row, (made, last) in enumerate(zip(self.created, self.accessed, strict=True))
            if made is self.taken or last is self.taken
        ]

    def record(self, row: int) -> DecayRecord:
        """Return what one memory's score depends on."""
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
        """Return every memory's raw relevance on a day; it says nothing where a memory has a fate.

        Args:
            today: The day, as a proleptic ordinal.
            lambda_: Decay per day.
        """
        # Few days and many memories: each power is taken once, by the very function that scores one memory.
        powers = {day: math.exp(-lambda_ * max(0, today - day)) for day in set(self.days)}
        return [
            base * powers[day] * boost * weight
            for base, day, boost, weight in zip(self.bases, self.days, self.boosts, self.weights, strict=True)
        ]


def take_census(
    columns: FactColumns,
    entries: Mapping[str, ScoreEntry],
    pending: Mapping[str, Accesses],
    reckoning: Reckoning,
) -> Census:
    """Put together what is known of all memories; for each it is what `compose` says.

    Args:
        columns: What their texts say.
        entries: What the scores file says, by memory id.
        pending: Accesses that are not yet in the scores file, by memory id.
        reckoning: The moment and the constants.
    """
    settings, now = reckoning.settings, reckoning.now
    base_by_source = {source: base_of(source, settings) for source in set(columns.sources)}
    weight_by_store = {store: weight_of(store, settings) for store in set(columns.stores)}
    dates = [begun(*known, now) for known in zip(columns.created, columns.adopted, strict=True)]
    pins = [pin or store == "vault" for pin, store in zip(columns.pinned, columns.stores, strict=True)]
    by_text = Census(
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
        zone=reckoning.zone,
    )
    return amended(by_text, columns, entries, pending, reckoning, entries.keys() | pending.keys())


def amended(
    census: Census,
    columns: FactColumns,
    entries: Mapping[str, ScoreEntry],
    pending: Mapping[str, Accesses],
    reckoning: Reckoning,
    ids: Container[str],
) -> Census:
    """Return a census with some memories put together anew.

    Args:
        census: Taken of the same columns on the same day.
        columns: As for `take_census`, and so the others.
        entries: Likewise.
        pending: Likewise.
        reckoning: Likewise; dates that nobody wrote down stay at the moment of the census.
        ids: Which memories.
    """
    told = replace(reckoning, now=census.taken)
    bases, weights, counts = list(census.bases), list(census.weights), list(census.counts)
    created, accessed = list(census.created), list(census.accessed)
    pinned, archived = list(census.pinned), list(census.archived)
    for row, memory_id in enumerate(census.ids):
        if memory_id in ids:
            record = compose(columns.facts(row), entries.get(memory_id), pending.get(memory_id), told)
            bases[row], weights[row], counts[row] = record.base, record.type_weight, record.access_count
            created[row], accessed[row] = record.created, record.last_accessed
            pinned[row], archived[row] = record.pinned, record.archived
    return replace(
        census,
        bases=bases,
        weights=weights,
        counts=counts,
        created=created,
        accessed=accessed,
        pinned=pinned,
        archived=archived,
    )


def census_of(records: Iterable[DecayRecord], reckoning: Reckoning) -> Census:
    """Return the columns of records that were put together one by one."""
    known = tuple(records)
    return Census(
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
        taken=reckoning.now,
        zone=reckoning.zone,
    )
