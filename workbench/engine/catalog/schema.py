"""The catalog's tables, and making sure that a database holds them."""

from __future__ import annotations

from pathlib import Path

import apsw

# Raised with each change of the tables, of what is read out of files, or of how texts are cut into terms.
SCHEMA_VERSION = 9

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
    text_line INTEGER, file INTEGER NOT NULL, day TEXT, sort_key TEXT, facets TEXT NOT NULL, text TEXT NOT NULL
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
SUFFIXES = ("", "-wal", "-shm")


def open_database(place: Path, fingerprint: str) -> apsw.Connection | None:
    """Open the catalog for writing, with its tables made where it is empty.

    Args:
        place: The database file, which exists.
        fingerprint: What the rows depend on besides the files, such as the time zone.

    Returns:
        The connection, or None where the database is of another version or zone.

    Raises:
        apsw.Error: The file is damaged or cannot be opened.
    """
    expected = f"{SCHEMA_VERSION}|{fingerprint}"
    connection = connect(place)
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


def connect(place: Path) -> apsw.Connection:
    """Open a connection to the database as it is; one that is missing is not made."""
    connection = apsw.Connection(str(place), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(10_000)
    for pragma in (
        # Whatever this SQLite was built with: a mapped file that is cut short ends the process.
        "mmap_size = 0",
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "cache_size = -16000",
        "wal_autocheckpoint = 4000",
        "journal_size_limit = 33554432",
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def delete_database(place: Path) -> None:
    """Delete the database's files."""
    for suffix in SUFFIXES:
        Path(f"{place}{suffix}").unlink(missing_ok=True)


def _create(connection: apsw.Connection, expected: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have made the tables between our look and our turn to write.
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
