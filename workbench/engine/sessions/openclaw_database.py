"""Reads the database of OpenClaw's sessions (since summer 2026), never writing to it."""

from __future__ import annotations

import atexit
import contextlib
import errno
import json
import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from workbench.engine.errors import DocumentError, Locked, StorageError
from workbench.engine.results.sessions import SessionProblem
from workbench.engine.sessions.events import MOST_LINE_BYTES, Lines
from workbench.engine.sessions.keys import SessionKey, is_key, is_session_id
from workbench.engine.sessions.store import ForeignHome, SessionEntry, StoreContent, no_key
from workbench.engine.values import dataclass

DATABASE = "openclaw-agent.sqlite"
KNOWN_SCHEMA = 23
_WAIT_SECONDS = 2.0
_PAUSE_SECONDS = 0.02
_LOG_HEADER_BYTES = 32
_SPARE_BYTES = 1 << 24
_NODES = "session_nodes"
# Fields of an entry stored in columns of their own, by their JSON names.
_GIVEN = {
    "sessionId": "current_session_id", "updatedAt": "updated_at", "label": "label",
    "displayName": "display_name",
}  # fmt: skip
_EVENTS = "transcript_events"
_MOST_EVENT_BYTES = 1 << 40
_TOO_LONG = "(too long)"


class DatabaseHome(ForeignHome):
    """The sessions in one agent's database."""

    def __init__(self, place: Path) -> None:
        super().__init__(place, "database")

    def read(self) -> StoreContent:
        """Return all sessions.

        Raises:
            DocumentError: It is not a database, is damaged, or has unknown tables.
            Locked: Its owner holds it exclusively.
        """
        entries: dict[str, SessionEntry] = {}
        problems: list[SessionProblem] = []
        with open_database(self.place) as database:
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
                # The path predates the database.
                entries[key] = SessionEntry({**(fields or {}), **known}).with_fields(sessionFile=None)
        return StoreContent(entries, tuple(problems))

    def lines(self, key: SessionKey, entry: SessionEntry) -> Lines:  # noqa: ARG002 - the id says it all
        return DatabaseLines(self.place, entry.session_id)

    def windows(self) -> dict[str, tuple[str, ...]]:
        """Return the ids of all transcripts of each session, oldest first."""
        with open_database(self.place) as database:
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
    """A transcript in a database; each event is a line.

    Args:
        session_id: The transcript's session.
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
        with open_database(self._place) as database:
            columns = self._known(database)
            compressed = "COALESCE(LENGTH(event_zstd), 0)" if "event_zstd" in columns else "0"
            measure = f"COALESCE(LENGTH(event_json), {compressed})"
            if "event_utf8_bytes" in columns:
                measure = f"COALESCE(event_utf8_bytes, {measure})"
            # Whatever is stored as a byte count, the sum is a number.
            measure = f"MIN(MAX(CAST({measure} AS INTEGER), 0), {_MOST_EVENT_BYTES})"
            row = database.execute(
                f"SELECT SUM({measure}) FROM {_EVENTS} WHERE session_id = ?",  # noqa: S608 - names of ours
                (self._session_id,),
            ).fetchone()
        return int(row[0] or 0)

    def stamp(self) -> tuple[int, ...] | None:
        return None

    def count(self) -> int:
        with open_database(self._place) as database:
            self._known(database)
            row = database.execute(
                f"SELECT COUNT(*) FROM {_EVENTS} WHERE session_id = ?",  # noqa: S608 - names of ours
                (self._session_id,),
            ).fetchone()
        return int(row[0])

    def read(self, first: int = 1, most: int | None = None) -> Iterator[tuple[int, bytes]]:
        with open_database(self._place) as database:
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
def open_database(place: Path) -> Iterator[sqlite3.Connection]:
    """Open another program's database for reading without changing anything there.

    Any reader of a database with a write-ahead log writes to the `-shm` file beside it. So a database with a
    log is read
    from a copy of both, and one without as immutable.

    Raises:
        DocumentError: It is not a database, or damaged.
        Locked: Its owner holds it exclusively, or writes without pause.
        StorageError: It is not readable, or there is no room for a copy.
    """
    with contextlib.ExitStack() as stack:
        target, mode, before = place, "mode=ro&immutable=1", _state(place)
        if before.salt or _size(_log(place)):
            target, mode = stack.enter_context(_copied(place)), "mode=ro"
        try:
            connection = sqlite3.connect(
                f"file:{quote(str(target.resolve()))}?{mode}",
                uri=True,
                timeout=_WAIT_SECONDS,
                isolation_level=None,
            )
            stack.enter_context(contextlib.closing(connection))
            connection.text_factory = lambda given: given.decode("utf-8", "replace")
            # One state for all queries.
            connection.execute("BEGIN")
            connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
            yield connection
            # In place nothing keeps its owner, who may have begun meanwhile, from writing.
            if target == place and _state(place) != before:
                raise _written_meanwhile(place)
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
            if target == place and _state(place) != before:
                raise _written_meanwhile(place) from error
            raise _unknown(place, str(error)) from error


def _written_meanwhile(place: Path) -> Locked:
    told = "Another program wrote to this database while it was read."
    return Locked(told, where=str(place), remedy="Try again.")


@dataclass(frozen=True)
class _State:
    """Identity of a database's files.

    Args:
        database: Inode, size and modification time.
        log: The same for its log.
        salt: Changes when the log is restarted; empty without a log.
    """

    database: tuple[int, int, int]
    log: tuple[int, int, int]
    salt: bytes

    def goes_on_as(self, after: _State) -> bool:
        """Return whether copying database and then log between this state and the next gave a consistent copy.

        Pages moved from the log into the database meanwhile are also in the copied log, unless it was restarted.
        """
        if not self.salt:
            return self.database == after.database and not after.salt
        return self.salt == after.salt and self.database[0] == after.database[0]


@dataclass
class _Copy:
    """A copy that serves further queries while database and log are unchanged."""

    state: _State
    folder: tempfile.TemporaryDirectory[str]
    readers: int = 0


_copies: dict[Path, _Copy] = {}
_copying = threading.Lock()


@contextmanager
def _copied(place: Path) -> Iterator[Path]:
    """Yield a private copy of a database and its log; the last one is kept for the next query."""
    with _copying:
        copy = _copies.get(place)
        if copy is None or copy.state != _state(place):
            if copy is not None and not copy.readers:
                copy.folder.cleanup()
            _copies.pop(place, None)
            for other in [other for other, each in _copies.items() if not each.readers]:
                _copies.pop(other).folder.cleanup()
            copy = _copies[place] = _fresh_copy(place)
        copy.readers += 1
    try:
        yield Path(copy.folder.name) / place.name
    finally:
        with _copying:
            copy.readers -= 1
            if not copy.readers and _copies.get(place) is not copy:
                copy.folder.cleanup()


@atexit.register
def forget_copies() -> None:
    """Delete the copies not in use."""
    with _copying:
        for place in [place for place, copy in _copies.items() if not copy.readers]:
            _copies.pop(place).folder.cleanup()


def _fresh_copy(place: Path) -> _Copy:
    """Copy database and log in one consistent state, retrying while their owner writes."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True)
    except OSError as error:
        raise _no_copy(place, error) from error
    target = Path(folder.name) / place.name
    until = time.monotonic() + _WAIT_SECONDS
    try:
        while True:
            before = _state(place)
            if shutil.disk_usage(folder.name).free < before.database[1] + before.log[1] + _SPARE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            # The log last: its owner only appends, and SQLite ignores a torn end.
            _copy_file(place, target)
            if _size(_log(place)):
                _copy_file(_log(place), _log(target))
            else:
                _log(target).unlink(missing_ok=True)
            if before.goes_on_as(_state(place)):
                # A log that grew meanwhile is a new state for the next query, but complete for this one.
                return _Copy(before, folder)
            if time.monotonic() >= until:
                raise Locked(
                    "Another program writes to this database without a pause.",
                    where=str(place),
                    remedy="Try again later.",
                )
            time.sleep(_PAUSE_SECONDS)
    except OSError as error:
        folder.cleanup()
        raise _no_copy(place, error) from error
    except BaseException:
        folder.cleanup()
        raise


