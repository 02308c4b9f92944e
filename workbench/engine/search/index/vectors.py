"""Vectors in an index file: a byte per dimension, stored in blocks and scanned in memory."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from workbench.engine.identifiers import SEARCHED_STORES
from workbench.engine.search.index.schema import FileState, ask, create_vectors, decoding

if TYPE_CHECKING:
    import apsw
    from numpy.typing import NDArray

    from workbench.engine.providers.embedding.embedder import FloatArray
    from workbench.engine.search.chunks import Within
    from workbench.engine.search.index.chunk_embedding import ChunkVectors


BLOCK = 256
# Stored in index files: another order needs another `INDEX_VERSION`.
_CODE_OF_STORE = {store: code for code, store in enumerate(SEARCHED_STORES, 1)}
_LARGEST = 127.0
# This many rows at a time become floats: they stay in the processor's cache.
_ROWS_AT_ONCE = 1024
_ROOM = 1.25
# One statement for all: SQLite then works without the GIL.
_INSERT_VECTORS = (
    "INSERT INTO vectors (rowid, embedding) SELECT value, substr(?1, key * ?3 + 1, ?3) FROM json_each(?2)"
)
_INSERT_UNITS = (
    "INSERT INTO units SELECT value ->> 0, substr(?1, value ->> 1, value ->> 2) FROM json_each(?2)"
)


@dataclass
class Block:
    """The vectors of the chunks numbered from `BLOCK * number` on.

    Args:
        scales: float32 per chunk; 0 without a vector.
        stores: int8 per chunk, see `store_code`.
        days: int32 per chunk, the ordinal of its day or 0.
        codes: int8, one row per chunk.
    """

    scales: FloatArray
    stores: NDArray[np.int8]
    days: NDArray[np.int32]
    codes: Codes

    @classmethod
    def empty(cls, dimensions: int) -> Block:
        return cls(
            np.zeros(BLOCK, np.float32),
            np.zeros(BLOCK, np.int8),
            np.zeros(BLOCK, np.int32),
            np.zeros((BLOCK, dimensions), np.int8),
        )

    @classmethod
    def of_row(cls, row: Sequence[bytes]) -> Block:
        """Return the read-only block of a row (scales, stores, days, codes).

        Raises:
            apsw.CorruptError: It is no such row.
        """
        with decoding():
            return cls(
                np.frombuffer(row[0], np.float32).reshape(BLOCK),
                np.frombuffer(row[1], np.int8).reshape(BLOCK),
                np.frombuffer(row[2], np.int32).reshape(BLOCK),
                np.frombuffer(row[3], np.int8).reshape(BLOCK, -1),
            )

    def copy(self) -> Block:
        """Return a writable copy."""
        return Block(self.scales.copy(), self.stores.copy(), self.days.copy(), self.codes.copy())


def store_code(store: str) -> int:
    """Return the code of a store; 0 if unknown."""
    return _CODE_OF_STORE.get(store, 0)


def day_code(day: date | str | None) -> int:
    """Return the code of a day; 0 for None."""
    if day is None:
        return 0
    return (date.fromisoformat(day) if isinstance(day, str) else day).toordinal()


@dataclass(frozen=True)
class Placed:
    """Vectors with their filter values; one entry per chunk in each, numbers ascending."""

    numbers: Sequence[int]
    stores: Sequence[int]
    days: Sequence[int]
    scales: FloatArray
    codes: Codes


def add_to_blocks(connection: apsw.Connection, placed: Placed, version: int) -> None:
    """Add vectors to their blocks, in the caller's transaction."""
    for number, group in groupby(range(len(placed.numbers)), key=lambda at: placed.numbers[at] // BLOCK):
        rows = list(group)
        block = _read(connection, number) or Block.empty(placed.codes.shape[1])
        places = [placed.numbers[at] % BLOCK for at in rows]
        block.scales[places] = placed.scales[rows]
        block.stores[places] = [placed.stores[at] for at in rows]
        block.days[places] = [placed.days[at] for at in rows]
        with decoding():
            block.codes[places] = placed.codes[rows]
        _write(connection, number, block, version)


def remove_from_blocks(connection: apsw.Connection, numbers: Iterable[int], version: int) -> None:
    """Remove vectors from their blocks, and empty blocks, in the caller's transaction."""
    for number, group in groupby(sorted(numbers), key=lambda chunk: chunk // BLOCK):
        block = _read(connection, number)
        if block is None:
            continue
        block.scales[[chunk % BLOCK for chunk in group]] = 0
        if block.scales.any():
            _write(connection, number, block, version)
        else:
            connection.execute("DELETE FROM blocks WHERE block = ?", (number,))


def _read(connection: apsw.Connection, number: int) -> Block | None:
    rows = ask(connection, "SELECT scales, stores, days, codes FROM blocks WHERE block = ?", (number,))
    return Block.of_row(rows[0]).copy() if rows else None


def _write(connection: apsw.Connection, number: int, block: Block, version: int) -> None:
    parts = (block.scales, block.stores, block.days, block.codes)
    connection.execute(
        "INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?, ?, ?)",
        (number, version, *(part.tobytes() for part in parts)),
    )


if TYPE_CHECKING:
    from numpy.typing import NDArray

    from workbench.engine.providers.embedding.embedder import FloatArray

    Codes = NDArray[np.int8]


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
    scales: FloatArray
    stores: NDArray[np.int8]
    days: NDArray[np.int32]
    codes: Codes
    used: int = 0

    @classmethod
    def with_room(cls, blocks: int, dimensions: int) -> _Held:
        rows = blocks * BLOCK
        return cls(
            np.zeros(blocks, np.int64),
            np.zeros(rows, np.float32),
            np.zeros(rows, np.int8),
            np.zeros(rows, np.int32),
            np.zeros((rows, dimensions), np.int8),
        )

    @property
    def room(self) -> int:
        return len(self.starts)

    def put(self, at: int, number: int, block: Block) -> None:
        rows = slice(at * BLOCK, (at + 1) * BLOCK)
        self.starts[at] = number * BLOCK
        self.codes[rows] = block.codes
        self.stores[rows] = block.stores
        self.days[rows] = block.days
        self.scales[rows] = block.scales
        self.used = max(self.used, at + 1)


class VectorMemory:
    """In-memory copy of an index file's vectors, refreshed block by block; thread-safe.

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
            version: Of its vectors, per its state.
            dimensions: Of its vectors, per its state.
        """
        with self._lock:
            if version <= self._version and dimensions == self._dimensions:
                return
            present: dict[int, int] = dict(ask(connection, "SELECT block, version FROM blocks"))
            if dimensions != self._dimensions or len(present) < len(self._known) // 2:
                self._known = {}
                self._held = _Held.with_room(0, dimensions)
                self._dimensions = dimensions
            self._drop_gone(present)
            changed = [
                block
                for block, of in present.items()
                if block not in self._known or self._known[block][1] != of
            ]
            self._make_room(len(present))
            for block in changed:
                self._read(connection, block, present[block])
            self._version = version

    def nearest(self, vector: FloatArray, limit: int, within: Within) -> list[tuple[int, float]]:
        """Return the chunks nearest to a unit vector, best first, with their cosine; both approximate."""
        held, used = self._held, self._held.used
        rows = used * BLOCK
        if not rows or vector.shape[0] != held.codes.shape[1]:
            return []
        scores = _products(held.codes[:rows], vector)
        scores *= held.scales[:rows]
        scores[~_wanted(held, rows, within)] = -np.inf
        limit = min(limit, rows)
        best = np.argpartition(-scores, limit - 1)[:limit]
        best = best[np.argsort(-scores[best])]
        best = best[np.isfinite(scores[best])]
        numbers: list[int] = (held.starts[best // BLOCK] + best % BLOCK).tolist()
        return list(zip(numbers, scores[best].tolist(), strict=True))

    def _drop_gone(self, present: dict[int, int]) -> None:
        for block in [block for block in self._known if block not in present]:
            at, _ = self._known.pop(block)
            self._held.scales[at * BLOCK : (at + 1) * BLOCK] = 0

    def _make_room(self, blocks: int) -> None:
        taken = max(blocks, len(self._known))
        # Freed places are reused only when everything is laid out again.
        spare = self._held.used - len(self._known)
        if taken + spare <= self._held.room:
            return
        old = self._held
        self._held = _Held.with_room(int(taken * _ROOM) + 1 if old.used else taken, self._dimensions)
        for at, (block, (place, version)) in enumerate(list(self._known.items())):
            rows, new = slice(place * BLOCK, (place + 1) * BLOCK), slice(at * BLOCK, (at + 1) * BLOCK)
            self._held.starts[at] = old.starts[place]
            for name in ("scales", "stores", "days", "codes"):
                getattr(self._held, name)[new] = getattr(old, name)[rows]
            self._known[block] = (at, version)
        self._held.used = len(self._known)

    def _read(self, connection: apsw.Connection, block: int, version: int) -> None:
        rows = ask(connection, "SELECT scales, stores, days, codes FROM blocks WHERE block = ?", (block,))
        at = self._known[block][0] if block in self._known else self._held.used
        with decoding():
            self._held.put(at, block, Block.of_row(rows[0]))
        self._known[block] = (at, version)


def _products(codes: Codes, vector: FloatArray) -> FloatArray:
    """Return the product of a vector with each row of bytes."""
    vector = np.ascontiguousarray(vector, np.float32)
    products = np.empty(len(codes), np.float32)
    floats = np.empty((_ROWS_AT_ONCE, codes.shape[1]), np.float32)
    for start in range(0, len(codes), _ROWS_AT_ONCE):
        rows = codes[start : start + _ROWS_AT_ONCE]
        part = floats[: len(rows)]
        np.copyto(part, rows)
        np.einsum("ij,j->i", part, vector, out=products[start : start + len(rows)])
    return products


def _wanted(held: _Held, rows: int, within: Within) -> NDArray[np.bool_]:
    wanted = held.scales[:rows] > 0
    if within.store is not None:
        wanted &= held.stores[:rows] == store_code(within.store)
    if within.after is not None:
        wanted &= held.days[:rows] >= day_code(within.after)
    if within.before is not None:
        wanted &= (held.days[:rows] <= day_code(within.before)) & (held.days[:rows] > 0)
    return wanted


@dataclass(frozen=True, slots=True)
class Embedded:
    """A chunk's number, store and day (ISO 8601 or None), and its vectors."""

    number: int
    store: str
    day: str | None
    vectors: ChunkVectors


def store_vectors(connection: apsw.Connection, state: FileState, made: Sequence[Embedded]) -> FileState:
    """Store the vectors of pending chunks; the caller marks them as embedded.

    Args:
        connection: In a transaction.
        state: As the transaction sees it.
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
    placed = Placed(
        [each.number for each in made],
        [store_code(each.store) for each in made],
        [day_code(each.day) for each in made],
        scales,
        codes,
    )
    add_to_blocks(connection, placed, state.version)
    numbers = [each.number for each, scale in zip(made, scales, strict=True) if scale]
    connection.execute(
        _INSERT_VECTORS, (wholes[scales > 0].tobytes(), json.dumps(numbers), wholes.itemsize * dimensions)
    )
    units, places = _units(made)
    connection.execute(_INSERT_UNITS, (units, json.dumps(places)))
    return state


def _units(made: Sequence[Embedded]) -> tuple[bytes, list[tuple[int, int, int]]]:
    """Return all units as bytes, and for each its chunk number, byte offset and count.

    A chunk whose only unit is itself stores it once.
    """
    apart = [(each.number, each.vectors.units) for each in made if each.vectors.units is not None]
    if not apart:
        return b"", []
    codes, _ = encode(np.concatenate([units for _, units in apart]))
    places, start = [], 1
    for number, units in apart:
        places.append((number, start, units.size))
        start += units.size
    return codes.tobytes(), places


def _begin_anew(connection: apsw.Connection, state: FileState, dimensions: int) -> FileState:
    """Make room for vectors of this many dimensions; incomparable ones are deleted."""
    if state.dimensions:
        for statement in (
            "DROP TABLE vectors",
            "DELETE FROM blocks",
            "DELETE FROM units",
            "UPDATE chunks SET embedded = 0",
        ):
            connection.execute(statement)
    create_vectors(connection, dimensions)
    return replace(state, dimensions=dimensions)
