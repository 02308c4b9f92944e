"""Answers from PostgreSQL: what an index file answers, of one memory or across many."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from workbench.engine.patterns import lazy_pattern
from workbench.engine.search.chunks import ChunkMarks, Statistics, StoredChunk, Within
from workbench.engine.search.contract import telling_terms
from workbench.engine.search.index.index import stored_chunk
from workbench.engine.search.index.tables import decode
from workbench.engine.search.postgres.postings import Ranking, frequencies
from workbench.engine.search.postgres.server import array_of
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray
    from workbench.engine.search.postgres.server import Connection, Server

Row = tuple[Any, ...]
# Up to so many vectors are all compared. Of more, those with the nearest signatures: so many, or so many for each
# that is wanted.
_MOST_EXACT = 50_000
_COMPARED = 1_000
_COMPARED_FOR_EACH = 10
# How much further the words are asked if too much of what they find is filtered out.
_FURTHER = 8
_CHUNKS = (
    "SELECT c.number, memory_id, c.store, path, start_line, text, title, c.day::text, tags, is_retired, superseded_by,"
    " until, unit_terms, codes, v.embedding, c.collection FROM chunks c"
    " JOIN files f ON f.collection = c.collection AND f.number = c.file"
    " LEFT JOIN vectors v ON v.number = c.number LEFT JOIN units u ON u.number = c.number"
    " WHERE c.number = ANY(%s)"
)
_QUALIFIED = lazy_pattern("\x1f([0-9]+)(?=#\\^|$)")


def to_bytes(text: str) -> bytes:
    """Return a text as it is stored: any characters, halves of them and NUL included."""
    return text.encode("utf-8", "surrogatepass")


def to_text(stored: bytes) -> str:
    """Return what `to_bytes` stored."""
    return bytes(stored).decode("utf-8", "surrogatepass")


def text_hash(text: str) -> int:
    """Return 64 bits by which texts of any length are looked up."""
    digest = hashlib.blake2b(to_bytes(text), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


@dataclass(frozen=True)
class Collection:
    """One index of a view in the database.

    Args:
        tokens: Terms of all its chunks, those of titles included.
        signed: Another number with each change of its signatures; 0 without any.
    """

    id: int
    view: int
    shape: str
    embedder: str
    dimensions: int
    complete: bool
    next_number: int
    chunks: int
    terms: int
    tokens: int
    last_sync: str | None
    wanted: int
    signed: int


COLUMNS: Final = (
    "c.id, c.view, c.shape, c.embedder, c.dimensions, c.complete, c.next_number, c.chunks, c.terms, c.tokens,"
    " c.last_sync::text, c.wanted, c.signed"
)

# A role that sees the whole of a memory is not asked its parts; of several indexes, the one that answers is asked.
ASKED: Final = (
    f"SELECT DISTINCT ON (v.id) {COLUMNS}, v.machine, v.path, v.scope, v.project, v.person, v.team"
    " FROM collections c JOIN views v ON v.id = c.view"
    " WHERE NOT EXISTS (SELECT 1 FROM views w WHERE w.machine = v.machine AND w.path = v.path"
    " AND w.scope = '' AND v.scope <> '')"
    " ORDER BY v.id, c.complete DESC, c.id DESC"
)


def qualified(name: str, view: int) -> str:
    """Return the id of a memory, or a path, as no other memory has it; a fact's stays one of its entity."""
    whole, mark, block = name.partition("#^") if name.startswith("entity:") else (name, "", "")
    return f"{whole}\x1f{view}{mark}{block}"


def unqualified(name: str) -> tuple[str, int]:
    """Return what `qualified` was given."""
    match = list(_QUALIFIED.finditer(name))[-1]
    return name[: match.start()] + name[match.end() :], int(match[1])


