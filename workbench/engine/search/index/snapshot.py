"""One consistent state of the index: keyword and vector queries, and the chunks they return."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date
from types import TracebackType
from typing import TYPE_CHECKING, Any

from workbench.engine.search.chunks import Chunk, Statistics, StoredChunk, Within
from workbench.engine.search.index.schema import FileState, ask, decoding, read_state
from workbench.engine.search.index.vectors import decode

if TYPE_CHECKING:
    import apsw

    from workbench.engine.providers.embedding.embedder import FloatArray
    from workbench.engine.search.index.files import IndexFile


# A very frequent word says little: beside rarer ones, frequent words are dropped once this many
# postings would have to be read.
_MOST_PLACES = 16_000
_END_OF_PREFIX = "\U0010ffff"
# The scan uses one byte per dimension; this many extra results are rescored exactly.
_SPARE = 40
_MOST_EXACT = 300


def frequencies(connection: apsw.Connection, terms: Sequence[str], chunks: int) -> dict[str, int]:
    """Return the number of chunks that hold each term; for a prefix, an upper estimate.

    Args:
        connection: To the index file.
        terms: As in the index; a trailing `*` matches every term with that beginning.
        chunks: Total number of chunks.
    """
    found = {}
    for term in dict.fromkeys(terms):
        if term.endswith("*"):
            start = term[:-1]
            question = "SELECT sum(doc) FROM vocabulary WHERE term >= ? AND term < ?"
            rows = ask(connection, question, (start, start + _END_OF_PREFIX))
        else:
            rows = ask(connection, "SELECT doc FROM vocabulary WHERE term = ?", (term,))
        found[term] = min(chunks, int(rows[0][0] or 0)) if rows else 0
    return found


def best_by_keywords(
    connection: apsw.Connection, terms: Sequence[str], limit: int, within: Within, chunks: int
) -> list[tuple[int, float]]:
    """Return the chunks that hold any of the terms by BM25, best first."""
    telling = _telling(frequencies(connection, terms, chunks))
    if not telling:
        return []
    expression = " OR ".join(_quoted(term) for term in telling)
    asked = {"c.store = ?": within.store, "c.day >= ?": within.after, "c.day <= ?": within.before}
    narrowed = {clause: str(value) for clause, value in asked.items() if value is not None}
    # The full-text index returns rows by rank: only the wanted number is examined further.
    joined = " CROSS JOIN chunks c ON c.number = words.rowid" if narrowed else ""
    rows = connection.execute(
        f"SELECT words.rowid, -words.rank FROM words{joined} WHERE words MATCH ?"
        f"{''.join(f' AND {clause}' for clause in narrowed)} ORDER BY words.rank LIMIT ?",
        (expression, *narrowed.values(), limit),
    )
    return [(int(number), float(score)) for number, score in rows]


def _telling(found: Mapping[str, int]) -> list[str]:
    """Return the terms to query, the rarest first."""
    chosen: list[str] = []
    places = 0
    for term, count in sorted(found.items(), key=lambda pair: pair[1]):
        if count and chosen and places + count > _MOST_PLACES:
            break
        if count:
            chosen.append(term)
            places += count
    return chosen


def _quoted(term: str) -> str:
    text = term.replace('"', '""')
    return f'"{text[:-1]}"*' if term.endswith("*") else f'"{text}"'


Row = tuple[Any, ...]

_CHUNKS = (
    "SELECT c.number, memory_id, store, path, start_line, text, title, day, tags, is_retired, superseded_by,"
    " unit_terms, codes, embedded FROM chunks c JOIN texts USING (number) JOIN files f ON f.number = c.file"
    " LEFT JOIN units u ON u.number = c.number WHERE c.number IN (SELECT value FROM json_each(?))"
)


class Snapshot(AbstractContextManager["Snapshot"]):
    """Answers from one state of an index file; for one thread. Close it soon: it keeps the file from shrinking.

    Args:
        file: The open file.
    """

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self._connection = file.begin_reading()
        try:
            with file.translated():
                self._state = read_state(self._connection)
        except BaseException:
            file.end_reading(self._connection)
            raise

    @property
    def state(self) -> FileState:
        """Return the counts of this state and its embedder's fingerprint."""
        return self._state

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the state."""
        self._file.end_reading(self._connection)

    def counts(self) -> tuple[int, int]:
        """Return the number of files, and of chunks that lack a vector."""
        rows = self._rows(
            "SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM chunks WHERE embedded = 0)", ()
        )
        return rows[0][0], rows[0][1]

    def digests(self) -> dict[str, bytes]:
        """Return the digest of each file when it was read, by path."""
        return dict(self._rows("SELECT path, digest FROM files", ()))

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """See `ChunkSource`."""
        with self._file.translated():
            found = frequencies(self._connection, terms, self._state.chunks)
        chunks = self._state.chunks
        return Statistics(chunks, self._state.terms / chunks if chunks else 0.0, found)

    def by_keywords(self, terms: Sequence[str], limit: int, within: Within) -> list[tuple[int, float]]:
        """See `ChunkSource`."""
        with self._file.translated():
            return best_by_keywords(self._connection, terms, limit, within, self._state.chunks)

    def by_vector(self, vector: FloatArray, limit: int, within: Within) -> list[tuple[int, float]]:
        """See `ChunkSource`; empty for a vector of other dimensions than the index's."""
        if self._state.dimensions != vector.shape[0]:
            return []
        with self._file.translated():
            memory = self._file.vectors
            memory.refresh(self._connection, self._state.version, self._state.dimensions)
            about = memory.nearest(vector, limit + _SPARE, within)
            exact = self._cosines([number for number, _ in about[:_MOST_EXACT]], vector)
        # For very large limits the last results keep the scan's approximate scores.
        return [*exact, *about[_MOST_EXACT:]][:limit]

    def by_memory(self, memory_ids: Sequence[str], within: Within) -> list[int]:
        """See `ChunkSource`."""
        clause, values = _within(within)
        rows = self._rows(
            "SELECT c.number FROM json_each(?) AS asked JOIN chunks c ON c.memory_id = asked.value"
            f" WHERE true {clause} ORDER BY asked.key, c.file, c.start_line, c.place",
            (json.dumps(list(memory_ids)), *values),
        )
        return list(dict.fromkeys(number for (number,) in rows))

    def by_day(self, first: date, last: date, limit: int, within: Within) -> list[int]:
        """See `ChunkSource`."""
        clause, values = _within(within)
        rows = self._rows(
            f"SELECT c.number FROM chunks c WHERE c.day >= ? AND c.day <= ? {clause}"
            " ORDER BY c.day DESC, c.number LIMIT ?",
            (first.isoformat(), last.isoformat(), *values, limit),
        )
        return [number for (number,) in rows]

    def owners(self, numbers: Sequence[int]) -> Mapping[int, str]:
        """See `ChunkSource`."""
        return dict(
            self._rows(
                "SELECT number, memory_id FROM chunks WHERE number IN (SELECT value FROM json_each(?))",
                (json.dumps(list(numbers)),),
            )
        )

    def read(self, numbers: Sequence[int]) -> list[StoredChunk]:
        """See `ChunkSource`."""
        rows = {row[0]: row for row in self._rows(_CHUNKS, (json.dumps(list(numbers)),))}
        embedded = [number for number, row in rows.items() if row[-1]]
        vectors = self._vectors(embedded) if embedded and self._state.dimensions else {}
        with self._file.translated(), decoding():
            return [_stored(rows[number], vectors.get(number)) for number in numbers if number in rows]

    def _cosines(self, numbers: Sequence[int], vector: FloatArray) -> list[tuple[int, float]]:
        import numpy as np

        vectors = self._vectors(numbers)
        if not vectors:
            return []
        products = np.einsum("ij,j->i", np.stack(list(vectors.values())), np.asarray(vector, np.float32))
        found = list(zip(vectors, products.tolist(), strict=True))
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def _vectors(self, numbers: Sequence[int]) -> dict[int, FloatArray]:
        import numpy as np

        found: dict[int, FloatArray] = {}
        with self._file.translated(), decoding():
            for number in numbers:
                for (blob,) in self._connection.execute(
                    "SELECT embedding FROM vectors WHERE rowid = ?", (number,)
                ):
                    found[number] = np.frombuffer(blob, np.float32).reshape(self._state.dimensions)
        return found

    def _rows(self, question: str, values: Sequence[Any]) -> list[Row]:
        with self._file.translated():
            rows: list[Row] = self._connection.execute(question, tuple(values)).fetchall()
            return rows


def _within(within: Within) -> tuple[str, list[str]]:
    asked = {"c.store = ?": within.store, "c.day >= ?": within.after, "c.day <= ?": within.before}
    narrowed = {clause: str(value) for clause, value in asked.items() if value is not None}
    return "".join(f" AND {clause}" for clause in narrowed), list(narrowed.values())


def _stored(row: Row, vector: FloatArray | None) -> StoredChunk:
    number, memory_id, store, path, start_line, text, title, day, tags, is_retired, by, terms, codes, _ = row
    units = None
    if vector is not None:
        units = decode(codes, len(vector)) if codes is not None else vector[None]
    unit_terms = tuple(terms.split("\n")) if terms else ()
    chunk = Chunk(
        memory_id=memory_id,
        store=store,
        path=path,
        start_line=start_line,
        text=text,
        title=title,
        day=date.fromisoformat(day) if day else None,
        tags=tuple(json.loads(tags)) if tags != "[]" else (),
        is_retired=bool(is_retired),
        superseded_by=by,
    )
    return StoredChunk(number, chunk, vector, units, unit_terms)
