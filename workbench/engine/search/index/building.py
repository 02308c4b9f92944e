"""Updates an index from its source files, in batches, whatever stores it.

Units and terms are made, vectors taken from the cache or the embedder, or added later.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.catalog.tables import delete_database
from workbench.engine.catalog.terms import index_terms
from workbench.engine.clock import Clock
from workbench.engine.errors import ProviderError
from workbench.engine.patterns import lazy_pattern
from workbench.engine.providers.embedding.embedder import EmbeddingCancelled
from workbench.engine.search.chunks import (
    Chunk,
    ChunkSize,
    FileRecords,
    FileSource,
    chunks_of,
    unit_texts,
    units_of,
)
from workbench.engine.search.contract import (
    ChunkStore,
    ChunkVectors,
    ChunkWords,
    FileUpdate,
    FormerChunk,
    FormerKey,
    IndexSync,
    StoredEntry,
    day_of,
    tags_json,
)
from workbench.engine.search.index.tables import decode, encode

if TYPE_CHECKING:
    import apsw

    from workbench.engine.providers.embedding.embedder import Embedder, FloatArray

_DAY_SECONDS = 86_400
# A local model takes about a second for these; stored results need not be made again.
_CHUNKS_AT_ONCE = 32
_FIRST_CHUNKS = 64
_MOST_CHUNKS = 768
_FILES_AT_ONCE = 128
_FIRST_FILES = 8
_REMOVED_AT_ONCE = 500
_DAY = lazy_pattern(r"(\d{4})-(\d{2})-(\d{2})")


Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]


def words_of(chunk: Chunk) -> ChunkWords:
    """Cut a chunk into units and terms."""
    lines = chunk.text.split("\n")
    places = units_of(chunk.text)
    units = [" ".join(index_terms("\n".join(lines[first : last + 1]))) for first, last in places]
    joined = "\n".join(units)
    return ChunkWords(
        " ".join(index_terms(f"{chunk.title} {' '.join(chunk.tags)}")),
        joined,
        joined.count(" ") + sum(map(bool, units)),
        places,
    )


def vectors_of(units: FloatArray) -> ChunkVectors:
    """Return the vectors of a chunk.

    Args:
        units: A row of length 1, or of zeros, for each of its units; at least one.
    """
    import numpy as np

    if len(units) == 1:
        return ChunkVectors(units[0], None)
    mean = units.sum(axis=0)
    length = float(np.sqrt(np.square(mean).sum()))
    return ChunkVectors(mean / length if length > 0 else mean, units)


_TABLES = """
CREATE TABLE IF NOT EXISTS entries (
    key BLOB PRIMARY KEY, used INTEGER NOT NULL, whole BLOB NOT NULL, units BLOB
);
CREATE INDEX IF NOT EXISTS entries_by_use ON entries (used);
"""
_PRAGMAS = (
    "mmap_size = 0",
    "journal_mode = DELETE",
    "synchronous = NORMAL",
    "journal_size_limit = 33554432",
)


class EmbeddingCache:
    """Vector cache in a file of its own; if the file fails, vectors are made again.

    Args:
        place: The file; its folder exists.
        most: Maximum number of chunks; 0 disables the cache.
    """

    def __init__(self, place: Path, fingerprint: str, most: int) -> None:
        self._place = place
        self._salt = hashlib.blake2b(fingerprint.encode(), digest_size=16).digest()
        self._most = most
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._failed = False

    def key(self, units: Sequence[str]) -> bytes:
        """Return the cache key of these unit texts."""
        text = "\0".join(units).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=16, key=self._salt).digest()

    def get(self, keys: Iterable[bytes], now: int) -> dict[bytes, ChunkVectors]:
        """Return the cached vectors and mark them as used.

        Args:
            now: Seconds since 1970; use is recorded by day.
        """
        import apsw

        found: dict[bytes, ChunkVectors] = {}
        today = now // _DAY_SECONDS
        with self._lock:
            try:
                connection = self._open()
                if connection is None:
                    return {}
                touched = []
                for key in keys:
                    for used, whole, units in connection.execute(
                        "SELECT used, whole, units FROM entries WHERE key = ?", (key,)
                    ):
                        found[key] = _vectors(whole, units)
                        if used < today:
                            touched.append((today, key))
                if touched:
                    with connection:
                        connection.executemany("UPDATE entries SET used = ? WHERE key = ?", touched)
            except apsw.Error as error:
                self._fail(error)
        return found

    def put(self, made: Mapping[bytes, ChunkVectors], now: int) -> None:
        """Store vectors, dropping the least recently used."""
        import apsw

        with self._lock:
            try:
                connection = self._open()
                if connection is None:
                    return
                rows = [(key, now // _DAY_SECONDS, *_blobs(each)) for key, each in made.items()]
                with connection:
                    connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", rows)
                    connection.execute(
                        "DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries ORDER BY used, rowid"
                        " LIMIT max(0, (SELECT count(*) FROM entries) - ?))",
                        (self._most,),
                    )
            except apsw.Error as error:
                self._fail(error)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _open(self) -> apsw.Connection | None:
        import apsw

        if self._most <= 0 or self._failed:
            return None
        if self._connection is None or not self._place.exists():
            connection = apsw.Connection(str(self._place))
            connection.set_busy_timeout(2_000)
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}").fetchall()
            connection.execute(_TABLES)
            self._connection = connection
        return self._connection

    def _fail(self, error: Exception) -> None:
        """Continue without the cache: delete a damaged file; other trouble (a full disk) may pass."""
        import apsw

        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if isinstance(error, apsw.CorruptError | apsw.NotADBError):
            with suppress(OSError):
                delete_database(self._place)
        else:
            self._failed = True


def _blobs(vectors: ChunkVectors) -> tuple[bytes, bytes | None]:

    units = vectors.units
    return vectors.whole.tobytes(), None if units is None else encode(units)[0].tobytes()


def _vectors(whole: bytes, units: bytes | None) -> ChunkVectors:
    import numpy as np

    vector = np.frombuffer(whole, np.float32)
    return ChunkVectors(vector, None if units is None else decode(units, len(vector)))


class ChunkEmbedder:
    """Embeds the units of chunks.

    Args:
        cache: Keeps them; None if making them again is faster.
        clock: Dates the use of cached vectors.
    """

    def __init__(self, embedder: Embedder, cache: EmbeddingCache | None, clock: Clock) -> None:
        self.embedder = embedder
        self._cache = cache
        self._clock = clock

    @property
    def chunks_at_once(self) -> int:
        """Return how many chunks to embed before storing them."""
        return int(getattr(self.embedder, "chunks_at_once", _CHUNKS_AT_ONCE))

    def embed(
        self, passages: Sequence[Sequence[str]], *, cancelled: Callable[[], bool] = lambda: False
    ) -> list[ChunkVectors] | None:
        """Return the vectors of chunks, or None if cancelled.

        Args:
            passages: For each chunk the texts of its units, at least one.

        Raises:
            ProviderError: The embedder fails at present.
        """
        cache = self._cache
        if cache is None:
            return self._make(passages, cancelled)
        now = int(self._clock.now().timestamp())
        keys = [cache.key(each) for each in passages]
        # A server may now serve another model under the same name; its first answer tells.
        fitting = self.embedder.dimensions
        known = {
            key: vectors
            for key, vectors in cache.get(dict.fromkeys(keys), now).items()
            if fitting in (None, len(vectors.whole))
        }
        missing = {key: each for key, each in zip(keys, passages, strict=True) if key not in known}
        if missing:
            vectors = self._make(list(missing.values()), cancelled)
            if vectors is None:
                return None
            made = dict(zip(missing, vectors, strict=True))
            cache.put(made, now)
            known |= made
        return [known[key] for key in keys]

    def _make(
        self, passages: Sequence[Sequence[str]], cancelled: Callable[[], bool]
    ) -> list[ChunkVectors] | None:
        texts = list(dict.fromkeys(text for each in passages for text in each))
        try:
            rows: FloatArray = self.embedder.embed_passages(texts, cancelled=cancelled)
        except EmbeddingCancelled:
            return None
        if cancelled():
            return None
        places = {text: at for at, text in enumerate(texts)}
        return [vectors_of(rows[[places[text] for text in each]]) for each in passages]


def embed_pending(
    store: ChunkStore,
    embedder: ChunkEmbedder,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
) -> None:
    """Embed pending chunks in the order of their numbers, storing each batch.

    Args:
        progress: Called with chunks done and chunks in total.

    Raises:
        ProviderError: The embedder fails at present; vectors made before are stored.
        Locked: Another process has been building for a minute.
    """
    done, last, total = 0, 0, store.pending_count()
    while not cancelled():
        rows = store.pending(last, embedder.chunks_at_once)
        if not rows:
            return
        made = embedder.embed([unit_texts(text) for _, text in rows], cancelled=cancelled)
        if made is None:
            return
        store.store_vectors({number: each for (number, _), each in zip(rows, made, strict=True)})
        last = rows[-1][0]
        done += len(rows)
        progress(done, max(done, total))


class FormerChunks:
    """A file's chunks in the index, to be claimed by identical new ones."""

    def __init__(self, chunks: Iterable[FormerChunk]) -> None:
        self._numbers: dict[FormerKey, list[int]] = {}
        for number, key in chunks:
            self._numbers.setdefault(key, []).append(number)

    def claim(self, chunk: Chunk) -> int | None:
        """Return the number of an unclaimed chunk with the same words, store and day."""
        same = self._numbers.get((chunk.store, day_of(chunk), chunk.title, chunk.text, tags_json(chunk)))
        return same.pop() if same else None

    def left(self) -> tuple[int, ...]:
        """Return the unclaimed numbers."""
        return tuple(number for numbers in self._numbers.values() for number in numbers)


