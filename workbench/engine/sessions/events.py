"""One line of a transcript: what kind of entry it is, what was said, and which tools were called."""

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
# Said by or to the machinery, not by anybody.
_SILENT = re.compile(r"\W*(?:NO_REPLY|HEARTBEAT_OK)\W*", re.IGNORECASE)
_NOISE = re.compile(
    r"<(system-reminder|local-command-stdout|local-command-caveat|command-name|command-message|command-args)>"
    r".*?</\1>",
    re.DOTALL,
)
_MACHINE_MODELS = frozenset({"delivery-mirror", "<synthetic>"})
_ASIDE = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
# In every zone there is a day for such a moment, and one on which its session ends.
_YEARS = range(MINYEAR + 1, MAXYEAR - 20)
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """What somebody said in one line of a transcript.

    Args:
        line: Of the transcript, 1-based.
        text: `User: …` or `Assistant: …`, on one line.
        moment: When it was said, aware; None where the line does not tell.
    """

    line: int
    text: str
    moment: datetime | None


def turn_of(number: int, line: bytes) -> TranscriptTurn | None:
    """Read one line of a transcript of OpenClaw, Moltbot, Clawdbot or Claude Code; None where nobody speaks in it.

    Calls of tools and their results, thoughts, summaries, side chains, reminders and silent answers are left out;
    so is a line that is no such JSON.

    Args:
        number: Of the line, 1-based.
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
    # Half of a surrogate pair can stand in JSON, and in no database.
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
    """Return when an entry or a message was written; None where it does not say."""
    return moment_of(entry.get("timestamp"))


def moment_of(given: object) -> datetime | None:
    """Read a time as text or as milliseconds since 1970; None for any that the calendar has no room around."""
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


_CALLS = frozenset({"toolCall", "toolUse", "tool_use", "functionCall"})
RESULT_ROLES = frozenset({"toolResult", "tool"})
_WRITING = re.compile(r"write|edit|create|patch|insert|replace|delete|move|rename", re.IGNORECASE)
_READING = re.compile(r"read|view|open|cat|get_file|memory_get", re.IGNORECASE)
_PATHS = ("path", "file_path", "filePath", "filename", "file", "target_file")
_PATH_CHARACTERS = 300


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool.

    Args:
        id: By which its result answers it.
        name: Of the tool.
        arguments: What it was given.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]

    @property
    def path(self) -> str:
        """Return the file that it is about; empty where it names none."""
        for name in _PATHS:
            given = self.arguments.get(name)
            if isinstance(given, str) and given.strip():
                return " ".join(given.split())[:_PATH_CHARACTERS]
        return ""

    @property
    def deed(self) -> str:
        """Return what it does to its file: `written`, `read`, or empty where that is not known."""
        if not self.path:
            return ""
        if _WRITING.search(self.name):
            return "written"
        return "read" if _READING.search(self.name) else ""


def calls_in(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """Return the tools that a message of the assistant's calls."""
    if message.get("role") != "assistant":
        return ()
    return tuple(
        ToolCall(text_of(part.get("id")), text_of(part.get("name")), _arguments(part))
        for part in parts_of(message.get("content"))
        if part.get("type") in _CALLS
    )


def is_call(part: Mapping[str, Any]) -> bool:
    """Tell whether a part of a message calls a tool."""
    return part.get("type") in _CALLS


def answered_by(message: Mapping[str, Any]) -> str | None:
    """Return the id of the call that a message answers; empty where it does not say, None where it is no result."""
    if message.get("role") in RESULT_ROLES:
        for name in ("toolCallId", "toolUseId", "tool_call_id", "tool_use_id"):
            if text := text_of(message.get(name)):
                return text
        return ""
    return None


def tool_failed(message: Mapping[str, Any]) -> bool:
    """Tell whether a result says that its tool failed."""
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
