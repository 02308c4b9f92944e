"""Scores as they were: by the scores file of the commit, its own moment, and the settings and zone as they are now.

Accesses that were still in the journal then, and not yet in the file, are not in the history.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.catalog.same_files import Outline
from workbench.engine.clock import in_zone
from workbench.engine.decay.census import FactColumns, take_census
from workbench.engine.decay.records import (
    SCORED_STORES,
    DecayRecord,
    MemoryFacts,
    Reckoning,
    assess,
    compose,
    is_archived,
)
from workbench.engine.decay.views import assessed
from workbench.engine.documents.decay_scores import DecayScores
from workbench.engine.garbage import not_collected
from workbench.engine.past.files import is_entity
from workbench.engine.results.past import PastScore

if TYPE_CHECKING:
    from workbench.engine.catalog.model import MemoryRecord
    from workbench.engine.documents.decay_scores import ScoreEntry
    from workbench.engine.past.files import PastFiles
    from workbench.engine.results.memories import Score


class PastScores:
    """The relevance of memories at a commit.

    Args:
        files: Of the commit.
        first_seen: When memories that do not say so themselves came into the history.
        reckoning: With the commit's moment.
    """

    def __init__(self, files: PastFiles, first_seen: Mapping[str, datetime], reckoning: Reckoning) -> None:
        self._files = files
        self._first_seen = first_seen
        self._reckoning = reckoning

    @cached_property
    def _entries(self) -> Mapping[str, ScoreEntry]:
        return DecayScores.parse(self._files.read(layout.DECAY_SCORES) or b"").entries

    def of(self, record: MemoryRecord) -> Score | None:
        """Return a memory's score; None for free text and logs."""
        composed = self._composed(record)
        return assess(composed, self._reckoning) if composed else None

    @not_collected()
    def all(self) -> tuple[PastScore, ...]:
        """Return the scores of all memories, by file and line."""
        outlines = self._files.same.settled(self._outlines)
        _, _, ids, stores, titles, sources, moments, pinned = (
            zip(*outlines, strict=True) if outlines else [()] * 8
        )
        adopted = dict(self._first_seen)
        columns = FactColumns(
            ids=ids,
            stores=stores,
            sources=sources,
            created=moments,
            adopted=[adopted.get(memory_id) for memory_id in ids],
            pinned=pinned,
            titles=titles,
            tags=[()] * len(ids),
            entities=[()] * len(ids),
        )
        census = take_census(columns, self._entries, {}, self._reckoning)
        return tuple(map(PastScore, ids, stores, titles, assessed(census, self._reckoning)))

    def _outlines(self) -> list[Outline]:
        files = self._files
        found = [
            known for known in files.same.outlines(SCORED_STORES) if files.is_same(known.path, known.blob)
        ]
        for path, blob in files.differing().items():
            if layout.store_of(path) not in SCORED_STORES:
                continue
            content = bytes.fromhex(blob)
            if is_entity(path):
                named = files.versions.named(path, blob)
                if named is not None:
                    label = (named.id, "semantic", named.label)
                    found.append(Outline(path, content, *label, "", named.moment, named.pinned))
                continue
            for record in files.versions.rows(path, blob).memories:
                titled = (record.id, record.store, record.title)
                found.append(Outline(path, content, *titled, record.source, record.moment, record.pinned))
        found.sort(key=itemgetter(0))
        return found

    def last_accessed(self, record: MemoryRecord) -> str | None:
        """Return the day of a memory's last access, `2026-02-02`; None for free text and logs."""
        composed = self._composed(record)
        if composed is None:
            return None
        return in_zone(composed.last_accessed, self._reckoning.zone).date().isoformat()

    def _composed(self, record: MemoryRecord) -> DecayRecord | None:
        if record.store not in SCORED_STORES:
            return None
        facts = MemoryFacts(
            id=record.id,
            store=record.store,
            source=record.source,
            created=record.moment,
            adopted=self._first_seen.get(record.id),
            pinned=record.pinned,
            title=record.title,
        )
        return compose(facts, self._entries.get(record.id), None, self._reckoning)

    def is_archived(self, memory_id: str) -> bool:
        """Tell whether somebody had archived a memory, fact or relation."""
        entry = self._entries.get(memory_id)
        return entry is not None and is_archived(entry)
