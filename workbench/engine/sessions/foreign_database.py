"""Reads the database in which OpenClaw keeps an agent's sessions since summer 2026; it is never written."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from workbench.engine.errors import DocumentError, Locked, StorageError
from workbench.engine.results import SessionProblem
from workbench.engine.sessions.entries import SessionEntry
from workbench.engine.sessions.homes import ForeignHome
from workbench.engine.sessions.keys import SessionKey, is_key, is_session_id
from workbench.engine.sessions.lines import MOST_LINE_BYTES, Lines
from workbench.engine.sessions.store import StoreContent, no_key

DATABASE = "openclaw-agent.sqlite"
KNOWN_SCHEMA = 23
_WAIT_SECONDS = 2.0
_NODES = "session_nodes"
# What an entry is told in columns of its own, by the names in its JSON.
_GIVEN = {
    "sessionId": "current_session_id", "updatedAt": "updated_at", "label": "label",
    "displayName": "display_name",
}  # fmt: skip
_EVENTS = "transcript_events"
_MOST_EVENT_BYTES = 1 << 40
_TOO_LONG = "(too long)"


class DatabaseHome(ForeignHome):
    """The sessions in one agent's database.

    Args:
        place: The file.
    """

    def __init__(self, place: Path) -> None:
        super().__init__(place, "database")

    def read(self) -> StoreContent:
        """Return all sessions.

        Raises:
            DocumentError: It is no database, is damaged, or has other tables than are known.
            Locked: Its owner keeps it for itself.
        """
        entries: dict[str, SessionEntry] = {}
        problems: list[SessionProblem] = []
        with opened(self.place) as database:
            columns = _columns(database, _NODES)
            if not {"session_key", "current_session_id"} <= columns:
                raise _unknown(self.place, f"it has no table {_NODES} as it is known")
            version = _schema_version(database)
            if version is not None and version > KNOWN_SCHEMA:
                told = f"The database has schema {version}; {KNOWN_SCHEMA} is the newest one that is known."
                problems.append(SessionProblem(None, told))
            names = ("session_key", "entry_json", *_GIVEN.values())
            wanted = [name if name in columns else f"NULL AS {name}" for name in names]
            for key, content, *given in database.execute(
                f"SELECT {', '.join(wanted)} FROM {_NODES}"  # noqa: S608 - names of ours
            ):
                if not is_key(key):
                    problems.append(no_key(key))
                    continue
                fields = _fields(content)
                if fields is None:
                    problems.append(
                        SessionProblem(None, f"{key[:80]}: what is known of it could not be read.")
                    )
                known = {name: value for name, value in zip(_GIVEN, given, strict=True) if value is not None}
                # The path is of a time before the database.
                entries[key] = SessionEntry({**(fields or {}), **known}).with_fields(sessionFile=None)
        return StoreContent(entries, tuple(problems))

    def lines(self, key: SessionKey, entry: SessionEntry) -> Lines:  # noqa: ARG002 - the id says it all
        return DatabaseLines(self.place, entry.session_id)

    def windows(self) -> dict[str, tuple[str, ...]]:
        """Return the ids of all transcripts of each session, the oldest first."""
        with opened(self.place) as database:
            if not {"session_id", "session_key"} <= _columns(database, "session_windows"):
                return {}
            found: dict[str, list[str]] = {}
            for session_id, key in database.execute(
                "SELECT session_id, session_key FROM session_windows ORDER BY rowid"
            ):
                if isinstance(key, str) and is_session_id(session_id):
                    found.setdefault(key, []).append(session_id)
        return {key: tuple(ids) for key, ids in found.items()}


class DatabaseLines:
    """A transcript in a database: each event is a line.

    Args:
        place: The database.
        session_id: Of the transcript.
    """

    def __init__(self, place: Path, session_id: str) -> None:
        self._place = place
        self._session_id = session_id

    @property
    def name(self) -> str:
        return f"sessions/{self._session_id}.jsonl"

    @property
    def where(self) -> str:
        return str(self._place)

    def size(self) -> int:
        with opened(self._place) as database:
            columns = self._known(database)
            compressed = "COALESCE(LENGTH(event_zstd), 0)" if "event_zstd" in columns else "0"
            measure = f"COALESCE(LENGTH(event_json), {compressed})"
            if "event_utf8_bytes" in columns:
                measure = f"COALESCE(event_utf8_bytes, {measure})"
            # Whatever stands there as a number of bytes, the sum is one.
            measure = f"MIN(MAX(CAST({measure} AS INTEGER), 0), {_MOST_EVENT_BYTES})"
            row = database.execute(
                f"SELECT SUM({measure}) FROM {_EVENTS} WHERE session_id = ?",  # noqa: S608 - names of ours
                (self._session_id,),
            ).fetchone()
        return int(row[0] or 0)

    def stamp(self) -> tuple[int, ...] | None:
        return None

    def count(self) -> int:
        with opened(self._place) as database:
            self._known(database)
            row = database.execute(
                f"SELECT COUNT(*) FROM {_EVENTS} WHERE session_id = ?",  # noqa: S608 - names of ours
                (self._session_id,),
            ).fetchone()
        return int(row[0])

    def read(self, first: int = 1, most: int | None = None) -> Iterator[tuple[int, bytes]]:
        with opened(self._place) as database:
            zstd = "event_zstd" if "event_zstd" in self._known(database) else "NULL"
            plain = (
                f"CASE WHEN LENGTH(CAST(event_json AS BLOB)) > {MOST_LINE_BYTES} THEN ? ELSE event_json END"
            )
            rows = database.execute(
                f"SELECT {plain}, {zstd} FROM {_EVENTS} WHERE session_id = ? "  # noqa: S608 - names of ours
                "ORDER BY seq LIMIT ? OFFSET ?",
                (_TOO_LONG, self._session_id, -1 if most is None else most, max(first, 1) - 1),
            )
            for number, (content, compressed) in enumerate(rows, max(first, 1)):
                yield number, _content(content, compressed)

    def _known(self, database: sqlite3.Connection) -> set[str]:
        columns = _columns(database, _EVENTS)
        if not {"session_id", "seq", "event_json"} <= columns:
            raise _unknown(self._place, f"it has no table {_EVENTS} as it is known")
        return columns


@contextmanager
def opened(place: Path) -> Iterator[sqlite3.Connection]:
    """Open a database of another program for reading, in a way that leaves nothing beside it.

    A reader of a database in WAL mode makes its own files beside it where there are none. So one that nobody has open
    is read as unchanging, one in use through the files that its owner keeps there, and one that was copied with a log
    alone from a copy of ours.

    Raises:
        DocumentError: It is none, or damaged.
        Locked: Its owner keeps it for itself.
        StorageError: It may not be read.
    """
    log, shared = place.with_name(place.name + "-wal"), place.with_name(place.name + "-shm")
    with contextlib.ExitStack() as stack:
        target, mode = place, "mode=ro"
        if not log.exists() or (not shared.exists() and log.stat().st_size == 0):
            mode = "mode=ro&immutable=1"
        elif not shared.exists():
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="workbench-"))
            target = Path(folder) / place.name
            shutil.copyfile(place, target)
            shutil.copyfile(log, target.with_name(log.name))
        try:
            connection = sqlite3.connect(
                f"file:{quote(str(target.resolve()))}?{mode}",
                uri=True,
                timeout=_WAIT_SECONDS,
                isolation_level=None,
            )
            stack.enter_context(contextlib.closing(connection))
            connection.text_factory = lambda given: given.decode("utf-8", "replace")
            # One state of it, however many questions are asked.
            connection.execute("BEGIN")
            connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
            yield connection
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise Locked(
                    "Another program keeps this database for itself.",
                    where=str(place),
                    remedy="Try again later.",
                ) from error
            if "unable to open" in str(error) or "readonly" in str(error):
                raise StorageError(
                    f"The database cannot be opened: {error}.",
                    where=str(place),
                    remedy="Give the right to read it.",
                ) from error
            raise _unknown(place, str(error)) from error
        except sqlite3.DatabaseError as error:
            raise _unknown(place, str(error)) from error


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    """Return the columns of a table; none where it is a view, which may go on without end or fill the memory.

    Columns that are reckoned from others are not among them, for the same reason.
    """
    held = database.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND rootpage > 0", (table,)
    ).fetchone()
    if held is None:
        return set()
    return {row[1] for row in database.execute(f"PRAGMA table_info({table})")}


def _schema_version(database: sqlite3.Connection) -> int | None:
    if {"key", "value"} <= _columns(database, "schema_meta"):
        row = database.execute("SELECT value FROM schema_meta WHERE key LIKE '%version%' LIMIT 1").fetchone()
        if row is not None and str(row[0]).isdecimal():
            return int(row[0])
    version = database.execute("PRAGMA user_version").fetchone()[0]
    return int(version) or None


def _fields(content: object) -> dict[str, Any] | None:
    if content is None:
        return {}
    try:
        fields = json.loads(content) if isinstance(content, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _content(plain: object, compressed: object) -> bytes:
    """Return an event as a line; what cannot be unpacked is a line that cannot be read."""
    if isinstance(plain, str):
        return plain.encode("utf-8", "replace").replace(b"\n", b" ")
    if isinstance(plain, bytes):
        return plain.replace(b"\n", b" ")
    if not isinstance(compressed, bytes):
        return b"(nothing)"
    import zstandard

    try:
        # No frame may promise more than a line can hold: a few bytes could fill the memory.
        reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(compressed)
        content: bytes = reader.read(MOST_LINE_BYTES + 1)
    except zstandard.ZstdError:
        return b"(damaged)"
    return content.replace(b"\n", b" ") if len(content) <= MOST_LINE_BYTES else _TOO_LONG.encode()


def _unknown(place: Path, why: str) -> DocumentError:
    return DocumentError(
        f"The database of sessions cannot be read: {why[:120]}.",
        where=str(place),
        remedy="Check it with `openclaw doctor`, or name the plain files beside it.",
    )
