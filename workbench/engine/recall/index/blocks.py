"""Vectors packed in blocks of 256 chunk numbers, to be read in bulk; changed in place within a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from workbench.engine.identifiers import SEARCHED_STORES
from workbench.engine.recall.index.schema import ask, decoding

if TYPE_CHECKING:
    import apsw
    from numpy.typing import NDArray

    from workbench.engine.providers.embedding.model import FloatArray
    from workbench.engine.recall.index.codes import Codes

BLOCK = 256
# Kept in index files: another order is another `shape.INDEX_VERSION`.
_CODE_OF_STORE = {store: code for code, store in enumerate(SEARCHED_STORES, 1)}


@dataclass
class Block:
    """The vectors of the chunks numbered from `BLOCK * number` on.

    Args:
        scales: float32 per chunk; 0 where there is no vector.
        stores: int8 per chunk, see `store_code`.
        days: int32 per chunk, the ordinal of its day or 0.
        codes: int8, a row per chunk.
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
        """Return the block of a row (scales, stores, days, codes), to be read only.

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
        """Return a copy that may be changed."""
        return Block(self.scales.copy(), self.stores.copy(), self.days.copy(), self.codes.copy())


def store_code(store: str) -> int:
    """Return the number that stands for a store; 0 for one that is unknown."""
    return _CODE_OF_STORE.get(store, 0)


def day_code(day: date | str | None) -> int:
    """Return the number of a day, or 0 for none."""
    if day is None:
        return 0
    return (date.fromisoformat(day) if isinstance(day, str) else day).toordinal()


@dataclass(frozen=True)
class Placed:
    """Vectors with what they are filtered by; one entry per chunk in each, numbers ascending."""

    numbers: Sequence[int]
    stores: Sequence[int]
    days: Sequence[int]
    scales: FloatArray
    codes: Codes


def add_to_blocks(connection: apsw.Connection, placed: Placed, version: int) -> None:
    """Put vectors into their blocks; within the caller's transaction."""
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
    """Take vectors out of their blocks, and blocks away that hold none; within the caller's transaction."""
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
