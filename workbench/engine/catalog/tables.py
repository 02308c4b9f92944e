"""The catalog's tables: their schema, and bulk writing of file contents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import apsw

from workbench.engine.catalog.file_rows import FileRows
from workbench.engine.catalog.records import EntityRecord, EntityStory, MemoryRecord
from workbench.engine.catalog.terms import acronyms, fold, name_key
from workbench.engine.file_access import Stamp, keep_write_ahead_log
from workbench.engine.values import dataclass

# Raised with each change of the tables, of the parsing of files, or of the splitting into terms.
SCHEMA_VERSION = 13

_TABLES = """
CREATE TABLE files (
    number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, digest BLOB NOT NULL, blob BLOB,
    secrets TEXT NOT NULL
);
CREATE TABLE memories (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, store TEXT NOT NULL, path TEXT NOT NULL,
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, title TEXT NOT NULL, type TEXT NOT NULL,
    confidence TEXT NOT NULL, source TEXT NOT NULL, tags TEXT NOT NULL, moment TEXT, pinned INTEGER NOT NULL,
    text_line INTEGER, used TEXT, file INTEGER NOT NULL, day TEXT, sort_key TEXT, facets TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX memories_by_id ON memories (id);
CREATE INDEX memories_by_file ON memories (file);
CREATE INDEX memories_by_path ON memories (path);
CREATE INDEX memories_by_time ON memories (sort_key DESC) WHERE sort_key IS NOT NULL;
CREATE INDEX memories_by_store ON memories (store, day);
CREATE TABLE entities (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, type TEXT NOT NULL, label TEXT NOT NULL, path TEXT NOT NULL,
    aliases TEXT NOT NULL, summary TEXT NOT NULL, merged_into TEXT, file INTEGER NOT NULL, days TEXT NOT NULL,
    events TEXT NOT NULL, questions TEXT NOT NULL
);
CREATE INDEX entities_by_id ON entities (id);
CREATE INDEX entities_by_file ON entities (file);
CREATE INDEX entities_by_keeper ON entities (merged_into) WHERE merged_into IS NOT NULL;
CREATE TABLE names (
    number INTEGER PRIMARY KEY, folded TEXT NOT NULL, entity TEXT NOT NULL, how TEXT NOT NULL,
    written TEXT NOT NULL, file INTEGER NOT NULL
);
CREATE INDEX names_by_name ON names (folded);
CREATE INDEX names_by_file ON names (file);
CREATE TABLE edges (
    file INTEGER NOT NULL, place INTEGER NOT NULL, source TEXT NOT NULL, relation TEXT NOT NULL,
    target TEXT NOT NULL, confidence TEXT NOT NULL, since TEXT, block TEXT, PRIMARY KEY (file, place)
) WITHOUT ROWID;
CREATE INDEX edges_by_source ON edges (source, target, relation);
CREATE INDEX edges_by_target ON edges (target, source, relation);
CREATE TABLE facts (
    file INTEGER NOT NULL, place INTEGER NOT NULL, id TEXT NOT NULL, entity TEXT NOT NULL, text TEXT NOT NULL,
    line INTEGER NOT NULL, since TEXT, until TEXT, superseded_by TEXT, provenance TEXT NOT NULL,
    retired INTEGER NOT NULL, PRIMARY KEY (file, place)
) WITHOUT ROWID;
CREATE INDEX facts_by_entity ON facts (entity, retired, until);
CREATE INDEX facts_by_id ON facts (id);
CREATE TABLE links (
    file INTEGER NOT NULL, place INTEGER NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL,
    PRIMARY KEY (file, place)
) WITHOUT ROWID;
CREATE INDEX links_by_source ON links (source);
CREATE INDEX links_by_target ON links (target);
CREATE TABLE problems (
    file INTEGER NOT NULL, place INTEGER NOT NULL, line INTEGER, message TEXT NOT NULL, remedy TEXT NOT NULL,
    PRIMARY KEY (file, place)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE name_words USING fts5 (folded, content='', contentless_delete=1, tokenize="trigram");
CREATE TABLE first_seen (id TEXT PRIMARY KEY, moment TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

TABLES_OF_FILES = ("entities", "names", "edges", "facts", "links", "problems")
_SUFFIXES = ("", "-wal", "-shm", "-journal")
# Kilobytes of pages that a large change may hold before it writes them.
_WRITING_CACHE = 16_000

Row = tuple[Any, ...]
_INSERTS = {
    "files": 9,
    "memories": 20,
    "entities": 12,
    "names": 6,
    "name_words (rowid, folded)": 2,
    "edges": 8,
    "facts": 11,
    "links": 4,
    "problems": 5,
}
_TITLE, _TAGS, _TEXT = 6, 10, 19  # of a row of memories


def open_database(place: Path, fingerprint: str) -> apsw.Connection | None:
    """Open the catalog for writing, creating its tables if it is empty.

    Args:
        place: The database file, which exists.
        fingerprint: What the rows depend on besides the files, such as the time zone.

    Returns:
        The connection, or None if the database has another version or fingerprint.

    Raises:
        apsw.Error: The file is damaged or cannot be opened.
    """
    expected = f"{SCHEMA_VERSION}|{fingerprint}"
    connection = connect(place, _WRITING_CACHE)
    try:
        found = _fingerprint(connection)
        if found is None:
            _create(connection, expected)
        elif found != expected:
            connection.close()
            return None
    except BaseException:
        connection.close()
        raise
    return connection


def connect(place: Path, cache: int = 4_000) -> apsw.Connection:
    """Open a connection to the existing database; a missing one is not created.

    Args:
        cache: Kilobytes of its pages that are kept; what reads whole tables gains nothing from more.
    """
    connection = apsw.Connection(str(place), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(10_000)
    # Regardless of SQLite's build options: truncating a mapped file would kill the process.
    connection.execute("PRAGMA mmap_size = 0").fetchall()
    keep_write_ahead_log(connection)
    for pragma in (
        "synchronous = NORMAL",
        f"cache_size = -{cache}",
        "wal_autocheckpoint = 4000",
        "journal_size_limit = 33554432",
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def delete_database(place: Path) -> None:
    """Delete a database and its side files."""
    for suffix in _SUFFIXES:
        Path(f"{place}{suffix}").unlink(missing_ok=True)


def _create(connection: apsw.Connection, expected: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have created the tables between our check and our lock.
        if _fingerprint(connection) is None:
            connection.execute(_TABLES)
            connection.execute("INSERT INTO state VALUES ('fingerprint', ?)", (expected,))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _fingerprint(connection: apsw.Connection) -> str | None:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'state'").fetchall():
        return None
    rows = connection.execute("SELECT value FROM state WHERE key = 'fingerprint'").fetchall()
    return str(rows[0][0]) if rows else None


@dataclass(frozen=True, slots=True)
class ReadFile:
    """One file ready to be stored.

    Args:
        path: The catalog's name for it.
        stamp: Its stamp; a file with another stamp is read again.
        digest: Its content's digest.
        rows: None if the content is already known.
        blob: Git's blob hash (20 bytes); None if it was not read completely.
        secrets: What decided about the secrets in it; empty without secrets.
    """

    path: str
    stamp: Stamp
    digest: bytes
    rows: FileRows | None
    blob: bytes | None = None
    secrets: str = ""


@dataclass
class _Rows:
    """Rows to write by table, numbers of memories to remove, and the next free numbers."""

    memory: int
    name: int
    tables: dict[str, list[Row]] = field(default_factory=lambda: {table: [] for table in _INSERTS})
    forgotten: list[tuple[int]] = field(default_factory=list)


def store_files(connection: apsw.Connection, files: Sequence[ReadFile]) -> None:
    """Replace the rows of some files; within the caller's transaction.

    Memories with unchanged words keep their rows in the full-text index, so that adding one to a long file costs only
    that one.
    """
    new = [file for file in files if file.rows is not None]
    known = _numbers(connection, [file.path for file in new])
    number = _newest(connection, "files")
    collected = _Rows(_newest(connection, "memories"), _newest(connection, "names"))
    for file in files:
        if file.rows is None:
            _note_stamp(connection, file)
            continue
        own = known.get(file.path)
        before = _Before(connection, own)
        if own is None:
            own = number = number + 1
        _collect_memories(collected, own, file.rows, before)
        _collect(collected, own, file, file.rows)
    _forget_parts(connection, known.values())
    _forget_memories(connection, collected.forgotten)
    for table, width in _INSERTS.items():
        if collected.tables[table]:
            marks = ", ".join("?" * width)
            connection.executemany(
                f"INSERT OR REPLACE INTO {table} VALUES ({marks})", collected.tables[table]
            )


def remove_files(connection: apsw.Connection, paths: Iterable[str]) -> None:
    """Remove everything about some files; within the caller's transaction."""
    numbers = [(number,) for number in _numbers(connection, paths).values()]
    memories: list[Row] = []
    for number in numbers:
        memories.extend(connection.execute("SELECT number FROM memories WHERE file = ?", number).fetchall())
    _forget_parts(connection, [number for (number,) in numbers])
    _forget_memories(connection, memories)
    connection.executemany("DELETE FROM files WHERE number = ?", numbers)


class _Before:
    """The former memories of a file, to be claimed by unchanged ones."""

    def __init__(self, connection: apsw.Connection, file: int | None) -> None:
        self._rows: dict[Row, list[Row]] = {}
        if file is None:
            return
        rows: list[Row] = connection.execute(
            "SELECT * FROM memories WHERE file = ? ORDER BY number DESC", (file,)
        ).fetchall()
        for row in rows:
            self._rows.setdefault(_words_key(row), []).append(row)

    def claim(self, row: Row) -> Row | None:
        """Return an unclaimed memory with the same words."""
        same = self._rows.get(_words_key(row))
        return same.pop() if same else None

    def left(self) -> list[tuple[int]]:
        """Return the numbers of the unclaimed memories."""
        return [(row[0],) for rows in self._rows.values() for row in rows]


def _note_stamp(connection: apsw.Connection, file: ReadFile) -> None:
    stamp = file.stamp
    connection.execute(
        "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, secrets = ? WHERE path = ?",
        (stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.inode, file.secrets, file.path),
    )


def _numbers(connection: apsw.Connection, paths: Iterable[str]) -> dict[str, int]:
    known: dict[str, int] = {}
    for path in paths:
        rows: list[Row] = connection.execute("SELECT number FROM files WHERE path = ?", (path,)).fetchall()
        if rows:
            known[path] = rows[0][0]
    return known


def _forget_parts(connection: apsw.Connection, files: Iterable[int]) -> None:
    """Delete all rows of files except the files themselves and their memories."""
    numbers = [(number,) for number in files]
    connection.executemany(
        "DELETE FROM name_words WHERE rowid IN (SELECT number FROM names WHERE file = ?)", numbers
    )
    for table in TABLES_OF_FILES:
        connection.executemany(f"DELETE FROM {table} WHERE file = ?", numbers)


def _forget_memories(connection: apsw.Connection, numbers: Sequence[Row]) -> None:
    connection.executemany("DELETE FROM memories WHERE number = ?", numbers)


def _newest(connection: apsw.Connection, table: str) -> int:
    rows: list[Row] = connection.execute(f"SELECT coalesce(max(number), 0) FROM {table}").fetchall()
    return int(rows[0][0])


def _words_key(row: Row) -> Row:
    """Return the indexed parts of a memory's row: title, tags and text."""
    return row[_TITLE], row[_TAGS], row[_TEXT]


def _collect_memories(collected: _Rows, number: int, rows: FileRows, before: _Before) -> None:
    for record in rows.memories:
        row = _memory_row(collected.memory + 1, number, record, rows.sort_keys.get(record.id))
        same = before.claim(row)
        if same is None:
            collected.memory += 1
            collected.tables["memories"].append(row)
        elif same[1:] != row[1:]:
            collected.tables["memories"].append((same[0], *row[1:]))
    collected.forgotten.extend(before.left())


def _collect(collected: _Rows, number: int, file: ReadFile, rows: FileRows) -> None:
    tables, stamp = collected.tables, file.stamp
    tables["files"].append(
        (
            number,
            file.path,
            stamp.size,
            stamp.mtime_ns,
            stamp.ctime_ns,
            stamp.inode,
            file.digest,
            file.blob,
            file.secrets,
        )
    )
    for entity in rows.entities:
        merged = rows.merged_into.get(entity.id)
        story = rows.stories.get(entity.id, EntityStory())
        tables["entities"].append(_entity_row(number, entity, merged, story))
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
        record.used.render() if record.used else None,
        file,
        record.moment.date().isoformat() if record.moment else None,
        sort_key,
        facets(record),
        record.text,
    )


def facets(record: MemoryRecord) -> str:
    """Return a memory's filter values: lines of `field:value`, folded, each preceded by a line end."""
    pairs = [("type", record.type), ("confidence", record.confidence), ("source", record.source)]
    pairs.extend(("tag", tag) for tag in record.tags)
    return "".join(f"\n{name}:{fold(value)}" for name, value in pairs if value)


def _entity_row(file: int, entity: EntityRecord, merged_into: str | None, story: EntityStory) -> Row:
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
        " ".join(story.days),
        _json(story.events),
        _json(story.questions),
    )


def _names(entity: EntityRecord, *, is_merged: bool) -> Iterator[tuple[str, str, str]]:
    """Yield (folded name, match kind, name as written); a merged entity's names belong to its target."""
    named = [(name_key(entity.label), "alias" if is_merged else "exact", entity.label)]
    named.extend((name_key(alias), "alias", alias) for alias in entity.aliases)
    for name in (entity.label, *entity.aliases):
        named.extend((initials, "acronym", name) for initials in acronyms(name))
    seen = set()
    for folded, how, written in named:
        if folded and (folded, how) not in seen:
            seen.add((folded, how))
            yield folded, how, written


def _json(values: tuple[object, ...]) -> str:
    return json.dumps(values, ensure_ascii=False) if values else "[]"
