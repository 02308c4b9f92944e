"""Updates an index from its source files, in batches, whatever stores it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from workbench.engine import layout
from workbench.engine.errors import ProviderError
from workbench.engine.patterns import lazy_pattern
from workbench.engine.search.chunks import Chunk, ChunkSize, FileRecords, FileSource, chunks_of, unit_texts
from workbench.engine.search.contract import (
    ChunkStore,
    FileUpdate,
    FormerChunk,
    FormerKey,
    IndexSync,
    StoredEntry,
    day_of,
    tags_json,
)
from workbench.engine.search.index.chunk_embedding import ChunkEmbedder, words_of

_FIRST_CHUNKS = 64
_CHUNKS_AT_ONCE = 768
_FILES_AT_ONCE = 128
_FIRST_FILES = 8
_REMOVED_AT_ONCE = 500
_DAY = lazy_pattern(r"(\d{4})-(\d{2})-(\d{2})")


Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]


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
                batch, chunks, most = _Batch(), 0, _CHUNKS_AT_ONCE
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
