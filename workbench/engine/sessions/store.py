"""The session store: `sessions.json` of one folder, read as JSON5 and changed under its lock."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.engine.errors import DocumentError, StorageError
from workbench.engine.private_files import replacing
from workbench.engine.results.sessions import SessionProblem
from workbench.engine.sessions.entries import ENDED, SessionEntry
from workbench.engine.sessions.keys import SessionKey, checked_session_id, is_key, is_session_id
from workbench.engine.sessions.locks import store_lock
from workbench.engine.sessions.opening import open_plain

NAME = "sessions.json"
LARGEST = 256 * 1024 * 1024
_SUFFIX = ".jsonl"


@dataclass(frozen=True)
class StoreContent:
    """What a store holds.

    Args:
        entries: By key, as the file writes it; in the file's order.
        problems: What could not be read as an entry; it stays in the file.
    """

    entries: Mapping[str, SessionEntry]
    problems: tuple[SessionProblem, ...] = ()

    def find(self, key: SessionKey) -> tuple[str, SessionEntry] | None:
        """Return a session with the key that it has in the file, whichever way that is spelt."""
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
        """Return all sessions; nothing where there is no store yet. Takes no lock.

        Raises:
            DocumentError: The file holds no object, or is no JSON5.
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
        """Return the keys under which sessions ended by themselves and were not saved to memory.

        Raises:
            As `read` does.
        """
        if ENDED.encode() not in (read_plain(self.place) or b""):
            return ()
        return tuple(name for name, entry in self.read().entries.items() if entry.ended)

    def change(
        self, key: SessionKey, change: Callable[[SessionEntry | None], SessionEntry | None]
    ) -> tuple[str, SessionEntry | None]:
        """Change one session under the store's lock, from how it is at that moment.

        Args:
            key: Which.
            change: Is given the entry as it is, or None, and returns what it shall be; None removes it.

        Returns:
            The key as the file writes it, and the entry.

        Raises:
            Locked: Another program keeps the store.
            DocumentError: The store cannot be read; it is left as it is.
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
        """Change whatever stands in the store under its lock; what stays the same is not written.

        Args:
            change: Is given all of it, and returns what it shall be.

        Raises:
            As `change` does.
        """
        with store_lock(self.place):
            raw = self._raw()
            changed = change(raw)
            if changed != raw:
                self._write(changed)

    def transcript(self, key: SessionKey, entry: SessionEntry) -> Path:
        """Return where a session's transcript is, or would be: always in this folder.

        Args:
            key: The session's.
            entry: What the store says; of a path in it only the last part is believed.

        Raises:
            InvalidInput: Its id cannot be a file's name.
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
        """Make the folder, for nobody else to read.

        Raises:
            StorageError: That is not possible.
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
        from workbench.engine.settings.relaxed_json import read_relaxed_json

        try:
            raw = read_relaxed_json(content.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError) as error:
            raise _damaged(self.place, f"it is no JSON5 ({str(error).splitlines()[0][:100]})") from error
        if not isinstance(raw, dict):
            raise _damaged(self.place, "it holds no object")
        return raw

    def _write(self, raw: Mapping[str, Any]) -> None:
        remedy = "Make room, or choose another folder with sessions.path."
        with replacing(self.place, "The session store cannot be written", remedy) as file:
            file.write(_rendered(raw))


def no_key(key: object) -> SessionProblem:
    """Return what is told of an entry under something that is no session key."""
    return SessionProblem(None, f"{ascii(key)[:80]} is no session key; it was left aside.")


def read_plain(place: Path) -> bytes | None:
    """Return a file's bytes; None where there is none.

    Raises:
        OutsideWorkspace: A link stands there, or no plain file.
        DocumentError: It is too large to be a session store.
        StorageError: It cannot be read.
    """
    opened = open_plain(place)
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
        # Half of a surrogate pair can be written as an escape alone.
        return json.dumps(raw, indent=2).encode()


def _damaged(place: Path, why: str) -> DocumentError:
    return DocumentError(
        f"The session store cannot be read: {why}.",
        where=str(place),
        remedy="Mend it in an editor, or move it away; the transcripts beside it are not touched.",
    )
