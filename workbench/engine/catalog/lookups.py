"""Catalog queries about memories, entities and their relations; the filter of the timeline."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from workbench.engine.catalog.catalog import Catalog
from workbench.engine.catalog.records import (
    MOST_MERGES,
    EdgeRecord,
    EntityMatch,
    EntityRecord,
    FactRecord,
    MemoryRecord,
)
from workbench.engine.catalog.terms import NEAR, acronyms, fold, name_key, similarity
from workbench.engine.identifiers import cited_lines
from workbench.engine.markdown.statements import WrittenAccesses
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_FIELDS = ("type", "confidence", "source", "tag")
_FIRST, _LAST, _BOTH = ("after", "since"), ("before", "until"), ("on", "day")
_PIECE = lazy_pattern(r'(-?)(?:(\w+):)?(?:"([^"]*)"?|(\S+))?')
_DAY = lazy_pattern(r"\d{1,4}$|\d{4}-\d{0,2}$|\d{4}-\d{2}-\d{0,2}$")
_LAST_CHARACTER = "\U0010ffff"
# SQLite refuses conditions and patterns above certain sizes.
_MOST_CONDITIONS = 30
_MOST_VALUES = 10
_MOST_CHARACTERS = 200

MEMORY_COLUMNS = (
    "m.id, m.store, m.path, m.start_line, m.end_line, m.title, m.text, m.type, m.confidence, m.source,"
    " m.tags, m.moment, m.pinned, m.text_line, m.used"
)
FACT_COLUMNS = "id, entity, text, line, since, until, superseded_by, provenance, retired"
_IN_ORDER = "ORDER BY m.path, m.start_line, m.number"

_MOST_NEAR = 5
_MOST_CANDIDATES = 60
_MOST_KEY = 100
# Two initials form a word in many languages; only capitals make them an acronym.
_SURE_ACRONYM = 3
_RANKS = {"exact": 0, "alias": 1, "acronym": 2}


@dataclass(frozen=True)
class Condition:
    """An alternative of values: beginnings of a field's value or, without a field, pieces of text.

    Args:
        field: type, confidence, source, tag or the empty string.
        values: One of these has to occur; folded if they are a field's.
        negated: None of them may occur.
    """

    field: str
    values: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True)
class TimelineFilter:
    """Conditions that must all hold.

    Args:
        conditions: In the order typed.
        after: First day, `YYYY-MM-DD` or a beginning of it.
        before: Last day, or a beginning of it.
    """

    conditions: tuple[Condition, ...] = ()
    after: str | None = None
    before: str | None = None

    def condition(self) -> tuple[str, list[str]]:
        """Return the filter as an SQL condition over `memories m` with its values."""
        clauses: list[str] = []
        values: list[str] = []
        for condition in self.conditions:
            some: list[str] = []
            for value in condition.values:
                if condition.field:
                    some.append("m.facets LIKE ? ESCAPE '\\'")
                    values.append(f"%\n{condition.field}:{_escaped(value)}%")
                    continue
                for spelling in _spellings(value):
                    some.append("m.text LIKE ? ESCAPE '\\' OR m.title LIKE ? ESCAPE '\\'")
                    values.extend([f"%{_escaped(spelling)}%"] * 2)
            clauses.append(("NOT " if condition.negated else "") + f"({' OR '.join(some)})")
        if self.after:
            clauses.append("m.sort_key >= ?")
            values.append(self.after)
        if self.before:
            clauses.append("m.sort_key <= ?")
            values.append(self.before + _LAST_CHARACTER)
        return " AND ".join(clauses) or "1", values


_CITING = (
    "SELECT source, target FROM json_each(?) AS asked CROSS JOIN links"
    " ON target >= asked.value AND target < asked.value || ':'"
    " UNION SELECT source, '' FROM json_each(?) AS asked CROSS JOIN links ON target = asked.value"
)


def parse_filter(text: str) -> TimelineFilter:
    """Parse a typed filter; incomplete conditions (`type:` alone, `after:x`) have no effect yet.

    All words must occur. `type:`, `tag:`, `confidence:` and `source:` take the beginning of a value, or several
    separated by commas; a minus negates a condition; `after:` or `since:`, `before:` or `until:` and `on:` take a
    day or a beginning of it, such as `2026-01`.
    """
    conditions: list[Condition] = []
    after = before = None
    for minus, name, quoted, bare in _PIECE.findall(text.replace("\0", " ")):
        field, value = fold(name), quoted or bare
        if field in _FIELDS:
            if wanted := tuple(fold(each)[:_MOST_CHARACTERS] for each in value.split(",") if each):
                conditions.append(Condition(field, wanted[:_MOST_VALUES], bool(minus)))
        elif field in (*_FIRST, *_LAST, *_BOTH):
            if _DAY.match(value):
                after = value if field not in _LAST else after
                before = value if field not in _FIRST else before
        elif word := (f"{name}:{value}" if name else value):
            conditions.append(Condition("", (word[:_MOST_CHARACTERS],), bool(minus)))
    return TimelineFilter(tuple(conditions[:_MOST_CONDITIONS]), after, before)


def _spellings(word: str) -> tuple[str, ...]:
    """Return the spellings of a word that SQLite, which folds only ASCII letters, would distinguish."""
    if word.isascii():
        return (word,)
    return tuple(dict.fromkeys((word, word.lower(), word.upper(), word.capitalize())))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


class Lookups:
    """Read-only queries; answers are as fresh as the catalog's last synchronisation."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def memory(self, memory_id: str) -> MemoryRecord | None:
        """Return the memory with an id; the first by path and line if a damaged workspace has several."""
        rows = self._memories(f"WHERE m.id = ? {_IN_ORDER} LIMIT 1", (memory_id,))
        return rows[0] if rows else None

    def memories(self) -> list[MemoryRecord]:
        """Return every memory, ordered by file and line."""
        return self._memories(_IN_ORDER)

    def outlines(self, ids: Sequence[str]) -> list[MemoryRecord]:
        """Return memories without their text; one that is in several files comes once."""
        columns = MEMORY_COLUMNS.replace("m.text,", "'',")
        rows = self._catalog.rows(
            f"SELECT {columns} FROM json_each(?) AS asked JOIN memories m ON m.id = asked.value"
            " GROUP BY m.id HAVING m.path = min(m.path)",
            (json.dumps(list(ids), ensure_ascii=False),),
        )
        return [memory_of(row) for row in rows]

    def titles(self, stores: Sequence[str]) -> dict[str, str]:
        """Return the title of each memory of some stores, by id, ordered by file and line, without reading texts."""
        return dict(
            self._catalog.rows(
                f"SELECT m.id, m.title FROM memories m WHERE m.store IN (SELECT value FROM json_each(?)) {_IN_ORDER}",
                (json.dumps(list(stores)),),
            )
        )

    def memories_in(self, path: str) -> list[MemoryRecord]:
        """Return the memories in a file, in order."""
        return self._memories(f"WHERE m.path = ? {_IN_ORDER}", (path,))

    def screened_files(self) -> dict[str, str]:
        """Return what decided about the secrets in a file, by path, for files with secrets."""
        return dict(self._catalog.rows("SELECT path, secrets FROM files WHERE secrets <> ''"))

    def timeline(
        self, narrowed: TimelineFilter, *, before: str | None, limit: int
    ) -> list[tuple[str, MemoryRecord]]:
        """Return a page of dated memories, newest first, each with its cursor.

        Args:
            narrowed: The filter.
            before: The cursor of the previous page's last row, or None.
            limit: Maximum number of rows.
        """
        condition, values = narrowed.condition()
        earlier, keys = ("AND m.sort_key < ?", [before]) if before is not None else ("", [])
        rows = self._catalog.rows(
            f"SELECT m.sort_key, {MEMORY_COLUMNS} FROM memories m"
            f" WHERE m.sort_key IS NOT NULL {earlier} AND {condition} ORDER BY m.sort_key DESC LIMIT ?",
            (*keys, *values, limit),
        )
        return [(row[0], memory_of(row[1:])) for row in rows]

    def count(self, store: str | None = None) -> int:
        """Return the number of memories, of a store or in total."""
        clause, values = ("WHERE m.store = ?", (store,)) if store else ("", ())
        return self._count(clause, values)

    def count_entries(self) -> int:
        """Return the number of episodes and of entries of daily logs."""
        return self._count("WHERE m.store = 'episodic' OR (m.store = 'file' AND m.type = 'log')", ())

    def timeline_length(self, narrowed: TimelineFilter) -> int:
        """Return the number of dated memories that match."""
        condition, values = narrowed.condition()
        return self._count(f"WHERE m.sort_key IS NOT NULL AND {condition}", tuple(values))

    def entity(self, entity: str) -> EntityRecord | None:
        """Return an entity by id, also one that was merged."""
        rows = self._entities("WHERE id = ? ORDER BY path LIMIT 1", (entity,))
        return rows[0] if rows else None

    def entities_of(self, entities: Iterable[str]) -> dict[str, EntityRecord]:
        """Return each of some entities by id, as `entity` does; those that do not exist are absent."""
        clause = "WHERE id IN (SELECT value FROM json_each(?)) ORDER BY path DESC"
        rows = self._entities(clause, (json.dumps(list(entities), ensure_ascii=False),))
        return {record.id: record for record in rows}

    def labels(self, entities: Iterable[str]) -> dict[str, str]:
        """Return the label of each of some entities, by id; those that do not exist are absent."""
        rows = self._catalog.rows(
            "SELECT id, label FROM entities WHERE id IN (SELECT value FROM json_each(?)) ORDER BY path DESC",
            (json.dumps(list(entities), ensure_ascii=False),),
        )
        return dict(rows)

    def entities(self) -> list[EntityRecord]:
        """Return every unmerged entity, by id."""
        return self._entities("WHERE merged_into IS NULL ORDER BY id, path")

    def count_unmerged(self) -> int:
        """Return how many `entities` returns."""
        return int(self._catalog.rows("SELECT count(*) FROM entities WHERE merged_into IS NULL")[0][0])

    def absorbed(self, entity: str) -> tuple[str, ...]:
        """Return the ids of the entities merged into this one."""
        keeper = f"entity:{entity.removeprefix('entity:')}"
        return tuple(row.id for row in self._entities("WHERE merged_into = ? ORDER BY id", (keeper,)))

    def resolve(self, name: str, entity_type: str | None = None) -> tuple[EntityMatch, ...]:
        """Find the entities a name may mean: exact names first, then aliases, acronyms and similar names.

        Args:
            name: A name as written, or an id `type--slug`.
            entity_type: Consider this type alone.

        Returns:
            Best first, then by id; merged entities are replaced by their targets. Acronyms are included only if no name
            matches, `near` matches only if nothing else does; names that differ in a number, version or mark (“C++”)
            are never near.
        """
        if "--" in name:
            direct = self.entity(name if name.startswith("entity:") else f"entity:{name}")
            if direct is not None:
                return (EntityMatch(direct, "exact"),) if entity_type in (None, direct.type) else ()
        key = name_key(name)
        if not key:
            return ()
        found = self._matches(self._by_name(key), entity_type)
        return (
            found
            or self._matches(self._by_acronym(name, key), entity_type)
            or self._near(name, key, entity_type)
        )

    def named(self, name: str) -> EntityRecord | None:
        """Return the one entity with this label or alias, or None; fast enough for every word of a text."""
        matches = self._matches(self._by_name(name_key(name)), None)
        return matches[0].entity if len(matches) == 1 else None

    def called(self, first_name: str) -> EntityRecord | None:
        """Return the one person whose name of several words begins with this word, or None."""
        key = name_key(first_name)
        if not key or " " in key:
            return None
        # “!” is the character after the blank.
        rows = self._catalog.rows(
            "SELECT DISTINCT e.id FROM names n JOIN entities e ON e.id = n.entity"
            " WHERE n.folded > ?1 || ' ' AND n.folded < ?1 || '!' AND n.how <> 'acronym'"
            " AND e.type = 'person' AND e.merged_into IS NULL LIMIT 2",
            (key,),
        )
        return self.entity(rows[0][0]) if len(rows) == 1 else None

    def names_with(self, pieces: Iterable[str]) -> list[tuple[str, str, str]]:
        """Return the names that hold one of some pieces of text, each with the id and type of the entity it means.

        Args:
            pieces: Folded, of two characters or more; rare ones count for more.

        Returns:
            (Name as written, id, type), those that hold the most first, at most sixty.
        """
        found = []
        for written, entity, entity_type, keeper in self._names_with(pieces):
            final = self._final_entity(entity) if keeper else None
            found.append((written, final.id, final.type) if final else (written, entity, entity_type))
        return found

    def edges_of(self, entity: str) -> tuple[EdgeRecord, ...]:
        """Return the relations from or to an entity."""
        rows = self._catalog.rows(
            "SELECT source, relation, target, confidence, since, block FROM edges"
            " WHERE source = ?1 OR target = ?1 ORDER BY file, place",
            (entity,),
        )
        return tuple(EdgeRecord(*row) for row in rows)

    def edges_among(self, entities: Iterable[str]) -> tuple[EdgeRecord, ...]:
        """Return the relations from or to any of some entities, each once, in the order of `edges_of`."""
        rows = self._catalog.rows(
            "WITH asked AS MATERIALIZED (SELECT value FROM json_each(?))"
            " SELECT source, relation, target, confidence, since, block FROM edges"
            " WHERE source IN asked OR target IN asked ORDER BY file, place",
            (json.dumps(list(entities), ensure_ascii=False),),
        )
        return tuple(EdgeRecord(*row) for row in rows)

    def edges(self) -> tuple[EdgeRecord, ...]:
        """Return every relation."""
        rows = self._catalog.rows(
            "SELECT source, relation, target, confidence, since, block FROM edges ORDER BY file, place"
        )
        return tuple(EdgeRecord(*row) for row in rows)

    def facts_of(self, entity: str) -> tuple[FactRecord, ...]:
        """Return an entity's facts in file order, including retired ones."""
        return self._facts("WHERE entity = ? ORDER BY file, line", (entity,))

    def fact(self, fact_id: str) -> FactRecord | None:
        """Return a fact by its id `entity:type--slug#^block`."""
        rows = self._facts("WHERE id = ? LIMIT 1", (fact_id,))
        return rows[0] if rows else None

    def mentions(self, target: str) -> tuple[str, ...]:
        """Return the ids of memories that link to a memory or entity or have it as a source."""
        return self._links(
            "SELECT DISTINCT source FROM links WHERE target = ? AND NOT EXISTS"
            " (SELECT 1 FROM entities WHERE id = source AND merged_into IS NOT NULL) ORDER BY source",
            target,
        )

    def mentioning_files(self, target: str) -> tuple[str, ...]:
        """Return the paths of files that link to a memory or entity, including those of merged entities."""
        return self._links(
            "SELECT DISTINCT path FROM links JOIN files ON number = file WHERE target = ? ORDER BY path",
            target,
        )

    def citing(self, beginning: str) -> tuple[tuple[str, str], ...]:
        """Return the memories with a source whose id begins with a text, each with that id.

        Args:
            beginning: Such as `file:sessions/ID.jsonl#L`.
        """
        after = beginning[:-1] + chr(ord(beginning[-1]) + 1)
        rows = self._catalog.rows(
            "SELECT DISTINCT source, target FROM links WHERE target >= ? AND target < ? ORDER BY source",
            (beginning, after),
        )
        return tuple((source, target) for source, target in rows)

    def facts_citing(
        self, lines: Sequence[tuple[str, int, int]], memories: Sequence[str]
    ) -> tuple[FactRecord, ...]:
        """Return the facts, retired ones included, with some lines or some memories as a source.

        Args:
            lines: Path, first and last line; facts that cite any of them count.
            memories: Ids that may be cited whole.
        """
        spans: dict[str, list[tuple[int, int]]] = {}
        for path, first, last in lines:
            spans.setdefault(path, []).append((first, last))
        beginnings = json.dumps([f"file:{path}#L" for path in spans])
        found = set()
        for source, target in self._catalog.rows(_CITING, (beginnings, json.dumps(memories))):
            path, start, end = (cited_lines(target.removeprefix("file:")) if target else None) or ("", 0, 0)
            if not target or any(start <= last and end >= first for first, last in spans.get(path, ())):
                found.add(source)
        ids = json.dumps(sorted(found))
        return self._facts("WHERE id IN (SELECT value FROM json_each(?))", (ids,)) if found else ()

    def links_from(self, source: str) -> tuple[str, ...]:
        """Return the ids that a memory links to or has as sources."""
        return self._links("SELECT DISTINCT target FROM links WHERE source = ? ORDER BY target", source)

    def problems(self) -> list[tuple[str, int | None, str, str]]:
        """Return the unreadable parts of files as (path, line, message, remedy)."""
        broken = self._catalog.rows(
            "SELECT path, line, message, remedy FROM problems JOIN files ON number = file ORDER BY path, place"
        )
        doubled = self._catalog.rows(
            "SELECT m.path, m.start_line, m.id, first.path FROM (SELECT id, min(path) AS path FROM memories"
            " GROUP BY id HAVING count(*) > 1) AS first JOIN memories m ON m.id = first.id"
            " WHERE m.path <> first.path ORDER BY m.path, m.start_line"
        )
        found = [(path, line, message, remedy) for path, line, message, remedy in broken]
        found.extend(
            (path, line, f"The memory {id_} is also in {other}.", "Remove or rename one of the two.")
            for path, line, id_, other in doubled
        )
        return found

    def _count(self, clause: str, values: tuple[str, ...]) -> int:
        rows = self._catalog.rows(f"SELECT count(*) FROM memories m {clause}", values)
        return int(rows[0][0])

    def _links(self, question: str, value: str) -> tuple[str, ...]:
        return tuple(row[0] for row in self._catalog.rows(question, (value,)))

    def _memories(self, clause: str, values: Sequence[str | int] = ()) -> list[MemoryRecord]:
        rows = self._catalog.rows(
            f"SELECT {MEMORY_COLUMNS} FROM memories m {clause}",
            values,
        )
        return [memory_of(row) for row in rows]

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
            f"SELECT {FACT_COLUMNS} FROM facts {clause}",
            values,
        )
        return tuple(map(fact_of, rows))

    def _by_name(self, key: str) -> list[tuple[str, str]]:
        rows = self._catalog.rows(
            "SELECT entity, how FROM names WHERE folded = ? AND how <> 'acronym' ORDER BY entity", (key,)
        )
        return [(entity, how) for entity, how in sorted(rows, key=lambda row: _RANKS[row[1]])]

    def _by_acronym(self, name: str, key: str) -> list[tuple[str, str]]:
        """Return entities whose long name this abbreviates, else those whose short name abbreviates this."""
        if len(key) >= _SURE_ACRONYM or name.isupper():
            rows = self._catalog.rows(
                "SELECT DISTINCT entity FROM names WHERE folded = ? AND how = 'acronym' ORDER BY entity",
                (key,),
            )
            if rows:
                return [(row[0], "acronym") for row in rows]
        return [
            (entity, "acronym")
            for initials in acronyms(name)
            if len(initials) >= _SURE_ACRONYM
            for entity, _ in self._by_name(initials)
        ]

    def _near(self, name: str, key: str, entity_type: str | None) -> tuple[EntityMatch, ...]:
        key = key[:_MOST_KEY]
        grams = {key[at : at + 3] for at in range(len(key) - 2)}
        if not grams:
            return ()
        rows = self._names_with(grams)
        scored = [(entity, similarity(name, written, least=NEAR)) for written, entity, *_ in rows]
        scored.sort(key=lambda candidate: -candidate[1])
        near = ((entity, "near") for entity, likeness in scored if likeness >= NEAR)
        return self._matches(near, entity_type)[:_MOST_NEAR]

    def _names_with(self, pieces: Iterable[str]) -> list[tuple[str, str, str, str | None]]:
        """Return (name as written, entity, its type, what it is merged into) of the names that hold a piece."""
        pieces = sorted({piece.replace("\0", "") for piece in pieces})
        wanted = "n.written, n.entity, e.type, e.merged_into"
        # The index knows pieces of three characters.
        long = ['"' + piece.replace('"', '""') + '"' for piece in pieces if len(piece) > 2]
        rows = (
            self._catalog.rows(
                f"SELECT {wanted} FROM (SELECT rowid, rank FROM name_words WHERE name_words MATCH ?"
                " ORDER BY rank LIMIT ?) AS best JOIN names n ON n.number = best.rowid"
                " JOIN entities e ON e.id = n.entity ORDER BY best.rank, n.entity",
                (" OR ".join(long), _MOST_CANDIDATES),
            )
            if long
            else []
        )
        for piece in pieces:
            if len(piece) == 2:
                rows += self._catalog.rows(
                    f"SELECT {wanted} FROM names n JOIN entities e ON e.id = n.entity WHERE instr(n.folded, ?)"
                    " ORDER BY n.entity LIMIT ?",
                    (piece, _MOST_CANDIDATES),
                )
        return [tuple(row) for row in rows]

    def _matches(
        self, candidates: Iterable[tuple[str, str]], entity_type: str | None
    ) -> tuple[EntityMatch, ...]:
        found: dict[str, EntityMatch] = {}
        for entity_id, how in candidates:
            entity = self._final_entity(entity_id)
            if entity is not None and entity.id not in found and entity_type in (None, entity.type):
                found[entity.id] = EntityMatch(entity, how)
        return tuple(found.values())

    def _final_entity(self, entity_id: str) -> EntityRecord | None:
        """Follow merges to the final entity; the last existing one if the chain is broken."""
        entity = self.entity(entity_id)
        for _ in range(MOST_MERGES):
            rows = self._catalog.rows(
                "SELECT merged_into FROM entities WHERE id = ? AND merged_into IS NOT NULL", (entity_id,)
            )
            following = self.entity(rows[0][0]) if rows else None
            if following is None:
                break
            entity, entity_id = following, following.id
        return entity


