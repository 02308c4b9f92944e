"""The catalog's tables, and opening the database that holds them."""

from __future__ import annotations

import contextlib
from pathlib import Path

import apsw

SCHEMA_VERSION = 1

_TABLES = """
CREATE TABLE files (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE memories (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, store TEXT NOT NULL, path TEXT NOT NULL,
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL,
    type TEXT NOT NULL, confidence TEXT NOT NULL, source TEXT NOT NULL, tags TEXT NOT NULL,
    moment TEXT, sort_key TEXT NOT NULL, pinned INTEGER NOT NULL
);
CREATE INDEX memories_by_id ON memories (id);
CREATE INDEX memories_by_path ON memories (path);
CREATE INDEX memories_by_time ON memories (sort_key DESC, number DESC) WHERE sort_key <> '';
CREATE INDEX memories_by_store ON memories (store);
CREATE TABLE entities (
    id TEXT NOT NULL, type TEXT NOT NULL, label TEXT NOT NULL, path TEXT PRIMARY KEY,
    aliases TEXT NOT NULL, summary TEXT NOT NULL, merged_into TEXT
) WITHOUT ROWID;
CREATE INDEX entities_by_id ON entities (id);
CREATE TABLE names (
    number INTEGER PRIMARY KEY, folded TEXT NOT NULL, entity TEXT NOT NULL, how TEXT NOT NULL,
    path TEXT NOT NULL
);
CREATE INDEX names_by_name ON names (folded);
CREATE INDEX names_by_path ON names (path);
CREATE TABLE edges (
    source TEXT NOT NULL, relation TEXT NOT NULL, target TEXT NOT NULL, confidence TEXT NOT NULL,
    since TEXT, block TEXT, path TEXT NOT NULL
);
CREATE INDEX edges_by_source ON edges (source);
CREATE INDEX edges_by_target ON edges (target);
CREATE INDEX edges_by_path ON edges (path);
CREATE TABLE facts (
    id TEXT NOT NULL, entity TEXT NOT NULL, text TEXT NOT NULL, line INTEGER NOT NULL, since TEXT, until TEXT,
    superseded_by TEXT, provenance TEXT NOT NULL, retired INTEGER NOT NULL, path TEXT NOT NULL
);
CREATE INDEX facts_by_entity ON facts (entity);
CREATE INDEX facts_by_id ON facts (id);
CREATE INDEX facts_by_path ON facts (path);
CREATE TABLE links (source TEXT NOT NULL, target TEXT NOT NULL, path TEXT NOT NULL);
CREATE INDEX links_by_target ON links (target);
CREATE INDEX links_by_path ON links (path);
CREATE VIRTUAL TABLE words USING fts5 (
    title, text, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 0 tokenchars '_'"
);
CREATE VIRTUAL TABLE name_words USING fts5 (folded, content='', contentless_delete=1, tokenize="trigram");
CREATE TABLE problems (path TEXT NOT NULL, line INTEGER, message TEXT NOT NULL, remedy TEXT NOT NULL);
CREATE INDEX problems_by_path ON problems (path);
CREATE TABLE first_seen (id TEXT PRIMARY KEY, moment TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

TABLES_BY_PATH = ("memories", "entities", "names", "edges", "facts", "links", "problems")


def open_database(place: Path, fingerprint: str) -> apsw.Connection:
    """Open the catalog, made anew where it is missing, damaged, or of another version or zone.

    Args:
        place: The database file; its folder is created.
        fingerprint: What the rows depend on besides the files, such as the time zone.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    expected = f"{SCHEMA_VERSION}|{fingerprint}"
    try:
        connection = _connect(place)
        with contextlib.suppress(apsw.SQLError):
            row = connection.execute("SELECT value FROM state WHERE key = 'fingerprint'").fetchone()
            if row is not None and row[0] == expected:
                return connection
        connection.close()
    except (apsw.CorruptError, apsw.NotADBError):
        pass
    return _create(place, expected)


def _create(place: Path, expected: str) -> apsw.Connection:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{place}{suffix}").unlink(missing_ok=True)
    connection = _connect(place)
    with connection:
        try:
            connection.execute(_TABLES)
            connection.execute("INSERT INTO state VALUES ('fingerprint', ?)", (expected,))
        except apsw.SQLError:
            # Another process made it between our look and our write; its tables are ours too.
            row = connection.execute("SELECT value FROM state WHERE key = 'fingerprint'").fetchone()
            if row is None or row[0] != expected:
                raise
    return connection


def _connect(place: Path) -> apsw.Connection:
    connection = apsw.Connection(str(place))
    connection.set_busy_timeout(5_000)
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "cache_size = -16000"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection
