"""What is written to an index file: chunks, words and vectors of source files, a transaction a batch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine.errors import Locked
from workbench.engine.process import process_lock
from workbench.engine.search.contract import (
    ChunkVectors,
    FileUpdate,
    FormerChunk,
    StoredEntry,
    day_of,
    tags_json,
)
from workbench.engine.search.index.files import IndexFile
from workbench.engine.search.index.tables import (
    Embedded,
    FileState,
    ask,
    remove_from_blocks,
    store_vectors,
)
from workbench.engine.search.index.words import counted, store_lengths

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
_LOCK_SECONDS = 60.0


def _columns(count: int) -> str:
    return ", ".join(f"value ->> {at}" for at in range(count))


# Whole batches go over as JSON: SQLite then works without the GIL.
_INSERT_CHUNKS = f"INSERT INTO chunks SELECT {_columns(12)} FROM json_each(?)"
_INSERT_TEXTS = f"INSERT INTO texts SELECT {_columns(5)} FROM json_each(?)"
_INSERT_WORDS = f"INSERT INTO words (rowid, terms) SELECT {_columns(2)} FROM json_each(?)"


class FileStore:
    """The store that one index file is (see `ChunkStore`).

    Args:
        lock: The builder's lock, taken only while vectors are stored.
    """

    def __init__(self, file: IndexFile, lock: Path) -> None:
        self._file = file
        self._lock = lock

    def held_files(self) -> dict[str, tuple[int, bytes]]:
        """See `ChunkStore`."""
        with self._file.reading() as connection:
            files = ask(connection, "SELECT path, number, digest FROM files")
        return {path: (number, digest) for path, number, digest in files}

    def next_number(self) -> int:
        """See `ChunkStore`."""
        return self._file.state().next_number

    def former(self, file: int) -> list[FormerChunk]:
        """See `ChunkStore`."""
        with self._file.reading() as connection:
            rows = ask(
                connection,
                "SELECT number, store, day, title, text, tags FROM chunks JOIN texts USING (number)"
                " WHERE file = ? ORDER BY place DESC",
                (file,),
            )
        return [(number, (store, day, title, text, tags)) for number, store, day, title, text, tags in rows]

    def write(
        self,
        changes: Sequence[FileUpdate],
        vanished: Sequence[int],
        known: Mapping[str, int],
        next_number: int,
    ) -> dict[str, int]:
        """See `ChunkStore`."""
        with self._file.change() as (connection, state, left):
            state = _remove_files(connection, state, vanished)
            state, added = _store_changes(connection, state, changes, known)
            left.append(replace(state, next_number=next_number))
        return added

    def remove(self, files: Sequence[int]) -> None:
        """See `ChunkStore`."""
        with self._file.change() as (connection, state, left):
            left.append(_remove_files(connection, state, files))

    def pending_count(self) -> int:
        """See `ChunkStore`."""
        with self._file.reading() as connection:
            return int(ask(connection, "SELECT count(*) FROM chunks WHERE embedded = 0")[0][0])

    def pending(self, after: int, limit: int) -> list[tuple[int, str]]:
        """See `ChunkStore`."""
        with self._file.reading() as connection:
            return ask(
                connection,
                "SELECT number, text FROM chunks JOIN texts USING (number) WHERE embedded = 0 AND number > ?"
                " ORDER BY number LIMIT ?",
                (after, limit),
            )

    def store_vectors(self, made: Mapping[int, ChunkVectors]) -> None:
        """See `ChunkStore`."""
        with process_lock(self._lock, _LOCK_SECONDS) as alone:
            if not alone:
                raise Locked(
                    "Another process has been building the search index for a minute.",
                    where=str(self._lock),
                    remedy="Try again when it is done.",
                )
            with self._file.change() as (connection, state, left):
                rows = ask(
                    connection,
                    "SELECT number, store, day FROM chunks WHERE embedded = 0"
                    " AND number IN (SELECT value FROM json_each(?)) ORDER BY number",
                    (json.dumps(list(made)),),
                )
                if rows:
                    left.append(
                        store_vectors(
                            connection,
                            state,
                            [Embedded(number, store, day, made[number]) for number, store, day in rows],
                        )
                    )
                    connection.executemany(
                        "UPDATE chunks SET embedded = 1 WHERE number = ?", [(row[0],) for row in rows]
                    )


@dataclass
class _Rows:
    """Rows to write, by table."""

    chunks: list[Row] = field(default_factory=list)
    texts: list[Row] = field(default_factory=list)
    words: list[Row] = field(default_factory=list)
    moved: list[Row] = field(default_factory=list)
    embedded: list[Embedded] = field(default_factory=list)


def _store_changes(
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
    state = _forget_chunks(connection, state, gone)
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
    store_lengths(connection, {row[0]: row[_TERMS] for row in rows.chunks})
    state = replace(
        state,
        moves=state.moves + bool(rows.moved),
        chunks=state.chunks + len(rows.chunks),
        terms=state.terms + sum(row[_TERMS] for row in rows.chunks),
    )
    return state, added


def _remove_files(connection: apsw.Connection, state: FileState, files: Sequence[int]) -> FileState:
    """Remove files and everything in them; return the new state, not yet written."""
    found = _in(connection, "SELECT number FROM chunks WHERE file IN", files)
    state = _forget_chunks(connection, state, [number for (number,) in found])
    connection.executemany("DELETE FROM files WHERE number = ?", [(file,) for file in files])
    return state


def _forget_chunks(connection: apsw.Connection, state: FileState, numbers: Sequence[int]) -> FileState:
    """Remove chunks; return the new state, not yet written."""
    if not numbers:
        return state
    counted = _in(connection, "SELECT number, terms, embedded FROM chunks WHERE number IN", numbers)
    embedded = [(number,) for number, _, has_vectors in counted if has_vectors]
    if embedded:
        state = replace(state, version=state.version + 1)
        remove_from_blocks(connection, [number for (number,) in embedded], state.version)
        connection.executemany("DELETE FROM vectors WHERE number = ?", embedded)
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
        terms, count = counted(words)
        rows.chunks.append(
            (
                entry.number,
                file,
                place,
                chunk.memory_id,
                chunk.store,
                day_of(chunk),
                chunk.start_line,
                *validity,
                count,
                int(entry.vectors is not None),
            )
        )
        rows.texts.append((entry.number, chunk.title, chunk.text, tags_json(chunk), words.units))
        rows.words.append((entry.number, terms))
        if entry.vectors is not None:
            rows.embedded.append(Embedded(entry.number, chunk.store, day_of(chunk), entry.vectors))


def _in(connection: apsw.Connection, question: str, numbers: Sequence[int]) -> list[Row]:
    found: list[Row] = []
    for start in range(0, len(numbers), _MANY):
        few = json.dumps(list(numbers[start : start + _MANY]))
        found.extend(ask(connection, f"{question} (SELECT value FROM json_each(?))", (few,)))
    return found
