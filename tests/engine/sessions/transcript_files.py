"""Transcripts as other programs write them, line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

AT = "2026-01-24T09:00:02.000Z"


def header(session_id: str = "7d0c", version: int = 3) -> dict[str, Any]:
    return {"type": "session", "version": version, "id": session_id, "timestamp": AT, "cwd": "/home/u/clawd"}


def said(id_: str, parent: str | None, role: str, content: object, **more: Any) -> dict[str, Any]:
    """Return a message entry."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    message = {"role": role, "content": parts, **more}
    return {"type": "message", "id": id_, "parentId": parent, "timestamp": AT, "message": message}


def called(id_: str, parent: str | None, call: str, name: str = "read", **arguments: Any) -> dict[str, Any]:
    """Return an answer that calls a tool."""
    return said(
        id_, parent, "assistant", [{"type": "toolCall", "id": call, "name": name, "arguments": arguments}]
    )


def answered(id_: str, parent: str | None, call: str, text: str = "done", **more: Any) -> dict[str, Any]:
    """Return a tool's result."""
    return said(id_, parent, "toolResult", text, toolCallId=call, **more)


def compaction(id_: str, parent: str | None, kept: str, summary: str = "What was said.") -> dict[str, Any]:
    return {
        "type": "compaction", "id": id_, "parentId": parent, "timestamp": AT, "summary": summary,
        "firstKeptEntryId": kept, "tokensBefore": 1000,
    }  # fmt: skip


def chain(*texts: str) -> list[dict[str, Any]]:
    """Return a conversation in which both speak by turns, its header first."""
    entries = [header()]
    for number, text in enumerate(texts):
        parent = f"m{number - 1}" if number else None
        entries.append(said(f"m{number}", parent, "assistant" if number % 2 else "user", text))
    return entries


def write(place: Path, *entries: dict[str, Any] | bytes) -> Path:
    """Write entries, or bytes as they are, a line each."""
    place.parent.mkdir(parents=True, exist_ok=True)
    lines = [entry if isinstance(entry, bytes) else json.dumps(entry).encode() for entry in entries]
    place.write_bytes(b"".join(line + b"\n" for line in lines))
    return place
