"""What an index file knows of itself: counts, dimensions, whether it is complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import apsw

from workbench.engine.recall.index.schema import ask, decoding


@dataclass(frozen=True)
class FileState:
    """The state of one index file.

    Args:
        shape: The digest of its shape.
        embedder: The fingerprint of what makes its vectors, or the empty string.
        complete: Whether it has taken over: it has held every file once.
        next_number: The number of the next chunk; none is ever used twice.
        chunks: How many there are.
        terms: How many terms they have together.
        version: Raised with each change of vectors.
        dimensions: Of its vectors; 0 while there are none.
        last_sync: When it last held every file, ISO 8601, or the empty string.
        wanted: Files that a building is to hold in the end; 0 where none is under way.
    """

    shape: str = ""
    embedder: str = ""
    complete: int = 0
    next_number: int = 1
    chunks: int = 0
    terms: int = 0
    version: int = 0
    dimensions: int = 0
    last_sync: str = ""
    wanted: int = 0

    def values(self) -> dict[str, str | int]:
        """Return the state as rows."""
        return dict(vars(self))


def read_state(connection: apsw.Connection) -> FileState:
    """Read the state as the connection's transaction sees it.

    Raises:
        apsw.CorruptError: It cannot be what was stored.
    """
    known: dict[str, Any] = dict(ask(connection, "SELECT key, value FROM state"))
    with decoding():
        state = FileState(**known)
        for name, default in vars(FileState()).items():
            if not isinstance(getattr(state, name), type(default)):
                raise TypeError(name)
    # Without these numbers would be used twice.
    if not known.keys() >= {"shape", "next_number"}:
        raise apsw.CorruptError("the state is gone")
    return state


def write_state(connection: apsw.Connection, state: FileState) -> None:
    """Put the state in the place of what it was; within the caller's transaction."""
    connection.executemany("INSERT OR REPLACE INTO state VALUES (?, ?)", list(state.values().items()))
