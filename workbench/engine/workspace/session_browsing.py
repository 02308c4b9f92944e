"""The part of the door through which a person walks about in sessions: open transcripts, and other programs' places."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.agents.roles import Capability, require
from workbench.engine.results.transcripts import SessionPlace
from workbench.engine.workspace import session_places as places
from workbench.engine.workspace.session_reading import SessionReading

if TYPE_CHECKING:
    from workbench.engine.sessions.browsing import TranscriptReader

_LINE = "#L"


class SessionBrowsing(SessionReading):
    """Opens transcripts to be read page by page, and finds the sessions of other programs."""

    def session_places(self) -> tuple[SessionPlace, ...]:
        """Return where other programs keep sessions on this machine; nothing is written there."""
        from workbench.engine.sessions.foreign import installs

        require(self._ground.role, Capability.READ, doing="read sessions")
        return tuple(
            SessionPlace(str(each.folder), each.world, each.agents)
            for each in installs(os.environ, Path.home())
        )

    def session_reader(self, key: str, *, from_: str | None = None) -> TranscriptReader:
        """Open a transcript to read pages of it, however long it is; nothing is read yet.

        Args:
            key: As for `session`.
            from_: As for `sessions`.

        Raises:
            NotFound: There is no such session.
        """
        from workbench.engine.sessions.browsing import TranscriptReader

        require(self._ground.role, Capability.READ, doing="read sessions")
        lines = places.find(self._ground, key, from_).shown(self._ground)
        return TranscriptReader(lines, lambda: self._drawn_from(lines.name))

    def _drawn_from(self, name: str) -> Mapping[int, tuple[str, ...]]:
        self._ground.refresh_for_reading()
        found: dict[int, list[str]] = {}
        for memory_id, target in self._ground.lookups.citing(f"file:{name}{_LINE}"):
            digits = target.rpartition(_LINE)[2].partition("-")[0]
            if digits.isascii() and digits.isdecimal():
                found.setdefault(int(digits), []).append(memory_id)
        return {line: tuple(ids) for line, ids in found.items()}
