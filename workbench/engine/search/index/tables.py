"""The tables of an index file: connections, the state of the file, and vectors scanned at a byte per dimension."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np
import simsimd

from workbench.engine.file_access import keep_write_ahead_log
from workbench.engine.identifiers import SEARCHED_STORES
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from workbench.engine.providers.embedding.embedder import FloatArray
    from workbench.engine.search.chunks import Within
    from workbench.engine.search.contract import ChunkVectors

    Codes = NDArray[np.int8]


TABLES = """
CREATE TABLE state (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE files (number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, digest BLOB NOT NULL);
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY, file INTEGER NOT NULL, place INTEGER NOT NULL, memory_id TEXT NOT NULL,
    store TEXT NOT NULL, day TEXT, start_line INTEGER NOT NULL, is_retired INTEGER NOT NULL, superseded_by TEXT,
    until TEXT, terms INTEGER NOT NULL, embedded INTEGER NOT NULL
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
    terms, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars '_#'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'row');
CREATE VIRTUAL TABLE occurrences USING fts5vocab (words, 'instance');
CREATE TABLE lengths (block INTEGER PRIMARY KEY, lengths BLOB NOT NULL);
CREATE TABLE vectors (number INTEGER PRIMARY KEY, whole BLOB NOT NULL, units BLOB);
CREATE TABLE blocks (
    block INTEGER PRIMARY KEY, version INTEGER NOT NULL, scales BLOB NOT NULL, stores BLOB NOT NULL,
    days BLOB NOT NULL, codes BLOB NOT NULL
);
CREATE INDEX blocks_by_version ON blocks (version);
"""
_PRAGMAS = (
    # Whatever the SQLite build: truncating a mapped file kills the process.
    "mmap_size = 0",
    "page_size = 8192",
    "synchronous = NORMAL",
    "wal_autocheckpoint = 4000",
    "journal_size_limit = 33554432",
)


def connect(place: Path, cache: int = 4_000) -> apsw.Connection:
    """Open a connection, creating the file if missing.

    Args:
        cache: Kilobytes of its pages that are kept.

    Raises:
        apsw.Error: The file is damaged or cannot be opened.
    """
    connection = apsw.Connection(str(place))
    try:
        connection.set_busy_timeout(10_000)
        # The size of pages is settled before the log is.
        for pragma in _PRAGMAS[:2]:
            connection.execute(f"PRAGMA {pragma}").fetchall()
        keep_write_ahead_log(connection)
        for pragma in (*_PRAGMAS[2:], f"cache_size = -{cache}"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
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
    except (TypeError, ValueError, IndexError) as error:
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


@dataclass(frozen=True)
class FileState:
    """The state of one index file.

    Args:
        embedder: The fingerprint of what makes its vectors, or the empty string.
        complete: Whether it has taken over: it once held every file.
        next_number: Number of the next chunk; numbers are never reused.
        version: Raised with each change of vectors.
        moves: Raised when chunks are given to other memories.
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
    moves: int = 0

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


BLOCK = 256
# Stored in index files: another order needs another `INDEX_VERSION`.
_CODE_OF_STORE = {store: code for code, store in enumerate(SEARCHED_STORES, 1)}
_LARGEST = 127.0
_ROOM = 1.25
# Somebody who asks for more goes on: sorting so many takes as long as finding the first hundred once more.
_SORTED_AT_ONCE = 2_000
_READ_BLOCK = "SELECT scales, stores, days, codes FROM blocks WHERE block = ?"
# One statement for all: SQLite then works without the GIL.
_INSERT_VECTORS = (
    "INSERT INTO vectors SELECT value ->> 0, substr(?1, value ->> 1, ?3), substr(?2, value ->> 2, value ->> 3)"
    " FROM json_each(?4)"
)


@dataclass(frozen=True, slots=True)
class Embedded:
    """A chunk's number, store and day (ISO 8601 or None), and its vectors."""

    number: int
    store: str
    day: str | None
    vectors: ChunkVectors


@dataclass
class VectorRows:
    """Vectors at a byte per dimension and what they are filtered by; one row per chunk in each.

    Args:
        scales: float32; 0 without a vector.
        stores: int8, a code of the store.
        days: int32, the ordinal of the day or 0.
        codes: int8.
    """

    scales: FloatArray
    stores: NDArray[np.int8]
    days: NDArray[np.int32]
    codes: Codes

    @classmethod
    def empty(cls, count: int, dimensions: int) -> VectorRows:
        return cls(
            np.zeros(count, np.float32),
            np.zeros(count, np.int8),
            np.zeros(count, np.int32),
            np.zeros((count, dimensions), np.int8),
        )

    @classmethod
    def of_block(cls, blobs: Sequence[bytes]) -> VectorRows:
        """Return the read-only rows of a block (scales, stores, days, codes).

        Raises:
            apsw.CorruptError: It is no block.
        """
        with decoding():
            return cls(
                np.frombuffer(blobs[0], np.float32).reshape(BLOCK),
                np.frombuffer(blobs[1], np.int8).reshape(BLOCK),
                np.frombuffer(blobs[2], np.int32).reshape(BLOCK),
                np.frombuffer(blobs[3], np.int8).reshape(BLOCK, -1),
            )

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        return self.scales, self.stores, self.days, self.codes

    def taken(self, at: slice | list[int]) -> VectorRows:
        return VectorRows(*(column[at] for column in self.columns))

    def put(self, at: slice | list[int], rows: VectorRows) -> None:
        for own, new in zip(self.columns, rows.columns, strict=True):
            own[at] = new


