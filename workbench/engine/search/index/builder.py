"""Updates an index file from its source files, in batches and transactions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.engine import layout
from workbench.engine.errors import ProviderError
from workbench.engine.search.chunks import Chunk, ChunkSize, FileRecords, FileSource, chunks_of, unit_texts
from workbench.engine.search.index.chunk_embedding import ChunkEmbedder, ChunkWords, words_of
from workbench.engine.search.index.files import IndexFile
from workbench.engine.search.index.tables import (
    ChunkVectors,
    Embedded,
    FileState,
    ask,
    remove_from_blocks,
    store_vectors,
)

if TYPE_CHECKING:
    import apsw


Row = tuple[Any, ...]
_MANY = 500
_MOVE_CHUNKS = (
    "UPDATE chunks SET place = value ->> 0, memory_id = value ->> 1, start_line = value ->> 2,"
    " is_retired = value ->> 3, superseded_by = value ->> 4, until = value ->> 5 FROM json_each(?)"
    " WHERE chunks.number = value ->> 6"
)
# Place of the number of terms in a row of chunks.
_TERMS = 10
_FIRST_CHUNKS = 64
_CHUNKS_AT_ONCE = 768
_FILES_AT_ONCE = 128
_FIRST_FILES = 8
_REMOVED_AT_ONCE = 500
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


def _columns(count: int) -> str:
    return ", ".join(f"value ->> {at}" for at in range(count))


# Whole batches go over as JSON: SQLite then works without the GIL.
_INSERT_CHUNKS = f"INSERT INTO chunks SELECT {_columns(12)} FROM json_each(?)"
_INSERT_TEXTS = f"INSERT INTO texts SELECT {_columns(5)} FROM json_each(?)"
_INSERT_WORDS = f"INSERT INTO words (rowid, title, text) SELECT {_columns(3)} FROM json_each(?)"


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
    gone: tuple[int, ...] = ()


@dataclass
class _Rows:
    """Rows to write, by table."""

    chunks: list[Row] = field(default_factory=list)
    texts: list[Row] = field(default_factory=list)
    words: list[Row] = field(default_factory=list)
    moved: list[Row] = field(default_factory=list)
    embedded: list[Embedded] = field(default_factory=list)


class FormerChunks:
    """A file's chunks in the index, to be claimed by identical new ones."""

    def __init__(self, connection: apsw.Connection, file: int) -> None:
        self._numbers: dict[Row, list[int]] = {}
        rows = connection.execute(
            "SELECT number, store, day, title, text, tags FROM chunks JOIN texts USING (number)"
            " WHERE file = ? ORDER BY place DESC",
            (file,),
        )
        for number, *key in rows:
            self._numbers.setdefault(tuple(key), []).append(number)

    def claim(self, chunk: Chunk) -> int | None:
        """Return the number of an unclaimed chunk with the same words, store and day."""
        key = (chunk.store, _day(chunk), chunk.title, chunk.text, _json(chunk.tags))
        same = self._numbers.get(key)
        return same.pop() if same else None

    def left(self) -> tuple[int, ...]:
        """Return the unclaimed numbers."""
        return tuple(number for numbers in self._numbers.values() for number in numbers)


def store_changes(
    connection: apsw.Connection, state: FileState, changes: Sequence[FileUpdate], numbers: Mapping[str, int]
) -> tuple[FileState, dict[str, int]]:
    """Replace these files in the index.

    Returns:
        The new state, not yet written, and the numbers of new files.
    """
    newest = int(ask(connection, "SELECT coalesce(max(number), 0) FROM files")[0][0])
    added: dict[str, int] = {}
    rows = _Rows()
    gone: list[int] = []
    for change in changes:
        file = numbers.get(change.path)
        if file is None:
            file = added[change.path] = newest + len(added) + 1
        _collect(rows, file, change.entries)
        gone.extend(change.gone)
    state = forget_chunks(connection, state, gone)
    if rows.embedded:
        state = store_vectors(connection, state, rows.embedded)
    connection.executemany(
        "INSERT OR REPLACE INTO files VALUES (?, ?, ?)",
        [(added.get(each.path) or numbers[each.path], each.path, each.digest) for each in changes],
    )
    for statement, many in (
        (_INSERT_CHUNKS, rows.chunks),
        (_INSERT_TEXTS, rows.texts),
        (_INSERT_WORDS, rows.words),
        (_MOVE_CHUNKS, rows.moved),
    ):
        if many:
            connection.execute(statement, (json.dumps(many, ensure_ascii=False),))
    state = replace(
        state,
        chunks=state.chunks + len(rows.chunks),
        terms=state.terms + sum(row[_TERMS] for row in rows.chunks),
    )
    return state, added


