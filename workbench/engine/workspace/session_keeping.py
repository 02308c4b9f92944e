"""How the door writes its own sessions: copies of others', entries that go on or begin anew, transcripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.engine.workspace import session_places as places
from workbench.engine.workspace.session_reading import SessionReading

if TYPE_CHECKING:
    from workbench.engine.sessions.entries import SessionEntry
    from workbench.engine.sessions.keys import SessionKey
    from workbench.engine.sessions.transcripts import TranscriptWriter


class SessionKeeping(SessionReading):
    """What it takes to write to a session of this workspace; those of other programs are never written."""

    def _own(self, key: str, from_: str | None) -> places.Found:
        """Return a session of the own store; one of another program is copied there first."""
        from workbench.engine.sessions.copying import copy_session
        from workbench.engine.sessions.keys import parse_key

        ground = self._ground
        found = places.find(ground, key, from_)
        if from_ is None:
            return found
        # A copy that is there already has its own life by then.
        ground.claim_state()
        home = places.own_home(ground)
        name, entry, copied = copy_session(found.lines, found.key, found.entry, home.store, ground.now())
        copied_from = found.lines.where if copied else None
        return places.Found(home, name, parse_key(name), entry, found.line, copied_from)

    def _begin(self, key: SessionKey, reason: str = "") -> tuple[str, SessionEntry, str]:
        """Go on with a session, or begin one where there is none, it has ended, or that is asked for.

        Returns:
            The key as the store writes it, the entry, and why it was begun; empty where it goes on.
        """
        from workbench.engine.sessions.entries import SessionEntry, milliseconds
        from workbench.engine.sessions.keys import checked_session_id
        from workbench.engine.sessions.policy import freshness

        ground = self._ground
        now, policy = ground.now(), places.rules(ground).of(key)
        why = ""

        def change(entry: SessionEntry | None) -> SessionEntry:
            nonlocal why
            if entry is None or not entry.session_id:
                why = reason or "first"
            else:
                why = reason or freshness(entry.updated, now, ground.zone, policy).reason
            if entry is not None and not why:
                return entry.with_fields(updatedAt=milliseconds(now))
            before = entry or SessionEntry()
            begun = before.begun_anew(checked_session_id(ground.new_id()), now)
            if why in ("daily", "idle"):
                # Noted in the same breath, so that whatever happens next nothing of it is forgotten.
                begun = begun.with_ended((*before.ended, before.noted_as_ended()))
            return begun.with_fields(sessionStartedAt=milliseconds(now))

        ground.claim_state()
        name, entry = places.own_home(ground).store.change(key, change)
        assert entry is not None
        return name, entry, why

    def _update(self, key: SessionKey, entry: SessionEntry, fields: Mapping[str, Any]) -> None:
        """Lay fields over the entry, unless the session has started over meanwhile."""
        from workbench.engine.sessions.entries import milliseconds

        now = milliseconds(self._ground.now())

        def change(known: SessionEntry | None) -> SessionEntry | None:
            if known is None or known.session_id != entry.session_id:
                return known
            return known.with_fields(updatedAt=now, **fields)

        if fields:
            places.own_home(self._ground).store.change(key, change)

    def _writer(self, key: SessionKey, entry: SessionEntry) -> TranscriptWriter:
        from workbench.engine.sessions.transcripts import TranscriptWriter

        ground = self._ground
        place = places.own_home(ground).store.transcript(key, entry)
        return TranscriptWriter(place, entry.session_id, str(ground.root), ground.new_id)
