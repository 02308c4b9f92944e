"""One line of a transcript: what kind of entry it is, and the forms in which entries are written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from workbench.engine.sessions.said import moment_in

VERSION = 3
HEADER = "session"
MESSAGE = "message"
COMPACTION = "compaction"
BRANCH_SUMMARY = "branch_summary"
CUSTOM = "custom"
CUSTOM_MESSAGE = "custom_message"
LABEL = "label"
RESET = "reset"
KINDS = (
    HEADER, MESSAGE, COMPACTION, BRANCH_SUMMARY, CUSTOM, CUSTOM_MESSAGE, LABEL, RESET, "model_change",
    "thinking_level_change", "session_info",
)  # fmt: skip
DELIVERY_MIRROR = "delivery-mirror"
FLUSH_MARK = "workbench.flush"


@dataclass(frozen=True)
class Event:
    """One entry of a transcript.

    Args:
        line: Its line, 1-based.
        fields: Everything it says.
    """

    line: int
    fields: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """Return its type, such as `message`; empty where it says none."""
        return text_of(self.fields.get("type"))

    @property
    def id(self) -> str:
        """Return its id; empty where it has none."""
        return text_of(self.fields.get("id"))

    @property
    def parent_id(self) -> str | None:
        """Return the id of the entry before it on its branch; None for the first, empty where that is unsaid."""
        given = self.fields.get("parentId", "")
        return None if given is None else text_of(given)

    @property
    def moment(self) -> datetime | None:
        """Return when it was written."""
        return moment_in(self.fields) or moment_in(self.message)

    @property
    def message(self) -> Mapping[str, Any]:
        """Return the message in it; nothing where it is none."""
        given = self.fields.get("message")
        return given if isinstance(given, Mapping) else {}

    @property
    def role(self) -> str:
        """Return who speaks: user, assistant, toolResult or another word; empty where nobody does."""
        return text_of(self.message.get("role"))

    @property
    def is_mirror(self) -> bool:
        """Tell whether it is a copy of what was sent elsewhere, which does not count."""
        return self.message.get("model") == DELIVERY_MIRROR


def read_event(line: int, content: bytes) -> Event | str:
    """Read one line; where it is no entry, return why, in words.

    Args:
        line: Its number, 1-based.
        content: Its bytes.
    """
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError):
        return "is no JSON" if content.strip() else ""
    if not isinstance(fields, dict):
        return "holds no object"
    if not isinstance(fields.get("type"), str):
        return "says no type"
    return Event(line, fields)


def text_of(value: object) -> str:
    """Return a text of reasonable length; empty for anything else."""
    return value if isinstance(value, str) and len(value) <= 1024 else ""


def render_event(fields: Mapping[str, Any]) -> bytes:
    """Write an entry as one line, its end included, so that `read_event` gives it back."""
    try:
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def header(session_id: str, now: datetime, folder: str, parent: str | None = None) -> dict[str, Any]:
    """Return the first line of a transcript.

    Args:
        session_id: Of the session.
        now: When it begins.
        folder: Where the agent works.
        parent: The session that this one follows, if any.
    """
    fields = {"type": HEADER, "version": VERSION, "id": session_id, "timestamp": iso(now), "cwd": folder}
    return {**fields, "parentSession": parent} if parent else fields


def entry(kind: str, id_: str, parent_id: str | None, now: datetime, **fields: Any) -> dict[str, Any]:
    """Return an entry of any type but the header, ready to be written."""
    return {"type": kind, "id": id_, "parentId": parent_id, "timestamp": iso(now), **fields}


def message(role: str, text: str, now: datetime) -> dict[str, Any]:
    """Return a message of plain text."""
    return {
        "role": role,
        "content": [{"type": "text", "text": text}],
        "timestamp": round(now.timestamp() * 1000),
    }


def iso(moment: datetime) -> str:
    """Write a moment as transcripts do: `2026-01-24T09:00:00.000Z`."""
    from datetime import UTC

    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parts_of(content: object) -> Sequence[Mapping[str, Any]]:
    """Return the parts of a message's content; a bare text is one part."""
    if isinstance(content, str):
        return ({"type": "text", "text": content},)
    if not isinstance(content, list):
        return ()
    return tuple(part for part in content if isinstance(part, Mapping))