def _copy_file(place: Path, target: Path) -> None:
    """Copy a file, readable only by its owner."""
    target.unlink(missing_ok=True)
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.close(handle)
    shutil.copyfile(place, target)


def _state(place: Path) -> _State:
    log = _log(place)
    try:
        with log.open("rb") as file:
            head = file.read(_LOG_HEADER_BYTES)
    except OSError:
        head = b""
    # Salt and checkpoint number change when the log is restarted.
    return _State(_stamp(place), _stamp(log), head[12:24])


def _stamp(place: Path) -> tuple[int, int, int]:
    try:
        status = place.stat()
    except FileNotFoundError:
        return (0, 0, 0)
    return status.st_ino, status.st_size, status.st_mtime_ns


def _log(place: Path) -> Path:
    return place.with_name(f"{place.name}-wal")


def _size(place: Path) -> int:
    try:
        return place.stat().st_size
    except OSError:
        return 0


def _no_copy(place: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The database is in use and cannot be copied to be read: {error.strerror or error}.",
        where=str(place),
        remedy="Give the right to read it, and make room where temporary files go (TMPDIR).",
    )


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    """Return the columns of a table; none for a view, which may be endless or fill the memory.

    Generated columns are left out for the same reason.
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
    """Return an event as a line; if it cannot be unpacked, an unreadable line."""
    if isinstance(plain, str):
        return plain.encode("utf-8", "replace").replace(b"\n", b" ")
    if isinstance(plain, bytes):
        return plain.replace(b"\n", b" ")
    if not isinstance(compressed, bytes):
        return b"(nothing)"
    import zstandard

    try:
        # A frame must not promise more than a line can hold: a few bytes could fill the memory.
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
