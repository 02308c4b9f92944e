"""The search index: derived from files alone, updated incrementally, deletable at any time without loss.

A question is put to a snapshot, one consistent state of it: keyword and vector queries, and the chunks they return.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.engine.clock import Clock, render_time
from workbench.engine.errors import ProviderError, StorageError
from workbench.engine.file_access import Fallback, nowhere_else
from workbench.engine.process import process_lock
from workbench.engine.search.chunks import Chunk, ChunkMarks, FileSource, Statistics, StoredChunk, Within
from workbench.engine.search.contract import IndexState, IndexSync, telling_terms
from workbench.engine.search.index import files as names
from workbench.engine.search.index.building import Builder, ChunkEmbedder, EmbeddingCache, embed_pending
from workbench.engine.search.index.file_store import FileStore
from workbench.engine.search.index.files import IndexFile, IndexLost, IndexShape, OpenFiles
from workbench.engine.search.index.tables import VectorScan, ask, decode, decoding, read_state
from workbench.engine.search.index.words import WordRanking, frequencies

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import Embedder, FloatArray


_MOST_ATTEMPTS = 3
# After a build of this many files, merging the parts pays.
_MANY_FILES = 200
# From this many on, waiting for vectors along with the words is noticeable.
_MANY_STALE = 1_000
_WAIT_SECONDS = 0.2
_LONG_WAIT_SECONDS = 60.0

# The scan uses one byte per dimension; this many extra results are rescored exactly.
_SPARE = 40
_MOST_EXACT = 300
# How many more of the best by words are examined if too few of them are within a filter.
_FURTHER = 8


T = TypeVar("T")


class Index:
    """The index of one workspace in a folder of its own; safe for several threads and processes.

    Searches never wait for a build: they answer from what is there. One process builds at a time.

    Args:
        folder: Where its files are; created on demand.
        shape: Its inputs besides the files. An index of another shape answers until this one is built beside it.
        embedder: Makes its vectors; None for keywords only. Its fingerprint is the shape's.
        cache_entries: Number of chunks whose vectors are kept for rebuilds.
        elsewhere: Folder to continue in when `folder` fails.
    """

    def __init__(
        self,
        folder: Path,
        *,
        shape: IndexShape,
        embedder: Embedder | None,
        cache_entries: int,
        clock: Clock,
        elsewhere: Fallback = nowhere_else,
    ) -> None:
        self._shape = shape
        self._embedder = embedder
        self._cache_entries = cache_entries
        self._clock = clock
        self._elsewhere = elsewhere
        self._building = threading.Lock()
        self._embedding = threading.Lock()
        self._moving = threading.Lock()
        self._left: list[tuple[Path, OpenFiles]] = []
        self._failure: str | None = None
        self._keep_in(folder)

    def _keep_in(self, folder: Path) -> None:
        """Use this folder; files open in another one stay in use until closed."""
        embedder = self._embedder
        self._folder = folder
        self._files = OpenFiles(folder, self._shape)
        self._synced: IndexFile | None = None
        self._cache: EmbeddingCache | None = None
        self._chunk_embedder: ChunkEmbedder | None = None
        if embedder is not None:
            if not embedder.is_instant:
                self._cache = EmbeddingCache(folder / names.CACHE, embedder.fingerprint, self._cache_entries)
            self._chunk_embedder = ChunkEmbedder(embedder, self._cache, self._clock)

    def source(self) -> Snapshot:
        """Return one consistent state of the index; close it, or use it in a `with`.

        Raises:
            IndexLost: It was deleted or damaged just now: sync and ask again.
            StorageError: The folder cannot be used.
        """
        return self._again(lambda: Snapshot(self._files.answering()))

    def goes_on_elsewhere(self, error: StorageError) -> bool:
        """Return True if another folder takes over from the failed one; then retry."""
        if isinstance(error, IndexLost) or error.where is None:
            return False
        with self._moving:
            failed = Path(error.where)
            if any(failed.is_relative_to(folder) for folder, _ in self._left):
                return not failed.is_relative_to(self._folder)
            if not failed.is_relative_to(self._folder):
                return False
            folder = self._elsewhere(self._folder, error.message)
            if folder is None:
                return False
            self._left.append((self._folder, self._files))
            self._keep_in(folder)
            return True

    def is_in_place(self) -> bool:
        """Return whether the file last synced still exists and was not found damaged."""
        synced = self._synced
        return synced is not None and synced.is_in_place()

    def sync(
        self,
        sources: Sequence[FileSource],
        *,
        force: bool = False,
        words_first: bool = False,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
        cancelled: Callable[[], bool] = lambda: False,
        wait: float = _WAIT_SECONDS,
    ) -> IndexSync:
        """Bring the words of every file up to date, and their vectors if that is quick.

        Args:
            sources: Everything searched; for a path in several, the first counts.
            force: Rebuild everything beside what exists.
            words_first: Leave the vectors of large updates to `embed`, since somebody waits for results.
            progress: Called with files done and files in total.
            cancelled: Polled between files; work done is kept, the rest is `pending_files`.
            wait: Seconds to wait for another builder.

        Raises:
            StorageError: The index cannot be written; its former state still answers.
        """

        def bring() -> IndexSync:
            file = self._files.to_build()
            is_instant = self._embedder is not None and self._embedder.is_instant
            store = FileStore(file, self._folder / names.BUILDER_LOCK)
            builder = Builder(store, self._shape.size, self._chunk_embedder if is_instant else None)
            work = builder.survey(sources)
            if words_first and len(work.stale) >= _MANY_STALE:
                builder = Builder(store, self._shape.size, None)
            if not file.state().complete:
                with file.change() as (_, before, left):
                    left.append(
                        replace(before, wanted=len(work.known.keys() - work.gone.keys()) + work.unknown)
                    )
            built = builder.carry_out(work, progress, cancelled)
            return self._finish(file, built, has_seen_all=not cancelled())

        def bring_alone() -> IndexSync:
            self._files.make_folder()
            with process_lock(self._folder / names.BUILDER_LOCK, wait) as alone:
                if not alone:
                    return IndexSync(busy=True)
                if force:
                    _once_more(lambda: self._files.to_build(another=True))
                return _once_more(bring)

        if not self._building.acquire(timeout=wait):
            return IndexSync(busy=True)
        try:
            return self._again(bring_alone)
        finally:
            self._building.release()

    def embed(
        self,
        *,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> IndexSync:
        """Make missing vectors, newest memories first, keeping them batch by batch.

        Others may sync meanwhile. One process at a time embeds.

        Args:
            progress: Called with chunks done and chunks in total.
            cancelled: Polled, also while the embedder works.

        Raises:
            StorageError: The index cannot be written.
        """

        def fill() -> IndexSync:
            embedder = self._chunk_embedder
            if embedder is None:
                return IndexSync()
            self._files.make_folder()
            with process_lock(self._folder / names.EMBEDDING_LOCK, 0) as alone:
                if not alone:
                    return IndexSync(busy=True)
                file = self._files.to_build()
                failure = None
                try:
                    store = FileStore(file, self._folder / names.BUILDER_LOCK)
                    embed_pending(store, embedder, progress, cancelled)
                except ProviderError as error:
                    failure = str(error)
                with process_lock(self._folder / names.BUILDER_LOCK, _LONG_WAIT_SECONDS):
                    return self._finish(file, IndexSync(failure=failure), has_seen_all=False)

        if not self._embedding.acquire(blocking=False):
            return IndexSync(busy=True)
        try:
            return self._again(fill)
        finally:
            self._embedding.release()

    def state(self) -> IndexState:
        """Return what the index holds."""
        files, pending, state = self.asked(lambda snapshot: (*snapshot.counts(), snapshot.state))
        return IndexState(
            files=files,
            chunks=state.chunks,
            dimensions=state.dimensions or None,
            last_sync=datetime.fromisoformat(state.last_sync) if state.last_sync else None,
            size_bytes=names.size_bytes(self._folder),
            pending_vectors=pending if self._embedder is not None else 0,
            rebuilding=self._again(lambda: self._files.share_built()),
            is_of_another_shape=state.shape != self._shape.digest,
            failure=self._failure,
        )

    def asked(self, question: Callable[[Snapshot], T]) -> T:
        """Query one consistent state, retrying if it is lost meanwhile; raises as `source` does."""

        def ask_it() -> T:
            with self.source() as snapshot:
                return question(snapshot)

        return self._again(ask_it)

    def digests(self) -> dict[str, bytes]:
        """Return the digest of each file when it was read, by path."""
        return self.asked(lambda snapshot: snapshot.digests())

    def close(self) -> None:
        """Close all files; a later call reopens them."""
        self._files.close()
        for _, files in self._left:
            files.close()
        if self._cache is not None:
            self._cache.close()

    def destroy(self) -> None:
        """Delete all index files, their SQLite side files, and the embedding cache."""
        with self._building:
            self.close()
            for folder in (*(folder for folder, _ in self._left), self._folder):
                names.delete_all(folder)

    def _finish(self, file: IndexFile, built: IndexSync, *, has_seen_all: bool) -> IndexSync:
        """Record the progress, and let the file take over if it can; the builder's lock is held.

        Args:
            has_seen_all: Whether every source was compared with it.
        """
        holds_all = has_seen_all and not built.pending_files
        if has_seen_all:
            self._synced = file
        built.pending_vectors = self._pending_vectors(file)
        self._failure = built.failure
        with file.change() as (_, state, left):
            after = replace(state, last_sync=render_time(self._clock.now()), wanted=0) if holds_all else state
            # If another file also answers by meaning, this one waits until it can, too.
            can_wait = built.pending_vectors and not built.failure and not state.complete
            if (holds_all or state.last_sync) and not (can_wait and self._files.others_answer()):
                after = replace(after, complete=1)
            left.append(after)
        if after.complete and (has_seen_all or not state.complete):
            self._files.clear_away(file)
        if built.changed >= _MANY_FILES:
            file.settle()
        return built

    def _pending_vectors(self, file: IndexFile) -> int:
        if self._embedder is None:
            return 0
        with file.reading() as connection:
            return int(ask(connection, "SELECT count(*) FROM chunks WHERE embedded = 0")[0][0])

    def _again(self, act: Callable[[], T]) -> T:
        """Retry once if the index is lost meanwhile or moves to another folder."""
        try:
            return _once_more(act)
        except StorageError as error:
            if not self.goes_on_elsewhere(error):
                raise
        return _once_more(act)


def _once_more(act: Callable[[], T]) -> T:
    """Retry once if the index is lost meanwhile."""
    for _ in range(_MOST_ATTEMPTS - 1):
        try:
            return act()
        except IndexLost:
            continue
    return act()


Row = tuple[Any, ...]
_CHUNKS = (
    "SELECT c.number, memory_id, store, path, start_line, text, title, day, tags, is_retired, superseded_by,"
    " until, unit_terms, units, whole FROM chunks c JOIN texts USING (number) JOIN files f ON f.number = c.file"
    " LEFT JOIN vectors USING (number) WHERE c.number IN (SELECT value FROM json_each(?))"
)


class Snapshot(AbstractContextManager["Snapshot"]):
    """Answers from one state of an index file; for one thread. Close it soon: it keeps the file from shrinking.

    Asked once more for more of the same, a lane goes on where it stopped.
    """

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self._frequencies: dict[str, int] = {}
        self._ranking: tuple[list[str], WordRanking] | None = None
        self._scan: tuple[bytes, Within, VectorScan] | None = None
        self._exact: dict[int, float] = {}
        self._connection = file.begin_reading()
        try:
            with file.translated():
                self.state = read_state(self._connection)
        except BaseException:
            file.end_reading(self._connection)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the state."""
        self._file.end_reading(self._connection)

    @property
    def embedder(self) -> str:
        """See `IndexSource`."""
        return self.state.embedder

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
        """See `ChunkSource`; the count of a prefix is an upper estimate."""
        return Statistics(self.state.chunks, self._frequencies_of(terms))

    def by_keywords(self, terms: Sequence[str], limit: int, within: Within) -> list[tuple[int, float]]:
        """See `ChunkSource`."""
        telling = telling_terms(self._frequencies_of(terms))
        if not telling:
            return []
        clause, values = _within(within)
        with self._file.translated():
            if self._ranking is None or self._ranking[0] != telling:
                state = self.state
                lengths = self._file.lengths.at(self._connection, state.next_number)
                average = state.terms / state.chunks if state.chunks else 0.0
                ranking = WordRanking(self._connection, telling, state.chunks, average, lengths)
                self._ranking = (telling, ranking)
            ranking, count = self._ranking[1], limit
            while True:
                found = ranking.first(count)
                within_them = self._within_them(found, clause, values) if clause else found
                if len(within_them) >= limit or len(found) < count:
                    return within_them[:limit]
                count *= _FURTHER

    def _within_them(
        self, found: Sequence[tuple[int, float]], clause: str, values: Sequence[str]
    ) -> list[tuple[int, float]]:
        asked = json.dumps([number for number, _ in found])
        rows = self._rows(
            f"SELECT c.number FROM json_each(?) JOIN chunks c ON c.number = value WHERE true {clause}",
            (asked, *values),
        )
        wanted = {number for (number,) in rows}
        return [pair for pair in found if pair[0] in wanted]

    def by_vector(self, vector: FloatArray, limit: int, within: Within) -> list[tuple[int, float]]:
        """See `ChunkSource`; empty for a vector of other dimensions than the index's."""
        if self.state.dimensions != vector.shape[0]:
            return []
        with self._file.translated():
            memory = self._file.vectors
            memory.refresh(self._connection, self.state.version, self.state.dimensions)
            asked = vector.tobytes()
            if self._scan is None or self._scan[:2] != (asked, within):
                self._scan = (asked, within, memory.scan(vector, within))
                self._exact = {}
            about = self._scan[2].nearest(limit + _SPARE)
            close = [number for number, _ in about[:_MOST_EXACT]]
            self._exact |= self._cosines([number for number in close if number not in self._exact], vector)
        exact = [(number, self._exact[number]) for number in close if number in self._exact]
        exact.sort(key=lambda pair: (-pair[1], pair[0]))
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

    def by_lines(self, path: str, first: int, last: int, limit: int, within: Within) -> list[int]:
        """See `ChunkSource`."""
        clause, values = _within(within)
        rows = self._rows(
            "SELECT c.number FROM files f JOIN chunks c ON c.file = f.number WHERE f.path = ? AND c.start_line <= ?"
            " AND c.start_line >= coalesce((SELECT max(start_line) FROM chunks WHERE file = f.number"
            f" AND start_line <= ?), 0) {clause} ORDER BY c.start_line, c.place LIMIT ?",
            (path, last, first, *values, limit),
        )
        return [number for (number,) in rows]

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
        known = self._file.owners(self.state.moves)
        new = [number for number in numbers if number not in known]
        if new:
            question = "SELECT number, memory_id FROM chunks WHERE number IN (SELECT value FROM json_each(?))"
            known.update(self._rows(question, (json.dumps(new),)))
        return {number: known[number] for number in numbers if number in known}

    def marks(self, basis: object) -> ChunkMarks:
        """See `ChunkSource`."""
        return ChunkMarks() if basis is None else self._file.marks(self.state.moves, basis)

    def read(self, numbers: Sequence[int]) -> list[StoredChunk]:
        """See `ChunkSource`."""
        rows = self._rows(_CHUNKS, (json.dumps(list(numbers)),))
        with self._file.translated(), decoding():
            wholes, units = self._vectors([row[-1] for row in rows]), self._units([row[-2] for row in rows])
            found = {
                row[0]: stored_chunk(row[:-2], whole, own)
                for row, whole, own in zip(rows, wholes, units, strict=True)
            }
        return [found[number] for number in numbers if number in found]

    def _frequencies_of(self, terms: Sequence[str]) -> dict[str, int]:
        known = self._frequencies
        new = [term for term in dict.fromkeys(terms) if term not in known]
        if new:
            with self._file.translated():
                found = frequencies(self._connection, new)
            known.update((term, min(self.state.chunks, count)) for term, count in found.items())
        return {term: known[term] for term in terms}

    def _vectors(self, blobs: Sequence[bytes | None]) -> Iterator[FloatArray | None]:
        """Yield each vector that there is; to read one by one takes several times as long."""
        import numpy as np

        held = [blob for blob in blobs if blob is not None]
        read = iter(
            np.frombuffer(b"".join(held), np.float32).reshape(len(held), self.state.dimensions)
            if held
            else ()
        )
        return (None if blob is None else next(read) for blob in blobs)

    def _units(self, blobs: Sequence[bytes | None]) -> Iterator[FloatArray | None]:
        """Yield the vectors of the units of each chunk that has any apart from its own."""
        dimensions = self.state.dimensions
        read = decode(b"".join(blob for blob in blobs if blob is not None), dimensions or 1)
        end = 0
        for blob in blobs:
            start, end = end, end + (len(blob) // dimensions if blob is not None else 0)
            yield None if blob is None else read[start:end]

    def _cosines(self, numbers: Sequence[int], vector: FloatArray) -> dict[int, float]:
        """Return the exact cosine of these chunks, where they have a vector."""
        import numpy as np

        rows = self._rows(
            "SELECT number, whole FROM vectors WHERE number IN (SELECT value FROM json_each(?))",
            (json.dumps(numbers),),
        )
        with self._file.translated(), decoding():
            vectors = np.frombuffer(b"".join(whole for _, whole in rows), np.float32)
            vectors = vectors.reshape(len(rows), self.state.dimensions)
        products = np.einsum("ij,j->i", vectors, np.asarray(vector, np.float32))
        return dict(zip((number for number, _ in rows), products.tolist(), strict=True))

    def _rows(self, question: str, values: Sequence[Any]) -> list[Row]:
        with self._file.translated():
            rows: list[Row] = self._connection.execute(question, tuple(values)).fetchall()
            return rows


def _within(within: Within) -> tuple[str, list[str]]:
    asked = {"c.store = ?": within.store, "c.day >= ?": within.after, "c.day <= ?": within.before}
    narrowed = {clause: str(value) for clause, value in asked.items() if value is not None}
    return "".join(f" AND {clause}" for clause in narrowed), list(narrowed.values())


def stored_chunk(row: Row, vector: FloatArray | None, units: FloatArray | None) -> StoredChunk:
    """Return a chunk from its row (see `_CHUNKS`, without the last two columns) and its vectors.

    Args:
        units: None if its only unit is itself.
    """
    number, memory_id, store, path, start_line, text, title, day, tags, is_retired, by, until, terms = row
    if vector is None or units is None:
        units = None if vector is None else vector[None]
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
        until=until,
    )
    return StoredChunk(number, chunk, vector, units, unit_terms)
