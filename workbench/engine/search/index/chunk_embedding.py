"""Chunk embedding: units and terms, vectors from the cache or the embedder, and vectors added later."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.catalog.terms import index_terms
from workbench.engine.clock import Clock
from workbench.engine.providers.embedding.embedder import EmbeddingCancelled
from workbench.engine.search.chunks import Chunk, unit_texts, units_of
from workbench.engine.search.contract import ChunkStore, ChunkVectors, ChunkWords
from workbench.engine.search.index.tables import decode, delete_database, encode

if TYPE_CHECKING:
    import apsw

    from workbench.engine.providers.embedding.embedder import Embedder, FloatArray

_DAY_SECONDS = 86_400
# A local model takes about a second for these; stored results need not be made again.
_CHUNKS_AT_ONCE = 32


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
