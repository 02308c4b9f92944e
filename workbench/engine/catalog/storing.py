"""Writes what files hold into the catalog's tables, many files at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.engine.catalog.extract import FileRows
from workbench.engine.catalog.files import Stamp
from workbench.engine.catalog.model import EntityRecord, MemoryRecord
from workbench.engine.catalog.schema import TABLES_OF_FILES
from workbench.engine.catalog.terms import acronyms, fold, indexable, name_key

if TYPE_CHECKING:
    import apsw

Row = tuple[Any, ...]

_INSERTS = {
    "files": 7,
    "memories": 19,
    "words (rowid, title, text)": 3,
    "entities": 9,
    "names": 6,
    "name_words (rowid, folded)": 2,
    "edges": 8,
    "facts": 11,
    "links": 4,
    "problems": 5,
}
_NEWEST = "SELECT coalesce(max(number), 0) FROM "


@dataclass(frozen=True, slots=True)
class ReadFile:
    """One file ready to be stored.

    Args:
        path: As the catalog names it.
        stamp: What to know it by; the next look reads a file again whose stamp is another.
        digest: Of its content.
        rows: None where the content is known already.
        words: Of each memory the terms of its title and of its text, parted by spaces.
    """

    path: str
    stamp: Stamp
    digest: bytes
    rows: FileRows | None
    words: tuple[tuple[str, str], ...] = ()


@dataclass
class _Rows:
    """Rows by table, and the numbers that the next ones get."""

    memory: int
    name: int
    tables: dict[str, list[Row]] = field(default_factory=lambda: {table: [] for table in _INSERTS})


def store_files(connection: apsw.Connection, files: Sequence[ReadFile]) -> None:
    """Put the files' rows in the place of what was known of them; within the caller's transaction."""
    new = {file.path: file.rows for file in files if file.rows is not None}
    # Counted before anything is forgotten: known files keep their numbers.
    number = _number(connection, "files")
    known = _forget(connection, new)
    collected = _Rows(_number(connection, "memories"), _number(connection, "names"))
    for file in files:
        if file.rows is None:
            _note_stamp(connection, file)
            continue
        own = known.get(file.path)
        if own is None:
            own = number = number + 1
        _collect(collected, own, file, file.rows)
    for table, width in _INSERTS.items():
        if collected.tables[table]:
            marks = ", ".join("?" * width)
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", collected.tables[table])


def words_of(rows: FileRows) -> tuple[tuple[str, str], ...]:
    """Return the terms of each memory; found before the transaction, which others wait for."""
    return tuple(
        (indexable(f"{record.title}\n{' '.join(record.tags)}"), indexable(record.text))
        for record in rows.memories
    )


def remove_files(connection: apsw.Connection, paths: Iterable[str]) -> None:
    """Take everything out that is known of these files; within the caller's transaction."""
    _forget(connection, paths)


def _note_stamp(connection: apsw.Connection, file: ReadFile) -> None:
    stamp = file.stamp
    connection.execute(
        "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE path = ?",
        (stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.inode, file.path),
    )


def _forget(connection: apsw.Connection, paths: Iterable[str]) -> dict[str, int]:
    """Delete the rows of files; return the numbers of those that were known."""
    known: dict[str, int] = {}
    for path in paths:
        rows: list[Row] = connection.execute("SELECT number FROM files WHERE path = ?", (path,)).fetchall()
        if rows:
            known[path] = rows[0][0]
    numbers = [(number,) for number in known.values()]
    for words, table in (("words", "memories"), ("name_words", "names")):
        connection.executemany(
            f"DELETE FROM {words} WHERE rowid IN (SELECT number FROM {table} WHERE file = ?)", numbers
        )
    for table in TABLES_OF_FILES:
        connection.executemany(f"DELETE FROM {table} WHERE file = ?", numbers)
    connection.executemany("DELETE FROM files WHERE number = ?", numbers)
    return known


def _number(connection: apsw.Connection, table: str) -> int:
    rows: list[Row] = connection.execute(_NEWEST + table).fetchall()
    return int(rows[0][0])


def _collect(collected: _Rows, number: int, file: ReadFile, rows: FileRows) -> None:
    tables, stamp = collected.tables, file.stamp
    tables["files"].append(
        (number, file.path, stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.inode, file.digest)
    )
    for record, words in zip(rows.memories, file.words, strict=True):
        collected.memory += 1
        tables["memories"].append(
            _memory_row(collected.memory, number, record, rows.sort_keys.get(record.id))
        )
        tables["words (rowid, title, text)"].append((collected.memory, *words))
    for entity in rows.entities:
        merged = rows.merged_into.get(entity.id)
        tables["entities"].append(_entity_row(number, entity, merged))
        for folded, how, written in _names(entity, is_merged=merged is not None):
            collected.name += 1
            tables["names"].append((collected.name, folded, entity.id, how, written, number))
            if how != "acronym":
                tables["name_words (rowid, folded)"].append((collected.name, folded))
    tables["edges"].extend(
        (number, place, e.from_, e.relation, e.to, e.confidence, e.since, e.block)
        for place, e in enumerate(rows.edges)
    )
    tables["facts"].extend(
        (
            number,
            place,
            fact.id,
            fact.entity,
            fact.text,
            fact.line,
            fact.since,
            fact.until,
            fact.superseded_by,
            _json(fact.provenance),
            int(fact.retired),
        )
        for place, fact in enumerate(rows.facts)
    )
    tables["links"].extend((number, place, *link) for place, link in enumerate(rows.links))
    tables["problems"].extend(
        (number, place, problem.line, problem.message, problem.remedy)
        for place, problem in enumerate(rows.problems)
    )


def _memory_row(number: int, file: int, record: MemoryRecord, sort_key: str | None) -> Row:
    return (
        number,
        record.id,
        record.store,
        record.path,
        record.start_line,
        record.end_line,
        record.title,
        record.type,
        record.confidence,
        record.source,
        _json(record.tags),
        record.moment.isoformat() if record.moment else None,
        int(record.pinned),
        record.text_line,
        file,
        record.moment.date().isoformat() if record.moment else None,
        sort_key,
        facets(record),
        record.text,
    )


def facets(record: MemoryRecord) -> str:
    """Return what a memory can be filtered by: lines of `field:value`, folded, with a line end before each."""
    pairs = [("type", record.type), ("confidence", record.confidence), ("source", record.source)]
    pairs.extend(("tag", tag) for tag in record.tags)
    return "".join(f"\n{name}:{fold(value)}" for name, value in pairs if value)


def _entity_row(file: int, entity: EntityRecord, merged_into: str | None) -> Row:
    return (
        None,
        entity.id,
        entity.type,
        entity.label,
        entity.path,
        _json(entity.aliases),
        entity.summary,
        merged_into,
        file,
    )


def _names(entity: EntityRecord, *, is_merged: bool) -> Iterator[tuple[str, str, str]]:
    """Yield (folded name, how it fits, name as written); the name of a merged entity is one more of the other's."""
    named = [(name_key(entity.label), "alias" if is_merged else "exact", entity.label)]
    named.extend((name_key(alias), "alias", alias) for alias in entity.aliases)
    for name in (entity.label, *entity.aliases):
        named.extend((initials, "acronym", name) for initials in acronyms(name))
    seen = set()
    for folded, how, written in named:
        if folded and (folded, how) not in seen:
            seen.add((folded, how))
            yield folded, how, written


def _json(values: tuple[str, ...]) -> str:
    return json.dumps(values, ensure_ascii=False) if values else "[]"
