"""Sessions of Codex CLI, read in place: its transcripts are one file each, with a line for every event."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from workbench.engine.errors import WorkbenchError
from workbench.engine.file_access import open_outside_file
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.sessions import SessionProblem
from workbench.engine.sessions import events
from workbench.engine.sessions.events import FileLines, moment_in, render_event, text_of
from workbench.engine.sessions.keys import (
    ResetPolicy,
    ResetRules,
    SessionKey,
    is_key,
    is_session_id,
    parse_key,
)
from workbench.engine.sessions.store import ForeignHome, SessionEntry, StoreContent, milliseconds, no_key

FOLDER: Final = "sessions"
_HEAD: Final = 512 * 1024
_LABEL: Final = 120
_MOST: Final = 2_000
# What the program tells the model in a person's name: its environment, instructions of files, and the like.
_INJECTED: Final = lazy_pattern(r"<[a-z_]+[ >]|# AGENTS\.md instructions")
_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS: Final = ("function_call_output", "custom_tool_call_output")


class CodexHome(ForeignHome):
    """The sessions of Codex CLI below a folder, or a single one.

    Args:
        place: `~/.codex`, its `sessions`, or a transcript.
    """

    def __init__(self, place: Path) -> None:
        super().__init__(place, "codex")
        self._transcripts: dict[str, Path] = {}

    @property
    def rules(self) -> ResetRules:
        """Return the reset rules: never by the clock."""
        return ResetRules(ResetPolicy(None, None))

    def read(self) -> StoreContent:
        entries: dict[str, SessionEntry] = {}
        problems: list[SessionProblem] = []
        for place in codex_transcripts(self.place):
            try:
                found = _entry_of(place)
            except WorkbenchError as error:
                problems.append(SessionProblem(None, str(error)))
                continue
            if found is None:
                continue
            name, entry = found
            if not is_key(name):
                problems.append(no_key(name))
                continue
            key = str(parse_key(name))
            entries[key], self._transcripts[key] = entry, place
        return StoreContent(entries, tuple(problems))

    def lines(self, key: SessionKey, entry: SessionEntry) -> CodexLines:
        if str(key) not in self._transcripts:
            self.read()
        return CodexLines(self._transcripts.get(str(key), self.place / f"{entry.session_id}.jsonl"))


class CodexLines(FileLines):
    """A transcript of Codex CLI, in the entries of the other programs."""

    def read(self, first: int = 1, most: int | None = None) -> Iterator[tuple[int, bytes]]:
        for number, content in super().read(first, most):
            yield number, _translated(number, content)


def codex_transcripts(place: Path) -> list[Path]:
    """Return the transcripts of Codex CLI at a place, the newest ones where there are very many.

    Args:
        place: `~/.codex`, its `sessions`, or a transcript.
    """
    if place.is_file():
        return [place] if place.suffix == ".jsonl" and is_codex_transcript(place) else []
    folder = place / FOLDER if (place / FOLDER).is_dir() else place
    return sorted(folder.glob("[0-9]*/[0-9]*/[0-9]*/rollout-*.jsonl"))[-_MOST:]


def is_codex_transcript(place: Path) -> bool:
    """Return whether a transcript is of Codex CLI, judging by its first line."""
    try:
        first = next(iter(FileLines(place).read(1, 1)), (1, b""))[1]
    except WorkbenchError:
        return False
    said = _object(first)
    return said.get("type") == "session_meta" and isinstance(said.get("payload"), dict)


def _object(content: bytes) -> dict[str, Any]:
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _payload(said: Mapping[str, Any]) -> dict[str, Any]:
    payload = said.get("payload")
    return payload if isinstance(payload, dict) else {}


def _entry_of(place: Path) -> tuple[str, SessionEntry] | None:
    """Return the key and the entry of a session, read from the beginning of its transcript, or None if it is none."""
    opened = open_outside_file(place)
    if opened is None:
        return None
    with opened:
        status = os.fstat(opened.fileno())
        head = list(map(_object, opened.read(_HEAD).split(b"\n")))
    meta = _payload(head[0])
    session_id = meta.get("id")
    if not isinstance(session_id, str) or not is_session_id(session_id):
        return None
    said = next(filter(None, map(_said_by_person, map(_payload, head))), "")
    models = (text_of(_payload(each).get("model")) for each in head if each.get("type") == "turn_context")
    begun = moment_in(head[0])
    project = Path(text_of(meta.get("cwd"))).name
    entry = SessionEntry(
        {
            "sessionId": session_id,
            "updatedAt": round(status.st_mtime * 1000),
            "sessionStartedAt": milliseconds(begun) if begun else None,
            "label": " ".join(said.split())[:_LABEL],
            "model": next(filter(None, models), ""),
        }
    )
    return ":".join(filter(None, ("codex", project, session_id))), entry


def _said_by_person(payload: Mapping[str, Any]) -> str:
    if payload.get("type") != "message" or payload.get("role") != "user":
        return ""
    text = _words(payload)
    return "" if _INJECTED.match(text) else text


def _words(payload: Mapping[str, Any]) -> str:
    content = payload.get("content")
    parts = content if isinstance(content, list) else []
    texts = (text_of(part.get("text")) for part in parts if isinstance(part, dict))
    return "\n".join(filter(None, texts))


def _translated(number: int, content: bytes) -> bytes:
    said = _object(content)
    if not said:
        return content
    place = {
        "timestamp": said.get("timestamp"),
        "id": f"codex-{number}",
        "parentId": f"codex-{number - 1}" if number > 1 else None,
    }
    return render_event({**place, **_event_of(text_of(said.get("type")), _payload(said))}).rstrip(b"\n")


def _event_of(kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    if kind == "compacted":
        return {"type": events.COMPACTION, "summary": text_of(payload.get("message"))}
    inner = payload.get("type") if kind == "response_item" else None
    if inner == "message" and payload.get("role") in ("user", "assistant"):
        words = _words(payload)
        if payload["role"] == "assistant" or not _INJECTED.match(words):
            message = {"role": payload["role"], "content": [{"type": "text", "text": words}]}
            return {"type": events.MESSAGE, "message": message}
    call = text_of(payload.get("call_id"))
    if inner in _CALLS and call:
        part = {
            "type": "toolCall",
            "id": call,
            "name": text_of(payload.get("name")) or "shell",
            "arguments": {},
        }
        return {"type": events.MESSAGE, "message": {"role": "assistant", "content": [part]}}
    if inner in _RESULTS and call:
        output = payload.get("output")
        told = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
        result = {"role": "toolResult", "toolCallId": call, "content": [{"type": "text", "text": told}]}
        return {"type": events.MESSAGE, "message": result}
    # Never one of our own kinds: the program has some of the same name that mean something else.
    return {"type": f"codex-{inner or kind or 'unknown'}"}
