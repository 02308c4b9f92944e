"""The part of the door that keeps the workspace's own sessions: what is said in them, and when one starts over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.engine import results
from workbench.engine.agents.roles import Capability, require
from workbench.engine.errors import InvalidInput
from workbench.engine.workspace import session_places as places
from workbench.engine.workspace.session_reading import SessionReading

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.sessions.entries import SessionEntry
    from workbench.engine.sessions.keys import SessionKey
    from workbench.engine.sessions.transcripts import TranscriptWriter

_ROLES = ("user", "assistant", "toolResult")
# What a caller may know of a session better than this program; named as the store's file names it.
_TOLD = {"model": "model", "total_tokens": "totalTokens", "context_tokens": "contextTokens", "label": "label"}


class SessionKeeping(SessionReading):
    """Writes to sessions of this workspace; those of other programs are never written."""

    def session_append(
        self,
        key: str,
        text: str = "",
        *,
        role: str = "user",
        message: Mapping[str, Any] | None = None,
        model: str | None = None,
        total_tokens: int | None = None,
        context_tokens: int | None = None,
        label: str | None = None,
    ) -> results.SessionAppended:
        """Write one message to a session, which begins with it, goes on, or starts over because it had ended.

        A person's message that begins with `/new` or `/reset` starts the session over; what follows the word is the
        first message of the new one.

        Args:
            key: A session key such as `agent:main:main`.
            text: What was said.
            role: user, assistant or toolResult.
            message: The whole message as transcripts write it, instead of text and role: with calls of tools,
                results or pictures.
            model: The model that answered.
            total_tokens: Of the context, as the model counted them.
            context_tokens: Of the model's context window.
            label: What the session is called.

        Raises:
            InvalidInput: The key or the message is none, or a number of tokens counts nothing.
            Locked: Another program writes this session.
            RoleRefused: This door may not write.
        """
        from workbench.engine.sessions import events
        from workbench.engine.sessions.entries import whole
        from workbench.engine.sessions.policy import read_trigger

        ground = self._ground
        require(ground.role, Capability.WRITE_MEMORY, doing="write sessions")
        ground.attribution("write sessions")
        parsed, now = places.full_key(key), ground.now()
        written = _message(text, role, message, now)
        for tokens in (total_tokens, context_tokens):
            if tokens is not None and whole(tokens) != tokens:
                raise InvalidInput(
                    f"{tokens!r:.40} is no number of tokens.", remedy="Give a whole number, or none."
                )
        rules = places.rules(ground)
        trigger = (
            read_trigger(text, rules.triggers) if written.get("role") == "user" and message is None else None
        )
        if trigger is not None:
            written = events.message("user", trigger[1], now)
        if trigger is not None:
            known = places.own_home(ground).read().find(parsed)
            if known is not None and known[1].session_id:
                self._before_new(places.Found(places.own_home(ground), known[0], parsed, known[1]))
        told = {
            "model": model,
            "total_tokens": total_tokens,
            "context_tokens": context_tokens,
            "label": label,
        }
        name, entry, reason = self._begin(parsed, "new" if trigger else "")
        lines: tuple[Any, ...] = ()
        if trigger is None or trigger[1]:
            lines = self._writer(parsed, entry).append([(events.MESSAGE, {"message": written})], now)
        own = {_TOLD[field]: value for field, value in told.items() if value is not None}
        self._update(parsed, entry, own)
        if reason in ("daily", "idle"):
            self._after_end(parsed)
        return results.SessionAppended(
            name,
            entry.session_id,
            tuple(event.line for event in lines),
            tuple(event.id for event in lines),
            began=bool(reason),
            reason=reason,
            rest=trigger[1] if trigger else None,
        )

    def _before_new(self, found: places.Found) -> None:
        """Do what is to be done with a session that is about to start over."""

    def _after_end(self, key: SessionKey) -> None:
        """Do what is to be done once a session has ended by itself and the next one has begun."""

    def _own(self, key: str, from_: str | None) -> places.Found:
        """Return a session of the own store; one of another program is copied there first."""
        found = places.find(self._ground, key, from_)
        return found if from_ is None else self._copied(found)

    def _copied(self, found: places.Found) -> places.Found:
        """Return the copy of another program's session; one that is there already has its own life by then."""
        from workbench.engine.sessions.copying import copy_session
        from workbench.engine.sessions.keys import parse_key

        ground = self._ground
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
            begun = before.begun_anew(_fresh_id(ground.new_id()), now)
            if why in ("daily", "idle"):
                # Noted in the same breath, so that whatever happens next nothing of it is forgotten.
                begun = begun.with_ended((*before.ended, before.noted_as_ended()))
            return begun.with_fields(sessionStartedAt=milliseconds(now))

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


def _fresh_id(random: str) -> str:
    """Return the id of a new session; nothing of it may lead anywhere but into its folder."""
    from workbench.engine.sessions.keys import checked_session_id

    return checked_session_id(random)


def _message(text: str, role: str, message: Mapping[str, Any] | None, now: datetime) -> Mapping[str, Any]:
    from workbench.engine.sessions import events

    if message is None:
        if role not in _ROLES:
            raise InvalidInput(f"“{role[:40]}” is no role in a session.", remedy=f"Say {', '.join(_ROLES)}.")
        if not text.strip():
            raise InvalidInput("There is nothing to write.", remedy="Give the text of the message.")
        return events.message(role, text, now)
    if not isinstance(message.get("role"), str) or not isinstance(message.get("content"), str | list):
        raise InvalidInput(
            "This is no message of a session.", remedy='Give an object with "role" and "content".'
        )
    return {"timestamp": round(now.timestamp() * 1000), **message}
