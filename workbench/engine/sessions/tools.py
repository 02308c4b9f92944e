"""Calls of tools and their results in messages, in the forms that different programs write."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.engine.sessions.events import parts_of, text_of

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


def failed(message: Mapping[str, Any]) -> bool:
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
