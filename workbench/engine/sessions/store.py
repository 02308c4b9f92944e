"""The session store: entries of `sessions.json`, changed under its lock, and the folders of sessions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from workbench.engine.errors import DocumentError, StorageError
from workbench.engine.file_access import open_outside_file, replace_file
from workbench.engine.results.sessions import SessionProblem
from workbench.engine.sessions.events import FileLines, Lines, moment_of
from workbench.engine.sessions.keys import (
    ResetRules,
    SessionKey,
    checked_session_id,
    foreign_rules,
    is_key,
    is_session_id,
)
from workbench.engine.sessions.locks import store_lock
from workbench.engine.settings.foreign_files import read_relaxed_json
from workbench.engine.values import dataclass

ENDED = "workbenchEnded"
JOINED = "workbenchJoined"
FLUSHES = "workbenchFlushes"
_MOST_FLUSHES = 20
_EMPTY: Mapping[str, Any] = MappingProxyType({})
# Identifies an ended session, so that it can still be saved.
_OF_AN_ENDED_ONE = ("sessionId", "sessionFile", "compactionCount")
# Dropped when a session is reset (research note §2.10); everything else is the person's choice and stays.
_OF_ONE_SESSION = (
    "memoryFlushAt", "memoryFlushCompactionCount", "memoryFlush", "inputTokens", "outputTokens", "totalTokens",
    "totalTokensFresh", "abortedLastRun", "systemSent", "sessionFile", "sessionStartedAt", "lastInteractionAt", FLUSHES,
)  # fmt: skip
NAME = "sessions.json"
LARGEST = 256 * 1024 * 1024
_SUFFIX = ".jsonl"


@dataclass(frozen=True)
class SessionEntry:
    """An entry of the store; unknown fields are kept.

    Args:
        fields: All its fields, as in the file.
    """

    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def session_id(self) -> str:
        """Return the id of the transcript in use, or "" if it is missing or unfit as a file name."""
        given = self.fields.get("sessionId")
        return given if isinstance(given, str) and is_session_id(given) else ""

    @property
    def updated(self) -> datetime | None:
        """Return when it was last used."""
        return moment_of(self.fields.get("updatedAt"))

    @property
    def started(self) -> datetime | None:
        """Return when it began, if the store says so."""
        return moment_of(self.fields.get("sessionStartedAt"))

    @property
    def flushed(self) -> datetime | None:
        """Return when memory was last flushed from this session."""
        return moment_of(self.fields.get("memoryFlushAt") or self._flush.get("at"))

    @property
    def compactions(self) -> int:
        """Return how often this session was compacted."""
        return whole(self.fields.get("compactionCount")) or 0

    @property
    def flushed_cycle(self) -> int | None:
        """Return the number of compactions at the last flush, or None."""
        own = whole(self.fields.get("memoryFlushCompactionCount"))
        return own if own is not None else whole(self._flush.get("compactionCount"))

    @property
    def total_tokens(self) -> int | None:
        """Return the tokens of the context as of the last model call, or None."""
        return whole(self.fields.get("totalTokens"))

    @property
    def context_tokens(self) -> int | None:
        """Return the context window of the session's model in tokens, or None."""
        return whole(self.fields.get("contextTokens")) or None

    @property
    def label(self) -> str:
        """Return the name a person or program gave it, or ""."""
        for name in ("label", "displayName", "subject"):
            given = self.fields.get(name)
            if isinstance(given, str) and given.strip():
                return " ".join(given.split())[:200]
        return ""

    @property
    def model(self) -> str:
        """Return the model of the last answer, or ""."""
        given = self.fields.get("model")
        return given if isinstance(given, str) else ""

    @property
    def is_of_cli(self) -> bool:
        """Return whether a program with its own context answers in this session."""
        given = self.fields.get("cliSessionIds")
        return bool(isinstance(given, Mapping) and given) or bool(self.fields.get("claudeCliSessionId"))

    @property
    def ended(self) -> tuple[SessionEntry, ...]:
        """Return sessions under this key that ended by themselves and are not saved yet, oldest first."""
        given = self.fields.get(ENDED)
        rows = given if isinstance(given, list) else []
        entries = (SessionEntry(each) for each in rows if isinstance(each, Mapping))
        return tuple(entry for entry in entries if entry.session_id)

    def with_ended(self, ended: Iterable[SessionEntry]) -> SessionEntry:
        """Return the entry with these sessions as ended and unsaved."""
        return self.with_fields(**{ENDED: [dict(each.fields) for each in ended] or None})

    def noted_as_ended(self) -> SessionEntry:
        """Return the record to keep of this session when it ends by itself."""
        return SessionEntry({name: self.fields[name] for name in _OF_AN_ENDED_ONE if name in self.fields})

    @property
    def joined(self) -> tuple[str, ...]:
        """Return who talks here besides the owner, because their direct conversations joined this session."""
        given = self.fields.get(JOINED)
        return tuple(each for each in given if isinstance(each, str)) if isinstance(given, list) else ()

    @property
    def _flush(self) -> Mapping[str, Any]:
        given = self.fields.get("memoryFlush")
        return given if isinstance(given, Mapping) else _EMPTY

    @property
    def undone_marks(self) -> frozenset[str]:
        """Return the ids of the marks in the transcript whose flushes were taken back, in full or in part."""
        return frozenset(mark for each in self._flushes if each["undone"] for mark in each["marks"])

    def with_flush(self, at: int, cycle: int, marks: Iterable[str], changes: Iterable[str]) -> SessionEntry:
        """Return the entry after a flush, which makes up for those that were taken back.

        Args:
            at: When, in milliseconds.
            cycle: The compactions before it.
            marks: The ids of its marks in the transcript.
            changes: The transactions of what it saved; taking one of them back makes the flush due again.
        """
        flushed = self.with_fields(memoryFlushAt=at, memoryFlushCompactionCount=cycle)
        standing = [each for each in self._flushes if not each["undone"]]
        if saved := list(changes):
            made_up_for = [*marks, *sorted(self.undone_marks)]
            standing.append({"at": at, "cycle": cycle, "marks": made_up_for, "changes": saved, "undone": []})
        return flushed.with_fields(**{FLUSHES: standing[-_MOST_FLUSHES:] or None})

    def following(self, changes: Mapping[str, bool]) -> SessionEntry:
        """Return the entry after changes of memory were taken back or done again.

        Args:
            changes: Whether each stands now, by its transaction.
        """
        before = self._flushes
        flushes = [
            {
                **each,
                "undone": [one for one in each["changes"] if not changes.get(one, one not in each["undone"])],
            }
            for each in before
        ]
        if flushes == before:
            return self
        last: Mapping[str, Any] = {} if any(each["undone"] for each in flushes) else flushes[-1]
        return self.with_fields(
            **{FLUSHES: flushes},
            memoryFlushAt=last.get("at"),
            memoryFlushCompactionCount=last.get("cycle"),
        )

    @property
    def _flushes(self) -> list[dict[str, Any]]:
        given = self.fields.get(FLUSHES)
        rows = given if isinstance(given, list) else []
        return [
            dict(each)
            for each in rows
            if isinstance(each, Mapping)
            and all(isinstance(each.get(name), list) for name in ("marks", "changes", "undone"))
        ]

    def with_fields(self, **changes: Any) -> SessionEntry:
        """Return the entry with changed fields; those set to None are removed."""
        fields = {**self.fields, **changes}
        return SessionEntry({name: value for name, value in fields.items() if value is not None})

    def begun_anew(self, session_id: str, now: datetime) -> SessionEntry:
        """Return the entry of a fresh session under the same key: counters start over, choices stay."""
        kept = {name: value for name, value in self.fields.items() if name not in _OF_ONE_SESSION}
        return SessionEntry(
            {**kept, "sessionId": session_id, "updatedAt": milliseconds(now), "compactionCount": 0}
        )


def milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def whole(value: object) -> int | None:
    """Return a count as an integer, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == value and 0 <= value < 1e15 else None


@dataclass(frozen=True)
class StoreContent:
    """Content of a store.

    Args:
        entries: By key as in the file, in the file's order.
        problems: Unreadable entries, which stay in the file.
    """

    entries: Mapping[str, SessionEntry]
    problems: tuple[SessionProblem, ...] = ()

    def find(self, key: SessionKey) -> tuple[str, SessionEntry] | None:
        """Return a session with its key as in the file, for any spelling of the key."""
        for spelling in key.spellings():
            if spelling in self.entries:
                return spelling, self.entries[spelling]
        wanted = set(key.spellings())
        return next(
            ((name, entry) for name, entry in self.entries.items() if name.strip().lower() in wanted), None
        )


class SessionStore:
    """The sessions of one folder.

    Args:
        folder: Holds `sessions.json` and the transcripts; need not exist yet.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = folder / NAME

    def read(self) -> StoreContent:
        """Return all sessions; empty if there is no store yet. Takes no lock.

        Raises:
            DocumentError: The file is not JSON5, or holds no object.
            StorageError: It cannot be read.
        """
        raw = self._raw()
        entries: dict[str, SessionEntry] = {}
        problems: list[SessionProblem] = []
        for key, value in raw.items():
            if not is_key(key):
                problems.append(no_key(key))
                continue
            if not isinstance(value, Mapping):
                problems.append(
                    SessionProblem(None, f"{key[:80]} is no entry of a session; it was left aside.")
                )
                continue
            if value.get("sessionId") is not None and not is_session_id(value["sessionId"]):
                told = f"{key[:80]}: its session id could be no file's name, so it has no transcript."
                problems.append(SessionProblem(None, told))
            entries[key] = SessionEntry(value)
        return StoreContent(entries, tuple(problems))

    def with_ended(self) -> tuple[str, ...]:
        """Return the keys with sessions that ended by themselves and are not saved to memory.

        Raises:
            As `read` does.
        """
        if ENDED.encode() not in (read_plain(self.place) or b""):
            return ()
        return tuple(name for name, entry in self.read().entries.items() if entry.ended)

    def follow(self, changes: Mapping[str, bool]) -> None:
        """Let flushes that were taken back be due again, and those that were done again not.

        Args:
            changes: Whether each change of memory stands now, by its transaction.

        Raises:
            As `change` does.
        """
        if FLUSHES.encode() not in (read_plain(self.place) or b""):
            return

        def followed(value: Any) -> Any:
            return (
                dict(SessionEntry(value).following(changes).fields) if isinstance(value, Mapping) else value
            )

        self.rewrite(lambda raw: {key: followed(value) for key, value in raw.items()})

    def change(
        self, key: SessionKey, change: Callable[[SessionEntry | None], SessionEntry | None]
    ) -> tuple[str, SessionEntry | None]:
        """Change one session under the store's lock.

        Args:
            change: Given the present entry or None, returns the new one; None removes it.

        Returns:
            The key as in the file, and the entry.

        Raises:
            Locked: Another program holds the store.
            DocumentError: The store cannot be read; it is unchanged.
            StorageError: It cannot be written.
        """
        self.make_folder()
        with store_lock(self.place):
            raw = dict(self._raw())
            found = StoreContent({k: SessionEntry(v) for k, v in raw.items() if isinstance(v, Mapping)}).find(
                key
            )
            name = found[0] if found else str(key)
            changed = change(found[1] if found else None)
            if changed is None:
                raw.pop(name, None)
            else:
                raw[name] = dict(changed.fields)
            self._write(raw)
        return name, changed

    def rewrite(self, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        """Change the whole store under its lock; unchanged content is not written.

        Args:
            change: Given the whole content, returns the new one.

        Raises:
            As `change` does.
        """
        with store_lock(self.place):
            raw = self._raw()
            changed = change(raw)
            if changed != raw:
                self._write(changed)

    def transcript(self, key: SessionKey, entry: SessionEntry) -> Path:
        """Return the path of a session's transcript, existing or not: always in this folder.

        Args:
            entry: Its entry; only the last part of a path in it is used.

        Raises:
            InvalidInput: Its id cannot be a file name.
        """
        given = entry.fields.get("sessionFile")
        if isinstance(given, str):
            name = given.replace("\\", "/").rpartition("/")[2]
            if name.endswith(_SUFFIX) and is_session_id(name.removesuffix(_SUFFIX)):
                return self.folder / name
        session_id = checked_session_id(entry.fields.get("sessionId"))
        if key.suffix == "topic" and is_session_id(key.suffix_id):
            topic = self.folder / f"{session_id}-topic-{key.suffix_id}{_SUFFIX}"
            if topic.exists():
                return topic
        return self.folder / f"{session_id}{_SUFFIX}"

    def make_folder(self) -> None:
        """Create the folder, private to its owner.

        Raises:
            StorageError: That is impossible.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StorageError(
                f"The folder of sessions cannot be made: {error.strerror}.",
                where=str(self.folder),
                remedy="Choose another with sessions.path.",
            ) from error

    def _raw(self) -> Mapping[str, Any]:
        content = read_plain(self.place)
        if content is None or not content.strip():
            return {}
        try:
            raw = read_relaxed_json(content.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError) as error:
            raise _damaged(self.place, f"it is no JSON5 ({str(error).splitlines()[0][:100]})") from error
        if not isinstance(raw, dict):
            raise _damaged(self.place, "it holds no object")
        return raw

    def _write(self, raw: Mapping[str, Any]) -> None:
        remedy = "Make room, or choose another folder with sessions.path."
        with replace_file(self.place, "The session store cannot be written", remedy) as file:
            file.write(_rendered(raw))


def no_key(key: object) -> SessionProblem:
    """Return the problem of an entry under an invalid session key."""
    return SessionProblem(None, f"{ascii(key)[:80]} is no session key; it was left aside.")


def read_plain(place: Path) -> bytes | None:
    """Return a file's bytes, or None if it does not exist.

    Raises:
        OutsideWorkspace: It is a symlink or not a regular file.
        DocumentError: It is too large to be a session store.
        StorageError: It cannot be read.
    """
    opened = open_outside_file(place)
    if opened is None:
        return None
    with opened:
        size = os.fstat(opened.fileno()).st_size
        if size > LARGEST:
            raise _damaged(place, f"it has {size:,} bytes")
        try:
            return opened.read()
        except OSError as error:
            raise StorageError(
                f"The session store cannot be read: {error.strerror}.",
                where=str(place),
                remedy="Mend the disk.",
            ) from error


def _rendered(raw: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(raw, ensure_ascii=False, indent=2).encode()
    except UnicodeEncodeError:
        # A lone surrogate can only be written as an escape.
        return json.dumps(raw, indent=2).encode()


def _damaged(place: Path, why: str) -> DocumentError:
    return DocumentError(
        f"The session store cannot be read: {why}.",
        where=str(place),
        remedy="Mend it in an editor, or move it away; the transcripts beside it are not touched.",
    )


class SessionHome(Protocol):
    """Sessions with their transcripts, for reading."""

    @property
    def source(self) -> str:
        """Return its kind: `own`, `files`, `database`, `claude-code` or `codex`."""
        ...

    @property
    def where(self) -> str:
        """Return the file it is read from."""
        ...

    @property
    def rules(self) -> ResetRules | None:
        """Return its own program's reset rules; None to use the workspace's."""
        ...

    def read(self) -> StoreContent:
        """Return all sessions."""
        ...

    def lines(self, key: SessionKey, entry: SessionEntry) -> Lines:
        """Return the lines of a session's transcript, possibly none."""
        ...


class ForeignHome:
    """Common parts of another program's sessions.

    Args:
        place: Their file or folder.
        source: `files`, `database`, `claude-code` or `codex`.
    """

    def __init__(self, place: Path, source: str) -> None:
        self.place = place
        self.source = source

    @property
    def where(self) -> str:
        return str(self.place)

    @property
    def rules(self) -> ResetRules | None:
        return foreign_rules(self.place)


class FileHome:
    """Sessions in a folder of JSONL files.

    Args:
        folder: Holds `sessions.json` and `*.jsonl`.
        source: `own` or `files`.
    """

    def __init__(self, folder: Path, source: str = "own") -> None:
        self.store = SessionStore(folder)
        self.source = source

    @property
    def where(self) -> str:
        return str(self.store.place)

    @property
    def rules(self) -> ResetRules | None:
        return None if self.source == "own" else foreign_rules(self.store.folder)

    def read(self) -> StoreContent:
        return self.store.read()

    def lines(self, key: SessionKey, entry: SessionEntry) -> Lines:
        return FileLines(self.store.transcript(key, entry))
