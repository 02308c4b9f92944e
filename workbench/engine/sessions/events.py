"""One line of a transcript: the kind of entry, what was said, and which tools were called."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from typing import Any

MOST_TURN_CHARACTERS = 20_000
_SPEAKERS = {"user": "User", "assistant": "Assistant"}
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
# Messages to or from the machinery, not from a person.
_SILENT = re.compile(r"\W*(?:NO_REPLY|HEARTBEAT_OK)\W*", re.IGNORECASE)
_NOISE = re.compile(
    r"<(system-reminder|local-command-stdout|local-command-caveat|command-name|command-message|command-args)>"
    r".*?</\1>",
    re.DOTALL,
)
_MACHINE_MODELS = frozenset({"delivery-mirror", "<synthetic>"})
_ASIDE = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
# Leaves room for every time zone, and for the day on which the session ends.
_YEARS = range(MINYEAR + 1, MAXYEAR - 20)
_SPACES = re.compile(r"\s+")
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
_CALLS = frozenset({"toolCall", "toolUse", "tool_use", "functionCall"})
RESULT_ROLES = frozenset({"toolResult", "tool"})
_WRITING = re.compile(r"write|edit|create|patch|insert|replace|delete|move|rename", re.IGNORECASE)
_READING = re.compile(r"read|view|open|cat|get_file|memory_get", re.IGNORECASE)
_PATHS = ("path", "file_path", "filePath", "filename", "file", "target_file")
_PATH_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """What one transcript line says.

    Args:
        line: 1-based line of the transcript.
        text: `User: …` or `Assistant: …`, on one line.
        moment: When it was said, aware; None if not stated.
    """

    line: int
    text: str
    moment: datetime | None


def turn_of(number: int, line: bytes) -> TranscriptTurn | None:
    """Read one transcript line of OpenClaw, Moltbot, Clawdbot or Claude Code; None if nobody speaks in it.

    Ignores tool calls and results, thoughts, summaries, side chains, reminders, silent answers and invalid JSON.

    Args:
        number: 1-based.
        line: Its bytes.
    """
    try:
        entry = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, Mapping) or any(entry.get(mark) is True for mark in _ASIDE):
        return None
    inner = entry.get("message")
    message: Mapping[str, Any] = inner if isinstance(inner, Mapping) else entry
    speaker = message.get("role")
    if not isinstance(speaker, str) or speaker not in _SPEAKERS or message.get("model") in _MACHINE_MODELS:
        return None
    said = _SPACES.sub(" ", _NOISE.sub(" ", _text_of(message.get("content")))).strip()
    if not said or _SILENT.fullmatch(said):
        return None
    # JSON may hold lone surrogates; databases may not.
    said = said.encode("utf-8", "replace").decode()
    if len(said) > MOST_TURN_CHARACTERS:
        said = said[: MOST_TURN_CHARACTERS - 1] + "…"
    return TranscriptTurn(number, f"{_SPEAKERS[speaker]}: {said}", moment_in(entry) or moment_in(message))


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(
        part["text"]
        for part in content
        if isinstance(part, Mapping) and part.get("type") in _TEXT_PARTS and isinstance(part.get("text"), str)
    )


def moment_in(entry: Mapping[str, Any]) -> datetime | None:
    """Return when an entry or a message was written, or None."""
    return moment_of(entry.get("timestamp"))


def moment_of(given: object) -> datetime | None:
    """Parse a time given as text or in milliseconds since 1970; None if invalid or at the ends of the calendar."""
    try:
        if isinstance(given, str):
            moment = datetime.fromisoformat(given)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        elif isinstance(given, int | float) and not isinstance(given, bool):
            moment = datetime.fromtimestamp(given / 1000, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.year in _YEARS else None


@dataclass(frozen=True)
class Event:
    """One entry of a transcript.

    Args:
        line: 1-based.
        fields: Its JSON fields.
    """

    line: int
    fields: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """Return its type, such as `message`, or ""."""
        return text_of(self.fields.get("type"))

    @property
    def id(self) -> str:
        """Return its id, or ""."""
        return text_of(self.fields.get("id"))

    @property
    def parent_id(self) -> str | None:
        """Return the id of the entry before it on its branch; None for the first, "" if not stated."""
        given = self.fields.get("parentId", "")
        return None if given is None else text_of(given)

    @property
    def moment(self) -> datetime | None:
        return moment_in(self.fields) or moment_in(self.message)

    @property
    def message(self) -> Mapping[str, Any]:
        """Return its message, or an empty mapping."""
        given = self.fields.get("message")
        return given if isinstance(given, Mapping) else {}

    @property
    def role(self) -> str:
        """Return the speaker: user, assistant, toolResult or another word, or ""."""
        return text_of(self.message.get("role"))

    @property
    def is_mirror(self) -> bool:
        """Return whether it is a copy of a message sent elsewhere, which does not count."""
        return self.message.get("model") == DELIVERY_MIRROR


def read_event(line: int, content: bytes) -> Event | str:
    """Parse one line; return the reason as text if it is not an entry.

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
    """Return a text of reasonable length, or "" for anything else."""
    return value if isinstance(value, str) and len(value) <= 1024 else ""