@lru_cache(maxsize=1024)
def _tags(text: str) -> tuple[str, ...]:
    """Parse the tags of a memory; many memories have the same."""
    return tuple(json.loads(text))


def memory_of(row: tuple[Any, ...]) -> MemoryRecord:
    """Return the memory of a row of `MEMORY_COLUMNS`."""
    moment = datetime.fromisoformat(row[11]) if row[11] else None
    used = WrittenAccesses.read(row[14]) if row[14] else None
    return MemoryRecord(*(*row[:10], _tags(row[10]), moment, bool(row[12]), row[13], used))


def fact_of(row: tuple[Any, ...]) -> FactRecord:
    """Return the fact of a row of `FACT_COLUMNS`."""
    return FactRecord(*(*row[:7], tuple(json.loads(row[7])), bool(row[8])))


@dataclass(frozen=True)
class MemoryColumns:
    """Memories ordered by file and line, as columns of equal length; see `MemoryRecord`.

    Args:
        entities: Ids of the entities that each names or is, with merges resolved.
    """

    ids: tuple[str, ...]
    stores: tuple[str, ...]
    sources: tuple[str, ...]
    moments: tuple[datetime | None, ...]
    pinned: tuple[bool, ...]
    titles: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]
    entities: tuple[tuple[str, ...], ...]
    used: tuple[WrittenAccesses | None, ...]


