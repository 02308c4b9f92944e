"""The index of one memory in PostgreSQL: built, embedded and asked like an index file."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.catalog.terms import index_terms
from workbench.engine.clock import Clock
from workbench.engine.errors import ProviderError, StorageError
from workbench.engine.search.chunks import FileSource
from workbench.engine.search.contract import (
    ChunkVectors,
    FileUpdate,
    FormerChunk,
    IndexState,
    IndexSync,
    tags_json,
)
from workbench.engine.search.index.building import Builder, ChunkEmbedder, embed_pending
from workbench.engine.search.index.files import IndexShape
from workbench.engine.search.index.tables import encode
from workbench.engine.search.postgres.postings import BASE, ChunkTerms, change_postings
from workbench.engine.search.postgres.server import Server, ServerAway
from workbench.engine.search.postgres.signatures import change_signatures
from workbench.engine.search.postgres.source import (
    COLUMNS,
    Collection,
    PostgresSource,
    text_hash,
    to_bytes,
    to_text,
)
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import Embedder
    from workbench.engine.search.postgres.server import Connection

_BUILDING: Final = 7_294_301
_EMBEDDING: Final = 7_294_302
_MANY_STALE = 1_000
_OF_A_COLLECTION = ("postings", "signatures", "units", "vectors", "chunks", "files", "relevances")


@dataclass(frozen=True)
class View:
    """A memory as one scope sees it, as the database names it.

    Args:
        machine: The name of the machine that has its files.
        path: Its folder there, absolute.
        scope: `person:NAME` or `group:NAME`; "" for the owner's own.
    """

    machine: str
    path: str
    scope: str = ""

    @property
    def key(self) -> str:
        """Return what identifies it."""
        return hashlib.sha256(b"\0".join(map(to_bytes, (self.machine, self.path, self.scope)))).hexdigest()


def view_number(connection: Connection, view: View) -> int:
    """Return the number of a view, making it if it is new."""
    row = connection.execute("SELECT id FROM views WHERE key = %s", (view.key,)).fetchone()
    if row is None:
        connection.execute(
            "INSERT INTO views (key, machine, path, scope) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
            (view.key, to_bytes(view.machine), to_bytes(view.path), view.scope),
        )
        row = connection.execute("SELECT id FROM views WHERE key = %s", (view.key,)).fetchone()
    assert row is not None
    return int(row[0])


def drop_collections(connection: Connection, ids: Sequence[int]) -> None:
    """Delete collections with everything in them, in the caller's transaction."""
    for table in _OF_A_COLLECTION:
        connection.execute(f"DELETE FROM {table} WHERE collection = ANY(%s)", (list(ids),))
    connection.execute("DELETE FROM collections WHERE id = ANY(%s)", (list(ids),))


