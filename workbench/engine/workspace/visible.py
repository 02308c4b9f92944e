"""Questions to the catalog that pass over the facts and relations which were archived by themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from workbench.engine.catalog import Catalog, Lookups
from workbench.engine.catalog.model import EdgeRecord, FactRecord, MemoryRecord


class VisibleLookups(Lookups):
    """The catalog as it is to be searched and shown.

    Args:
        catalog: The catalog to ask.
        hidden: Ids of archived facts and relations, `entity:person--alex#^f7k2`.
    """

    def __init__(self, catalog: Catalog, hidden: Iterable[str]) -> None:
        super().__init__(catalog)
        self._hidden = frozenset(hidden)
        self._marks: dict[str, list[str]] = defaultdict(list)
        for memory_id in self._hidden:
            entity, _, block = memory_id.partition("#^")
            self._marks[entity].append(f"^{block}")

    def search(
        self,
        query: str,
        *,
        store: str | None = None,
        after: date | None = None,
        before: date | None = None,
        limit: int = 60,
        offset: int = 0,
        all_terms: bool = False,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the memories that hold words of the query; what is hidden in them is left blank."""
        found = super().search(
            query, store=store, after=after, before=before, limit=limit, offset=offset, all_terms=all_terms
        )
        return [(self._blanked(record), bm25) for record, bm25 in found]

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

    def _blanked(self, record: MemoryRecord) -> MemoryRecord:
        marks = tuple(self._marks.get(record.id, ()))
        if not marks:
            return record
        # Blank lines stand for them, so that line numbers stay right.
        lines = ["" if line.rstrip().endswith(marks) else line for line in record.text.split("\n")]
        return replace(record, text="\n".join(lines))
