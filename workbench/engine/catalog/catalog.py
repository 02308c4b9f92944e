"""The catalog: which memories exist, where they stand and the words in them, kept current by file stamps."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from workbench.engine import layout
from workbench.engine.catalog.extract import FileRows, extract
from workbench.engine.catalog.schema import TABLES_BY_PATH, open_database
from workbench.engine.catalog.terms import acronym, indexable, name_key

if TYPE_CHECKING:
    import apsw

# A file written this recently may be written again within the same stamp; it is read again next time.
_RACY_NS = 50_000_000
_BATCH_SECONDS = 0.2

_INSERT_MEMORY = (
    "INSERT INTO memories (id, store, path, start_line, end_line, title, text, type, confidence,"
    " source, tags, moment, sort_key, pinned) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True)
class Synced:
    """What a synchronisation found: paths that are new or changed, and paths that are gone."""

    changed: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def paths(self) -> frozenset[str]:
        """Return every path concerned."""
        return frozenset(self.changed) | frozenset(self.gone)


class Catalog:
    """A derived view of the workspace in SQLite; deleting its file loses nothing.

    Args:
        root: The workspace folder, absolute.
        place: The database file, outside the workspace.
        zone: The zone that days and times of the files are in.
    """

    def __init__(self, root: Path, place: Path, zone: ZoneInfo) -> None:
        self.root = root
        self.zone = zone
        self._place = place
        self._lock = threading.RLock()
        self._connection: apsw.Connection | None = None

    @contextmanager
    def database(self) -> Iterator[apsw.Connection]:
        """Give the connection to one thread at a time."""
        with self._lock:
            if self._connection is None:
                self._connection = open_database(self._place, self.zone.key)
            yield self._connection

    def rows(self, question: str, values: Sequence[str | int | None] = ()) -> list[tuple[Any, ...]]:
        """Ask the database one question and return all its rows."""
        with self.database() as connection:
            return connection.execute(question, tuple(values)).fetchall()

    def close(self) -> None:
        """Let go of the database."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def destroy(self) -> None:
        """Delete the database with everything derived in it."""
        with self._lock:
            self.close()
            for suffix in ("", "-wal", "-shm"):
                Path(f"{self._place}{suffix}").unlink(missing_ok=True)

    def sync(
        self,
        *,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Synced:
        """Bring the catalog up to date with every file of the workspace, newest days first.

        Args:
            progress: Called with files done and files to do after each committed batch.
            cancelled: Asked between files; what is done by then stays.
        """
        present = layout.tracked_files(self.root)
        with self.database() as connection:
            known = {
                path: (size, mtime, inode)
                for path, size, mtime, inode in connection.execute(
                    "SELECT path, size, mtime_ns, inode FROM files"
                )
            }
        stale = [path for path, status in present.items() if known.get(path) != _stamp(status)]
        gone = tuple(path for path in known if path not in present)
        return self._refresh(sorted(stale, key=_newest_first), gone, progress, cancelled)

    def update(self, paths: Iterable[str]) -> Synced:
        """Read these files again, whatever their stamps say."""
        tracked = [path for path in dict.fromkeys(paths) if layout.is_tracked(path)]
        present = [
            path for path in tracked if (self.root / path).is_file() and not (self.root / path).is_symlink()
        ]
        gone = tuple(path for path in tracked if path not in set(present))
        return self._refresh(present, gone, None, lambda: False)

    def _refresh(
        self,
        stale: list[str],
        gone: tuple[str, ...],
        progress: Callable[[int, int], None] | None,
        cancelled: Callable[[], bool],
    ) -> Synced:
        done = 0
        if gone:
            with self.database() as connection, connection:
                for path in gone:
                    _remove(connection, path)
        while done < len(stale) and not cancelled():
            with self.database() as connection, connection:
                started = time.monotonic()
                while done < len(stale) and time.monotonic() - started < _BATCH_SECONDS:
                    self._read(connection, stale[done])
                    done += 1
            if progress is not None:
                progress(done, len(stale))
        return Synced(tuple(stale[:done]), gone)

    def _read(self, connection: apsw.Connection, path: str) -> None:
        place = self.root / path
        try:
            status = os.lstat(place)
            content = place.read_bytes()
        except OSError:
            # The file vanished between the listing and now; the next synchronisation sees that.
            _remove(connection, path)
            return
        _remove(connection, path)
        size, mtime_ns, inode = _stamp(status)
        if time.time_ns() - mtime_ns < _RACY_NS:
            mtime_ns = -1
        connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", (path, size, mtime_ns, inode))
        _insert(connection, path, extract(path, content, self.zone))

    def state(self, key: str) -> str | None:
        """Return a remembered value of the catalog itself, such as the commit it was last brought to."""
        rows = self.rows("SELECT value FROM state WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def set_state(self, values: Mapping[str, str]) -> None:
        """Remember values of the catalog itself."""
        with self.database() as connection, connection:
            for key, value in values.items():
                connection.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (key, value))


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ino


def _newest_first(path: str) -> tuple[int, str]:
    """Order files so that what a person looks at first is there first: core, then days from the newest."""
    store = layout.store_of(path)
    if store == "core":
        return (0, path)
    if store == "episodic" or layout.is_daily_log(path):
        day = path.rsplit("/", 1)[1]
        return (1, "".join(chr(0x10FFFF - ord(character)) for character in day))
    return (2, path)


def _remove(connection: apsw.Connection, path: str) -> None:
    for words, table in (("words", "memories"), ("name_words", "names")):
        numbers = connection.execute(f"SELECT number FROM {table} WHERE path = ?", (path,)).fetchall()
        connection.executemany(f"DELETE FROM {words} WHERE rowid = ?", numbers)
    for table in TABLES_BY_PATH:
        connection.execute(f"DELETE FROM {table} WHERE path = ?", (path,))
    connection.execute("DELETE FROM files WHERE path = ?", (path,))


def _insert(connection: apsw.Connection, path: str, rows: FileRows) -> None:
    for record in rows.memories:
        moment = record.moment.isoformat() if record.moment else None
        connection.execute(
            _INSERT_MEMORY,
            (
                record.id,
                record.store,
                record.path,
                record.start_line,
                record.end_line,
                record.title,
                record.text,
                record.type,
                record.confidence,
                record.source,
                json.dumps(record.tags, ensure_ascii=False),
                moment,
                rows.sort_keys.get(record.id, ""),
                int(record.pinned),
            ),
        )
        number = connection.last_insert_rowid()
        connection.execute(
            "INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)",
            (number, indexable(f"{record.title} {' '.join(record.tags)}"), indexable(record.text)),
        )
    for entity in rows.entities:
        connection.execute(
            "INSERT OR REPLACE INTO entities VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                entity.id,
                entity.type,
                entity.label,
                entity.path,
                json.dumps(entity.aliases, ensure_ascii=False),
                entity.summary,
                rows.merged_into.get(entity.id),
            ),
        )
        _insert_names(connection, path, entity.id, entity.label, entity.aliases)
    connection.executemany(
        "INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(e.from_, e.relation, e.to, e.confidence, e.since, e.block, path) for e in rows.edges],
    )
    connection.executemany(
        "INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                f.id,
                f.entity,
                f.text,
                f.line,
                f.since,
                f.until,
                f.superseded_by,
                json.dumps(f.provenance),
                int(f.retired),
                path,
            )
            for f in rows.facts
        ],
    )
    connection.executemany(
        "INSERT INTO links VALUES (?, ?, ?)", [(source, target, path) for source, target in rows.links]
    )
    connection.executemany(
        "INSERT INTO problems VALUES (?, ?, ?, ?)",
        [(path, problem.line, problem.message, problem.remedy) for problem in rows.problems],
    )


def _insert_names(
    connection: apsw.Connection, path: str, entity: str, label: str, aliases: tuple[str, ...]
) -> None:
    named = [(name_key(label), "exact"), *((name_key(alias), "alias") for alias in aliases)]
    for name in (label, *aliases):
        initials = acronym(name)
        if initials:
            named.append((initials, "acronym"))
    for folded, how in dict.fromkeys(named):
        if folded:
            connection.execute(
                "INSERT INTO names (folded, entity, how, path) VALUES (?, ?, ?, ?)",
                (folded, entity, how, path),
            )
            if how != "acronym":
                connection.execute(
                    "INSERT INTO name_words (rowid, folded) VALUES (?, ?)",
                    (connection.last_insert_rowid(), folded),
                )
