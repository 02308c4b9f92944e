"""Vectors by what they were made of, kept through all rebuilds; the least recently used go first."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.recall.index.prepared import Vectors

if TYPE_CHECKING:
    import apsw

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
_DAY_SECONDS = 86_400


class EmbeddingCache:
    """A cache in a file of its own; where the file fails, vectors are made again.

    Args:
        place: The file; its folder exists.
        fingerprint: Of the embedder.
        most: Chunks to keep the vectors of; 0 for none.
    """

    def __init__(self, place: Path, fingerprint: str, most: int) -> None:
        self._place = place
        self._salt = hashlib.blake2b(fingerprint.encode(), digest_size=16).digest()
        self._most = most
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._failed = False

    def key(self, units: Sequence[str]) -> bytes:
        """Return what the vectors of these unit texts are known by."""
        text = "\0".join(units).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=16, key=self._salt).digest()

    def get(self, keys: Iterable[bytes], now: int) -> dict[bytes, Vectors]:
        """Return the vectors that are known; they count as used now.

        Args:
            keys: See `key`.
            now: Seconds since 1970; use is noted by days.
        """
        import apsw

        found: dict[bytes, Vectors] = {}
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

    def put(self, made: Mapping[bytes, Vectors], now: int) -> None:
        """Keep vectors, and let go of those used longest ago."""
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
        """Let go of the file."""
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
        """Do without: a damaged file is deleted, any other trouble (a full disk) passes by itself."""
        import apsw

        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if isinstance(error, apsw.CorruptError | apsw.NotADBError):
            from workbench.engine.recall.index.schema import delete_database

            with suppress(OSError):
                delete_database(self._place)
        else:
            self._failed = True


def _blobs(vectors: Vectors) -> tuple[bytes, bytes | None]:
    from workbench.engine.recall.index.codes import encode

    units = vectors.units
    return vectors.whole.tobytes(), None if units is None else encode(units)[0].tobytes()


def _vectors(whole: bytes, units: bytes | None) -> Vectors:
    import numpy as np

    from workbench.engine.recall.index.codes import decode

    vector = np.frombuffer(whole, np.float32)
    return Vectors(vector, None if units is None else decode(units, len(vector)))
