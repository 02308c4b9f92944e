"""Which chunks hold a term: packed lists, their upkeep, and BM25 over them as FTS5 reckons it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from workbench.engine.search.postgres.server import Connection

BASE = 1 << 31
"""A chunk's number is its collection's id times this, plus its number there."""
_BLOCK_BITS = 12
_POSTING = np.dtype([("number", "<i4"), ("count", "<u2"), ("length", "<u2")])
_MOST = 65_535
_K1, _B = 1.2, 0.75
_LEAST_FREQUENCY = 1e-6


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


def frequencies(connection: Connection, terms: Iterable[str], collections: Sequence[int]) -> dict[str, int]:
    """Return how many chunks hold each term; of a prefix (`wo*`) an upper estimate."""
    wanted = list(dict.fromkeys(terms))
    whole = {term_key(term): term for term in wanted if not term.endswith("*")}
    found = dict.fromkeys(wanted, 0)
    for key, count in connection.cursor(binary=True).execute(
        "SELECT term, sum(held)::int8 FROM postings WHERE term = ANY(%s) AND collection = ANY(%s) GROUP BY term",
        (list(whole), list(collections)),
    ):
        found[whole[bytes(key)]] = int(count)
    for term in wanted:
        if term.endswith("*"):
            row = connection.execute(
                "SELECT coalesce(sum(held), 0)::int8 FROM postings"
                " WHERE term >= %s AND term < %s AND collection = ANY(%s)",
                (*_range(term), list(collections)),
            ).fetchone()
            found[term] = int(row[0]) if row else 0
    return found


class Ranking:
    """BM25 of every chunk that holds any of some terms; equals go by their number.

    Args:
        terms: One that ends in `*` stands for every term that begins with it.
        chunks: Number of chunks in these collections.
        average: Their average length.
    """

    def __init__(
        self,
        connection: Connection,
        terms: Sequence[str],
        collections: Sequence[int],
        chunks: int,
        average: float,
    ) -> None:
        groups = _read(connection, terms, collections)
        # A place for each number that may be among them, block after block.
        ends: dict[tuple[int, int], int] = {}
        for group in groups:
            for own, block, rows in group:
                ends[own, block] = max(ends.get((own, block), 0), int(rows["number"][-1]) + 1)
        blocks = sorted(ends)
        first = [own * BASE + (block << _BLOCK_BITS) for own, block in blocks]
        sizes = [ends[own, block] - (block << _BLOCK_BITS) for own, block in blocks]
        self._starts = np.cumsum([0, *sizes])
        self._first = np.array(first, np.int64)
        self._points = np.zeros(int(self._starts[-1]))
        start_of = dict(zip(blocks, self._starts.tolist(), strict=False))
        for group in groups:
            places, counts, lengths = _joined(group, start_of)
            frequency = np.log((chunks - len(places) + 0.5) / (len(places) + 0.5))
            frequency = max(float(frequency), _LEAST_FREQUENCY) if len(places) <= chunks else _LEAST_FREQUENCY
            self._points[places] += (
                frequency * counts * (_K1 + 1) / (counts + _K1 * (1 - _B + _B * lengths / (average or 1.0)))
            )
        self.count = int(np.count_nonzero(self._points))

    def best(self, limit: int) -> list[tuple[int, float]]:
        """Return number and score of the best, best first."""
        limit = min(limit, self.count)
        if not limit:
            return []
        least = np.partition(self._points, -limit)[-limit]
        places = np.flatnonzero(self._points >= least)
        scores = self._points[places]
        order = np.argsort(-scores, kind="stable")[:limit]
        block = np.searchsorted(self._starts, places[order], "right") - 1
        numbers = self._first[block] + places[order] - self._starts[block]
        return list(zip(numbers.tolist(), scores[order].tolist(), strict=True))


_Rows = list[tuple[int, int, "NDArray[np.void]"]]


def _read(connection: Connection, terms: Sequence[str], collections: Sequence[int]) -> list[_Rows]:
    """Return the rows of each term that has any."""
    ids = list(collections)
    by_term: dict[bytes, _Rows] = {term_key(term): [] for term in terms if not term.endswith("*")}
    for key, own, block, data in connection.cursor(binary=True).execute(
        "SELECT term, collection, block, data FROM postings WHERE term = ANY(%s) AND collection = ANY(%s)",
        (list(by_term), ids),
    ):
        by_term[bytes(key)].append((own, block, np.frombuffer(data, _POSTING)))
    groups = list(by_term.values())
    for term in terms:
        if term.endswith("*"):
            rows = connection.cursor(binary=True).execute(
                "SELECT collection, block, data FROM postings"
                " WHERE term >= %s AND term < %s AND collection = ANY(%s)",
                (*_range(term), ids),
            )
            groups.append([(own, block, np.frombuffer(data, _POSTING)) for own, block, data in rows])
    return [group for group in groups if group]


def _joined(
    group: _Rows, start_of: Mapping[tuple[int, int], int]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Return place, count and length of each chunk, those of several terms of a prefix added up."""
    shifts = [start_of[own, block] - (block << _BLOCK_BITS) for own, block, _ in group]
    every = np.concatenate([rows for _, _, rows in group])
    places = np.repeat(shifts, [len(rows) for _, _, rows in group]) + every["number"]
    if len({(own, block) for own, block, _ in group}) == len(group):
        return places, every["count"].astype(np.float64), every["length"].astype(np.float64)
    found, at, which = np.unique(places, return_index=True, return_inverse=True)
    return found, np.bincount(which, every["count"]), every["length"][at].astype(np.float64)


def _range(prefix: str) -> tuple[bytes, bytes]:
    start = term_key(prefix[:-1])
    return start, start + b"\xff"
