"""The words of an index file: how often each chunk holds a term, and the BM25 that FTS5 would give.

FTS5 keeps and merges the lists. Its own `bm25()` looks up the size of each match, twelve times what finding the matches
takes; so sizes are held in memory, and a term that a chunk holds twice is there once more as `2#term`.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from workbench.engine.search.contract import ChunkWords, bm25
from workbench.engine.search.index.tables import ask, decoding

if TYPE_CHECKING:
    import apsw
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

_BLOCK = 4096
_LONGEST = 65_535
_END_OF_PREFIX = "\U0010ffff"


def counted(words: ChunkWords) -> tuple[str, int]:
    """Return what FTS5 is given for a chunk, and how many terms the chunk has."""
    counts = Counter(words.title.split())
    counts.update(words.units.split())
    again = [f"{at}#{term}" for term, count in counts.items() if count > 1 for at in range(2, count + 1)]
    return " ".join([*counts, *again]), counts.total()


def store_lengths(connection: apsw.Connection, lengths: Mapping[int, int]) -> None:
    """Store how many terms new chunks have, by number, in the caller's transaction."""
    for block, numbers in groupby(sorted(lengths), key=lambda number: number // _BLOCK):
        rows = ask(connection, "SELECT lengths FROM lengths WHERE block = ?", (block,))
        held = np.frombuffer(rows[0][0], np.uint16).copy() if rows else np.zeros(_BLOCK, np.uint16)
        with decoding():
            for number in numbers:
                held[number % _BLOCK] = min(lengths[number], _LONGEST)
        connection.execute("INSERT OR REPLACE INTO lengths VALUES (?, ?)", (block, held.tobytes()))


class LengthMemory:
    """How many terms each chunk has, by number; thread-safe. No number is used twice, so what is held stays right."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next_number = 0
        self._lengths = np.zeros(0, np.uint16)

    def at(self, connection: apsw.Connection, next_number: int) -> NDArray[np.uint16]:
        """Return the lengths of all chunks below a number, as the connection's transaction sees them."""
        with self._lock:
            if next_number > self._next_number:
                lengths = np.zeros(-(-next_number // _BLOCK) * _BLOCK, np.uint16)
                for block, data in ask(connection, "SELECT block, lengths FROM lengths"):
                    with decoding():
                        lengths[block * _BLOCK : (block + 1) * _BLOCK] = np.frombuffer(data, np.uint16)
                self._lengths, self._next_number = lengths, next_number
            return self._lengths


class WordRanking:
    """The chunks that hold any of some terms.

    Args:
        terms: With the number of chunks that hold each; one that ends in `*` stands for all that begin with it.
        chunks: Number of chunks.
        average: Their average length.
        lengths: See `LengthMemory`.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        terms: Sequence[str],
        chunks: int,
        average: float,
        lengths: NDArray[np.uint16],
    ) -> None:
        points = np.zeros(len(lengths))
        for term in terms:
            numbers, counts = _held(connection, term)
            with decoding():
                points[numbers] += bm25(chunks, average, counts, lengths[numbers])
        self._numbers = np.flatnonzero(points)
        self._points = points[self._numbers]

    def first(self, limit: int) -> list[tuple[int, float]]:
        """Return the best, best first, with their BM25; equals go by their number."""
        limit = min(limit, len(self._numbers))
        if not limit:
            return []
        least = np.partition(self._points, -limit)[-limit]
        best = np.flatnonzero(self._points >= least)
        best = best[np.argsort(-self._points[best], kind="stable")[:limit]]
        return list(zip(self._numbers[best].tolist(), self._points[best].tolist(), strict=True))


def frequencies(connection: apsw.Connection, terms: Sequence[str]) -> dict[str, int]:
    """Return how many chunks hold each term; of a prefix (`wo*`) an upper estimate."""
    found = dict.fromkeys(terms, 0)
    whole = [term for term in found if not term.endswith("*")]
    # One query for all: a question and the words near it are some fifty terms.
    question = "SELECT term, doc FROM vocabulary WHERE term IN (SELECT value FROM json_each(?))"
    found.update(ask(connection, question, (json.dumps(whole, ensure_ascii=False),)))
    for term in found.keys() - whole:
        start = term[:-1]
        question = "SELECT sum(doc) FROM vocabulary WHERE term >= ? AND term < ?"
        found[term] = int(ask(connection, question, (start, start + _END_OF_PREFIX))[0][0] or 0)
    return found


def _held(connection: apsw.Connection, term: str) -> tuple[Numbers, Numbers]:
    """Return the chunks that hold a term, numbers ascending, and how often each does."""
    if not term.endswith("*"):
        return _counts(connection, term)
    counts = Counter[int]()
    at, start = 1, term[:-1]
    while again := _begun(connection, start):
        counts.update(again)
        at += 1
        start = f"{at}#{term[:-1]}"
    numbers = np.sort(np.fromiter(counts, np.int64, len(counts)))
    return numbers, np.fromiter((counts[number] for number in numbers.tolist()), np.int64, len(numbers))


def _counts(connection: apsw.Connection, term: str) -> tuple[Numbers, Numbers]:
    numbers = _matches(connection, term)
    counts = np.ones(len(numbers), np.int64)
    at = 2
    while len(numbers) and len(again := _matches(connection, f"{at}#{term}")):
        counts[np.searchsorted(numbers, again)] += 1
        at += 1
    return numbers, counts


def _begun(connection: apsw.Connection, start: str) -> list[int]:
    """Return the chunks that hold terms with this beginning, once for each such term."""
    question = "SELECT doc FROM occurrences WHERE term >= ? AND term < ?"
    return [number for (number,) in ask(connection, question, (start, start + _END_OF_PREFIX))]


def _matches(connection: apsw.Connection, term: str) -> Numbers:
    quoted = '"{}"'.format(term.replace('"', '""'))
    question = "SELECT json_group_array(rowid) FROM words WHERE words MATCH ?"
    text = ask(connection, question, (quoted,))[0][0]
    numbers: Numbers = np.fromstring(text[1:-1], np.int64, sep=",")
    return numbers
