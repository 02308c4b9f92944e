"""Takes a copy of another program's session into the own store; the original is only read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from workbench.engine.private_files import replacing
from workbench.engine.sessions.entries import SessionEntry, milliseconds
from workbench.engine.sessions.keys import SessionKey, checked_session_id, parse_key
from workbench.engine.sessions.lines import FileLines, Lines
from workbench.engine.sessions.locks import transcript_lock
from workbench.engine.sessions.store import SessionStore

_COPIED_FROM = "workbenchCopiedFrom"


def copy_session(
    lines: Lines, key: SessionKey, entry: SessionEntry, store: SessionStore, now: datetime
) -> tuple[str, SessionEntry, bool]:
    """Return the key and the entry of a session's copy in the own store, and whether it was made just now.

    Where another session has the key of the original, that one goes on, and the copy stands beside it as a thread of
    that key, named by its id; so what is shared stays shared.

    Args:
        lines: Of the original.
        key: Of the original.
        entry: Of the original; what it says is kept.
        store: The own one.
        now: When.

    Raises:
        InvalidInput: Its id could be no file's name.
        StorageError: The disk does not take it.
    """
    session_id = checked_session_id(entry.fields.get("sessionId"))
    for name, known in store.read().entries.items():
        if known.session_id == session_id and store.transcript(parse_key(name), known).exists():
            return name, known, False
    store.make_folder()
    copied = SessionEntry(entry.fields).with_fields(
        sessionFile=None, updatedAt=milliseconds(now), **{_COPIED_FROM: lines.where}
    )
    _copy_lines(lines, store.transcript(key, copied))

    def enter(known: SessionEntry | None) -> SessionEntry:
        return copied if known is None or known.session_id in ("", session_id) else known

    name, stored = store.change(key, enter)
    if stored is None or stored.session_id != session_id:
        name, stored = store.change(_beside(key, session_id), lambda _: copied)
    assert stored is not None
    return name, stored, True


def drop_copy(key: SessionKey, entry: SessionEntry, store: SessionStore) -> None:
    """Take back a copy that was made a moment ago, unless somebody has gone on with it.

    Args:
        key: Of the copy.
        entry: As it was when the copy was made.
        store: The own one.
    """

    def leave(known: SessionEntry | None) -> SessionEntry | None:
        if known is not None and known.fields == entry.fields:
            store.transcript(key, entry).unlink(missing_ok=True)
            return None
        return known

    store.change(key, leave)


def originals(store: SessionStore) -> Iterator[Lines]:
    """Give the transcripts of other programs that sessions of a store were copied from.

    Raises:
        DocumentError: The store cannot be read.
    """
    from workbench.engine.sessions.foreign_database import DatabaseLines

    for entry in store.read().entries.values():
        place = entry.fields.get(_COPIED_FROM)
        if isinstance(place, str) and entry.session_id:
            is_file = place.endswith(".jsonl")
            yield FileLines(Path(place)) if is_file else DatabaseLines(Path(place), entry.session_id)


def _beside(key: SessionKey, session_id: str) -> SessionKey:
    suffix_id = f"{key.suffix_id}-{session_id}" if key.suffix else session_id
    return replace(key, suffix="thread", suffix_id=suffix_id.lower())


def _copy_lines(lines: Lines, place: Path) -> None:
    with transcript_lock(place):
        if place.exists():
            return
        with replacing(place, "The session cannot be copied") as file:
            for _, content in lines.read():
                file.write(content + b"\n")
