"""Relevance of the memories of an open workspace: files, scores file, journal and clock put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from workbench.engine.clock import in_zone
from workbench.engine.errors import InvalidInput
from workbench.engine.garbage import not_collected
from workbench.engine.results.decay import DecayExplained, DecayView, Falls
from workbench.engine.results.memories import Score
from workbench.engine.stores.lookups import Standing
from workbench.engine.workspace.known_scores import Grade, KnownScores

if TYPE_CHECKING:
    from workbench.engine.catalog.catalog import Catalog
    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.catalog.model import MemoryRecord
    from workbench.engine.decay.census import Census, FactColumns
    from workbench.engine.decay.records import Accesses, DecayRecord, MemoryFacts, Reckoning
    from workbench.engine.documents.decay_scores import ScoreEntry
    from workbench.engine.workspace.first_seen import FirstSeen

# So many memories are asked for one by one rather than all of them read.
_FEW = 2_000


@dataclass(frozen=True)
class Scores:
    """Scores at one moment; made anew for each call that needs them, computed where asked for.

    Args:
        catalog: Of the memories, up to date.
        lookups: The catalog's questions.
        entries: What the scores file says, by memory id.
        pending: Accesses that are not yet in the scores file.
        first_seen: When memories that do not say so themselves came into the history.
        reckoning: The moment, the zone and the constants.
        known: What was reckoned before, for as long as nothing that it depends on changes.
    """

    catalog: Catalog
    lookups: Lookups
    entries: Mapping[str, ScoreEntry]
    pending: Mapping[str, Accesses]
    first_seen: FirstSeen
    reckoning: Reckoning
    known: KnownScores = field(default_factory=KnownScores, repr=False)

    def of(self, memory_id: str) -> Score | None:
        """Return a memory's score; None where it has none or does not exist."""
        record = self.lookups.memory(memory_id)
        return self.of_record(record) if record else None

    def of_all(self, ids: Sequence[str]) -> dict[str, Score | None]:
        """Return the scores of many memories at once, by id; None for those without one."""
        known = self.known.scores
        unknown = [memory_id for memory_id in ids if memory_id not in known]
        if unknown:
            self.first_seen.read(unknown)
            assessed = {record.id: self.of_record(record) for record in self.lookups.outlines(unknown)}
            known.update(dict.fromkeys(unknown) | assessed)
        return {memory_id: known[memory_id] for memory_id in ids}

    def graded(self, ids: Sequence[str] | None = None) -> Mapping[str, Grade]:
        """Return the scores of many memories without their terms, by id; those without one are absent.

        Args:
            ids: Which memories, or None for every one that has a score.
        """
        if ids is not None and self.known.grades is None and len(ids) < _FEW:
            self.first_seen.read(ids)
            return self._grades_of(ids)
        with self.known.lock:
            if self.known.grades is None:
                self.known.grades = self._every_grade()
            grades = self.known.grades
        return grades if ids is None else {id_: grades[id_] for id_ in ids if id_ in grades}

    def of_record(self, record: MemoryRecord) -> Score | None:
        """Return the score of a memory that is at hand; None for free text and logs."""
        from workbench.engine.decay.records import assess

        composed = self._compose(record)
        return assess(composed, self.reckoning) if composed else None

    def standing(self, memory_id: str) -> Standing:
        """Return what planners want to know about a memory's relevance."""
        from workbench.engine.decay.records import assess

        if "#^" in memory_id:
            # A fact or relation: it has no score of its own, but may be archived by itself.
            return Standing(0.0, archived=self._is_archived(memory_id))
        record = self.lookups.memory(memory_id)
        composed = self._compose(record) if record else None
        if composed is None:
            return Standing(0.0)
        score = assess(composed, self.reckoning)
        last = in_zone(composed.last_accessed, self.reckoning.zone).date()
        return Standing(score.value, composed.pinned, composed.archived, last)

    def archived_parts(self) -> frozenset[str]:
        """Return the facts and relations that were archived by themselves, their entity not."""
        return frozenset(name for name in self.entries if "#^" in name and self._is_archived(name))

    def _is_archived(self, memory_id: str) -> bool:
        from workbench.engine.decay.records import is_archived

        entry = self.entries.get(memory_id)
        return entry is not None and is_archived(entry)

    @not_collected()
    def view(self, *, forecast: Sequence[int], lambda_: float | None) -> DecayView:
        """Return every score, with days to come and another decay rate where asked for."""
        from workbench.engine.decay.views import at_another_moment, view

        census = self._census()
        if forecast or lambda_ is not None:
            found = view(census, self.reckoning, forecast=forecast, lambda_=lambda_)
        else:
            with self.known.lock:
                if self.known.view is None:
                    self.known.view = view(census, self.reckoning)
                found = self.known.view
        return at_another_moment(found, census, self.reckoning)

    @not_collected()
    def falls(self, within: int, *, lambda_: float | None) -> Falls:
        """Return what passes a threshold within some days, the soonest first."""
        from workbench.engine.decay.falling import falls
        from workbench.engine.decay.views import reckoning_with

        told = self.reckoning if lambda_ is None else reckoning_with(self.reckoning, lambda_)
        return falls(self._census(), within, told)

    def explained(self, memory_id: str, on: date | None, *, lambda_: float | None) -> DecayExplained:
        """Return one memory's score on a day, term by term, and what becomes of it.

        Raises:
            InvalidInput: The memory has no score, or the rate is none.
        """
        from workbench.engine.decay.census import census_of
        from workbench.engine.decay.course import course, terms
        from workbench.engine.decay.falling import falls
        from workbench.engine.decay.formula import NEVER, half_life
        from workbench.engine.decay.views import reckoning_with, view

        record = self.lookups.memory(memory_id)
        composed = self._compose(record) if record else None
        if composed is None:
            raise InvalidInput(
                "This has no score of its own.",
                where=memory_id,
                remedy="Memories have one; facts go by their entity, and free text and logs do not decay.",
            )
        told = self.reckoning if lambda_ is None else reckoning_with(self.reckoning, lambda_)
        census = census_of([composed], told)
        answer = view(census, told)
        (entry,), day = answer.entries, on or told.now.date()
        ahead = (day - told.now.date()).days
        (point,) = course(answer, entry, [ahead])
        decays = entry.raw is not None and not entry.archived and answer.lambda_ > 0
        return DecayExplained(
            id=entry.id,
            store=entry.store,
            title=entry.title,
            now=answer.now,
            on=day,
            status=point.status,
            score=terms(answer, entry, ahead),
            half_life=half_life(answer.lambda_) if decays else None,
            created=entry.created,
            last_accessed=entry.last_accessed,
            falls=falls(census, NEVER, told).falls,
        )

    def _census(self) -> Census:
        """Return what all scores depend on; an access more costs no more than that memory."""
        known = self.known
        with known.lock:
            if known.census is None:
                known.census = self._taken_census()
            return known.census

    def _taken_census(self) -> Census:
        from workbench.engine.decay.census import amended, take_census

        known, basis = self.known, self.known.basis[0]
        columns = self._columns()
        if known.settled is None or known.settled[0] != basis:
            known.settled = (basis, take_census(columns, self.entries, {}, self.reckoning))
        settled, pending = known.settled[1], self.pending
        if not pending:
            return settled
        return amended(settled, columns, self.entries, pending, self.reckoning, pending)

    def _columns(self) -> FactColumns:
        """Return what the texts of all memories say, read again only where the catalog has changed."""
        from workbench.engine.catalog.columns import memory_columns
        from workbench.engine.decay.census import FactColumns
        from workbench.engine.decay.records import SCORED_STORES

        version = self.catalog.version()
        if self.known.memories is None or self.known.memories[0] != version:
            read = memory_columns(self.catalog, SCORED_STORES)
            adopted = self.first_seen.everything()
            columns = FactColumns(
                ids=read.ids,
                stores=read.stores,
                sources=read.sources,
                created=read.moments,
                adopted=tuple([adopted.get(memory_id) for memory_id in read.ids]),
                pinned=read.pinned,
                titles=read.titles,
                tags=read.tags,
                entities=read.entities,
            )
            self.known.memories = (version, columns)
        return self.known.memories[1]

    @not_collected()
    def _every_grade(self) -> dict[str, Grade]:
        from workbench.engine.decay.formula import day_of
        from workbench.engine.decay.views import graded

        census, told = self._census(), self.reckoning
        raws = census.raws(day_of(told.now, told.zone), told.settings.lambda_)
        scores, statuses = graded(census, raws, told.thresholds)
        names = {day: date.fromordinal(day).isoformat() for day in set(census.days)}
        days = [names[day] for day in census.days]
        grades = list(map(Grade._make, zip(scores, statuses, days, strict=True)))
        # Backwards, so that of a memory that stands in several files the first counts.
        return dict(zip(reversed(census.ids), reversed(grades), strict=True))

    def _grades_of(self, ids: Sequence[str]) -> dict[str, Grade]:
        from workbench.engine.decay.formula import day_of
        from workbench.engine.decay.records import assess

        found = {}
        for record in self.lookups.outlines(ids):
            composed = self._compose(record)
            if composed is not None:
                score = assess(composed, self.reckoning)
                day = date.fromordinal(day_of(composed.last_accessed, self.reckoning.zone))
                found[record.id] = Grade(score.value, score.status, day.isoformat())
        return found

    def _compose(self, record: MemoryRecord) -> DecayRecord | None:
        from workbench.engine.decay.records import SCORED_STORES, compose

        if record.store not in SCORED_STORES:
            return None
        return compose(
            self.facts(record), self.entries.get(record.id), self.pending.get(record.id), self.reckoning
        )

    def facts(self, record: MemoryRecord) -> MemoryFacts:
        """Return what a memory's own text says that matters to its score."""
        from workbench.engine.decay.records import MemoryFacts

        return MemoryFacts(
            id=record.id,
            store=record.store,
            source=record.source,
            created=record.moment,
            adopted=self.first_seen.get(record.id),
            pinned=record.pinned,
            title=record.title,
            tags=record.tags,
        )