def store_vectors(connection: apsw.Connection, state: FileState, made: Sequence[Embedded]) -> FileState:
    """Store the vectors of pending chunks; the caller marks them as embedded.

    Args:
        made: The chunks, numbers ascending.

    Returns:
        The new state, not yet written.
    """
    wholes = np.stack([each.vectors.whole for each in made])
    dimensions = wholes.shape[1]
    if state.dimensions != dimensions:
        state = _begin_anew(connection, state, dimensions)
    state = replace(state, version=state.version + 1)
    codes, scales = encode(wholes)
    rows = VectorRows(
        scales,
        np.array([_CODE_OF_STORE.get(each.store, 0) for each in made], np.int8),
        np.array([date.fromisoformat(each.day).toordinal() if each.day else 0 for each in made], np.int32),
        codes,
    )
    numbers = [each.number for each in made]
    for block, group in groupby(range(len(numbers)), key=lambda at: numbers[at] // BLOCK):
        at = list(group)
        held = _read_block(connection, block) or VectorRows.empty(BLOCK, dimensions)
        with decoding():
            held.put([numbers[each] % BLOCK for each in at], rows.taken(at))
        _write_block(connection, block, held, state.version)
    size = wholes.itemsize * dimensions
    units, places = _units(made)
    told = [
        (number, at * size + 1, *place)
        for at, (number, scale, place) in enumerate(zip(numbers, scales, places, strict=True))
        if scale
    ]
    connection.execute(_INSERT_VECTORS, (wholes.tobytes(), units, size, json.dumps(told)))
    return state


def remove_from_blocks(connection: apsw.Connection, numbers: Iterable[int], version: int) -> None:
    """Remove vectors from their blocks, and empty blocks, in the caller's transaction."""
    for block, group in groupby(sorted(numbers), key=lambda chunk: chunk // BLOCK):
        held = _read_block(connection, block)
        if held is None:
            continue
        held.scales[[chunk % BLOCK for chunk in group]] = 0
        if held.scales.any():
            _write_block(connection, block, held, version)
        else:
            connection.execute("DELETE FROM blocks WHERE block = ?", (block,))


def _read_block(connection: apsw.Connection, block: int) -> VectorRows | None:
    rows = ask(connection, _READ_BLOCK, (block,))
    return VectorRows(*(column.copy() for column in VectorRows.of_block(rows[0]).columns)) if rows else None


def _write_block(connection: apsw.Connection, block: int, rows: VectorRows, version: int) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?, ?, ?)",
        (block, version, *(column.tobytes() for column in rows.columns)),
    )


def _units(made: Sequence[Embedded]) -> tuple[bytes, list[tuple[int | None, int | None]]]:
    """Return all units as bytes, and for each chunk the place of the first one and their size.

    A chunk whose only unit is itself has none.
    """
    apart = [each.vectors.units for each in made if each.vectors.units is not None]
    codes = encode(np.concatenate(apart))[0].tobytes() if apart else b""
    places: list[tuple[int | None, int | None]] = []
    start = 1
    for each in made:
        size = None if each.vectors.units is None else each.vectors.units.size
        places.append((start if size else None, size))
        start += size or 0
    return codes, places


def _begin_anew(connection: apsw.Connection, state: FileState, dimensions: int) -> FileState:
    """Make room for vectors of this many dimensions; incomparable ones are deleted."""
    for statement in ("DELETE FROM vectors", "DELETE FROM blocks", "UPDATE chunks SET embedded = 0"):
        connection.execute(statement)
    return replace(state, dimensions=dimensions)


def encode(vectors: FloatArray) -> tuple[Codes, FloatArray]:
    """Return each row as bytes with its scale; scale 0 for a row of zeros."""
    scales = (np.abs(vectors).max(axis=1, initial=0.0) / _LARGEST).astype(np.float32)
    divisors = np.where(scales > 0, scales, 1)[:, None]
    return np.rint(vectors / divisors).astype(np.int8), scales


def decode(codes: bytes, dimensions: int) -> FloatArray:
    """Return rows of bytes as unit vectors; scale does not affect direction."""
    rows = np.frombuffer(codes, np.int8).reshape(-1, dimensions).astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    rows /= np.where(lengths > 0, lengths, 1)[:, None]
    return rows


@dataclass
class _Held:
    """Adjacent blocks; `starts` is the first chunk number of each, `used` how many there are."""

    starts: NDArray[np.int64]
    rows: VectorRows
    used: int = 0

    @classmethod
    def with_room(cls, blocks: int, dimensions: int) -> _Held:
        return cls(np.zeros(blocks, np.int64), VectorRows.empty(blocks * BLOCK, dimensions))


