"""Reads Claude Code's sessions in place, mapping each line to a transcript entry on the same line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.engine.errors import WorkbenchError
from workbench.engine.file_access import open_outside_file
from workbench.engine.results.sessions import SessionProblem
from workbench.engine.sessions import events
from workbench.engine.sessions.events import (
    Event,
    moment_in,
    parts_of,
    read_event,
    render_event,
    text_of,
    turn_of,
)
from workbench.engine.sessions.keys import SessionKey, is_key, is_session_id, parse_key
from workbench.engine.sessions.lines import FileLines
from workbench.engine.sessions.reader import words_of
from workbench.engine.sessions.reset_policy import ResetPolicy, ResetRules
from workbench.engine.sessions.store import (
    ForeignHome,
    SessionEntry,
    StoreContent,
    milliseconds,
    no_key,
    whole,
)

PROJECTS = "projects"
SIDECHAIN = "sidechain"
_HEAD = _TAIL = 32 * 1024
_LABEL = 120
_TITLES = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}
_MARKS = ("isMeta", "isVisibleInTranscriptOnly")
_USED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class ClaudeHome(ForeignHome):
    """The sessions of Claude Code below a folder, or a single one.

    Args:
        place: `~/.claude`, the folder of one project in it, or a transcript.
    """

    def __init__(self, place: Path) -> None:
        super().__init__(place, "claude-code")
        named = {_name_of(each): each for each in claude_transcripts(place)}
        self._transcripts = {str(parse_key(name)): each for name, each in named.items() if is_key(name)}
        self._problems = tuple(no_key(name) for name in named if not is_key(name))

    @property
    def rules(self) -> ResetRules:
        """Return the reset rules: never by the clock."""
        return ResetRules(ResetPolicy(None, None))

    def read(self) -> StoreContent:
        entries: dict[str, SessionEntry] = {}
        problems = [*self._problems, *_closed_projects(self.place)]
        for key, place in self._transcripts.items():
            try:
                entry = _entry_of(place)
            except WorkbenchError as error:
                problems.append(SessionProblem(None, str(error)))
                continue
            if entry is not None:
                entries[key] = entry
        return StoreContent(entries, tuple(problems))

    def lines(self, key: SessionKey, entry: SessionEntry) -> ClaudeLines:
        known = self._transcripts.get(str(key))
        return ClaudeLines(known or self.place / f"{entry.session_id}.jsonl")


class ClaudeLines(FileLines):
    """A transcript of Claude Code, in the entries of the other programs."""

    def read(self, first: int = 1, most: int | None = None) -> Iterator[tuple[int, bytes]]:
        for number, content in super().read(first, most):
            yield number, _translated(content)


def claude_transcripts(place: Path) -> list[Path]:
    """Return the transcripts of Claude Code at a place, without those of sub-agents.

    Args:
        place: `~/.claude`, the folder of one project in it, or a transcript.
    """
    if place.is_file():
        return [place] if place.suffix == ".jsonl" and is_claude_transcript(place) else []
    found = [*place.glob(f"{PROJECTS}/*/*.jsonl")] or [
        each for each in place.glob("*.jsonl") if is_claude_transcript(each)
    ]
    return sorted(each for each in found if not each.name.startswith("agent-") and is_session_id(each.stem))


def _closed_projects(place: Path) -> Iterator[SessionProblem]:
    """Report projects whose folder is unreadable, which a recursive search skips silently."""
    for folder in sorted(place.glob(f"{PROJECTS}/*/")):
        try:
            os.scandir(folder).close()
        except OSError as error:
            told = f"{folder} cannot be read: {error.strerror}. Give the right to read it."
            yield SessionProblem(None, told)


def is_claude_transcript(place: Path) -> bool:
    """Return whether a transcript is Claude Code's rather than OpenClaw's, judging by its beginning."""
    try:
        opened = open_outside_file(place)
    except WorkbenchError:
        return False
    if opened is None:
        return False
    with opened:
        head = opened.read(_HEAD)
    # The others begin with their header; tool arguments may hold any name.
    first = read_event(1, head.partition(b"\n")[0])
    return b'"sessionId"' in head and not (isinstance(first, Event) and first.kind == events.HEADER)


def project_of(transcript: Path) -> str:
    """Return the name of a transcript's project, whose folder is named after the whole path."""
    return transcript.parent.name.strip("-").rpartition("-")[2]


