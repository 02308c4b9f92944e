"""The tables of an index file, its connections, and the counts and flags it records about itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from workbench.engine.derived_files import keep_write_ahead_log

TABLES = """
CREATE TABLE state (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE files (number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, digest BLOB NOT NULL);
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY, file INTEGER NOT NULL, place INTEGER NOT NULL, memory_id TEXT NOT NULL,
    store TEXT NOT NULL, day TEXT, start_line INTEGER NOT NULL, is_retired INTEGER NOT NULL, superseded_by TEXT,
    terms INTEGER NOT NULL, embedded INTEGER NOT NULL
);
CREATE INDEX chunks_by_file ON chunks (file, place);
CREATE INDEX chunks_by_memory ON chunks (memory_id);
CREATE INDEX chunks_by_day ON chunks (day, number) WHERE day IS NOT NULL;
CREATE INDEX chunks_to_embed ON chunks (number) WHERE embedded = 0;
CREATE TABLE texts (
    number INTEGER PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL, tags TEXT NOT NULL,
    unit_terms TEXT NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5 (
    title, text, content='', contentless_delete=1, tokenize="ascii tokenchars '_'"
);
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(1.0, 1.0)');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'row');
CREATE TABLE units (number INTEGER PRIMARY KEY, codes BLOB NOT NULL);
CREATE TABLE blocks (
    block INTEGER PRIMARY KEY, version INTEGER NOT NULL, scales BLOB NOT NULL, stores BLOB NOT NULL,
    days BLOB NOT NULL, codes BLOB NOT NULL
);
CREATE INDEX blocks_by_version ON blocks (version);
"""
SUFFIXES = ("", "-wal", "-shm", "-journal")
_PRAGMAS = (
    # Whatever the SQLite build: truncating a mapped file kills the process.
    "mmap_size = 0",
    "page_size = 8192",
    "synchronous = NORMAL",
    "wal_autocheckpoint = 4000",
    "journal_size_limit = 33554432",
)
# Vectors are read one by one, so sqlite-vec's blobs are best small.
_VECTORS = (
    "CREATE VIRTUAL TABLE vectors USING vec0 (embedding float[{}] distance_metric=cosine, chunk_size=64)"
)


def connect(place: Path) -> apsw.Connection:
    """Open a connection with sqlite-vec loaded, creating the file if missing.

    Raises:
        apsw.Error: The file is damaged or cannot be opened.
    """
    import sqlite_vec

    connection = apsw.Connection(str(place))
    try:
        connection.set_busy_timeout(10_000)
        # The size of pages is settled before the log is.
        for pragma in _PRAGMAS[:2]:
            connection.execute(f"PRAGMA {pragma}").fetchall()
        keep_write_ahead_log(connection)
        for pragma in (*_PRAGMAS[2:], "cache_size = -16000"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
    except BaseException:
        connection.close()
        raise
    return connection


def ask(connection: apsw.Connection, question: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Return all rows of one query."""
    rows: list[tuple[Any, ...]] = connection.execute(question, tuple(values)).fetchall()
    return rows


@contextmanager
def decoding() -> Iterator[None]:
    """Treat stored values that cannot be decoded as damage.

    Raises:
        apsw.CorruptError: As SQLite raises it for damage that it notices itself.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        raise apsw.CorruptError(f"what is stored cannot be read: {error}") from error


def create_tables(connection: apsw.Connection, state: dict[str, str | int]) -> None:
    """Create the tables with their first state, unless they exist."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not has_tables(connection):
            connection.execute(TABLES)
            connection.executemany("INSERT INTO state VALUES (?, ?)", list(state.items()))
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def has_tables(connection: apsw.Connection) -> bool:
    """Return whether the file is already an index."""
    return bool(connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'state'").fetchall())


def create_vectors(connection: apsw.Connection, dimensions: int) -> None:
    """Create the table of vectors, in the caller's transaction."""
    connection.execute(_VECTORS.format(int(dimensions)))


def delete_database(place: Path) -> None:
    """Delete a database and its side files."""
    for suffix in SUFFIXES:
        Path(f"{place}{suffix}").unlink(missing_ok=True)


@dataclass(frozen=True)
class FileState:
    """The state of one index file.

    Args:
        shape: The digest of its shape.
        embedder: The fingerprint of what makes its vectors, or the empty string.
        complete: Whether it has taken over: it once held every file.
        next_number: Number of the next chunk; numbers are never reused.
        chunks: Number of chunks.
        terms: Total number of terms.
        version: Raised with each change of vectors.
        dimensions: Of its vectors; 0 without any.
        last_sync: When it last held every file, ISO 8601, or "".
        wanted: Files that the current build will hold in the end; 0 if none is running.
    """

    shape: str = ""
    embedder: str = ""
    complete: int = 0
    next_number: int = 1
    chunks: int = 0
    terms: int = 0
    version: int = 0
    dimensions: int = 0
    last_sync: str = ""
    wanted: int = 0

    def values(self) -> dict[str, str | int]:
        return dict(vars(self))


def read_state(connection: apsw.Connection) -> FileState:
    """Read the state as the connection's transaction sees it.

    Raises:
        apsw.CorruptError: It cannot be what was stored.
    """
    known: dict[str, Any] = dict(ask(connection, "SELECT key, value FROM state"))
    with decoding():
        state = FileState(**known)
        for name, default in vars(FileState()).items():
            if not isinstance(getattr(state, name), type(default)):
                raise TypeError(name)
    # Otherwise these numbers would be reused.
    if not known.keys() >= {"shape", "next_number"}:
        raise apsw.CorruptError("the state is gone")
    return state


def write_state(connection: apsw.Connection, state: FileState) -> None:
    """Replace the stored state, in the caller's transaction."""
    connection.executemany("INSERT OR REPLACE INTO state VALUES (?, ?)", list(state.values().items()))
