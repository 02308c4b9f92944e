"""Writing a transcript: entries appended under its lock, a torn last line mended first."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.engine.errors import InvalidInput, OutsideWorkspace, StorageError
from workbench.engine.sessions import events
from workbench.engine.sessions.events import Event, read_event, render_event
from workbench.engine.sessions.lines import FileLines
from workbench.engine.sessions.locks import transcript_lock
from workbench.engine.sessions.opening import open_plain

_BACK = 1 << 16
MOST_ENTRY_BYTES = 16 * 1024 * 1024
LEAF = "leaf"


class TranscriptWriter:
    """Appends to one transcript.

    Args:
        place: The file; its folder exists. It is made with the first entry.
        session_id: Stands in its header.
        folder: Where the agent works, for the header.
        new_id: Gives ids that no other entry has.
    """

    def __init__(self, place: Path, session_id: str, folder: str, new_id: Callable[[], str]) -> None:
        self.place = place
        self._session_id = session_id
        self._folder = folder
        self._new_id = new_id

    def append(
        self,
        entries: Sequence[tuple[str, Mapping[str, Any]]],
        now: datetime,
        *,
        parent: str | None = LEAF,
    ) -> tuple[Event, ...]:
        """Append entries behind the leaf, each following the one before, and flush them to the disk.

        Args:
            entries: Of each its type and what it says beside id, parent and time.
            now: When.
            parent: Id of the entry that the first one follows; by default the last one in the file. None begins
                a branch at the root.

        Returns:
            The entries as they stand, with their lines.

        Raises:
            Locked: Another program writes this transcript.
            InvalidInput: An entry is too long.
            StorageError: The disk does not take it; the file is as it was.
        """
        with transcript_lock(self.place):
            fresh, mended, last = self._end()
            follows = (last.id if last is not None else None) if parent == LEAF else parent
            written: list[dict[str, Any]] = []
            if fresh:
                written.append(events.header(self._session_id, now, self._folder))
            for kind, fields in entries:
                entry = events.entry(kind, self._new_id(), follows, now, **fields)
                written.append(entry)
                follows = str(entry["id"])
            contents = [render_event(entry) for entry in written]
            if any(len(content) > MOST_ENTRY_BYTES for content in contents):
                raise InvalidInput(
                    "This entry is too long for a transcript.",
                    where=str(self.place),
                    remedy="Leave out pictures and long results of tools.",
                )
            # A torn last line counts as one, and gets its end now.
            first = 1 if fresh else FileLines(self.place).count() + 1
            self._write((b"\n" if mended else b"") + b"".join(contents))
        numbered = [Event(first + at, entry) for at, entry in enumerate(written)]
        return tuple(event for event in numbered if event.kind != events.HEADER)

    def _end(self) -> tuple[bool, bool, Event | None]:
        """Return whether the file has nothing yet, whether its last line is torn, and its last readable entry."""
        opened = open_plain(self.place)
        if opened is None:
            return True, False, None
        with opened:
            size = os.fstat(opened.fileno()).st_size
            if size == 0:
                return True, False, None
            opened.seek(size - 1)
            torn = opened.read(1) != b"\n"
            start, tail = size, b""
            while True:
                # Backwards in growing steps: the last entry may be long, or followed by damage.
                start = max(0, start - max(_BACK, len(tail)))
                opened.seek(start)
                tail = opened.read(size - start)
                lines = tail.split(b"\n")
                whole = lines if start == 0 else lines[1:]
                for line in reversed(whole):
                    event = read_event(0, line) if line.strip() else ""
                    if isinstance(event, Event) and event.id and event.kind != events.HEADER:
                        return False, torn, event
                if start == 0:
                    return False, torn, None

    def _write(self, content: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            handle = os.open(self.place, flags, 0o600)
        except OSError as error:
            if self.place.is_symlink():
                raise OutsideWorkspace(
                    "A link stands where the transcript should be.",
                    where=str(self.place),
                    remedy="Remove it.",
                ) from error
            raise _unwritable(self.place, error) from error
        try:
            before = os.fstat(handle).st_size
            try:
                view = memoryview(content)
                while view:
                    view = view[os.write(handle, view) :]
                os.fsync(handle)
            except OSError as error:
                os.ftruncate(handle, before)
                raise _unwritable(self.place, error) from error
        finally:
            os.close(handle)


def _unwritable(place: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The transcript cannot be written: {error.strerror}.",
        where=str(place),
        remedy="Make room, or choose another folder with sessions.path.",
    )
