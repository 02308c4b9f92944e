"""Scores as they were: by the scores file of the commit, its own moment, and the settings and zone as they are now.

Accesses that were still in the journal then, and not yet in the file, are not in the history.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.decay import SCORED_STORES, DecayRecord, MemoryFacts, Reckoning, assess, compose
from workbench.engine.decay.records import is_archived
from workbench.engine.documents import DecayScores

if TYPE_CHECKING:
    from workbench.engine.catalog.model import MemoryRecord
    from workbench.engine.documents import ScoreEntry
    from workbench.engine.past.files import PastFiles
    from workbench.engine.results import Score


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

    def last_accessed(self, record: MemoryRecord) -> str | None:
        """Return the day of a memory's last access, `2026-02-02`; None for free text and logs."""
        composed = self._composed(record)
        if composed is None:
            return None
        return composed.last_accessed.astimezone(self._reckoning.zone).date().isoformat()

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