def remove_files(connection: apsw.Connection, state: FileState, files: Sequence[int]) -> FileState:
    """Remove files and everything in them; return the new state, not yet written."""
    found = _in(connection, "SELECT number FROM chunks WHERE file IN", files)
    state = forget_chunks(connection, state, [number for (number,) in found])
    connection.executemany("DELETE FROM files WHERE number = ?", [(file,) for file in files])
    return state


def forget_chunks(connection: apsw.Connection, state: FileState, numbers: Sequence[int]) -> FileState:
    """Remove chunks; return the new state, not yet written."""
    if not numbers:
        return state
    counted = _in(connection, "SELECT number, terms, embedded FROM chunks WHERE number IN", numbers)
    embedded = [(number,) for number, _, has_vectors in counted if has_vectors]
    if embedded:
        state = replace(state, version=state.version + 1)
        remove_from_blocks(connection, [number for (number,) in embedded], state.version)
        connection.executemany("DELETE FROM units WHERE number = ?", embedded)
        if state.dimensions:
            connection.executemany("DELETE FROM vectors WHERE rowid = ?", embedded)
    values = [(number,) for number, _, _ in counted]
    for table, key in (("words", "rowid"), ("texts", "number"), ("chunks", "number")):
        connection.executemany(f"DELETE FROM {table} WHERE {key} = ?", values)
    return replace(
        state, chunks=state.chunks - len(counted), terms=state.terms - sum(terms for _, terms, _ in counted)
    )


def _collect(rows: _Rows, file: int, entries: Iterable[StoredEntry]) -> None:
    for place, entry in enumerate(entries):
        chunk, words = entry.chunk, entry.words
        validity = (int(chunk.is_retired), chunk.superseded_by, chunk.until)
        if words is None:
            rows.moved.append((place, chunk.memory_id, chunk.start_line, *validity, entry.number))
            continue
        rows.chunks.append(
            (
                entry.number,
                file,
                place,
                chunk.memory_id,
                chunk.store,
                _day(chunk),
                chunk.start_line,
                *validity,
                words.count,
                int(entry.vectors is not None),
            )
        )
        rows.texts.append((entry.number, chunk.title, chunk.text, _json(chunk.tags), words.units))
        rows.words.append((entry.number, words.title, words.units))
        if entry.vectors is not None:
            rows.embedded.append(Embedded(entry.number, chunk.store, _day(chunk), entry.vectors))


def _in(connection: apsw.Connection, question: str, numbers: Sequence[int]) -> list[Row]:
    found: list[Row] = []
    for start in range(0, len(numbers), _MANY):
        few = json.dumps(list(numbers[start : start + _MANY]))
        found.extend(ask(connection, f"{question} (SELECT value FROM json_each(?))", (few,)))
    return found


def _day(chunk: Chunk) -> str | None:
    return chunk.day.isoformat() if chunk.day else None


def _json(values: tuple[str, ...]) -> str:
    return json.dumps(values, ensure_ascii=False) if values else "[]"


Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]


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
    """Stores files in one index file; the caller holds the builder's lock.

    Args:
        embedder: Makes vectors in the same pass; None if they are made later or not at all.
    """

    def __init__(self, file: IndexFile, size: ChunkSize, embedder: ChunkEmbedder | None) -> None:
        self._file = file
        self._size = size
        self._embedder = embedder
        self._next_number = 0
        self._built = IndexSync()

    def survey(self, sources: Sequence[FileSource]) -> BuildWork:
        """Compare every file with what the index holds."""
        with self._file.reading() as connection:
            files = ask(connection, "SELECT path, number, digest FROM files")
        held = {path: (number, digest) for path, number, digest in files}
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
        if known is None:
            before = None
        else:
            with self._file.reading() as connection:
                before = FormerChunks(connection, known)
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