class CollectionStore:
    """Stores the chunks of one collection (see `ChunkStore`).

    Args:
        writer: Makes all changes; its lock keeps other builders out.
    """

    def __init__(self, server: Server, writer: Connection, collection: int) -> None:
        self._server = server
        self._writer = writer
        self._id = collection
        self._base = collection * BASE

    def held_files(self) -> dict[str, tuple[int, bytes]]:
        """See `ChunkStore`."""
        rows = self._binary("SELECT path, number, digest FROM files WHERE collection = %s", self._id)
        return {to_text(path): (number, bytes(digest)) for path, number, digest in rows}

    def next_number(self) -> int:
        """See `ChunkStore`."""
        return int(self._binary("SELECT next_number FROM collections WHERE id = %s", self._id)[0][0])

    def former(self, file: int) -> list[FormerChunk]:
        """See `ChunkStore`."""
        with self._server.connection() as connection:
            rows = connection.cursor(binary=True).execute(
                "SELECT number, store, day::text, title, text, tags FROM chunks"
                " WHERE collection = %s AND file = %s ORDER BY place DESC",
                (self._id, file),
            )
            return [
                (number - self._base, (store, day, to_text(title), to_text(text), to_text(tags)))
                for number, store, day, title, text, tags in rows
            ]

    def write(
        self,
        changes: Sequence[FileUpdate],
        vanished: Sequence[int],
        known: Mapping[str, int],
        next_number: int,
    ) -> dict[str, int]:
        """See `ChunkStore`."""
        connection = self._writer
        with connection.transaction():
            row = connection.execute(
                "SELECT next_file FROM collections WHERE id = %s FOR UPDATE", (self._id,)
            ).fetchone()
            if row is None:
                raise ServerAway(
                    "The index in the database was deleted meanwhile.",
                    where=self._server.place,
                    remedy="Search again: it is rebuilt from the files.",
                )
            paths = [change.path for change in changes if change.path not in known]
            added = dict(zip(paths, range(row[0], row[0] + len(paths)), strict=True))
            gone = [number for change in changes for number in change.gone]
            gone += self._numbers_in(vanished)
            new = _terms_of(changes)
            leaving = self._forget(gone)
            self._put_files(changes, {**known, **added}, vanished)
            self._put_chunks(changes, {**known, **added})
            change_postings(connection, self._id, new, leaving[0])
            connection.execute(
                "UPDATE collections SET next_number = %s, next_file = next_file + %s, chunks = chunks + %s,"
                " terms = terms + %s, tokens = tokens + %s WHERE id = %s",
                (
                    next_number,
                    len(paths),
                    len(new) - len(leaving[0]),
                    _term_count(changes) - leaving[1],
                    sum(each.length for each in new.values())
                    - sum(each.length for each in leaving[0].values()),
                    self._id,
                ),
            )
        return added

    def remove(self, files: Sequence[int]) -> None:
        """See `ChunkStore`."""
        self.write((), files, {}, self.next_number())

    def pending_count(self) -> int:
        """See `ChunkStore`."""
        return int(
            self._binary("SELECT count(*) FROM chunks WHERE collection = %s AND NOT embedded", self._id)[0][0]
        )

    def pending(self, after: int, limit: int) -> list[tuple[int, str]]:
        """See `ChunkStore`."""
        rows = self._binary(
            "SELECT number, text FROM chunks WHERE collection = %s AND NOT embedded AND number > %s"
            " ORDER BY number LIMIT %s",
            self._id,
            self._base + after,
            limit,
        )
        return [(number - self._base, to_text(text)) for number, text in rows]

    def store_vectors(self, made: Mapping[int, ChunkVectors]) -> None:
        """See `ChunkStore`."""
        with self._writer.transaction():
            self._binary("SELECT id FROM collections WHERE id = %s FOR UPDATE", self._id)
            rows = self._binary(
                "SELECT number, store, day FROM chunks WHERE number = ANY(%s) AND NOT embedded"
                " ORDER BY number FOR UPDATE",
                [self._base + number for number in made],
            )
            self._put_vectors(
                [(number, store, day, made[number - self._base]) for number, store, day in rows]
            )
            self._writer.execute(
                "UPDATE chunks SET embedded = true WHERE number = ANY(%s)", ([row[0] for row in rows],)
            )

    def sign_all(self) -> None:
        """Make the signatures of vectors that were stored before there were any."""
        with self._writer.transaction():
            self._binary("SELECT id FROM collections WHERE id = %s FOR UPDATE", self._id)
            rows = self._binary("SELECT number, embedding FROM vectors WHERE collection = %s", self._id)
            made = {number - self._base: vector.to_numpy() for number, vector in rows}
            change_signatures(self._writer, self._id, made, ())

    def _numbers_in(self, files: Sequence[int]) -> list[int]:
        if not files:
            return []
        rows = self._binary(
            "SELECT number FROM chunks WHERE collection = %s AND file = ANY(%s)", self._id, list(files)
        )
        return [number - self._base for (number,) in rows]

    def _forget(self, numbers: Sequence[int]) -> tuple[dict[int, ChunkTerms], int]:
        """Remove chunks; return their terms, and how many there are in their texts."""
        if not numbers:
            return {}, 0
        own = [self._base + number for number in numbers]
        leaving, count = {}, 0
        for number, title, tags, units, terms in self._binary(
            "DELETE FROM chunks WHERE number = ANY(%s) RETURNING number, title, tags, unit_terms, terms", own
        ):
            titled = " ".join(index_terms(f"{to_text(title)} {' '.join(json.loads(to_text(tags)))}"))
            leaving[number - self._base] = ChunkTerms.of(titled, to_text(units))
            count += terms
        for table in ("vectors", "units"):
            self._writer.execute(f"DELETE FROM {table} WHERE number = ANY(%s)", (own,))
        change_signatures(self._writer, self._id, {}, numbers)
        return leaving, count

    def _put_files(
        self, changes: Sequence[FileUpdate], files: Mapping[str, int], vanished: Sequence[int]
    ) -> None:
        numbers = [files[change.path] for change in changes]
        self._writer.execute(
            "DELETE FROM files WHERE collection = %s AND number = ANY(%s)", (self._id, [*numbers, *vanished])
        )
        self._copy(
            "files (collection, number, path_hash, path, digest)",
            ("int4", "int4", "int8", "bytea", "bytea"),
            (
                (self._id, number, text_hash(change.path), to_bytes(change.path), change.digest)
                for number, change in zip(numbers, changes, strict=True)
            ),
        )

    def _put_chunks(self, changes: Sequence[FileUpdate], files: Mapping[str, int]) -> None:
        new, moved, vectors = [], [], []
        for change in changes:
            for place, entry in enumerate(change.entries):
                chunk, number = entry.chunk, self._base + entry.number
                by = None if chunk.superseded_by is None else to_bytes(chunk.superseded_by)
                until = None if chunk.until is None else to_bytes(chunk.until)
                own = (text_hash(chunk.memory_id), to_bytes(chunk.memory_id))
                if entry.words is None:
                    moved.append((place, *own, chunk.start_line, chunk.is_retired, by, until, number))
                    continue
                new.append(
                    (
                        *(number, self._id, files[change.path], place, *own, chunk.store, chunk.day),
                        *(chunk.start_line, chunk.is_retired, by, until, entry.words.count),
                        entry.vectors is not None,
                        *(to_bytes(chunk.title), to_bytes(chunk.text), to_bytes(tags_json(chunk))),
                        to_bytes(entry.words.units),
                    )
                )
                if entry.vectors is not None:
                    vectors.append((number, chunk.store, chunk.day, entry.vectors))
        self._copy(
            "chunks (number, collection, file, place, memory_hash, memory_id, store, day, start_line, is_retired,"
            " superseded_by, until, terms, embedded, title, text, tags, unit_terms)",
            [
                "int8",
                "int4",
                "int4",
                "int4",
                "int8",
                "bytea",
                "text",
                "date",
                "int4",
                "bool",
                "bytea",
                "bytea",
                "int4",
                "bool",
                "bytea",
                "bytea",
                "bytea",
                "bytea",
            ],
            new,
        )
        if moved:
            with self._writer.cursor() as cursor:
                cursor.executemany(
                    "UPDATE chunks SET place = %s, memory_hash = %s, memory_id = %s, start_line = %s,"
                    " is_retired = %s, superseded_by = %s, until = %s WHERE number = %s",
                    moved,
                )
        self._put_vectors(vectors)

    def _put_vectors(self, made: Sequence[tuple[int, str, Any, ChunkVectors]]) -> None:
        """Store vectors; a chunk without words has none, and gets no row."""
        if not made:
            return
        dimensions = len(made[0][3].whole)
        row = self._binary("SELECT dimensions FROM collections WHERE id = %s", self._id)[0]
        if row[0] != dimensions:
            # A server now serves another model under the same name: what was made before cannot be compared.
            for table in ("vectors", "units"):
                self._writer.execute(
                    f"DELETE FROM {table} WHERE collection = %s AND number <> ALL(%s)",
                    (self._id, [number for number, *_ in made]),
                )
            self._writer.execute("DELETE FROM signatures WHERE collection = %s", (self._id,))
            if row[0]:
                self._writer.execute(
                    "UPDATE chunks SET embedded = false WHERE collection = %s AND number <> ALL(%s)",
                    (self._id, [number for number, *_ in made]),
                )
            self._writer.execute(
                "UPDATE collections SET dimensions = %s WHERE id = %s", (dimensions, self._id)
            )
        telling = [row for row in made if row[3].whole.any()]
        self._copy(
            "vectors (number, collection, store, day, embedding)",
            ("int8", "int4", "text", "date", "vector"),
            ((number, self._id, store, day, vectors.whole) for number, store, day, vectors in telling),
        )
        signed = {number - self._base: vectors.whole for number, _, _, vectors in telling}
        change_signatures(self._writer, self._id, signed, ())
        self._copy(
            "units (number, collection, codes)",
            ("int8", "int4", "bytea"),
            (
                (number, self._id, encode(vectors.units)[0].tobytes())
                for number, _, _, vectors in made
                if vectors.units is not None
            ),
        )

    def _copy(self, table: str, types: Sequence[str], rows: Any) -> None:
        with self._writer.cursor().copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    def _binary(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._writer.cursor(binary=True).execute(question, values).fetchall()


def _terms_of(changes: Sequence[FileUpdate]) -> dict[int, ChunkTerms]:
    """Return the terms of new chunks, by number."""
    return {
        entry.number: ChunkTerms.of(entry.words.title, entry.words.units)
        for change in changes
        for entry in change.entries
        if entry.words is not None
    }


def _term_count(changes: Sequence[FileUpdate]) -> int:
    """Return how many terms there are in the texts of new chunks."""
    entries = (entry for change in changes for entry in change.entries)
    return sum(entry.words.count for entry in entries if entry.words is not None)


class PostgresIndex:
    """The index of one view in a database (see `SearchIndex`); safe for several threads, processes and machines.

    Args:
        shape: Its inputs besides the files. An index of another shape answers until this one is built beside it.
        embedder: Makes its vectors; None for keywords only.
    """

    def __init__(
        self, server: Server, view: View, *, shape: IndexShape, embedder: Embedder | None, clock: Clock
    ) -> None:
        self._server = server
        self._view = view
        self._shape = shape
        self._embedder = embedder
        self._clock = clock
        self._building = threading.Lock()
        self._failure: str | None = None
        self._synced: int | None = None
        self._chunk_embedder = ChunkEmbedder(embedder, None, clock) if embedder is not None else None

    def source(self) -> PostgresSource:
        """See `SearchIndex`; raises `ServerAway`."""
        source = PostgresSource(self._server, self._answering)
        if not source.collections or (self._synced is not None and source.collections[0].id != self._synced):
            # Somebody deleted it; the files are the truth.
            self._synced = None
        return source

    def digests(self) -> Mapping[str, bytes]:
        """See `SearchIndex`."""
        source = self.source()
        try:
            return source.digests()
        finally:
            source.close()

    def is_in_place(self) -> bool:
        """See `SearchIndex`."""
        return self._synced is not None and not self._server.is_away

    def goes_on_elsewhere(self, error: StorageError) -> bool:
        """See `SearchIndex`: the index on this machine answers while the server is away."""
        return isinstance(error, ServerAway)

    def sync(
        self,
        sources: Sequence[FileSource],
        *,
        force: bool = False,
        words_first: bool = False,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
        cancelled: Callable[[], bool] = lambda: False,
        wait: float = 0.2,
    ) -> IndexSync:
        """See `SearchIndex`; raises `ServerAway`."""
        if not self._building.acquire(timeout=wait):
            return IndexSync(busy=True)
        try:
            with self._alone(_BUILDING) as connection:
                if connection is None:
                    return IndexSync(busy=True)
                collection = self._to_build(connection, another=force)
                store = CollectionStore(self._server, connection, collection.id)
                if collection.dimensions and not collection.signed:
                    store.sign_all()
                is_instant = self._embedder is not None and self._embedder.is_instant
                builder = Builder(store, self._shape.size, self._chunk_embedder if is_instant else None)
                work = builder.survey(sources)
                if words_first and len(work.stale) >= _MANY_STALE:
                    builder = Builder(store, self._shape.size, None)
                if not collection.complete:
                    wanted = len(work.known.keys() - work.gone.keys()) + work.unknown
                    connection.execute(
                        "UPDATE collections SET wanted = %s WHERE id = %s", (wanted, collection.id)
                    )
                built = builder.carry_out(work, progress, cancelled)
                return self._finish(connection, collection.id, built, has_seen_all=not cancelled())
        finally:
            self._building.release()

    def embed(
        self,
        *,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> IndexSync:
        """See `SearchIndex`; raises `ServerAway`."""
        if self._chunk_embedder is None:
            return IndexSync()
        with self._alone(_EMBEDDING) as connection:
            if connection is None:
                return IndexSync(busy=True)
            collection = self._to_build(connection)
            store = CollectionStore(self._server, connection, collection.id)
            failure = None
            try:
                embed_pending(store, self._chunk_embedder, progress, cancelled)
            except ProviderError as error:
                failure = str(error)
            return self._finish(connection, collection.id, IndexSync(failure=failure), has_seen_all=False)

    def state(self) -> IndexState:
        """See `SearchIndex`."""
        source = self.source()
        try:
            held = source.collections[0] if source.collections else None
            files, pending = source.counts()
        finally:
            source.close()
        with self._server.connection() as connection:
            building = self._newest(connection)
            size = connection.execute(
                "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::int8 FROM pg_class"
                " WHERE relnamespace = 'workbench'::regnamespace AND relkind = 'r'"
            ).fetchone()
            total = connection.execute("SELECT coalesce(sum(chunks), 0)::int8 FROM collections").fetchone()
            share = None
            if building is not None and not building.complete and building.wanted:
                row = connection.execute(
                    "SELECT count(*) FROM files WHERE collection = %s", (building.id,)
                ).fetchone()
                share = min(1.0, (row[0] if row else 0) / building.wanted)
        assert size is not None
        assert total is not None
        return IndexState(
            files=files,
            chunks=held.chunks if held else 0,
            dimensions=held.dimensions or None if held else None,
            last_sync=datetime.fromisoformat(held.last_sync) if held and held.last_sync else None,
            size_bytes=int(size[0] * held.chunks / total[0]) if held and total[0] else 0,
            pending_vectors=pending if self._embedder is not None else 0,
            rebuilding=share,
            is_of_another_shape=held is not None and held.shape != self._shape.digest,
            failure=self._failure,
        )

    def close(self) -> None:
        """See `SearchIndex`."""
        self._server.close()

    def destroy(self) -> None:
        """See `SearchIndex`; the indexes of all scopes go, grants stay."""
        with self._server.connection() as connection, connection.transaction():
            rows = connection.execute(
                "SELECT id FROM collections WHERE view IN (SELECT id FROM views WHERE machine = %s AND path = %s)"
                " FOR UPDATE",
                (to_bytes(self._view.machine), to_bytes(self._view.path)),
            ).fetchall()
            drop_collections(connection, [row[0] for row in rows])
        self._synced = None

    @contextmanager
    def _alone(self, work: int) -> Iterator[Connection | None]:
        """Yield a connection whose lock keeps others from the same work on this view; None if another holds it."""
        with self._server.connection() as connection:
            view = view_number(connection, self._view)
            row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (work, view)).fetchone()
            if row is None or not row[0]:
                yield None
                return
            try:
                yield connection
            finally:
                if not connection.closed:
                    connection.execute("SELECT pg_advisory_unlock(%s, %s)", (work, view))

    def _answering(self, connection: Connection) -> list[Collection]:
        rows = connection.execute(
            f"SELECT {COLUMNS} FROM collections c JOIN views v ON v.id = c.view WHERE v.key = %s"
            " ORDER BY (c.complete AND c.shape = %s) DESC, c.complete DESC, (c.shape = %s) DESC, c.id DESC LIMIT 1",
            (self._view.key, self._shape.digest, self._shape.digest),
        ).fetchall()
        return [Collection(*row) for row in rows]

    def _newest(self, connection: Connection) -> Collection | None:
        rows = connection.execute(
            f"SELECT {COLUMNS} FROM collections c JOIN views v ON v.id = c.view WHERE v.key = %s AND c.shape = %s"
            " ORDER BY c.id DESC LIMIT 1",
            (self._view.key, self._shape.digest),
        ).fetchall()
        return Collection(*rows[0]) if rows else None

    def _to_build(self, connection: Connection, *, another: bool = False) -> Collection:
        """Return the collection to build: the newest of the wanted shape, made if missing."""
        newest = self._newest(connection)
        if newest is None or (another and newest.complete):
            connection.execute(
                "INSERT INTO collections (view, shape, embedder) VALUES (%s, %s, %s)",
                (view_number(connection, self._view), self._shape.digest, self._shape.embedder),
            )
            newest = self._newest(connection)
        assert newest is not None
        return newest

    def _finish(
        self, connection: Connection, collection: int, built: IndexSync, *, has_seen_all: bool
    ) -> IndexSync:
        """Record the progress, and let the collection take over once it can."""
        store = CollectionStore(self._server, connection, collection)
        built.pending_vectors = store.pending_count() if self._embedder is not None else 0
        self._failure = built.failure
        holds_all = has_seen_all and not built.pending_files
        with connection.transaction():
            if holds_all:
                connection.execute(
                    "UPDATE collections SET last_sync = %s, wanted = 0 WHERE id = %s",
                    (self._clock.now(), collection),
                )
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM collections c WHERE c.view = %s",
                (view_number(connection, self._view),),
            ).fetchall()
            all_ = {row[0]: Collection(*row) for row in rows}
            own = all_[collection]
            others_answer = any(
                each.complete and each.embedder == own.embedder for each in all_.values() if each is not own
            )
            waits = built.pending_vectors and not built.failure and not own.complete and others_answer
            if (holds_all or own.last_sync) and not waits:
                connection.execute("UPDATE collections SET complete = true WHERE id = %s", (collection,))
                drop_collections(connection, [each for each in all_ if each < collection])
        if has_seen_all:
            self._synced = collection
        return built


class ServerView:
    """A server that keeps the index of one view (see `ServerIndex`)."""

    def __init__(self, server: Server, view: View, clock: Clock) -> None:
        self._server = server
        self._view = view
        self._clock = clock

    @property
    def place(self) -> str:
        """See `ServerIndex`."""
        return self._server.place

    @property
    def is_away(self) -> bool:
        """See `ServerIndex`."""
        return self._server.is_away

    @property
    def failure(self) -> str | None:
        """See `ServerIndex`."""
        return self._server.failure

    def index(self, shape: IndexShape, embedder: Embedder | None) -> PostgresIndex:
        """See `ServerIndex`."""
        return PostgresIndex(self._server, self._view, shape=shape, embedder=embedder, clock=self._clock)
