"""What is known of one session: its entry in `sessions.json`, of which only the part that memory needs is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from workbench.engine.sessions.keys import is_session_id
from workbench.engine.sessions.said import moment_of

ENDED = "workbenchEnded"
_EMPTY: Mapping[str, Any] = MappingProxyType({})
# What tells of a session that ended, so that it can still be saved.
_OF_AN_ENDED_ONE = ("sessionId", "sessionFile", "compactionCount")
# What a new session starts without (research note §2.10); everything else is the person's choice and stays.
_OF_ONE_SESSION = (
    "memoryFlushAt", "memoryFlushCompactionCount", "memoryFlush", "inputTokens", "outputTokens", "totalTokens",
    "totalTokensFresh", "abortedLastRun", "systemSent", "sessionFile", "sessionStartedAt", "lastInteractionAt",
)  # fmt: skip


@dataclass(frozen=True)
class SessionEntry:
    """An entry of the store; what is unknown in it is kept.

    Args:
        fields: Everything it says, as it stands in the file.
    """

    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def session_id(self) -> str:
        """Return the id of the transcript in use; empty where there is none that can be a file's name."""
        given = self.fields.get("sessionId")
        return given if isinstance(given, str) and is_session_id(given) else ""

    @property
    def updated(self) -> datetime | None:
        """Return when it was last used."""
        return moment_of(self.fields.get("updatedAt"))

    @property
    def started(self) -> datetime | None:
        """Return when it began, where the store says so."""
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
        """Return the number of compactions at the last flush; None where there was none."""
        own = whole(self.fields.get("memoryFlushCompactionCount"))
        return own if own is not None else whole(self._flush.get("compactionCount"))

    @property
    def total_tokens(self) -> int | None:
        """Return the tokens of the context as the last model call counted them; None where nobody did."""
        return whole(self.fields.get("totalTokens"))

    @property
    def context_tokens(self) -> int | None:
        """Return the context window of the session's model, in tokens; None where it does not say."""
        return whole(self.fields.get("contextTokens")) or None

    @property
    def label(self) -> str:
        """Return what a person or program called it; empty where nobody did."""
        for name in ("label", "displayName", "subject"):
            given = self.fields.get(name)
            if isinstance(given, str) and given.strip():
                return " ".join(given.split())[:200]
        return ""

    @property
    def model(self) -> str:
        """Return the model of the last answer, or empty."""
        given = self.fields.get("model")
        return given if isinstance(given, str) else ""

    @property
    def is_of_cli(self) -> bool:
        """Tell whether a program with a context of its own answers in this session."""
        given = self.fields.get("cliSessionIds")
        return bool(isinstance(given, Mapping) and given) or bool(self.fields.get("claudeCliSessionId"))

    @property
    def ended(self) -> tuple[SessionEntry, ...]:
        """Return the sessions under this key that ended by themselves and are not saved yet, the oldest first."""
        given = self.fields.get(ENDED)
        rows = given if isinstance(given, list) else []
        entries = (SessionEntry(each) for each in rows if isinstance(each, Mapping))
        return tuple(entry for entry in entries if entry.session_id)

    def with_ended(self, ended: Iterable[SessionEntry]) -> SessionEntry:
        """Return the entry with other sessions that ended and were not saved."""
        return self.with_fields(**{ENDED: [dict(each.fields) for each in ended] or None})

    def noted_as_ended(self) -> SessionEntry:
        """Return what is noted of this session when it ends by itself."""
        return SessionEntry({name: self.fields[name] for name in _OF_AN_ENDED_ONE if name in self.fields})

    @property
    def _flush(self) -> Mapping[str, Any]:
        given = self.fields.get("memoryFlush")
        return given if isinstance(given, Mapping) else _EMPTY

    def with_fields(self, **changes: Any) -> SessionEntry:
        """Return the entry with fields by their names in the file; those that are None go."""
        fields = {**self.fields, **changes}
        return SessionEntry({name: value for name, value in fields.items() if value is not None})

    def begun_anew(self, session_id: str, now: datetime) -> SessionEntry:
        """Return the entry of a fresh session under the same key: counters start over, choices stay."""
        kept = {name: value for name, value in self.fields.items() if name not in _OF_ONE_SESSION}
        return SessionEntry(
            {**kept, "sessionId": session_id, "updatedAt": milliseconds(now), "compactionCount": 0}
        )


def milliseconds(moment: datetime) -> int:
    """Return a moment as milliseconds since 1970."""
    return round(moment.timestamp() * 1000)


def whole(value: object) -> int | None:
    """Return a count that is one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == value and 0 <= value < 1e15 else None
