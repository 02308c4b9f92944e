"""The contract between ranking, the updater and an index, whatever keeps it: a file here or a database elsewhere.

Ranking asks a `ChunkSource` (see `chunks`). The updater brings a `SearchIndex` into step with the files, and gets such
a source from it. A builder cuts, counts and embeds the same way for each, and leaves the storing to a `ChunkStore`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from workbench.engine.errors import StorageError
from workbench.engine.search.chunks import Chunk, ChunkSource, FileSource
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from workbench.engine.providers.embedding.embedder import FloatArray


_K1, _B = 1.2, 0.75
_LEAST_FREQUENCY = 1e-6
# A very frequent word says little: beside rarer ones, frequent words are dropped once this many
# postings would have to be read.
_MOST_PLACES = 16_000


@dataclass(frozen=True)
class IndexState:
    """What the index holds.

    Args:
        dimensions: Of its vectors; None without vectors.
        last_sync: When it last held every file, aware; None if never.
        size_bytes: On disk, including the embedding cache.
        pending_vectors: Chunks that still lack a vector.
        rebuilding: Share done of a build that has not taken over yet, 0–1, or None.
        is_of_another_shape: Whether an older index answers until the wanted one is built.
    """

    files: int
    chunks: int
    dimensions: int | None
    last_sync: datetime | None
    size_bytes: int
    pending_vectors: int
    rebuilding: float | None
    is_of_another_shape: bool
    failure: str | None


@dataclass
class IndexSync:
    """Outcome of an index update.

    Args:
        pending_files: Files it does not hold in their present state.
        pending_vectors: Chunks that still lack a vector.
        busy: Whether another process is building, so that nothing was done.
        failure: Why vectors could not be made, or None.
    """

    changed: int = 0
    removed: int = 0
    pending_files: int = 0
    pending_vectors: int = 0
    busy: bool = False
    failure: str | None = None

    @property
    def finished(self) -> bool:
        """Return whether the words of every file are searchable."""
        return not self.busy and not self.pending_files


@dataclass(frozen=True, slots=True)
class ChunkWords:
    """The terms of a chunk.

    Args:
        title: Terms of its title and tags, separated by spaces.
        units: Terms of each unit, separated by spaces; units separated by line feeds.
        count: Number of terms in its units.
        places: First and last line of each unit, as `units_of` gives them.
    """

    title: str
    units: str
    count: int
    places: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """The vectors of a chunk.

    Args:
        whole: Normalised mean of its units; zeros if there was nothing to embed.
        units: One row per unit; None if the only unit is the whole chunk.
    """

    whole: FloatArray
    units: FloatArray | None


@dataclass(slots=True)
class StoredEntry:
    """A chunk of a changed file.

    Args:
        number: Its own, or that of the identical chunk before.
        words: None if unchanged.
        vectors: None if unchanged or still to be made.
    """

    chunk: Chunk
    number: int
    words: ChunkWords | None = None
    vectors: ChunkVectors | None = None


@dataclass(frozen=True)
class FileUpdate:
    """New state of a file in the index, and the numbers of chunks to drop."""

    path: str
    digest: bytes
    entries: tuple[StoredEntry, ...]
    gone: tuple[int, ...]


FormerKey = tuple[str, str | None, str, str, str]
FormerChunk = tuple[int, FormerKey]
"""A stored chunk's number, and its store, day, title, text and tags (see `day_of` and `tags_json`)."""


def telling_terms(found: Mapping[str, int]) -> list[str]:
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