def memory_columns(catalog: Catalog, stores: Collection[str]) -> MemoryColumns:
    """Return the columns of all memories of some stores, as fresh as the catalog's last synchronisation.

    Args:
        stores: Names of stores.
    """
    rows = catalog.rows(
        # As nearly all rows are read: a table scan is faster than an index.
        "SELECT id, store, source, moment, pinned, title, tags, used FROM memories NOT INDEXED"
        " WHERE store IN (SELECT value FROM json_each(?)) ORDER BY path, start_line, number",
        (json.dumps(sorted(stores)),),
    )
    # The same few words, and the same ids, come again and again.
    words = {word: word for row in rows for word in row[1:3]}
    ids = {row[0]: row[0] for row in rows}
    named = _entities_named(catalog, ids)
    moments = {text: datetime.fromisoformat(text) if text else None for text in {row[3] for row in rows}}
    tags_by_text = {text: tuple(json.loads(text)) for text in {row[6] for row in rows}}
    return MemoryColumns(
        ids=tuple([row[0] for row in rows]),
        stores=tuple([words[row[1]] for row in rows]),
        sources=tuple([words[row[2]] for row in rows]),
        moments=tuple([moments[row[3]] for row in rows]),
        pinned=tuple([row[4] == 1 for row in rows]),
        titles=tuple([row[5] for row in rows]),
        tags=tuple([tags_by_text[row[6]] for row in rows]),
        entities=tuple([(row[0],) if row[1] == "semantic" else named.get(row[0], ()) for row in rows]),
        used=tuple([WrittenAccesses.read(row[7]) if row[7] else None for row in rows]),
    )


