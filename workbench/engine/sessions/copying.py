"""Takes a copy of another program's session into the own store; the original is only read."""

from __future__ import annotations

import os
from datetime import datetime

from workbench.engine.errors import StorageError
from workbench.engine.sessions.entries import SessionEntry, milliseconds
from workbench.engine.sessions.keys import SessionKey, checked_session_id
from workbench.engine.sessions.lines import Lines
from workbench.engine.sessions.locks import transcript_lock
from workbench.engine.sessions.store import SessionStore

_COPIED_FROM = "workbenchCopiedFrom"


def copy_session(
    lines: Lines, key: SessionKey, entry: SessionEntry, store: SessionStore, now: datetime
) -> tuple[SessionEntry, bool]:
    """Return the entry of a session's copy in the own store, and whether it was made just now.

    Args:
        lines: Of the original.
        key: Of both.
        entry: Of the original; what it says is kept.
        store: The own one.
        now: When.

    Raises:
        InvalidInput: Its id could be no file's name.
        StorageError: The disk does not take it.
    """
    session_id = checked_session_id(entry.fields.get("sessionId"))
    known = store.read().find(key)
    if known is not None and known[1].session_id == session_id and store.transcript(key, known[1]).exists():
        return known[1], False
    store.make_folder()
    copied = SessionEntry(entry.fields).with_fields(
        sessionFile=None, updatedAt=milliseconds(now), **{_COPIED_FROM: lines.where}
    )
    place = store.transcript(key, copied)
    with transcript_lock(place):
        if not place.exists():
            temporary = place.with_name(f"{place.name}.{os.getpid()}.tmp")
            try:
                handle = os.open(
                    temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
                )
                with os.fdopen(handle, "wb") as file:
                    for _, content in lines.read():
                        file.write(content + b"\n")
                    file.flush()
                    os.fsync(file.fileno())
                temporary.replace(place)
            except OSError as error:
                temporary.unlink(missing_ok=True)
                raise StorageError(
                    f"The session cannot be copied: {error.strerror}.", where=str(place), remedy="Make room."
                ) from error
    _, stored = store.change(key, lambda _: copied)
    assert stored is not None
    return stored, True
