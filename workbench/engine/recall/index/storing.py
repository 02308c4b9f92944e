"""Writes the chunks of changed files into an index file, within the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.engine.recall.index.prepared import Vectors, Words
from workbench.engine.recall.index.schema import ask
from workbench.engine.recall.index.state import FileState
from workbench.engine.recall.model import Chunk

if TYPE_CHECKING:
    import apsw

    from workbench.engine.recall.index.store_vectors import Embedded

Row = tuple[Any, ...]
_MANY = 500


def _columns(count: int) -> str:
    return ", ".join(f"value ->> {at}" for at in range(count))


# Whole batches go over as JSON: SQLite works on them without Python, and another thread can use the time.
_INSERT_CHUNKS = f"INSERT INTO chunks SELECT {_columns(11)} FROM json_each(?)"
_INSERT_TEXTS = f"INSERT INTO texts SELECT {_columns(5)} FROM json_each(?)"
_INSERT_WORDS = f"INSERT INTO words (rowid, title, text) SELECT {_columns(3)} FROM json_each(?)"
_MOVE_CHUNKS = (
    "UPDATE chunks SET place = value ->> 0, memory_id = value ->> 1, start_line = value ->> 2,"
    " is_retired = value ->> 3, superseded_by = value ->> 4 FROM json_each(?) WHERE chunks.number = value ->> 5"
)


@dataclass(slots=True)
class Entry:
    """A chunk of a changed file.

    Args:
        number: Its own, or that of the same chunk before.
        words: None where it is the same as before.
        vectors: None where it is the same as before, or its vectors are still to be made.
    """

    chunk: Chunk
    number: int
    words: Words | None = None
    vectors: Vectors | None = None


@dataclass(frozen=True)
class Change:
    """A file as it is to stand in the index, and the numbers of chunks that no longer do."""

    path: str
    digest: bytes
    entries: tuple[Entry, ...]
    gone: tuple[int, ...] = ()


@dataclass
class _Rows:
    """Rows to write, by table."""

    chunks: list[Row] = field(default_factory=list)
    texts: list[Row] = field(default_factory=list)
    words: list[Row] = field(default_factory=list)
    moved: list[Row] = field(default_factory=list)
    embedded: list[Embedded] = field(default_factory=list)


class Before:
    """The chunks of a file as they stand in the index, to be claimed by those that are the same."""

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
        """Return the number of a chunk of the same words, store and day that nobody else has claimed."""
        key = (chunk.store, _day(chunk), chunk.title, chunk.text, _json(chunk.tags))
        same = self._numbers.get(key)
        return same.pop() if same else None

    def left(self) -> tuple[int, ...]:
        """Return the numbers that nobody claimed."""
        return tuple(number for numbers in self._numbers.values() for number in numbers)


def store_changes(
    connection: apsw.Connection, state: FileState, changes: Sequence[Change], numbers: Mapping[str, int]
) -> tuple[FileState, dict[str, int]]:
    """Put files in the place of what was known of them.

    Args:
        connection: In a transaction.
        state: As the transaction sees it.
        changes: The files.
        numbers: Of files that are known.

    Returns:
        The new state, not yet written, and the numbers of files that are new.
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
        from workbench.engine.recall.index.store_vectors import store_vectors

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
        terms=state.terms + sum(row[9] for row in rows.chunks),
    )
    return state, added


def remove_files(connection: apsw.Connection, state: FileState, files: Sequence[int]) -> FileState:
    """Take files out with everything in them; return the new state, not yet written."""
    found = _in(connection, "SELECT number FROM chunks WHERE file IN", files)
    state = forget_chunks(connection, state, [number for (number,) in found])
    connection.executemany("DELETE FROM files WHERE number = ?", [(file,) for file in files])
    return state


def forget_chunks(connection: apsw.Connection, state: FileState, numbers: Sequence[int]) -> FileState:
    """Take chunks out; return the new state, not yet written."""
    if not numbers:
        return state
    counted = _in(connection, "SELECT number, terms, embedded FROM chunks WHERE number IN", numbers)
    embedded = [(number,) for number, _, has_vectors in counted if has_vectors]
    if embedded:
        from workbench.engine.recall.index.blocks import remove_from_blocks

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


def _collect(rows: _Rows, file: int, entries: Iterable[Entry]) -> None:
    for place, entry in enumerate(entries):
        chunk, words = entry.chunk, entry.words
        retired = (int(chunk.is_retired), chunk.superseded_by)
        if words is None:
            rows.moved.append((place, chunk.memory_id, chunk.start_line, *retired, entry.number))
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
                *retired,
                words.count,
                int(entry.vectors is not None),
            )
        )
        rows.texts.append((entry.number, chunk.title, chunk.text, _json(chunk.tags), words.units))
        rows.words.append((entry.number, words.title, words.units))
        if entry.vectors is not None:
            rows.embedded.append(_embedded(entry, entry.vectors))


def _embedded(entry: Entry, vectors: Vectors) -> Embedded:
    from workbench.engine.recall.index.store_vectors import Embedded

    return Embedded(entry.number, entry.chunk.store, _day(entry.chunk), vectors)


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