class PostgresSource:
    """Answers from one state of collections; for one thread. Close it soon: it holds a connection.

    Args:
        choose: Returns the collections that are asked, at the same state.
        are_many: Whether ids and paths are `qualified` by their view.
        asked_by: Fingerprint of the embedder of questions; vectors by others are passed over. None if all are its.
    """

    def __init__(
        self,
        server: Server,
        choose: Callable[[Connection], Sequence[Collection]],
        *,
        are_many: bool = False,
        asked_by: str | None = None,
    ) -> None:
        self._stack = ExitStack()
        self._server = server
        self._connection: Connection = self._stack.enter_context(server.reading())
        self._are_many = are_many
        self._asked_by = asked_by
        try:
            self.collections: Sequence[Collection] = choose(self._connection)
        except BaseException as error:
            self._fail(error)
            raise
        self._ids = array_of(each.id for each in self.collections)
        self._views = {each.id: each.view for each in self.collections}
        self._counts: dict[str, int] = {}
        self._rankings: dict[tuple[str, ...], Ranking] = {}

    @property
    def embedder(self) -> str:
        """See `IndexSource`."""
        known = {each.embedder for each in self.collections if each.embedder}
        return known.pop() if len(known) == 1 else ""

    def close(self) -> None:
        """Release the state."""
        self._stack.close()

    def digests(self) -> dict[str, bytes]:
        """See `IndexSource`."""
        rows = self._rows("SELECT path, digest FROM files WHERE collection = ANY(%s)", self._ids)
        return {to_text(path): bytes(digest) for path, digest in rows}

    def counts(self) -> tuple[int, int]:
        """Return the number of files, and of chunks that lack a vector."""
        rows = self._rows(
            "SELECT (SELECT count(*) FROM files WHERE collection = ANY(%s)),"
            " (SELECT count(*) FROM chunks WHERE collection = ANY(%s) AND NOT embedded)",
            self._ids,
            self._ids,
        )
        return int(rows[0][0]), int(rows[0][1])

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """See `ChunkSource`; the count of a prefix is an upper estimate."""
        chunks = sum(each.chunks for each in self.collections)
        return Statistics(chunks, self._frequencies(terms))

    def by_keywords(self, terms: Sequence[str], limit: int, within: Within) -> list[tuple[int, float]]:
        """See `ChunkSource`."""
        ranking = self._ranking(tuple(telling_terms(self._frequencies(terms))))
        clause, values = _within(within)
        if not clause:
            return ranking.best(limit)
        count = limit
        while True:
            found = ranking.best(count)
            kept = self._rows(
                f"SELECT c.number FROM chunks c WHERE c.number = ANY(%s) {clause}",
                array_of(number for number, _ in found),
                *values,
            )
            fitting = {number for (number,) in kept}
            if len(fitting) >= limit or len(found) == ranking.count:
                return [pair for pair in found if pair[0] in fitting][:limit]
            count *= _FURTHER

    def by_vector(self, vector: FloatArray, limit: int, within: Within) -> list[tuple[int, float]]:
        """See `ChunkSource`; vectors of other dimensions have no part in it."""
        dimensions = len(vector)
        fitting = [
            each
            for each in self.collections
            if each.dimensions == dimensions and self._asked_by in (None, each.embedder)
        ]
        if not fitting:
            return []
        clause, values = _within(within)
        chunks = sum(each.chunks for each in fitting)
        if chunks > _MOST_EXACT and all(each.signed for each in fitting):
            signed = {each.id: each.signed for each in fitting}
            count = max(_COMPARED, limit * _COMPARED_FOR_EACH)
            with self._asking():
                near = self._server.signatures.nearest(self._connection, signed, chunks, vector, count)
            found = self._compared("number", array_of(near), vector, limit, clause, values)
            # What was filtered out may have taken the places of what is wanted.
            if len(found) >= limit or not clause:
                return found
        ids = array_of(each.id for each in fitting)
        return self._compared("collection", ids, vector, limit, clause, values)

    def by_memory(self, memory_ids: Sequence[str], within: Within) -> list[int]:
        """See `ChunkSource`."""
        clause, values = _within(within)
        asked = [self._asked(name) for name in memory_ids]
        rows = self._rows(
            "SELECT c.number, c.memory_id, c.collection FROM chunks c WHERE c.collection = ANY(%s)"
            f" AND c.memory_hash = ANY(%s) {clause} ORDER BY c.collection, c.file, c.start_line, c.place",
            self._ids,
            array_of(text_hash(name) for name, _ in asked),
            *values,
        )
        found: dict[tuple[str, int | None], list[int]] = {}
        for number, name, collection in rows:
            view = self._views[collection] if self._are_many else None
            found.setdefault((to_text(name), view), []).append(number)
        return list(dict.fromkeys(number for key in asked for number in found.get(key, ())))

    def by_lines(self, path: str, first: int, last: int, limit: int, within: Within) -> list[int]:
        """See `ChunkSource`."""
        clause, values = _within(within)
        name, view = self._asked(path)
        ids = array_of(each.id for each in self.collections if view is None or each.view == view)
        rows = self._rows(
            "SELECT c.number FROM files f JOIN chunks c ON c.collection = f.collection AND c.file = f.number"
            " WHERE f.collection = ANY(%s) AND f.path_hash = %s AND f.path = %s AND c.start_line <= %s"
            " AND c.start_line >= coalesce((SELECT max(start_line) FROM chunks o WHERE o.collection = f.collection"
            f" AND o.file = f.number AND o.start_line <= %s), 0) {clause} ORDER BY c.start_line, c.place LIMIT %s",
            ids,
            text_hash(name),
            to_bytes(name),
            last,
            first,
            *values,
            limit,
        )
        return [number for (number,) in rows]

    def by_day(self, first: date, last: date, limit: int, within: Within) -> list[int]:
        """See `ChunkSource`."""
        clause, values = _within(within)
        rows = self._rows(
            "SELECT c.number FROM chunks c WHERE c.collection = ANY(%s) AND c.day >= %s AND c.day <= %s"
            f" {clause} ORDER BY c.day DESC, c.number LIMIT %s",
            self._ids,
            first,
            last,
            *values,
            limit,
        )
        return [number for (number,) in rows]

    def marks(self, basis: object) -> ChunkMarks:
        """See `ChunkSource`; none are kept."""
        del basis
        return ChunkMarks()

    def owners(self, numbers: Sequence[int]) -> Mapping[int, str]:
        """See `ChunkSource`."""
        rows = self._rows(
            "SELECT number, memory_id, collection FROM chunks WHERE number = ANY(%s)", array_of(numbers)
        )
        return {number: self._named(to_text(name), collection) for number, name, collection in rows}

    def read(self, numbers: Sequence[int]) -> list[StoredChunk]:
        """See `ChunkSource`."""
        found = {row[0]: self._stored(row) for row in self._rows(_CHUNKS, array_of(numbers))}
        return [found[number] for number in numbers if number in found]

    def relevances(self, names: Sequence[str]) -> dict[str, tuple[float, str, date]]:
        """Return score, status and their day of memories, by their qualified ids; those without one are absent."""
        asked = {self._asked(name): name for name in names}
        rows = self._rows(
            "SELECT memory_id, collection, value, status, day FROM relevances"
            " WHERE collection = ANY(%s) AND memory_hash = ANY(%s)",
            self._ids,
            array_of(text_hash(name) for name, _ in asked),
        )
        found = {}
        for name, collection, value, status, day in rows:
            key = asked.get((to_text(name), self._views[collection]))
            if key is not None:
                found[key] = (float(value), status, day)
        return found

    def _compared(
        self, column: str, among: str, vector: FloatArray, limit: int, clause: str, values: list[Any]
    ) -> list[tuple[int, float]]:
        """Compare every vector of these chunks, or collections."""
        rows = self._rows(
            "SELECT c.number, -(embedding <#> %s) FROM vectors c"
            f" WHERE {column} = ANY(%s) {clause} ORDER BY embedding <#> %s, c.number LIMIT %s",
            vector,
            among,
            *values,
            vector,
            limit,
        )
        return [(int(number), float(cosine)) for number, cosine in rows]

    def _frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        wanted = list(dict.fromkeys(terms))
        unknown = [term for term in wanted if term not in self._counts]
        if unknown:
            with self._asking():
                self._counts.update(frequencies(self._connection, unknown, self._ids))
        return {term: self._counts[term] for term in wanted}

    def _ranking(self, terms: tuple[str, ...]) -> Ranking:
        """Return the ranking by these terms; a search may ask it for more, or for others."""
        if terms not in self._rankings:
            chunks = sum(each.chunks for each in self.collections)
            tokens = sum(each.tokens for each in self.collections)
            with self._asking():
                self._rankings[terms] = Ranking(
                    self._connection, terms, self._ids, chunks, tokens / max(1, chunks)
                )
        return self._rankings[terms]

    def _stored(self, row: Row) -> StoredChunk:
        (
            number,
            name,
            store,
            path,
            line,
            text,
            title,
            day,
            tags,
            retired,
            by,
            until,
            terms,
            codes,
            vector,
            own,
        ) = row
        flat = (
            number,
            self._named(to_text(name), own),
            store,
            self._named(to_text(path), own),
            line,
            to_text(text),
            to_text(title),
            day,
            to_text(tags),
            retired,
            None if by is None else self._named(to_text(by), own),
            None if until is None else to_text(until),
            to_text(terms),
        )
        if vector is None:
            return stored_chunk(flat, None, None)
        whole = np.asarray(vector.to_numpy(), np.float32)
        return stored_chunk(flat, whole, None if codes is None else decode(codes, len(whole)))

    def _named(self, name: str, collection: int) -> str:
        return qualified(name, self._views[collection]) if self._are_many else name

    def _asked(self, name: str) -> tuple[str, int | None]:
        if not self._are_many:
            return name, None
        return unqualified(name) if "\x1f" in name else (name, None)

    def _rows(self, question: str, *values: Any) -> list[Row]:
        with self._asking():
            return self._connection.cursor(binary=True).execute(question, values).fetchall()

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Have the connection's own `with` say what an error means, and release it."""
        try:
            yield
        except BaseException as error:
            self._fail(error)
            raise

    def _fail(self, error: BaseException) -> None:
        self._stack.__exit__(type(error), error, error.__traceback__)


def _within(within: Within) -> tuple[str, list[Any]]:
    asked = {"c.store = %s": within.store, "c.day >= %s": within.after, "c.day <= %s": within.before}
    narrowed = {clause: value for clause, value in asked.items() if value is not None}
    return "".join(f" AND {clause}" for clause in narrowed), list(narrowed.values())