@dataclass
class BuildWork:
    """What there is to do.

    Args:
        stale: Paths to read, by source, in order.
        gone: Numbers of files that are there no more.
        known: Numbers of the files that the index holds, by path.
    """

    stale: list[tuple[FileSource, str]] = field(default_factory=list)
    gone: dict[str, int] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)

    @property
    def unknown(self) -> int:
        """Return how many of the files to read the index does not hold at all."""
        return sum(path not in self.known for _, path in self.stale)


@dataclass
class _Batch:
    """Files to store together, and numbers of files that vanished meanwhile.

    Args:
        files: Number of files examined.
        next_number: Of the first chunk after it.
    """

    changes: list[FileUpdate] = field(default_factory=list)
    vanished: list[int] = field(default_factory=list)
    files: int = 0
    next_number: int = 0


class Builder:
    """Brings the chunks of files into a store; the caller holds the builder's lock.

    Args:
        embedder: Makes vectors in the same pass; None if they are made later or not at all.
    """

    def __init__(self, store: ChunkStore, size: ChunkSize, embedder: ChunkEmbedder | None) -> None:
        self._store = store
        self._size = size
        self._embedder = embedder
        self._next_number = 0
        self._built = IndexSync()

    def survey(self, sources: Sequence[FileSource]) -> BuildWork:
        """Compare every file with what the index holds."""
        held = self._store.held_files()
        work = BuildWork(known={path: number for path, (number, _) in held.items()})
        seen: set[str] = set()
        for source in sources:
            stale = []
            for path, digest in source.digests().items():
                if path in seen:
                    continue
                seen.add(path)
                if path not in held or held[path][1] != digest:
                    stale.append(path)
            work.stale.extend((source, path) for path in sorted(stale, key=_newest_first))
        work.gone = {path: number for path, number in work.known.items() if path not in seen}
        return work

    def carry_out(self, work: BuildWork, progress: Progress, cancelled: Cancelled) -> IndexSync:
        """Carry out a survey's work.

        Args:
            progress: Called with files done and files to do after each batch.
            cancelled: Polled between files; what is stored by then stays.

        Raises:
            IndexLost: The index file is gone or damaged.
            StorageError: It cannot be written; what was stored before stays.
        """
        self._next_number = self._store.next_number()
        self._remove(list(work.gone.values()), cancelled)
        done, total = 0, len(work.stale)
        with ThreadPoolExecutor(1, thread_name_prefix="workbench-index") as pool:
            writing: Future[None] | None = None
            for batch in self._batches(work, cancelled):
                if writing is not None:
                    writing.result()
                    progress(done, total)
                done += batch.files
                writing = pool.submit(self._write, batch, work.known)
            if writing is not None:
                writing.result()
                progress(done, total)
        self._built.pending_files = total - done
        return self._built

    def _batches(self, work: BuildWork, cancelled: Cancelled) -> Iterator[_Batch]:
        """Split files, in small batches first so that results appear soon."""
        batch = _Batch()
        chunks, most = 0, _FIRST_CHUNKS
        for file, path in _read(work.stale, cancelled):
            batch.files += 1
            if file is None:
                if path in work.known:
                    batch.vanished.append(work.known[path])
            else:
                change = self._change(file, work.known.get(file.path))
                batch.changes.append(change)
                chunks += len(change.entries)
            if chunks >= most:
                yield self._prepared(batch)
                batch, chunks, most = _Batch(), 0, _MOST_CHUNKS
        if batch.files:
            yield self._prepared(batch)

    def _change(self, file: FileRecords, known: int | None) -> FileUpdate:
        """Find the new chunks of a file; identical ones keep their numbers."""
        before = None if known is None else FormerChunks(self._store.former(known))
        entries = []
        for chunk in chunks_of(file, self._size):
            number = before.claim(chunk) if before else None
            if number is None:
                entries.append(StoredEntry(chunk, self._next_number, words_of(chunk)))
                self._next_number += 1
            else:
                entries.append(StoredEntry(chunk, number))
        return FileUpdate(file.path, file.digest, tuple(entries), before.left() if before else ())

    def _prepared(self, batch: _Batch) -> _Batch:
        """Embed new chunks, if that happens in the same pass."""
        batch.next_number = self._next_number
        new = [
            (entry, entry.words)
            for change in batch.changes
            for entry in change.entries
            if entry.words is not None
        ]
        if self._embedder is None or not new or self._built.failure is not None:
            return batch
        try:
            passages = [unit_texts(entry.chunk.text, words.places) for entry, words in new]
            made = self._embedder.embed(passages) or []
        except ProviderError as error:
            self._built.failure = str(error)
        else:
            for (entry, _), vectors in zip(new, made, strict=True):
                entry.vectors = vectors
        return batch

    def _write(self, batch: _Batch, known: dict[str, int]) -> None:
        added = self._store.write(batch.changes, batch.vanished, known, batch.next_number)
        known.update(added)
        self._built.changed += len(batch.changes)
        self._built.removed += len(batch.vanished)

    def _remove(self, numbers: Sequence[int], cancelled: Cancelled) -> None:
        for start in range(0, len(numbers), _REMOVED_AT_ONCE):
            if cancelled():
                return
            few = numbers[start : start + _REMOVED_AT_ONCE]
            self._store.remove(few)
            self._built.removed += len(few)


def _newest_first(path: str) -> tuple[int, str]:
    """Sort key: core memory, days from the newest, then the rest."""
    if layout.store_of(path) == "core":
        return (0, path)
    day = _DAY.search(path)
    return (1, f"{99_999_999 - int(''.join(day.groups())):08}{path}") if day else (2, path)


def _read(
    stale: Sequence[tuple[FileSource, str]], cancelled: Cancelled
) -> Iterator[tuple[FileRecords | None, str]]:
    """Yield each file in order, None if gone."""
    start, count = 0, _FIRST_FILES
    while start < len(stale):
        source = stale[start][0]
        few = []
        for each, path in stale[start : start + count]:
            if each is not source:
                break
            few.append(path)
        found = {file.path: file for file in source.read(few)}
        for path in few:
            if cancelled():
                return
            yield found.get(path), path
        start += len(few)
        count = _FILES_AT_ONCE