def scored_columns(catalog: Catalog, ids: Sequence[str], stores: Collection[str]) -> list[tuple[Any, ...]]:
    """Return of some memories what their scores depend on; one that is in several files comes once.

    Args:
        stores: Names of stores; memories of others are left out.

    Returns:
        The columns id, store, source, moment, whether it is pinned, and `WrittenAccesses`.
    """
    rows = catalog.rows(
        "SELECT m.id, m.store, m.source, m.moment, m.pinned, m.used FROM json_each(?) AS asked"
        " JOIN memories m ON m.id = asked.value GROUP BY m.id HAVING m.path = min(m.path)",
        (json.dumps(list(ids), ensure_ascii=False),),
    )
    return [
        (
            id_,
            store,
            source,
            datetime.fromisoformat(moment) if moment else None,
            pinned == 1,
            WrittenAccesses.read(used) if used else None,
        )
        for id_, store, source, moment, pinned, used in rows
        if store in stores
    ]


def _entities_named(catalog: Catalog, ids: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the entities to which memories other than entities link, by memory id.

    Args:
        ids: Ids of memories by themselves, so that each is kept once.
    """
    keepers = dict(catalog.rows("SELECT id, merged_into FROM entities WHERE merged_into IS NOT NULL"))
    # “;” is the character after “:”. Most links lead to entities, so an index by target (“+” disables it) is slower.
    links = catalog.rows(
        "SELECT source, target FROM links WHERE (source < 'entity:' OR source >= 'entity;')"
        " AND +target >= 'entity:' AND +target < 'entity;' ORDER BY file, place"
    )
    found: dict[str, dict[str, None]] = {}
    for source, target in links:
        entity = target.partition("#")[0]
        entity = keepers.get(entity, entity)
        found.setdefault(source, {})[ids.get(entity, entity)] = None
    return {source: tuple(entities) for source, entities in found.items()}
