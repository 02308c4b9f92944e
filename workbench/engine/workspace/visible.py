"""Questions to catalog and index that pass over the facts and relations which were archived by themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from workbench.engine.catalog.catalog import Catalog
from workbench.engine.catalog.lookups import Lookups
from workbench.engine.catalog.model import EdgeRecord, FactRecord
from workbench.engine.recall.model import ChunkSource, StoredChunk


class VisibleLookups(Lookups):
    """The catalog as it is to be shown.

    Args:
        catalog: The catalog to ask.
        hidden: Ids of archived facts and relations, `entity:person--alex#^f7k2`.
    """

    def __init__(self, catalog: Catalog, hidden: Iterable[str]) -> None:
        super().__init__(catalog)
        self._hidden = frozenset(hidden)

    def facts_of(self, entity: str) -> tuple[FactRecord, ...]:
        """Return the visible facts of an entity."""
        return tuple(fact for fact in super().facts_of(entity) if fact.id not in self._hidden)

    def edges(self) -> tuple[EdgeRecord, ...]:
        """Return every visible relation."""
        return self._seen(super().edges())

    def edges_of(self, entity: str) -> tuple[EdgeRecord, ...]:
        """Return the visible relations that start from or lead to an entity."""
        return self._seen(super().edges_of(entity))

    def _seen(self, edges: Iterable[EdgeRecord]) -> tuple[EdgeRecord, ...]:
        return tuple(edge for edge in edges if f"{edge.from_}#^{edge.block}" not in self._hidden)


class VisibleChunks:
    """The index as it is to be searched: without the lines of facts and relations that were archived by themselves.

    Args:
        source: The index.
        hidden: Their ids, `entity:person--alex#^f7k2`.
    """

    def __init__(self, source: ChunkSource, hidden: Iterable[str]) -> None:
        self.statistics = source.statistics
        self.by_keywords = source.by_keywords
        self.by_vector = source.by_vector
        self.by_memory = source.by_memory
        self.by_day = source.by_day
        self.owners = source.owners
        self._read = source.read
        self._hidden = frozenset(hidden)
        self._marks: dict[str, tuple[str, ...]] = defaultdict(tuple)
        for memory_id in self._hidden:
            entity, _, block = memory_id.partition("#^")
            self._marks[entity] += (f"^{block}",)

    def read(self, numbers: Sequence[int]) -> list[StoredChunk]:
        """Return chunks with blank lines for what is hidden, so that line numbers stay right."""
        return [self._blanked(stored) for stored in self._read(numbers)]

    def _blanked(self, stored: StoredChunk) -> StoredChunk:
        marks = self._marks.get(stored.chunk.memory_id)
        if stored.chunk.memory_id in self._hidden:
            marks = ("",)
        if not marks:
            return stored
        lines = stored.chunk.text.split("\n")
        text = "\n".join("" if line.rstrip().endswith(marks) else line for line in lines)
        # Its units are others now, and what was stored for each does not fit them.
        return replace(stored, chunk=replace(stored.chunk, text=text), unit_vectors=None, unit_terms=None)
