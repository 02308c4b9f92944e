"""Vectors at a bit per direction: which of a million may be near, before those few are compared exactly.

Each vector is turned (the same way everywhere) and the signs of its parts are kept: 512 bits, packed in blocks of
chunks. The share of bits in which two differ grows with the angle between them; of those that differ least, the parts
of the question's own vector tell better which are near. A process holds the signatures that it was asked about, and
reads again those of a collection that changed.
"""

from __future__ import annotations

import hashlib
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from workbench.engine.search.postgres.postings import BASE
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from workbench.engine.providers.embedding.embedder import FloatArray
    from workbench.engine.search.postgres.server import Connection

    Words = NDArray[np.uint64]
    # The number of each chunk, and a column of words for each.
    _Piece = tuple[NDArray[np.int64], Words]

BITS: Final = 512
# A block fits into one page of the database.
_BLOCK = 112
_WORDS = BITS // 64
_ROW = np.dtype([("number", "<i4"), ("words", "<u8", (_WORDS,))])
# So many at a time stay in the processor's cache.
_AT_ONCE = 65_536
# 72 bytes each. Of more than these, each search reads them again, piece by piece.
_MOST_HELD = 4_000_000
_BLOCKS_AT_ONCE = 4_096
# For each that is wanted, so many by their bits alone.
_BY_BITS = 6


def signatures_of(vectors: FloatArray) -> Words:
    """Return the signature of each row, whatever its length."""
    return np.packbits(_turned(vectors) > 0, axis=1, bitorder="little").view("<u8")


