"""Relevance of the memories of an open workspace, kept for as long as nothing it depends on changes."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from workbench.engine import layout, results
from workbench.engine.clock import in_zone
from workbench.engine.errors import InvalidInput
from workbench.engine.memory.draft import MemoryStanding
from workbench.engine.process import garbage_collection_paused

if TYPE_CHECKING:
    from workbench.engine.catalog.catalog import Catalog
    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.catalog.records import MemoryRecord
    from workbench.engine.markdown.decay_scores import DecayScores, ScoreEntry
    from workbench.engine.memory.decay import Accesses, DecayContext, DecayRecord, MemoryFacts
    from workbench.engine.memory.scores import FactColumns, ScoreTable
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.first_seen import FirstSeen


class Grade(NamedTuple):
    """A memory's score without its terms.

    Args:
        value: 0–1.
        status: active, fading, dormant, archived or pinned.
        last_accessed: The day of its last access in the workspace's zone, `2026-02-02`.
    """

    value: float
    status: str
    last_accessed: str


@dataclass
class ScoreCache:
    """What was reckoned so far of the scores of one day.

    Args:
        basis: What all of it depends on: the day, the memories, the scores file and the constants, then the accesses
            that are not yet in that file.
        settled: The basis without those accesses, and a census without them.
        memories: The catalog's version, and what the texts of all memories said at it.
        scores: Scores of single memories that were asked for, by id; None for what has none.
        census: What the scores of all memories depend on.
        view: All scores.
        grades: All scores, by id.
        lock: Held by who reckons any of it for all memories, so that two who ask at once do not both do so.
    """

    basis: tuple[Hashable, Hashable] = (None, None)
    settled: tuple[Hashable, ScoreTable] | None = None
    memories: tuple[Hashable, FactColumns] | None = None
    scores: dict[str, results.memories.Score | None] = field(default_factory=dict)
    census: ScoreTable | None = None
    view: results.decay.DecayView | None = None
    grades: Mapping[str, Grade] | None = None
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False, compare=False)


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
    reckoning: DecayContext
    known: ScoreCache = field(default_factory=ScoreCache, repr=False)

    def of(self, memory_id: str) -> results.memories.Score | None:
        """Return a memory's score; None where it has none or does not exist."""
        record = self.lookups.memory(memory_id)
        return self.of_record(record) if record else None

    def of_all(self, ids: Sequence[str]) -> dict[str, results.memories.Score | None]:
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

    def of_record(self, record: MemoryRecord) -> results.memories.Score | None:
        """Return the score of a memory that is at hand; None for free text and logs."""
        from workbench.engine.memory.decay import score_now

        composed = self._compose(record)
        return score_now(composed, self.reckoning) if composed else None

    def standing(self, memory_id: str) -> MemoryStanding:
        """Return what planners want to know about a memory's relevance."""
        from workbench.engine.memory.decay import score_now

        if "#^" in memory_id:
            # A fact or relation: it has no score of its own, but may be archived by itself.
            return MemoryStanding(0.0, archived=self._is_archived(memory_id))
        record = self.lookups.memory(memory_id)
        composed = self._compose(record) if record else None
        if composed is None:
            return MemoryStanding(0.0)
        score = score_now(composed, self.reckoning)
        last = in_zone(composed.last_accessed, self.reckoning.zone).date()
        return MemoryStanding(score.value, composed.pinned, composed.archived, last)

    def archived_parts(self) -> frozenset[str]:
        """Return the facts and relations that were archived by themselves, their entity not."""
        return frozenset(name for name in self.entries if "#^" in name and self._is_archived(name))

    def _is_archived(self, memory_id: str) -> bool:
        from workbench.engine.memory.decay import is_archived

        entry = self.entries.get(memory_id)
        return entry is not None and is_archived(entry)

    @garbage_collection_paused()
    def view(self, *, forecast: Sequence[int], lambda_: float | None) -> results.decay.DecayView:
        """Return every score, with days to come and another decay rate where asked for."""
        from workbench.engine.memory.scores import moved_to_moment, score_all

        census = self._census()
        if forecast or lambda_ is not None:
            found = score_all(census, self.reckoning, forecast=forecast, lambda_=lambda_)
        else:
            with self.known.lock:
                if self.known.view is None:
                    self.known.view = score_all(census, self.reckoning)
                found = self.known.view
        return moved_to_moment(found, census, self.reckoning)

    @garbage_collection_paused()
    def falls(self, within: int, *, lambda_: float | None) -> results.decay.Falls:
        """Return what passes a threshold within some days, the soonest first."""
        from workbench.engine.memory.scores import upcoming_changes, with_decay_rate

        told = self.reckoning if lambda_ is None else with_decay_rate(self.reckoning, lambda_)
        return upcoming_changes(self._census(), within, told)

    def explained(
        self, memory_id: str, on: date | None, *, lambda_: float | None
    ) -> results.decay.DecayExplained:
        """Return one memory's score on a day, term by term, and what becomes of it.

        Raises:
            InvalidInput: The memory has no score, or the rate is none.
        """
        from workbench.engine.memory.decay import NEVER, half_life
        from workbench.engine.memory.scores import (
            score_all,
            score_course,
            score_terms,
            table_of_records,
            upcoming_changes,
            with_decay_rate,
        )

        record = self.lookups.memory(memory_id)
        composed = self._compose(record) if record else None
        if composed is None:
            raise InvalidInput(
                "This has no score of its own.",
                where=memory_id,
                remedy="Memories have one; facts go by their entity, and free text and logs do not decay.",
            )
        told = self.reckoning if lambda_ is None else with_decay_rate(self.reckoning, lambda_)
        census = table_of_records([composed], told)
        answer = score_all(census, told)
        (entry,), day = answer.entries, on or told.now.date()
        ahead = (day - told.now.date()).days
        (point,) = score_course(answer, entry, [ahead])
        decays = entry.raw is not None and not entry.archived and answer.lambda_ > 0
        return results.decay.DecayExplained(
            id=entry.id,
            store=entry.store,
            title=entry.title,
            now=answer.now,
            on=day,
            status=point.status,
            score=score_terms(answer, entry, ahead),
            half_life=half_life(answer.lambda_) if decays else None,
            created=entry.created,
            last_accessed=entry.last_accessed,
            falls=upcoming_changes(census, NEVER, told).falls,
        )

    def _census(self) -> ScoreTable:
        """Return what all scores depend on; an access more costs no more than that memory."""
        known = self.known
        with known.lock:
            if known.census is None:
                known.census = self._taken_census()
            return known.census

    def _taken_census(self) -> ScoreTable:
        from workbench.engine.memory.scores import build_score_table, update_score_table

        known, basis = self.known, self.known.basis[0]
        columns = self._columns()
        if known.settled is None or known.settled[0] != basis:
            known.settled = (basis, build_score_table(columns, self.entries, {}, self.reckoning))
        settled, pending = known.settled[1], self.pending
        if not pending:
            return settled
        return update_score_table(settled, columns, self.entries, pending, self.reckoning, pending)

    def _columns(self) -> FactColumns:
        """Return what the texts of all memories say, read again only where the catalog has changed."""
        from workbench.engine.catalog.lookups import memory_columns
        from workbench.engine.memory.decay import SCORED_STORES
        from workbench.engine.memory.scores import FactColumns

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

    @garbage_collection_paused()
    def _every_grade(self) -> dict[str, Grade]:
        from workbench.engine.memory.decay import day_of
        from workbench.engine.memory.scores import scores_and_statuses

        census, told = self._census(), self.reckoning
        raws = census.raws(day_of(told.now, told.zone), told.settings.lambda_)
        scores, statuses = scores_and_statuses(census, raws, told.thresholds)
        names = {day: date.fromordinal(day).isoformat() for day in set(census.days)}
        days = [names[day] for day in census.days]
        grades = list(map(Grade._make, zip(scores, statuses, days, strict=True)))
        # Backwards, so that of a memory that stands in several files the first counts.
        return dict(zip(reversed(census.ids), reversed(grades), strict=True))

    def _grades_of(self, ids: Sequence[str]) -> dict[str, Grade]:
        from workbench.engine.memory.decay import day_of, score_now

        found = {}
        for record in self.lookups.outlines(ids):
            composed = self._compose(record)
            if composed is not None:
                score = score_now(composed, self.reckoning)
                day = date.fromordinal(day_of(composed.last_accessed, self.reckoning.zone))
                found[record.id] = Grade(score.value, score.status, day.isoformat())
        return found

    def _compose(self, record: MemoryRecord) -> DecayRecord | None:
        from workbench.engine.memory.decay import SCORED_STORES, decay_record

        if record.store not in SCORED_STORES:
            return None
        return decay_record(
            self.facts(record), self.entries.get(record.id), self.pending.get(record.id), self.reckoning
        )

    def facts(self, record: MemoryRecord) -> MemoryFacts:
        """Return what a memory's own text says that matters to its score."""
        from workbench.engine.memory.decay import MemoryFacts

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


