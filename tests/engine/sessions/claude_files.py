"""Transcripts of Claude Code, written by hand from their documented form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ID = "0b1f6a5e-1111-4222-8333-444455556666"


def entry(uuid: str, parent: str | None, kind: str, **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/home/alex/harbour",
        "sessionId": ID, "version": "2.0.14", "gitBranch": "main", "type": kind, "uuid": uuid,
        "timestamp": "2026-02-01T09:00:00.000Z", **more,
    }  # fmt: skip


def asked(uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    return entry(uuid, parent, "user", message={"role": "user", "content": content}, **more)


def answered(
    uuid: str, parent: str, message_id: str, *parts: dict[str, Any], tokens: int = 10
) -> dict[str, Any]:
    message = {
        "id": message_id, "role": "assistant", "model": "claude-opus-4-5", "content": list(parts),
        "usage": {"input_tokens": tokens, "cache_read_input_tokens": 1000, "output_tokens": 5},
    }  # fmt: skip
    return entry(uuid, parent, "assistant", message=message)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id_: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def result(id_: str, content: Any, *, is_error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": content, "is_error": is_error}


def conversation() -> list[dict[str, Any]]:
    """Return a conversation with parallel calls, a side chain, notes of the program, and a title at the end."""
    return [
        {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {"big": "x" * 100}},
        asked("u1", None, "Remember that the ferry is called Visborg."),
        answered("a1", "u1", "msg_1", text("I will look.")),
        answered("a2", "a1", "msg_1", call("c1", "Read", file_path="/notes.md")),
        answered("a3", "a2", "msg_1", call("c2", "Bash", command="ls")),
        asked("r1", "a3", [result("c1", "Visborg")]),
        asked("r2", "r1", [result("c2", [text("notes.md")], is_error=True)]),
        {**asked("s1", None, "A question to a sub-agent."), "isSidechain": True},
        answered("a4", "r2", "msg_2", text("It is called Visborg."), tokens=2000),
        {"type": "summary", "summary": "The name of the ferry", "leafUuid": "a4"},
    ]


def written(
    folder: Path, *entries: dict[str, Any], project: str = "-home-alex-harbour", id_: str = ID
) -> Path:
    place = folder / "projects" / project / f"{id_}.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(json.dumps(each) + "\n" for each in entries or conversation()))
    return place