class VectorScan:
    """The chunks nearest to one vector, sorted as far as they were asked for.

    Args:
        starts: The first number of each block.
        scores: The approximate cosine of each place in the blocks, minus infinity where none is wanted.
    """

    def __init__(self, starts: NDArray[np.int64], scores: FloatArray) -> None:
        self._starts = starts
        self._scores = scores
        self._sorted: list[tuple[int, float]] = []
        self._most = 0

    def nearest(self, limit: int) -> list[tuple[int, float]]:
        """Return the numbers of the nearest chunks, best first, with their cosine."""
        scores = self._scores
        if limit > self._most and self._most < len(scores):
            self._most = most = min(max(limit, _SORTED_AT_ONCE), len(scores))
            best = np.argpartition(-scores, most - 1)[:most]
            best = best[np.argsort(-scores[best])]
            best = best[np.isfinite(scores[best])]
            numbers: list[int] = (self._starts[best // BLOCK] + best % BLOCK).tolist()
            self._sorted = list(zip(numbers, scores[best].tolist(), strict=True))
        return self._sorted[:limit]


class VectorMemory:
    """In-memory copy of an index file's vectors, refreshed block by block; thread-safe.

    SQLite stores them. A search of 50,000 with 384 dimensions by sqlite-vec takes 52 to 99 ms, this scan 1 ms.
    A number is never reused, so a scan during an update sees each vector as it was or not at all.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._version = -1
        self._dimensions = 0
        self._known: dict[int, tuple[int, int]] = {}
        self._held = _Held.with_room(0, 0)

    def refresh(self, connection: apsw.Connection, version: int, dimensions: int) -> None:
        """Read what changed, as the connection's transaction sees it.

        Args:
            connection: To the index file.
        """
        with self._lock:
            if version <= self._version and dimensions == self._dimensions:
                return
            present: dict[int, int] = dict(ask(connection, "SELECT block, version FROM blocks"))
            if dimensions != self._dimensions or len(present) < len(self._known) // 2:
                self._known = {}
                self._held = _Held.with_room(0, dimensions)
                self._dimensions = dimensions
            for block in [block for block in self._known if block not in present]:
                place, _ = self._known.pop(block)
                self._held.rows.scales[_rows_at(place)] = 0
            self._make_room(len(present))
            for block, changed in present.items():
                if block not in self._known or self._known[block][1] != changed:
                    self._read(connection, block, changed)
            self._version = version

    def scan(self, vector: FloatArray, within: Within) -> VectorScan:
        """Compare every vector with a unit vector."""
        held = self._held
        count = held.used * BLOCK
        rows = held.rows.taken(slice(count))
        if not count or vector.shape[0] != rows.codes.shape[1]:
            return VectorScan(held.starts, np.empty(0, np.float32))
        scores = _products(rows.codes, vector)
        scores *= rows.scales
        scores[~_wanted(rows, within)] = -np.inf
        return VectorScan(held.starts, scores)

    def _make_room(self, blocks: int) -> None:
        old = self._held
        taken = max(blocks, len(self._known))
        # Freed places are reused only when everything is laid out again.
        spare = old.used - len(self._known)
        if taken + spare <= len(old.starts):
            return
        new = _Held.with_room(int(taken * _ROOM) + 1 if old.used else taken, self._dimensions)
        for at, (block, (place, version)) in enumerate(list(self._known.items())):
            new.starts[at] = old.starts[place]
            new.rows.put(_rows_at(at), old.rows.taken(_rows_at(place)))
            self._known[block] = (at, version)
        new.used = len(self._known)
        self._held = new

    def _read(self, connection: apsw.Connection, block: int, version: int) -> None:
        held = self._held
        place = self._known[block][0] if block in self._known else held.used
        with decoding():
            held.rows.put(_rows_at(place), VectorRows.of_block(ask(connection, _READ_BLOCK, (block,))[0]))
        held.starts[place] = block * BLOCK
        held.used = max(held.used, place + 1)
        self._known[block] = (place, version)


def _rows_at(place: int) -> slice:
    return slice(place * BLOCK, (place + 1) * BLOCK)


def _products(codes: Codes, vector: FloatArray) -> FloatArray:
    """Return the product of a vector with each row of bytes."""
    # The vector itself at two bytes per dimension: many rows differ by less than one byte tells.
    high, scale = encode(vector[None])
    low, rest = encode(vector[None] - high * scale)
    both = np.asarray(simsimd.cdist(np.concatenate([high, low]), codes, "dot", out_dtype="f32"))
    products: FloatArray = both[0] * scale + both[1] * rest
    return products


def _wanted(rows: VectorRows, within: Within) -> NDArray[np.bool_]:
    wanted = rows.scales > 0
    if within.store is not None:
        wanted &= rows.stores == _CODE_OF_STORE.get(within.store, 0)
    if within.after is not None:
        wanted &= rows.days >= within.after.toordinal()
    if within.before is not None:
        wanted &= (rows.days <= within.before.toordinal()) & (rows.days > 0)
    return wanted