class CurrentScores:
    """Asked again and again by one open workspace, from any thread."""

    def __init__(self) -> None:
        self._file: DecayScores | None = None
        self._known = ScoreCache()
        self._lock = threading.Lock()

    def now(self, context: WorkspaceContext) -> Scores:
        """Return the relevance of memories at this moment.

        Args:
            context: The open workspace, its settings and catalog up to date.
        """
        from workbench.engine.history.work_files import read_work_file
        from workbench.engine.markdown.decay_scores import DecayScores
        from workbench.engine.memory.decay import DecayContext
        from workbench.engine.memory.scores_file import pending_accesses
        from workbench.engine.services.first_seen import FirstSeen

        content = read_work_file(context.root, layout.DECAY_SCORES) or b""
        file = self._file
        if file is None or content != file.content:
            file = self._file = DecayScores.parse(content)
        accesses, now, constants = (
            pending_accesses(file, context.accesses()),
            context.now(),
            context.settings.decay,
        )
        # Scores change with the day, the memories, the scores file and the journal, and with nothing else.
        settled = (now.date(), context.catalog.version(), content, constants)
        basis = (settled, frozenset(accesses.items()))
        with self._lock:
            if basis != self._known.basis:
                self._known = ScoreCache(basis, self._known.settled, self._known.memories)
            known = self._known
        return Scores(
            catalog=context.catalog,
            lookups=context.lookups,
            entries=file.entries,
            pending=accesses,
            first_seen=FirstSeen(context.catalog),
            reckoning=DecayContext(now, context.zone, constants),
            known=known,
        )
