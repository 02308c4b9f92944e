"""What was said in a conversation whose client keeps it in a form of its own, written down as a session."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from workbench.engine.clock import render_time, time_or_none
from workbench.engine.file_access import open_outside_file, replace_file
from workbench.engine.patterns import lazy_pattern
from workbench.engine.sessions.foreign import PART
from workbench.engine.sessions.locks import transcript_lock
from workbench.engine.values import dataclass

SESSION_ID: Final = lazy_pattern(r"[A-Za-z0-9_-]{1,120}")
# The year 2286 in milliseconds; what is later is no time.
_LATEST: Final = 10_000_000_000_000
_ROLES: Final = {
    "user": "user", "user.message": "user",
    "assistant": "assistant", "assistant.message": "assistant", "gemini": "assistant",
}  # fmt: skip
# Gemini CLI keeps what hooks added to a prompt in the prompt; Cursor puts what the user typed between marks.
_ADDED: Final = lazy_pattern(r"<hook_context>.*?</hook_context>", re.DOTALL)
_TYPED: Final = lazy_pattern(r"<user_query>(.*?)</user_query>", re.DOTALL)


@dataclass(frozen=True)
class Message:
    """What one side said.

    Args:
        id: Its own in the conversation, the same each time.
        role: `user` or `assistant`.
        at: When, in milliseconds since 1970.
    """

    id: str
    role: str
    text: str
    at: int


def told_messages(given: object) -> list[Message]:
    """Return what a plugin of ours tells of a conversation; what makes no sense is left out."""
    messages = []
    for each in given if isinstance(given, list) else ():
        match each:
            case {"id": str(own), "role": "user" | "assistant" as role, "text": str(text), "at": int(at)} if (
                0 <= at < _LATEST
            ):
                messages.append(Message(own, role, text, at))
    return messages


def kept_messages(place: Path) -> list[Message] | None:
    """Return what is said in a transcript of Gemini CLI, VS Code or Cursor; None of anything else.

    Raises:
        StorageError: It cannot be read.
        OutsideWorkspace: It is no regular file.
    """
    file = open_outside_file(place)
    if file is None:
        return None
    with file:
        changed = int(place.stat().st_mtime * 1000)
        lines = _objects(file)
        first = next(lines, (0, {}))
        if not _is_known(first[1]):
            return None
        # A message that was changed stands where it was said first.
        found: dict[str, Message] = {}
        for number, line in (first, *lines):
            message = _message(number, line, changed)
            if message is not None and message.text:
                found[message.id] = message
    return list(found.values())


def _objects(lines: Iterable[bytes]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, content in enumerate(lines, 1):
        try:
            said = json.loads(content)
        except (ValueError, RecursionError):
            continue
        if isinstance(said, dict):
            yield number, said


def _is_known(first: Mapping[str, Any]) -> bool:
    is_cursors = "type" not in first and first.get("role") in _ROLES and "message" in first
    return is_cursors or "projectHash" in first or first.get("type") == "session.start"


def _message(number: int, line: Mapping[str, Any], changed: int) -> Message | None:
    """Return the message of a line; None of one that holds none.

    Args:
        changed: When the file was, for what has no time of its own.
    """
    role = _ROLES.get(str(line.get("type") or line.get("role")))
    held = next((line[name] for name in ("data", "message") if isinstance(line.get(name), dict)), line)
    if role is None:
        return None
    own, time = line.get("id"), time_or_none(str(line.get("timestamp")))
    text = _ADDED.sub("", _text(held.get("content"))).strip()
    typed = _TYPED.search(text) if role == "user" else None
    return Message(
        own if isinstance(own, str) and own else f"line-{number}",
        role,
        typed[1].strip() if typed else text,
        changed if time is None else int(time.timestamp() * 1000),
    )


def _text(content: object) -> str:
    match content:
        case str():
            return content
        case list():
            texts = (part.get("text") if isinstance(part, dict) else part for part in content)
            return "\n".join(text for text in texts if isinstance(text, str))
    return ""


@contextmanager
def as_session(messages: Iterable[Message], session: str, folder: Path) -> Iterator[Path]:
    """Write a conversation, or what of it is new, down as a session of OpenClaw's while it is needed.

    It has the same place each time, so that what the workspace's own sessions have of it goes on.

    Raises:
        Locked: Another process does so for longer than ten seconds.
        StorageError: There is no room.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = folder / f"{session}.jsonl"
    lines: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": session, PART: True}]
    for each in messages:
        moment = render_time(datetime.fromtimestamp(each.at / 1000, UTC))
        said = {"role": each.role, "content": [{"type": "text", "text": each.text}]}
        after = lines[-1]["id"] if len(lines) > 1 else None
        lines.append(
            {"type": "message", "id": each.id, "parentId": after, "timestamp": moment, "message": said}
        )
    lines[0]["timestamp"] = lines[-1].get("timestamp")
    with transcript_lock(place):
        try:
            with replace_file(place, "The conversation cannot be written down") as file:
                file.writelines(json.dumps(line).encode() + b"\n" for line in lines)
            yield place
        finally:
            place.unlink(missing_ok=True)