def bm25(chunks: int, average: float, counts: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Return BM25 of each chunk that holds a term, as FTS5 computes it.

    Args:
        chunks: Number of all chunks.
        average: Their average length in terms.
        counts: How often each chunk holds the term.
        lengths: How many terms each has.
    """
    held = len(counts)
    frequency = math.log((chunks - held + 0.5) / (held + 0.5)) if held <= chunks else 0.0
    share: NDArray[Any] = counts * (_K1 + 1) / (counts + _K1 * (1 - _B + _B * lengths / (average or 1.0)))
    return max(frequency, _LEAST_FREQUENCY) * share


def day_of(chunk: Chunk) -> str | None:
    """Return a chunk's day as it is stored."""
    return chunk.day.isoformat() if chunk.day else None


def tags_json(chunk: Chunk) -> str:
    """Return a chunk's tags as they are stored."""
    return json.dumps(chunk.tags, ensure_ascii=False) if chunk.tags else "[]"


class ChunkStore(Protocol):
    """Where a builder puts chunks; each writing method is whole or has no effect."""

    def held_files(self) -> dict[str, tuple[int, bytes]]:
        """Return number and digest of each file, by path."""
        ...

    def next_number(self) -> int:
        """Return the number of the next chunk; numbers are never reused."""
        ...

    def former(self, file: int) -> Iterable[FormerChunk]:
        """Return the chunks of a file, the last first."""
        ...

    def write(
        self,
        changes: Sequence[FileUpdate],
        vanished: Sequence[int],
        known: Mapping[str, int],
        next_number: int,
    ) -> dict[str, int]:
        """Replace files, and remove others.

        Args:
            vanished: Numbers of files to remove.
            known: Numbers of the files that are held, by path.
            next_number: Of the first chunk after these.

        Returns:
            The numbers of new files, by path.
        """
        ...

    def remove(self, files: Sequence[int]) -> None:
        """Remove files by their numbers, with everything in them."""
        ...

    def pending_count(self) -> int:
        """Return how many chunks lack a vector."""
        ...

    def pending(self, after: int, limit: int) -> list[tuple[int, str]]:
        """Return number and text of chunks that lack a vector, numbers ascending and above `after`."""
        ...

    def store_vectors(self, made: Mapping[int, ChunkVectors]) -> None:
        """Store vectors of those chunks that still exist and still lack them.

        Raises:
            Locked: Another process has been building for a minute.
        """
        ...


class IndexSource(ChunkSource, Protocol):
    """One consistent state of an index; for one thread. Close it soon."""

    @property
    def embedder(self) -> str:
        """Return the fingerprint of what made its vectors, or ""."""
        ...

    def digests(self) -> Mapping[str, bytes]:
        """Return the digest of each file when it was read, by path."""
        ...

    def close(self) -> None:
        """Release the state."""
        ...


class SearchIndex(Protocol):
    """The index of one workspace; safe for several threads and processes.

    Its methods raise `StorageError` where it cannot be kept or asked.
    """

    def source(self) -> IndexSource:
        """Return one consistent state of the index; close it."""
        ...

    def digests(self) -> Mapping[str, bytes]:
        """Return the digest of each file when it was read, by path."""
        ...

    def state(self) -> IndexState:
        """Return what the index holds."""
        ...

    def is_in_place(self) -> bool:
        """Return whether what was last synced is still there."""
        ...

    def goes_on_elsewhere(self, error: StorageError) -> bool:
        """Return True if something else takes over from what failed; then ask again."""
        ...

    def sync(
        self,
        sources: Sequence[FileSource],
        *,
        force: bool = False,
        words_first: bool = False,
        progress: Callable[[int, int], None] = ...,
        cancelled: Callable[[], bool] = ...,
        wait: float = ...,
    ) -> IndexSync:
        """Bring the words of every file up to date, and their vectors if that is quick.

        Args:
            sources: Everything searched; for a path in several, the first counts.
            force: Rebuild everything beside what exists.
            words_first: Leave the vectors of large updates to `embed`, since somebody waits for results.
            progress: Called with files done and files in total.
            cancelled: Polled between files; work done is kept, the rest is `pending_files`.
            wait: Seconds to wait for another builder.
        """
        ...

    def embed(
        self, *, progress: Callable[[int, int], None] = ..., cancelled: Callable[[], bool] = ...
    ) -> IndexSync:
        """Make missing vectors, keeping them batch by batch.

        Args:
            progress: Called with chunks done and chunks in total.
            cancelled: Polled, also while the embedder works.
        """
        ...

    def close(self) -> None:
        """Let go of it; a later call opens it again."""
        ...

    def destroy(self) -> None:
        """Delete it with everything derived in it."""
        ...
