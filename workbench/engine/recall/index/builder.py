"""Brings an index file up to date with the files it is made of, batch by batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import ProviderError
from workbench.engine.recall.chunking import ChunkSize, chunks_of
from workbench.engine.recall.file_source import FileRecords, FileSource
from workbench.engine.recall.index.embedding import ChunkEmbedder
from workbench.engine.recall.index.opened import IndexFile
from workbench.engine.recall.index.prepared import words_of
from workbench.engine.recall.index.schema import ask
from workbench.engine.recall.index.storing import Before, Change, Entry, remove_files, store_changes
from workbench.engine.recall.units import unit_texts

if TYPE_CHECKING:
    import apsw

_FIRST_CHUNKS = 64
_CHUNKS_AT_ONCE = 768
_FILES_AT_ONCE = 128
_FIRST_FILES = 8
_REMOVED_AT_ONCE = 500
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")

Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]


@dataclass
class Built:
    """What a building did.

    Args:
        changed: Files stored.
        removed: Files taken out.
        pending: Files that are still to be read.
        failure: Why no vectors were made, or None.
    """

    changed: int = 0
    removed: int = 0
    pending: int = 0
    failure: str | None = None


@dataclass
class Work:
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
        files: How many were looked at for it.
        next_number: Of the first chunk after it.
    """

    changes: list[Change] = field(default_factory=list)
    vanished: list[int] = field(default_factory=list)
    files: int = 0
    next_number: int = 0


class Builder:
    """Stores files in one index file; the caller holds the builder's lock.

    Args:
        file: The index file.
        size: Of chunks.
        embedder: Makes vectors in the same go; None where they are made later or not at all.
    """

    def __init__(self, file: IndexFile, size: ChunkSize, embedder: ChunkEmbedder | None) -> None:
        self._file = file
        self._size = size
        self._embedder = embedder
        self._next_number = 0
        self._built = Built()

    def survey(self, sources: Sequence[FileSource]) -> Work:
        """Compare every file with what the index holds."""
        with self._file.reading() as connection:
            held = _held(connection, "SELECT path, number, digest FROM files")
        work = Work(known={path: number for path, (number, _) in held.items()})
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

    def carry_out(self, work: Work, progress: Progress, cancelled: Cancelled) -> Built:
        """Do what there is to do.

        Args:
            work: See `survey`.
            progress: Called with files done and files to do after each batch.
            cancelled: Asked between files; what is stored by then stays.

        Raises:
            IndexLost: The index file is gone or damaged.
            StorageError: It cannot be written; what was stored before stays.
        """
        self._next_number = self._file.state().next_number
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
        self._built.pending = total - done
        return self._built

    def _batches(self, work: Work, cancelled: Cancelled) -> Iterator[_Batch]:
        """Take files apart, few at first so that they are found soon."""
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

    def _change(self, file: FileRecords, known: int | None) -> Change:
        """Find out which chunks of a file are new; those that are the same keep their numbers."""
        if known is None:
            before = None
        else:
            with self._file.reading() as connection:
                before = Before(connection, known)
        entries = []
        for chunk in chunks_of(file, self._size):
            number = before.claim(chunk) if before else None
            if number is None:
                entries.append(Entry(chunk, self._next_number, words_of(chunk)))
                self._next_number += 1
            else:
                entries.append(Entry(chunk, number))
        return Change(file.path, file.digest, tuple(entries), before.left() if before else ())

    def _prepared(self, batch: _Batch) -> _Batch:
        """Make the vectors of what is new, where that is done in the same go."""
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
        with self._file.change() as (connection, state, left):
            state = remove_files(connection, state, batch.vanished)
            state, added = store_changes(connection, state, batch.changes, known)
            left.append(replace(state, next_number=batch.next_number))
        known.update(added)
        self._built.changed += len(batch.changes)
        self._built.removed += len(batch.vanished)

    def _remove(self, numbers: Sequence[int], cancelled: Cancelled) -> None:
        for start in range(0, len(numbers), _REMOVED_AT_ONCE):
            if cancelled():
                return
            few = numbers[start : start + _REMOVED_AT_ONCE]
            with self._file.change() as (connection, state, left):
                left.append(remove_files(connection, state, few))
            self._built.removed += len(few)


def _newest_first(path: str) -> tuple[int, str]:
    """Order files so that what is asked for most is found first: core memory, days from the newest, then the rest."""
    if layout.store_of(path) == "core":
        return (0, path)
    day = _DAY.search(path)
    return (1, f"{99_999_999 - int(''.join(day.groups())):08}{path}") if day else (2, path)


def _held(
    connection: apsw.Connection, question: str, values: Sequence[str] = ()
) -> dict[str, tuple[int, bytes]]:
    return {path: (number, digest) for path, number, digest in ask(connection, question, values)}


def _read(
    stale: Sequence[tuple[FileSource, str]], cancelled: Cancelled
) -> Iterator[tuple[FileRecords | None, str]]:
    """Give each file in order, None where it is gone."""
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
