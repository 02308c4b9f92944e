"""Questions to the catalog about memories, entities and how they are joined."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from workbench.engine.catalog.catalog import Catalog
from workbench.engine.catalog.model import (
    EdgeRecord,
    EntityMatch,
    EntityRecord,
    FactRecord,
    MemoryRecord,
)
from workbench.engine.catalog.terms import acronym, match_expression, name_key
from workbench.engine.catalog.timeline_filter import TimelineFilter

_MEMORY_COLUMNS = (
    "m.id, m.store, m.path, m.start_line, m.end_line, m.title, m.text, m.type, m.confidence, m.source,"
    " m.tags, m.moment, m.pinned"
)
_NEAR = 0.82
_MOST_NEAR = 5
_DIGITS = re.compile(r"\d+")


class Lookups:
    """Read-only questions; every answer is as fresh as the catalog's last synchronisation.

    Args:
        catalog: The catalog to ask.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def memory(self, memory_id: str) -> MemoryRecord | None:
        """Return the memory by that id; the first where a damaged workspace holds several."""
        rows = self._memories("WHERE m.id = ? ORDER BY m.number LIMIT 1", (memory_id,))
        return rows[0] if rows else None

    def memories(self, store: str | None = None) -> list[MemoryRecord]:
        """Return every memory, or every one of a store, in the order of files and lines."""
        if store is None:
            return self._memories("ORDER BY m.path, m.start_line")
        return self._memories("WHERE m.store = ? ORDER BY m.path, m.start_line", (store,))

    def memories_in(self, path: str) -> list[MemoryRecord]:
        """Return the memories that stand in a file, in order."""
        return self._memories("WHERE m.path = ? ORDER BY m.start_line", (path,))

    def timeline(
        self, narrowed: TimelineFilter, *, before: str | None, limit: int
    ) -> list[tuple[str, MemoryRecord]]:
        """Return a page of dated memories, newest first, each with its cursor.

        Args:
            narrowed: Conditions to meet.
            before: The cursor of the last row of the page before, or None.
            limit: Most rows.
        """
        key, number = _cursor(before)
        condition, values = narrowed.condition()
        rows = self._catalog.rows(
            f"SELECT m.sort_key, m.number, {_MEMORY_COLUMNS} FROM memories m"
            f" WHERE m.sort_key <> '' AND (m.sort_key, m.number) < (?, ?) AND {condition}"
            " ORDER BY m.sort_key DESC, m.number DESC LIMIT ?",
            (key, number, *values, limit),
        )
        return [(f"{row[0]}/{row[1]}", _memory(row[2:])) for row in rows]

    def count(self, store: str | None = None) -> int:
        """Return how many memories there are, of a store or in all."""
        clause, values = ("WHERE m.store = ?", (store,)) if store else ("", ())
        return self._count(clause, values)

    def count_since(self, store: str, day: str) -> int:
        """Return how many dated memories of a store there are after the end of a day, `2026-02-02`."""
        return self._count("WHERE m.store = ? AND m.sort_key > ?", (store, f"{day}\U0010ffff" if day else ""))

    def timeline_length(self, narrowed: TimelineFilter) -> int:
        """Return how many dated memories meet the conditions."""
        condition, values = narrowed.condition()
        return self._count(f"WHERE m.sort_key <> '' AND {condition}", tuple(values))

    def search(
        self, query: str, *, store: str | None = None, limit: int = 60, all_terms: bool = False
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the memories that hold words of the query, best first, with BM25 (higher is better)."""
        expression = match_expression(query, all_terms=all_terms)
        if expression is None:
            return []
        clause, values = ("AND m.store = ?", (store,)) if store else ("", ())
        rows = self._catalog.rows(
            f"SELECT -bm25(words, 3.0, 1.0) AS score, {_MEMORY_COLUMNS} FROM words"
            f" JOIN memories m ON m.number = words.rowid WHERE words MATCH ? {clause}"
            " ORDER BY score DESC LIMIT ?",
            (expression, *values, limit),
        )
        return [(_memory(row[1:]), float(row[0])) for row in rows]

    def entity(self, entity: str) -> EntityRecord | None:
        """Return an entity by id; one merged into another is still found by its own id."""
        rows = self._entities("WHERE id = ? LIMIT 1", (entity,))
        return rows[0] if rows else None

    def entities(self) -> list[EntityRecord]:
        """Return every entity that is not merged into another, by id."""
        return self._entities("WHERE merged_into IS NULL ORDER BY id")

    def absorbed(self, entity: str) -> tuple[str, ...]:
        """Return the ids of the entities whose files say that they were merged into this one."""
        bare = entity.removeprefix("entity:")
        return tuple(
            row.id for row in self._entities("WHERE merged_into IN (?, ?) ORDER BY id", (bare, entity))
        )

    def resolve(self, name: str, entity_type: str | None = None) -> tuple[EntityMatch, ...]:
        """Find the entities a name may mean: exact names first, then aliases, acronyms and near matches.

        Args:
            name: A name as written, or an id `type--slug`.
            entity_type: Consider this type alone.

        Returns:
            Best first. `near` matches are only given where nothing fits better; names that differ in a number
            or version are never near.
        """
        direct = (
            self.entity(name if name.startswith("entity:") else f"entity:{name}") if "--" in name else None
        )
        if direct is not None:
            return (EntityMatch(direct, "exact", 1.0),)
        key = name_key(name)
        if not key:
            return ()
        found: dict[str, EntityMatch] = {}
        rows = self._catalog.rows("SELECT entity, how FROM names WHERE folded = ?", (key,))
        initials = acronym(name)
        if initials and not rows:
            rows = self._catalog.rows(
                "SELECT entity, 'acronym' FROM names WHERE folded = ? AND how <> 'acronym'", (initials,)
            )
        rank = {"exact": 0, "alias": 1, "acronym": 2}
        for entity_id, how in sorted(rows, key=lambda row: rank[row[1]]):
            self._admit(found, entity_id, how, 1.0 if how != "acronym" else 0.9, entity_type)
        if found:
            return tuple(found.values())
        return self._near(key, entity_type)

    def named(self, name: str) -> EntityRecord | None:
        """Return the one entity whose label or alias a name is, or None; quick enough for every word of a text."""
        rows = self._catalog.rows(
            "SELECT DISTINCT entity FROM names WHERE folded = ? AND how <> 'acronym' LIMIT 2",
            (name_key(name),),
        )
        return self.entity(rows[0][0]) if len(rows) == 1 else None

    def edges_of(self, entity: str) -> tuple[EdgeRecord, ...]:
        """Return the relations that start from or lead to an entity."""
        rows = self._catalog.rows(
            "SELECT source, relation, target, confidence, since, block FROM edges"
            " WHERE source = ?1 OR target = ?1",
            (entity,),
        )
        return tuple(EdgeRecord(*row) for row in rows)

    def edges(self) -> tuple[EdgeRecord, ...]:
        """Return every relation."""
        rows = self._catalog.rows("SELECT source, relation, target, confidence, since, block FROM edges")
        return tuple(EdgeRecord(*row) for row in rows)

    def facts_of(self, entity: str) -> tuple[FactRecord, ...]:
        """Return an entity's facts in the order of its file, retired ones included."""
        return self._facts("WHERE entity = ? ORDER BY line", (entity,))

    def fact(self, fact_id: str) -> FactRecord | None:
        """Return a fact by its id `entity:type--slug#^block`."""
        rows = self._facts("WHERE id = ? LIMIT 1", (fact_id,))
        return rows[0] if rows else None

    def mentions(self, target: str) -> tuple[str, ...]:
        """Return the ids of memories that link to a memory or entity or give it as their source."""
        return self._links("SELECT DISTINCT source FROM links WHERE target = ? ORDER BY source", target)

    def mentioning_files(self, target: str) -> tuple[str, ...]:
        """Return the paths of files that link to a memory or entity."""
        return self._links("SELECT DISTINCT path FROM links WHERE target = ? ORDER BY path", target)

    def links_from(self, source: str) -> tuple[str, ...]:
        """Return the ids that a memory links to or comes from."""
        return self._links("SELECT DISTINCT target FROM links WHERE source = ? ORDER BY target", source)

    def problems(self) -> list[tuple[str, int | None, str, str]]:
        """Return the broken parts of files as (path, line, message, remedy)."""
        return [
            (row[0], row[1], row[2], row[3])
            for row in self._catalog.rows(
                "SELECT path, line, message, remedy FROM problems ORDER BY path, line"
            )
        ]

    def _count(self, clause: str, values: tuple[str, ...]) -> int:
        rows = self._catalog.rows(f"SELECT count(*) FROM memories m {clause}", values)
        return int(rows[0][0])

    def _links(self, question: str, value: str) -> tuple[str, ...]:
        return tuple(row[0] for row in self._catalog.rows(question, (value,)))

    def _memories(self, clause: str, values: Sequence[str | int] = ()) -> list[MemoryRecord]:
        rows = self._catalog.rows(
            f"SELECT {_MEMORY_COLUMNS} FROM memories m {clause}",
            values,
        )
        return [_memory(row) for row in rows]

    def _entities(self, clause: str, values: tuple[str, ...] = ()) -> list[EntityRecord]:
        rows = self._catalog.rows(
            f"SELECT id, type, label, path, aliases, summary FROM entities {clause}",
            values,
        )
        return [
            EntityRecord(entity, kind, label, path, tuple(json.loads(aliases)), summary)
            for entity, kind, label, path, aliases, summary in rows
        ]

    def _facts(self, clause: str, values: tuple[str, ...]) -> tuple[FactRecord, ...]:
        rows = self._catalog.rows(
            "SELECT id, entity, text, line, since, until, superseded_by, provenance, retired"
            f" FROM facts {clause}",
            values,
        )
        return tuple(
            FactRecord(
                id=row[0],
                entity=row[1],
                text=row[2],
                line=row[3],
                since=row[4],
                until=row[5],
                superseded_by=row[6],
                provenance=tuple(json.loads(row[7])),
                retired=bool(row[8]),
            )
            for row in rows
        )

    def _near(self, key: str, entity_type: str | None) -> tuple[EntityMatch, ...]:
        grams = {key[i : i + 3] for i in range(len(key) - 2)}
        if not grams:
            return ()
        expression = " OR ".join('"' + gram.replace('"', '""') + '"' for gram in sorted(grams))
        rows = self._catalog.rows(
            "SELECT n.folded, n.entity FROM name_words JOIN names n ON n.number = name_words.rowid"
            " WHERE name_words MATCH ? ORDER BY rank LIMIT 40",
            (expression,),
        )
        scored = sorted(
            ((_similarity(key, folded), entity_id) for folded, entity_id in rows), key=lambda pair: -pair[0]
        )
        found: dict[str, EntityMatch] = {}
        for similarity, entity_id in scored:
            if similarity >= _NEAR and len(found) < _MOST_NEAR:
                self._admit(found, entity_id, "near", similarity, entity_type)
        return tuple(found.values())

    def _admit(
        self,
        found: dict[str, EntityMatch],
        entity_id: str,
        how: str,
        similarity: float,
        entity_type: str | None,
    ) -> None:
        entity = self.entity(entity_id)
        if entity is not None and entity_id not in found and entity_type in (None, entity.type):
            found[entity_id] = EntityMatch(entity, how, similarity)


def _similarity(a: str, b: str) -> float:
    """Compare two folded names; what differs by a number or version alone is something else, not a slip."""
    digits_a, digits_b = _DIGITS.findall(a), _DIGITS.findall(b)
    if digits_a != digits_b:
        a, b = (" ".join(_DIGITS.sub("", name).split()) for name in (a, b))
        if (digits_a and digits_b) or a == b:
            return 0.0
    if set(a.split()) < set(b.split()) or set(b.split()) < set(a.split()):
        return 0.85
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()


def _cursor(text: str | None) -> tuple[str, int]:
    if text is None:
        return "\U0010ffff", 1 << 62
    key, _, number = text.rpartition("/")
    return key, int(number) if number.isdigit() else 1 << 62


def _memory(row: tuple[Any, ...]) -> MemoryRecord:
    return MemoryRecord(
        id=row[0],
        store=row[1],
        path=row[2],
        start_line=row[3],
        end_line=row[4],
        title=row[5],
        text=row[6],
        type=row[7],
        confidence=row[8],
        source=row[9],
        tags=tuple(json.loads(row[10])),
        moment=datetime.fromisoformat(row[11]) if row[11] else None,
        pinned=bool(row[12]),
    )
