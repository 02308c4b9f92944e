"""All vectors in memory, a byte per dimension, and the scan for those nearest to a question."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.engine.recall.index.blocks import BLOCK, Block, day_code, store_code
from workbench.engine.recall.index.schema import ask, decoding

if TYPE_CHECKING:
    import apsw
    from numpy.typing import NDArray

    from workbench.engine.providers.embedding.model import FloatArray
    from workbench.engine.recall.index.codes import Codes
    from workbench.engine.recall.model import Within

# So many rows at a time are made floats: they stay in the processor's cache.
_ROWS_AT_ONCE = 1024
_ROOM = 1.25


@dataclass
class _Held:
    """Blocks side by side; `starts` is the first chunk number of each, `used` how many there are."""

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
    """A copy of an index file's vectors, brought up to date block by block; safe from several threads.

    A number never stands for another vector, so a scan beside an update sees each vector as it was or not at all.
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
            version: Of its vectors, as its state says.
            dimensions: Of its vectors, likewise.
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
        """Return about the chunks nearest to a unit vector by number, best first, with about their cosine."""
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
        # Places of blocks that are gone are taken again only where everything is laid out anew.
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
