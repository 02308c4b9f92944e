"""Finds sessions of OpenClaw and its forerunners, Claude Code and Codex CLI, reads Claude Code’s, and copies them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.engine.errors import NotFound, WorkbenchError
from workbench.engine.file_access import expand_home, open_outside_file, replace_file
from workbench.engine.results.sessions import SessionProblem
from workbench.engine.sessions import events
from workbench.engine.sessions.codex import CodexHome, codex_transcripts, is_codex_transcript
from workbench.engine.sessions.events import (
    Event,
    FileLines,
    Lines,
    moment_in,
    parts_of,
    read_event,
    render_event,
    text_of,
    turn_of,
    words_of,
)
from workbench.engine.sessions.keys import (
    ResetPolicy,
    ResetRules,
    SessionKey,
    checked_session_id,
    is_key,
    is_session_id,
    parse_key,
)
from workbench.engine.sessions.locks import transcript_lock
from workbench.engine.sessions.openclaw_database import DATABASE, DatabaseHome, DatabaseLines
from workbench.engine.sessions.store import (
    NAME,
    FileHome,
    ForeignHome,
    SessionEntry,
    SessionHome,
    SessionStore,
    StoreContent,
    milliseconds,
    no_key,
    whole,
)
from workbench.engine.settings.foreign_files import STATE_FOLDERS, STATE_VARIABLES
from workbench.engine.values import dataclass

PROJECTS = "projects"
SIDECHAIN = "sidechain"
_HEAD = _TAIL = 32 * 1024
_LABEL = 120
_TITLES = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}
_MARKS = ("isMeta", "isVisibleInTranscriptOnly")
_USED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
CLAUDE_VARIABLE = "CLAUDE_CONFIG_DIR"
CODEX_VARIABLE = "CODEX_HOME"
_MOST_AGENTS = 500
_COPIED_FROM = "workbenchCopiedFrom"
# A header says so of a transcript that holds what was said lately, and maybe what was said before.
PART = "workbenchPart"
# How many lines of the original are copied, and how many the copy had then.
_COPIED_LINES = "workbenchCopiedLines"
_LINES_OF_COPY = "workbenchLinesOfCopy"


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


@dataclass(frozen=True)
class Install:
    """State folder of another program.

    Args:
        world: `database`, `files`, or `both` if some agents have moved to a database; `claude-code`, `codex`.
        agents: Agents with sessions; for Claude Code, projects; for Codex CLI, itself.
    """

    folder: Path
    world: str
    agents: tuple[str, ...]


def installs(environment: Mapping[str, str], home: Path) -> tuple[Install, ...]:
    """Return a user's installations, in the order in which the programs look for them (research note §2.1).

    Args:
        environment: Variables that may name a state folder.
    """
    named = [expand_home(environment[name]) for name in STATE_VARIABLES if environment.get(name)]
    profiles = sorted(path for path in home.glob(".openclaw-*") if path.is_dir())
    found: dict[Path, Install] = {}
    for folder in (*named, *(home / name for name in STATE_FOLDERS), *profiles):
        agents = dict(_agents(folder))
        if agents and (real := folder.resolve()) not in found:
            found[real] = Install(folder, _world(agents.values()), tuple(agents))
    claude = expand_home(environment.get(CLAUDE_VARIABLE) or home / ".claude")
    if transcripts := claude_transcripts(claude):
        projects = tuple(dict.fromkeys(map(project_of, transcripts)))
        found[claude.resolve()] = Install(claude, "claude-code", projects)
    codex = expand_home(environment.get(CODEX_VARIABLE) or home / ".codex")
    if codex_transcripts(codex):
        found[codex.resolve()] = Install(codex, "codex", ("codex",))
    return tuple(found.values())


def foreign_home(place: Path) -> SessionHome:
    """Return the sessions at a place: a state folder, an agent's folder, `sessions.json`, a database or one transcript.

    Raises:
        NotFound: There are none.
    """
    place = expand_home(place)
    if place.is_file():
        if place.name == NAME:
            return FileHome(place.parent, "files")
        if place.suffix == ".jsonl":
            if is_claude_transcript(place):
                return ClaudeHome(place)
            return CodexHome(place) if is_codex_transcript(place) else SingleHome(place)
        if place.suffix in (".sqlite", ".db"):
            return DatabaseHome(place)
    elif place.is_dir():
        for database in (place / DATABASE, place / "agent" / DATABASE):
            if database.is_file():
                return DatabaseHome(database)
        for folder in (place, place / "sessions"):
            if (folder / NAME).is_file():
                return FileHome(folder, "files")
        agents = dict(_agents(place))
        if agents:
            return ManyHomes(place, tuple(agents.values()))
        if claude_transcripts(place):
            return ClaudeHome(place)
        if codex_transcripts(place):
            return CodexHome(place)
        if any(place.glob("*.jsonl")):
            return FileHome(place, "files")
    raise NotFound(
        "There are no sessions here.",
        where=str(place),
        remedy="Name a state folder such as ~/.openclaw, ~/.claude or ~/.codex, a sessions.json, an "
        "openclaw-agent.sqlite, or a *.jsonl.",
    )


class ManyHomes(ForeignHome):
    """The sessions of all agents of one installation.

    Args:
        homes: One for each agent.
    """

    def __init__(self, folder: Path, homes: tuple[SessionHome, ...]) -> None:
        super().__init__(folder, _world(homes))
        self._homes = homes
        self._owner: dict[str, SessionHome] = {}

    def read(self) -> StoreContent:
        entries: dict[str, SessionEntry] = {}
        problems: list[SessionProblem] = []
        for home in self._homes:
            try:
                content = home.read()
            except WorkbenchError as error:
                # An agent with unreadable sessions does not hide the others.
                problems.append(SessionProblem(None, str(error)))
                continue
            problems.extend(content.problems)
            for name, entry in content.entries.items():
                if name in entries:
                    problems.append(
                        SessionProblem(None, f"{name[:80]} is in two stores; the first one counts.")
                    )
                    continue
                entries[name] = entry
                self._owner[str(parse_key(name))] = home
        return StoreContent(entries, tuple(problems))

    def lines(self, key: SessionKey, entry: SessionEntry) -> Lines:
        owner = self._owner.get(str(key))
        if owner is not None:
            return owner.lines(key, entry)
        every = [home.lines(key, entry) for home in self._homes]
        return next((lines for lines in every if lines.size()), every[0])


class SingleHome(ForeignHome):
    """A single transcript without a store."""

    def __init__(self, place: Path) -> None:
        super().__init__(place, "files")

    def read(self) -> StoreContent:
        stem = self.place.stem
        if not is_session_id(stem):
            return StoreContent({}, (SessionProblem(None, f"{ascii(stem)[:80]} is no id of a session."),))
        updated = round(self.place.stat().st_mtime * 1000)
        return StoreContent({stem.lower(): SessionEntry({"sessionId": stem, "updatedAt": updated})})

    def lines(self, key: SessionKey, entry: SessionEntry) -> Lines:  # noqa: ARG002 - there is only one
        return FileLines(self.place)


def _world(homes: Iterable[SessionHome]) -> str:
    worlds = {home.source for home in homes}
    return worlds.pop() if len(worlds) == 1 else "both"


def _agents(folder: Path) -> Iterator[tuple[str, SessionHome]]:
    """Yield each agent of a state folder with its sessions; a database takes precedence over the files it replaced."""
    try:
        found = sorted(path for path in (folder / "agents").iterdir() if path.is_dir())
    except OSError:
        return
    for agent in found[:_MOST_AGENTS]:
        try:
            if (agent / "agent" / DATABASE).is_file():
                yield agent.name, DatabaseHome(agent / "agent" / DATABASE)
            elif (agent / "sessions" / NAME).is_file():
                yield agent.name, FileHome(agent / "sessions", "files")
        except PermissionError:
            # The reader reports it.
            yield agent.name, FileHome(agent / "sessions", "files")


def copy_session(
    lines: Lines, key: SessionKey, entry: SessionEntry, store: SessionStore, now: datetime
) -> tuple[str, SessionEntry, bool]:
    """Copy a session into the workspace's own store; return its key, its entry, and whether it is new.

    A copy that was only flushed since goes on with what was said in the original; one that was compacted or written to
    has a life of its own.

    If another session has the original's key, that one goes on, and the copy becomes a thread of that key named by
    its id, so that sharing is preserved.

    Args:
        entry: The original's entry; its fields are kept.

    Raises:
        InvalidInput: Its id cannot be a file name.
        StorageError: The disk cannot take it.
    """
    session_id = checked_session_id(entry.fields.get("sessionId"))
    for name, known in store.read().entries.items():
        place = store.transcript(parse_key(name), known)
        if known.session_id == session_id and place.exists():
            if known.fields.get(_COPIED_FROM) == lines.where:
                known = _continue_copy(lines, name, known, store, now)
            return name, known, False
    store.make_folder()
    copied = SessionEntry(entry.fields).with_fields(
        sessionFile=None, updatedAt=milliseconds(now), **{_COPIED_FROM: lines.where}
    )
    count = _copy_lines(lines, store.transcript(key, copied))
    copied = copied.with_fields(**{_COPIED_LINES: count, _LINES_OF_COPY: count})

    def enter(known: SessionEntry | None) -> SessionEntry:
        return copied if known is None or known.session_id in ("", session_id) else known

    name, stored = store.change(key, enter)
    if stored is None or stored.session_id != session_id:
        name, stored = store.change(_beside(key, session_id), lambda _: copied)
    assert stored is not None
    return name, stored, True


def drop_copy(key: SessionKey, entry: SessionEntry, store: SessionStore) -> None:
    """Remove a fresh copy, unless it was continued.

    Args:
        entry: Its entry when it was made.
    """

    def leave(known: SessionEntry | None) -> SessionEntry | None:
        if known is not None and known.fields == entry.fields:
            store.transcript(key, entry).unlink(missing_ok=True)
            return None
        return known

    store.change(key, leave)


def originals(store: SessionStore) -> Iterator[Lines]:
    """Yield the original transcripts that sessions of a store were copied from.

    Raises:
        DocumentError: The store cannot be read.
    """
    for entry in store.read().entries.values():
        place = entry.fields.get(_COPIED_FROM)
        if isinstance(place, str) and entry.session_id:
            is_file = place.endswith(".jsonl")
            yield FileLines(Path(place)) if is_file else DatabaseLines(Path(place), entry.session_id)


def _beside(key: SessionKey, session_id: str) -> SessionKey:
    suffix_id = f"{key.suffix_id}-{session_id}" if key.suffix else session_id
    return replace(key, suffix="thread", suffix_id=suffix_id.lower())


def _copy_lines(lines: Lines, place: Path) -> int | None:
    """Copy all lines; return how many, or None if there is a copy already."""
    with transcript_lock(place):
        if place.exists():
            return None
        count = 0
        with replace_file(place, "The session cannot be copied") as file:
            for _, content in lines.read():
                file.write(content + b"\n")
                count += 1
        return count


def _continue_copy(
    lines: Lines, name: str, entry: SessionEntry, store: SessionStore, now: datetime
) -> SessionEntry:
    """Append to a copy what its original has got since; return the entry."""
    copied, of_copy = (whole(entry.fields.get(field)) for field in (_COPIED_LINES, _LINES_OF_COPY))
    place = store.transcript(parse_key(name), entry)
    if copied is None or of_copy is None:
        return entry
    with transcript_lock(place):
        marks = list(_read(content for _, content in FileLines(place).read(of_copy + 1)))
        if FileLines(place).count() - of_copy != len(marks) or not all(map(_is_flush_mark, marks)):
            return entry
        contents = _since(lines, FileLines(place), copied, marks)
        if not contents:
            return entry
        with replace_file(place, "The session cannot be copied") as file:
            for _, content in FileLines(place).read():
                file.write(content + b"\n")
            file.writelines(content + b"\n" for content in contents)
    counted = {
        _COPIED_LINES: copied + len(contents),
        _LINES_OF_COPY: of_copy + len(marks) + len(contents),
    }

    def change(known: SessionEntry | None) -> SessionEntry | None:
        if known is None or known.session_id != entry.session_id:
            return known
        return known.with_fields(updatedAt=milliseconds(now), **counted)

    return store.change(parse_key(name), change)[1] or entry


def _since(lines: Lines, copy: Lines, copied: int, marks: list[Mapping[str, Any]]) -> list[bytes]:
    """Return the lines of an original that its copy has not got, as they follow what the copy ends with.

    Args:
        copied: How many of them the copy has.
        marks: Of flushes, at the end of the copy.
    """
    header = next(_read(content for _, content in lines.read(1, 1)), {})
    if header.get(PART):
        known = [text_of(each.get("id")) for each in _read(content for _, content in copy.read())]
        seen = set(known)
        new = [each for each in _read(content for _, content in lines.read(2)) if each.get("id") not in seen]
        before = (known[-1], *(text_of(each.get("id")) for each in new))
        return [
            render_event({**each, "parentId": parent}).rstrip(b"\n")
            for each, parent in zip(new, before, strict=False)
        ]
    added = [content for _, content in lines.read(copied + 1)]
    ids = {text_of(each.get("id")) for each in _read(added)}
    last = text_of(marks[-1].get("id")) if marks else ""
    return [_following(content, last, ids) if last else content for content in added]


def _is_flush_mark(said: Mapping[str, Any]) -> bool:
    return said.get("type") == events.CUSTOM and said.get("customType") == events.FLUSH_MARK


def _following(content: bytes, mark: str, added: set[str]) -> bytes:
    """Return a line that follows the last mark of a flush if it followed a line before the mark."""
    said = next(_read([content]), None)
    if said is None or not said.get("parentId") or said["parentId"] in added:
        return content
    return render_event({**said, "parentId": mark}).rstrip(b"\n")
