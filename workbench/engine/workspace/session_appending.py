"""The part of the door that writes what is said to sessions, each of which goes on, begins, or starts over with it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.engine.agents.roles import Capability, require
from workbench.engine.errors import InvalidInput, WorkbenchError
from workbench.engine.results.session_changes import SessionAppended
from workbench.engine.workspace import session_places as places
from workbench.engine.workspace.session_flushing import SessionFlushing

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.sessions.keys import SessionKey

_ROLES = ("user", "assistant", "toolResult")


class SessionAppending(SessionFlushing):
    """Writes messages to sessions of this workspace; those of other programs are never written."""

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
    ) -> SessionAppended:
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
            self._save_before_new(parsed)
        name, entry, reason = self._begin(parsed, "new" if trigger else "")
        lines: tuple[Any, ...] = ()
        if trigger is None or trigger[1]:
            lines = self._writer(parsed, entry).append([(events.MESSAGE, {"message": written})], now)
        told = {
            "model": model, "totalTokens": total_tokens, "contextTokens": context_tokens, "label": label,
        }  # fmt: skip
        self._update(parsed, entry, {field: value for field, value in told.items() if value is not None})
        if reason in ("daily", "idle"):
            self._save_after_end(parsed)
        return SessionAppended(
            name,
            entry.session_id,
            tuple(event.line for event in lines),
            tuple(event.id for event in lines),
            began=bool(reason),
            reason=reason,
            rest=trigger[1] if trigger else None,
        )

    def _save_before_new(self, key: SessionKey) -> None:
        """Save what matters of the session that is about to start over, where there is one."""
        home = places.own_home(self._ground)
        known = home.read().find(key)
        if known is not None and known[1].session_id:
            self._save_all(places.Found(home, known[0], key, known[1]), f"/new in {known[0]}")

    def _save_after_end(self, key: SessionKey) -> None:
        """Save what ended; where a model has to be asked, or it fails, it stays noted as due."""
        if self._ground.settings.model.configured or not self._ground.settings.flush.enabled:
            return
        found = places.find(self._ground, str(key))
        with contextlib.suppress(WorkbenchError):
            self._save_all(found, "", this_one=False)


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
