"""Relevance of the memories of an open workspace: files, scores file, journal and clock put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.stores.lookups import Standing

if TYPE_CHECKING:
    from workbench.engine.catalog import Lookups, MemoryRecord
    from workbench.engine.decay import Accesses, DecayRecord, MemoryFacts, Reckoning
    from workbench.engine.documents import ScoreEntry
    from workbench.engine.workspace.first_seen import FirstSeen


@dataclass(frozen=True)
class Scores:
    """Scores at one moment; made anew for each call that needs them, computed where asked for.

    Args:
        lookups: The catalog's questions.
        entries: What the scores file says, by memory id.
        pending: Accesses that are not yet in the scores file.
        first_seen: When memories that do not say so themselves came into the history.
        reckoning: The moment, the zone and the constants.
        known: Scores that were asked for in bulk, by id; the same for as long as nothing that they depend on changes.
    """

    lookups: Lookups
    entries: Mapping[str, ScoreEntry]
    pending: Mapping[str, Accesses]
    first_seen: FirstSeen
    reckoning: Reckoning
    known: dict[str, results.Score | None] = field(default_factory=dict, repr=False)

    def of(self, memory_id: str) -> results.Score | None:
        """Return a memory's score; None where it has none or does not exist."""
        record = self.lookups.memory(memory_id)
        return self.of_record(record) if record else None

    def of_all(self, ids: Sequence[str]) -> dict[str, results.Score | None]:
        """Return the scores of many memories at once, by id; None for those without one."""
        unknown = [memory_id for memory_id in ids if memory_id not in self.known]
        if unknown:
            self.first_seen.read(unknown)
            assessed = {record.id: self.of_record(record) for record in self.lookups.outlines(unknown)}
            self.known.update(dict.fromkeys(unknown) | assessed)
        return {memory_id: self.known[memory_id] for memory_id in ids}

    def of_record(self, record: MemoryRecord) -> results.Score | None:
        """Return the score of a memory that is at hand; None for free text and logs."""
        from workbench.engine.decay import assess

        composed = self._compose(record)
        return assess(composed, self.reckoning) if composed else None

    def standing(self, memory_id: str) -> Standing:
        """Return what planners want to know about a memory's relevance."""
        if "#^" in memory_id:
            # A fact or relation: it has no score of its own, but may be archived by itself.
            return Standing(0.0, archived=self._is_archived(memory_id))
        record = self.lookups.memory(memory_id)
        composed = self._compose(record) if record else None
        if record is None or composed is None:
            return Standing(0.0)
        score = self.of_record(record)
        last = composed.last_accessed.astimezone(self.reckoning.zone).date()
        return Standing(score.value if score else 0.0, composed.pinned, composed.archived, last)

    def archived_parts(self) -> frozenset[str]:
        """Return the facts and relations that were archived by themselves, their entity not."""
        return frozenset(name for name in self.entries if "#^" in name and self._is_archived(name))

    def _is_archived(self, memory_id: str) -> bool:
        from workbench.engine.decay.records import is_archived

        entry = self.entries.get(memory_id)
        return entry is not None and is_archived(entry)

    def last_accessed(self, memory_id: str) -> str | None:
        """Return the day of a memory's last access, or None where nothing is known."""
        standing = self.standing(memory_id)
        return standing.last_accessed.isoformat() if standing.last_accessed else None

    def records(self) -> list[DecayRecord]:
        """Return every scored memory with what its score depends on, in the order of files."""
        from workbench.engine.decay import SCORED_STORES, compose_all

        self.first_seen.everything()
        named = self.lookups.entities_named()
        return compose_all(
            (
                replace(self.facts(record), entities=named.get(record.id, ()))
                for record in self.lookups.memories()
                if record.store in SCORED_STORES
            ),
            self.entries,
            self.pending,
            self.reckoning,
        )

    def falls(self, within: int, lambda_: float | None) -> results.Falls:
        """Return what passes a threshold within some days, the soonest first."""
        from workbench.engine.decay import falls

        return falls(self.records(), within, self._reckoning(lambda_))

    def view(self, *, forecast: Sequence[int], lambda_: float | None) -> results.DecayView:
        """Return every score, with days to come and another decay rate where asked for."""
        from workbench.engine.decay import forecast as foretell
        from workbench.engine.decay import with_lambda

        records = self.records()
        if lambda_ is None:
            return foretell(records, forecast, self.reckoning)
        other = with_lambda(records, lambda_, self.reckoning)
        if not forecast:
            return other
        ahead = foretell(records, forecast, self._reckoning(lambda_))
        entries = (
            replace(entry, forecast=later.forecast)
            for entry, later in zip(other.entries, ahead.entries, strict=True)
        )
        return replace(other, entries=tuple(entries))

    def _reckoning(self, lambda_: float | None) -> Reckoning:
        from workbench.engine.decay import reckoning_with

        return self.reckoning if lambda_ is None else reckoning_with(self.reckoning, lambda_)

    def _compose(self, record: MemoryRecord) -> DecayRecord | None:
        from workbench.engine.decay import SCORED_STORES, compose

        if record.store not in SCORED_STORES:
            return None
        return compose(
            self.facts(record), self.entries.get(record.id), self.pending.get(record.id), self.reckoning
        )

    def facts(self, record: MemoryRecord) -> MemoryFacts:
        """Return what a memory's own text says that matters to its score."""
        from workbench.engine.decay import MemoryFacts

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
