"""Which chunks hold a term: packed lists, their upkeep, and BM25 over them as FTS5 reckons it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.engine.search.contract import bm25
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from workbench.engine.search.postgres.server import Connection

BASE = 1 << 31
"""A chunk's number is its collection's id times this, plus its number there."""
_BLOCK_BITS = 12
_POSTING = np.dtype([("number", "<i4"), ("count", "<u2"), ("length", "<u2")])
# A collection and a block in one number.
_KEY_BITS = 31 - _BLOCK_BITS
_BLOCKS, _PLACES = (1 << _KEY_BITS) - 1, (1 << _BLOCK_BITS) - 1
_MOST = 65_535
# Joined, not `= ANY`: the server would look for each row in the whole list, or for each collection in the index.
# It has to know how many there are when it plans, so these are not prepared: a prepared plan takes any number for ten.
_AMONG = "FROM unnest(%s::int4[]) AS asked JOIN postings ON collection = asked"


@dataclass(frozen=True)
class ChunkTerms:
    """How often a chunk holds each term, in its title or its text; `length` is the sum."""

    counts: Mapping[str, int]
    length: int

    @classmethod
    def of(cls, title: str, units: str) -> ChunkTerms:
        """Count terms separated by white space."""
        counts = Counter(title.split())
        counts.update(units.split())
        return cls(counts, counts.total())


def change_postings(
    connection: Connection,
    collection: int,
    added: Mapping[int, ChunkTerms],
    gone: Mapping[int, ChunkTerms],
) -> None:
    """Add and remove chunks, in the caller's transaction.

    Args:
        added: By their number within the collection.
        gone: The same, of chunks that were added before.
    """
    new: dict[tuple[bytes, int], list[tuple[int, int, int]]] = defaultdict(list)
    for number, terms in sorted(added.items()):
        length = min(terms.length, _MOST)
        for term, count in terms.counts.items():
            new[term_key(term), number >> _BLOCK_BITS].append((number, min(count, _MOST), length))
    leaving: dict[tuple[bytes, int], list[int]] = defaultdict(list)
    for number, terms in gone.items():
        for term in terms.counts:
            leaving[term_key(term), number >> _BLOCK_BITS].append(number)
    keys = list({*new, *leaving})
    if not keys:
        return
    before = connection.cursor(binary=True).execute(
        "DELETE FROM postings p USING unnest(%s::bytea[], %s::int[]) AS k (term, block)"
        " WHERE p.term = k.term AND p.block = k.block AND p.collection = %s RETURNING p.term, p.block, p.data",
        ([term for term, _ in keys], [block for _, block in keys], collection),
    )
    held = {(term, block): np.frombuffer(data, _POSTING) for term, block, data in before}
    statement = "COPY postings (term, collection, block, held, data) FROM STDIN (FORMAT BINARY)"
    with connection.cursor().copy(statement) as copy:
        copy.set_types(["bytea", "int4", "int4", "int4", "bytea"])
        for key in keys:
            rows = held.get(key)
            if rows is not None and key in leaving:
                rows = rows[~np.isin(rows["number"], leaving[key])]
            if key in new:
                more = np.array(new[key], _POSTING)
                rows = more if rows is None else np.concatenate([rows, more])
            if rows is not None and len(rows):
                copy.write_row((key[0], collection, key[1], len(rows), rows.tobytes()))


def term_key(term: str) -> bytes:
    """Return a term as it is stored."""
    return term.encode("utf-8", "surrogatepass")


def frequencies(connection: Connection, terms: Iterable[str], collections: str) -> dict[str, int]:
    """Return how many chunks hold each term; of a prefix (`wo*`) an upper estimate.

    Args:
        collections: Those that are asked, as `array_of` writes them.
    """
    wanted = list(dict.fromkeys(terms))
    whole = {term_key(term): term for term in wanted if not term.endswith("*")}
    found = dict.fromkeys(wanted, 0)
    cursor = connection.cursor(binary=True).execute(
        f"SELECT term, sum(held)::int8 {_AMONG} WHERE term = ANY(%s) GROUP BY term",
        (collections, list(whole)),
        prepare=False,
    )
    for key, count in cursor.fetchall():
        found[whole[bytes(key)]] = int(count)
    for term in wanted:
        if term.endswith("*"):
            row = connection.execute(
                f"SELECT coalesce(sum(held), 0)::int8 {_AMONG} WHERE term >= %s AND term < %s",
                (collections, *_range(term)),
                prepare=False,
            ).fetchone()
            found[term] = int(row[0]) if row else 0
    return found


class Ranking:
    """BM25 of every chunk that holds any of some terms; equals go by their number.

    Args:
        terms: One that ends in `*` stands for every term that begins with it.
        collections: Those that are asked, as `array_of` writes them.
        chunks: Number of chunks in these collections.
        average: Their average length.
    """

    def __init__(
        self,
        connection: Connection,
        terms: Sequence[str],
        collections: str,
        chunks: int,
        average: float,
    ) -> None:
        groups = _read(connection, terms, collections)
        # A place for each number that may be among them, block after block.
        none = [np.zeros(0, np.int64)]
        keys, which = np.unique(np.concatenate(none + [each.keys for each in groups]), return_inverse=True)
        sizes = np.zeros(len(keys), np.int64)
        np.maximum.at(sizes, which, np.concatenate(none + [each.sizes for each in groups]))
        self._starts = np.concatenate([[0], np.cumsum(sizes)])
        self._first = (keys >> _KEY_BITS) * BASE + ((keys & _BLOCKS) << _BLOCK_BITS)
        self._points = np.zeros(int(self._starts[-1]))
        for group in groups:
            places, counts, lengths = group.joined(self._starts[np.searchsorted(keys, group.keys)])
            self._points[places] += bm25(chunks, average, counts, lengths)
        # What matches none is no candidate; a selection among many equals would be slow, too.
        self._places = np.flatnonzero(self._points)
        self._points = self._points[self._places]
        self.count = len(self._places)

    def best(self, limit: int) -> list[tuple[int, float]]:
        """Return number and score of the best, best first."""
        limit = min(limit, self.count)
        if not limit:
            return []
        least = np.partition(self._points, -limit)[-limit]
        chosen = np.flatnonzero(self._points >= least)
        chosen = chosen[np.argsort(-self._points[chosen], kind="stable")[:limit]]
        places = self._places[chosen]
        block = np.searchsorted(self._starts, places, "right") - 1
        numbers = self._first[block] + places - self._starts[block]
        return list(zip(numbers.tolist(), self._points[chosen].tolist(), strict=True))


class _Postings:
    """The rows of one term, or of all with a prefix: number, count and length of each chunk.

    Args:
        collections: Of each row, packed.
        held: How many chunks each row holds, packed.
        data: The rows, numbers ascending within each.

    Attributes:
        keys: Collection and block of each row.
        sizes: How far into the block its numbers reach.
    """

    def __init__(self, collections: bytes, held: bytes, data: bytes) -> None:
        self._held = np.frombuffer(held, ">i4")
        self._every = np.frombuffer(data, _POSTING)
        last = self._every["number"][np.cumsum(self._held) - 1].astype(np.int64)
        self.keys = (np.frombuffer(collections, ">i4").astype(np.int64) << _KEY_BITS) + (last >> _BLOCK_BITS)
        self.sizes = (last & _PLACES) + 1

    def joined(self, starts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """Return place, count and length of each chunk, those of several terms added up.

        Args:
            starts: The place where the block of each row begins.
        """
        every = self._every
        places = np.repeat(starts, self._held) + (every["number"] & _PLACES)
        counts, lengths = every["count"].astype(np.float64), every["length"].astype(np.float64)
        if len(np.unique(self.keys)) == len(self.keys):
            return places, counts, lengths
        found, at, which = np.unique(places, return_index=True, return_inverse=True)
        return found, np.bincount(which, counts), lengths[at]


def _read(connection: Connection, terms: Sequence[str], collections: str) -> list[_Postings]:
    """Return the postings of each term that has any, in the order of the terms."""
    # Thousands of rows are joined by the server in a tenth of the time.
    joined = "string_agg(int4send(collection), ''), string_agg(int4send(held), ''), string_agg(data, '')"
    cursor = connection.cursor(binary=True)
    whole = [term_key(term) for term in terms if not term.endswith("*")]
    found = {
        bytes(key): _Postings(*packed)
        for key, *packed in cursor.execute(
            f"SELECT term, {joined} {_AMONG} WHERE term = ANY(%s) GROUP BY term",
            (collections, whole),
            prepare=False,
        ).fetchall()
    }
    for term in terms:
        if term.endswith("*"):
            (packed,) = cursor.execute(
                f"SELECT {joined} {_AMONG} WHERE term >= %s AND term < %s",
                (collections, *_range(term)),
                prepare=False,
            ).fetchall()
            if packed[0]:
                found[term_key(term)] = _Postings(*packed)
    return [found[key] for key in map(term_key, terms) if key in found]


def _range(prefix: str) -> tuple[bytes, bytes]:
    start = term_key(prefix[:-1])
    return start, start + b"\xff"