def _turned(vectors: FloatArray) -> FloatArray:
    count, dimensions = vectors.shape
    width = 1 << max(0, dimensions - 1).bit_length()
    padded = np.zeros((count, width), np.float32)
    padded[:, :dimensions] = vectors
    turned = []
    for turn in range(-(-BITS // width)):
        parts = padded
        for signs in _signs(width, turn):
            parts = _mixed(parts * signs)
        turned.append(parts[:, :BITS])
    return np.concatenate(turned, axis=1)


def change_signatures(
    connection: Connection, collection: int, added: Mapping[int, FloatArray], gone: Sequence[int]
) -> None:
    """Add and remove vectors; in a transaction of the caller, who has locked the collection.

    Args:
        added: By their number within the collection.
        gone: Numbers within the collection; those without a signature are passed over.
    """
    new: dict[int, list[NDArray[np.void]]] = defaultdict(list)
    if added:
        numbers = np.array(list(added), np.int32)
        rows = np.zeros(len(numbers), _ROW)
        rows["number"], rows["words"] = numbers, signatures_of(np.stack(list(added.values())))
        for block in np.unique(numbers // _BLOCK).tolist():
            new[block].append(rows[numbers // _BLOCK == block])
    leaving = {*gone, *added}
    blocks = list({number // _BLOCK for number in leaving})
    if not blocks:
        return
    cursor = connection.cursor(binary=True)
    for block, data in cursor.execute(
        "DELETE FROM signatures WHERE collection = %s AND block = ANY(%s) RETURNING block, data",
        (collection, blocks),
    ).fetchall():
        held = np.frombuffer(data, _ROW)
        new[block].append(held[~np.isin(held["number"], list(leaving))])
    with connection.cursor().copy(
        "COPY signatures (collection, block, data) FROM STDIN (FORMAT BINARY)"
    ) as copy:
        copy.set_types(["int4", "int4", "bytea"])
        for block, parts in new.items():
            rows = np.concatenate(parts)
            if len(rows):
                copy.write_row((collection, block, np.sort(rows, order="number").tobytes()))
    # Whoever holds those of before sees that there are others; a count could repeat in a database made again.
    connection.execute(
        "UPDATE collections SET signed = 1 + (random() * 9e15)::bigint WHERE id = %s", (collection,)
    )


@dataclass(frozen=True)
class _Held:
    """Signatures in memory, a column of `words` for each.

    Args:
        numbers: The number of each chunk in the database.
        places: What `signed` was of each collection, and where its own begin and end.
    """

    numbers: NDArray[np.int64]
    words: Words
    places: Mapping[int, tuple[int, int, int]]


class SignatureMemory:
    """The signatures that this process was asked about; safe for several threads.

    What a role may not see is neither read nor asked: collections are named by whoever was shown them just now.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = _Held(np.zeros(0, np.int64), np.zeros((_WORDS, 0), np.uint64), {})

    def nearest(
        self,
        connection: Connection,
        collections: Mapping[int, int],
        chunks: int,
        vector: FloatArray,
        count: int,
    ) -> list[int]:
        """Return the numbers of the chunks that may be nearest to a vector: `count`, or all there are.

        Args:
            collections: What `signed` is of each that is asked, in the connection's transaction.
            chunks: How many there are in them.
        """
        if chunks > _MOST_HELD:
            best = [_nearest(piece, vector, count) for piece in _read(connection, list(collections))]
            if not best:
                return []
            numbers, likeness = (np.concatenate(each) for each in zip(*best, strict=True))
            return list(map(int, numbers[np.argsort(-likeness)[:count]]))
        with self._lock:
            held = self._held = _brought_up(connection, self._held, collections)
        passed = [place[1:] for own, place in held.places.items() if own not in collections]
        return list(map(int, _nearest((held.numbers, held.words), vector, count, passed)[0]))


def _brought_up(connection: Connection, held: _Held, wanted: Mapping[int, int]) -> _Held:
    """Return what is held with what is wanted as it is now; others stay while there is room."""
    stale = [own for own, signed in wanted.items() if held.places.get(own, (None,))[0] != signed]
    if not stale:
        return held
    read: dict[int, list[_Piece]] = defaultdict(list)
    for numbers, words in _read(connection, stale):
        read[int(numbers[0]) // BASE].append((numbers, words))
    sizes = {own: sum(len(numbers) for numbers, _ in read[own]) for own in stale}
    leaving = {*stale}
    if len(held.numbers) + sum(sizes.values()) > _MOST_HELD:
        leaving |= held.places.keys() - wanted.keys()
    stays = np.ones(len(held.numbers), bool)
    for own in leaving & held.places.keys():
        stays[slice(*held.places[own][1:])] = False
    places: dict[int, tuple[int, int, int]] = {}
    end = 0
    for own, (signed, first, last) in sorted(held.places.items(), key=lambda pair: pair[1][1]):
        if own not in leaving:
            places[own], end = (signed, end, end + last - first), end + last - first
    for own in stale:
        places[own], end = (wanted[own], end, end + sizes[own]), end + sizes[own]
    new = [piece for own in stale for piece in read[own]]
    return _Held(
        np.concatenate([held.numbers[stays], *(numbers for numbers, _ in new)]),
        np.concatenate([held.words[:, stays], *(words for _, words in new)], axis=1),
        places,
    )


def _read(connection: Connection, collections: Sequence[int]) -> Iterator[_Piece]:
    """Yield the signatures of collections, piece by piece, each of one collection."""
    with connection.cursor(name="signatures", binary=True) as cursor:
        cursor.execute(
            "SELECT collection, data FROM signatures WHERE collection = ANY(%s) ORDER BY collection, block",
            (f"{{{','.join(map(str, collections))}}}",),
        )
        while found := cursor.fetchmany(_BLOCKS_AT_ONCE):
            by_collection: dict[int, list[bytes]] = defaultdict(list)
            for own, data in found:
                by_collection[own].append(data)
            for own, blocks in by_collection.items():
                rows = np.frombuffer(b"".join(blocks), _ROW)
                yield own * BASE + rows["number"].astype(np.int64), np.ascontiguousarray(rows["words"].T)


def _nearest(
    held: _Piece, vector: FloatArray, count: int, passed: Sequence[tuple[int, int]] = ()
) -> tuple[NDArray[np.int64], FloatArray]:
    """Return the numbers of the nearest and how alike they are, leaving out some ranges."""
    numbers, words = held
    turned = _turned(vector[None, :])[0]
    wanted = np.packbits(turned > 0, bitorder="little").view("<u8")
    apart = np.zeros(len(numbers), np.uint16)
    differing = np.empty(_AT_ONCE, np.uint64)
    bits = np.empty(_AT_ONCE, np.uint8)
    for start in range(0, len(numbers), _AT_ONCE):
        own = apart[start : start + _AT_ONCE]
        for column, word in zip(words, wanted, strict=True):
            np.bitwise_xor(column[start : start + _AT_ONCE], word, out=differing[: len(own)])
            np.bitwise_count(differing[: len(own)], out=bits[: len(own)])
            own += bits[: len(own)]
    for first, last in passed:
        apart[first:last] = BITS + 1
    # How many differ by no more than so many bits.
    within = np.cumsum(np.bincount(apart, minlength=BITS + 2)[: BITS + 1])
    near = np.flatnonzero(apart <= min(int(np.searchsorted(within, count * _BY_BITS)), BITS))
    signs = np.unpackbits(np.ascontiguousarray(words[:, near].T).view(np.uint8), axis=1, bitorder="little")
    likeness: FloatArray = np.einsum("ij,j->i", signs.astype(np.float32), turned)
    if len(near) > count:
        chosen = np.argpartition(-likeness, count)[:count]
        near, likeness = near[chosen], likeness[chosen]
    return numbers[near], likeness


@lru_cache(maxsize=16)
def _signs(width: int, turn: int) -> tuple[FloatArray, FloatArray]:
    """Return which parts change their sign before each mixing; the same for ever, since signatures are stored."""

    def drawn(step: int) -> FloatArray:
        data = hashlib.shake_256(b"%d %d %d" % (width, turn, step)).digest(max(1, width // 8))
        return 1 - 2 * np.unpackbits(np.frombuffer(data, np.uint8))[:width].astype(np.float32)

    return drawn(0), drawn(1)


def _mixed(rows: FloatArray) -> FloatArray:
    """Return each row after a Walsh-Hadamard transform, in which every part takes part in every other."""
    count, width = rows.shape
    step = 1
    while step < width:
        pairs = rows.reshape(count, -1, 2, step)
        sums, differences = pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]
        rows = np.stack((sums, differences), axis=2).reshape(count, width)
        step *= 2
    return rows
