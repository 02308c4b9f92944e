"""Settings of sessions: where they are kept, when one ends, and how much of one a model is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.engine.settings.declaring import OUTSIDE, of, whole
from workbench.engine.settings.schema import Kind


@dataclass(frozen=True)
class SessionSettings:
    """The session layer."""

    path: str = field(
        default="",
        metadata=of(Kind.PATH, "folder of sessions.json and transcripts, if not under the state", OUTSIDE),
    )
    reset: str = field(
        default="daily 4",
        metadata=of(Kind.TEXT, "when a session ends: daily HOUR, idle MINUTES, both, or none"),
    )
    reset_by_type: Mapping[str, str] = field(
        default_factory=dict, metadata=of(Kind.TABLE, "the same for direct, group or thread")
    )
    reset_by_channel: Mapping[str, str] = field(
        default_factory=dict, metadata=of(Kind.TABLE, "the same by channel; stronger than the type")
    )
    reset_triggers: tuple[str, ...] = field(
        default=("/new", "/reset"), metadata=of(Kind.TEXTS, "words by which a message begins a new session")
    )
    window: int = field(
        default=200_000,
        metadata=whole(1000, 10_000_000, "tokens of the model’s context window where a session does not say"),
    )
    keep_recent_tokens: int = field(
        default=20_000,
        metadata=whole(0, 10_000_000, "tokens of the newest messages that a compaction keeps"),
    )
    history_turns: int = field(
        default=0, metadata=whole(0, 1_000_000, "newest turns that a model is shown; 0 for all that fit")
    )
    direct_history_turns: int = field(
        default=0, metadata=whole(0, 1_000_000, "the same for direct conversations")
    )