def render_event(fields: Mapping[str, Any]) -> bytes:
    """Render an entry as one line with its end; the inverse of `read_event`."""
    try:
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def header(session_id: str, now: datetime, folder: str, parent: str | None = None) -> dict[str, Any]:
    """Return the first line of a transcript.

    Args:
        session_id: Of the session.
        now: Start of the session.
        folder: The agent's working folder.
        parent: Id of the previous session, if any.
    """
    fields = {"type": HEADER, "version": VERSION, "id": session_id, "timestamp": iso(now), "cwd": folder}
    return {**fields, "parentSession": parent} if parent else fields


def entry(kind: str, id_: str, parent_id: str | None, now: datetime, **fields: Any) -> dict[str, Any]:
    """Return a new entry of any type but the header."""
    return {"type": kind, "id": id_, "parentId": parent_id, "timestamp": iso(now), **fields}


def message(role: str, text: str, now: datetime) -> dict[str, Any]:
    return {
        "role": role,
        "content": [{"type": "text", "text": text}],
        "timestamp": round(now.timestamp() * 1000),
    }


def iso(moment: datetime) -> str:
    """Format a moment as transcripts do: `2026-01-24T09:00:00.000Z`."""
    from datetime import UTC

    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parts_of(content: object) -> Sequence[Mapping[str, Any]]:
    """Return the parts of a message's content; plain text is one part."""
    if isinstance(content, str):
        return ({"type": "text", "text": content},)
    if not isinstance(content, list):
        return ()
    return tuple(part for part in content if isinstance(part, Mapping))


@dataclass(frozen=True)
class ToolCall:
    """A tool call.

    Args:
        id: Referenced by its result.
        name: Name of the tool.
        arguments: Its arguments.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]

    @property
    def path(self) -> str:
        """Return the file it concerns, or ""."""
        for name in _PATHS:
            given = self.arguments.get(name)
            if isinstance(given, str) and given.strip():
                return " ".join(given.split())[:_PATH_CHARACTERS]
        return ""

    @property
    def deed(self) -> str:
        """Return its operation on the file: `written`, `read`, or "" if unknown."""
        if not self.path:
            return ""
        if _WRITING.search(self.name):
            return "written"
        return "read" if _READING.search(self.name) else ""


def calls_in(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """Return the tool calls of an assistant message."""
    if message.get("role") != "assistant":
        return ()
    return tuple(
        ToolCall(text_of(part.get("id")), text_of(part.get("name")), _arguments(part))
        for part in parts_of(message.get("content"))
        if part.get("type") in _CALLS
    )


def is_call(part: Mapping[str, Any]) -> bool:
    """Return whether a part of a message is a tool call."""
    return part.get("type") in _CALLS


def answered_by(message: Mapping[str, Any]) -> str | None:
    """Return the id of the call that a message answers; "" if not stated, None if it is not a result."""
    if message.get("role") in RESULT_ROLES:
        for name in ("toolCallId", "toolUseId", "tool_call_id", "tool_use_id"):
            if text := text_of(message.get(name)):
                return text
        return ""
    return None


def tool_failed(message: Mapping[str, Any]) -> bool:
    """Return whether a result reports a failure of its tool."""
    details = message.get("details")
    status = details.get("status") if isinstance(details, Mapping) else None
    return bool(message.get("isError")) or status in ("error", "failed")


def _arguments(part: Mapping[str, Any]) -> Mapping[str, Any]:
    given = part.get("arguments", part.get("input"))
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {}
    return given if isinstance(given, Mapping) else {}