def _name_of(place: Path) -> str:
    return ":".join(filter(None, ("claude-code", project_of(place), place.stem)))


def _entry_of(place: Path) -> SessionEntry | None:
    """Return the session entry read from the beginning and end of a transcript, or None if it is gone."""
    opened = open_outside_file(place)
    if opened is None:
        return None
    with opened:
        status = os.fstat(opened.fileno())
        head = opened.read(_HEAD).split(b"\n")
        opened.seek(max(0, status.st_size - _TAIL))
        tail = opened.read(_TAIL).split(b"\n")
    begun = next(filter(None, map(moment_in, _read(head))), None)
    turns = filter(None, (turn_of(1, line) for line in head))
    said = next((turn.text.partition(": ")[2] for turn in turns if turn.text.startswith("User: ")), "")
    titles = [title for said_so in _read([*head, *tail]) if (title := _title(said_so))]
    answers = (each.get("message") for each in _read(reversed(tail)) if each.get("type") == "assistant")
    answer = next((each for each in answers if isinstance(each, Mapping) and each.get("usage")), {})
    return SessionEntry(
        {
            "sessionId": place.stem,
            "updatedAt": round(status.st_mtime * 1000),
            "sessionStartedAt": milliseconds(begun) if begun else None,
            "label": (titles[-1] if titles else said)[:_LABEL],
            "model": text_of(answer.get("model")),
            "totalTokens": _tokens(answer.get("usage")),
        }
    )


def _tokens(usage: object) -> int | None:
    if not isinstance(usage, Mapping):
        return None
    return sum(whole(usage.get(name)) or 0 for name in _USED) or None


def _read(lines: Iterable[bytes]) -> Iterator[Mapping[str, Any]]:
    for line in lines:
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(said, dict):
            yield said


def _title(said: Mapping[str, Any]) -> str:
    return text_of(said.get(_TITLES.get(text_of(said.get("type")), "")))


def _translated(content: bytes) -> bytes:
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return content
    return render_event(_event_of(said)).rstrip(b"\n") if isinstance(said, dict) else content


def _event_of(said: Mapping[str, Any]) -> dict[str, Any]:
    kind, message = text_of(said.get("type")), said.get("message")
    place = {"timestamp": said.get("timestamp")}
    if said.get("isSidechain") is True:
        # Without an id, so that no entry of the conversation can follow it.
        return {"type": SIDECHAIN, **place, "text": words_of(message) if isinstance(message, dict) else ""}
    if text_of(said.get("uuid")):
        place |= {"id": said["uuid"], "parentId": said.get("parentUuid")}
    if title := _title(said):
        return {"type": events.LABEL, **place, "label": title}
    if kind not in ("user", "assistant") or not isinstance(message, dict):
        told = {"content": said["content"]} if isinstance(said.get("content"), str) else {}
        return {"type": kind or "unknown", **place, **told}
    if said.get("isCompactSummary") is True:
        return {"type": events.COMPACTION, **place, "summary": words_of(message)}
    marks = {mark: True for mark in _MARKS if said.get(mark) is True}
    return {"type": events.MESSAGE, **place, **marks, "message": _with_result(message)}


def _with_result(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message, turning a user message with a tool result into a tool message."""
    parts = parts_of(message.get("content"))
    result = next((part for part in parts if part.get("type") == "tool_result"), None)
    if message.get("role") != "user" or result is None:
        return message
    inner: list[Mapping[str, Any]] = []
    for part in parts:
        inner += parts_of(part.get("content")) if part.get("type") == "tool_result" else (part,)
    return {
        "role": "toolResult",
        "toolCallId": text_of(result.get("tool_use_id")),
        "content": inner,
        "isError": any(part.get("is_error") is True for part in parts),
    }
