"""Finds sessions of OpenClaw, Moltbot, Clawdbot and Claude Code on disk, and copies one into the own store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from workbench.engine.errors import NotFound, WorkbenchError
from workbench.engine.file_access import expand_home, replace_file
from workbench.engine.results.sessions import SessionProblem
from workbench.engine.sessions.claude_code import (
    ClaudeHome,
    claude_transcripts,
    is_claude_transcript,
    project_of,
)
from workbench.engine.sessions.keys import SessionKey, checked_session_id, is_session_id, parse_key
from workbench.engine.sessions.lines import FileLines, Lines
from workbench.engine.sessions.locks import transcript_lock
from workbench.engine.sessions.openclaw_database import DATABASE, DatabaseHome
from workbench.engine.sessions.store import (
    NAME,
    FileHome,
    ForeignHome,
    SessionEntry,
    SessionHome,
    SessionStore,
    StoreContent,
    milliseconds,
)

VARIABLES = ("OPENCLAW_STATE_DIR", "MOLTBOT_STATE_DIR", "CLAWDBOT_STATE_DIR")
CLAUDE_VARIABLE = "CLAUDE_CONFIG_DIR"
FOLDERS = (".openclaw", ".clawdbot", ".moltbot", ".moldbot")
_MOST_AGENTS = 500
_COPIED_FROM = "workbenchCopiedFrom"


@dataclass(frozen=True)
class Install:
    """State folder of another program.

    Args:
        folder: The folder.
        world: `database`, `files`, or `both` if some agents have moved to a database; `claude-code`.
        agents: Agents with sessions; for Claude Code, projects.
    """

    folder: Path
    world: str
    agents: tuple[str, ...]


def installs(environment: Mapping[str, str], home: Path) -> tuple[Install, ...]:
    """Return a user's installations, in the order in which the programs look for them (research note §2.1).

    Args:
        environment: Variables that may name a state folder.
        home: The user's home folder.
    """
    named = [expand_home(environment[name]) for name in VARIABLES if environment.get(name)]
    profiles = sorted(path for path in home.glob(".openclaw-*") if path.is_dir())
    found: dict[Path, Install] = {}
    for folder in (*named, *(home / name for name in FOLDERS), *profiles):
        agents = dict(_agents(folder))
        if agents and (real := folder.resolve()) not in found:
            found[real] = Install(folder, _world(agents.values()), tuple(agents))
    claude = expand_home(environment.get(CLAUDE_VARIABLE) or home / ".claude")
    if transcripts := claude_transcripts(claude):
        projects = tuple(dict.fromkeys(map(project_of, transcripts)))
        found[claude.resolve()] = Install(claude, "claude-code", projects)
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
            return ClaudeHome(place) if is_claude_transcript(place) else SingleHome(place)
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
        if any(place.glob("*.jsonl")):
            return FileHome(place, "files")
    raise NotFound(
        "There are no sessions here.",
        where=str(place),
        remedy="Name a state folder such as ~/.openclaw or ~/.claude, a sessions.json, an openclaw-agent.sqlite, "
        "or a *.jsonl.",
    )


class ManyHomes(ForeignHome):
    """The sessions of all agents of one installation.

    Args:
        folder: Its state folder.
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
                        SessionProblem(None, f"{name[:80]} stands in two stores; the first one counts.")
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
    """A single transcript without a store.

    Args:
        place: The file.
    """

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

    If another session has the original's key, that one goes on, and the copy becomes a thread of that key named by
    its id, so that sharing is preserved.

    Args:
        lines: The original's transcript.
        key: The original's key.
        entry: The original's entry; its fields are kept.
        store: The workspace's own store.
        now: The present time.

    Raises:
        InvalidInput: Its id cannot be a file name.
        StorageError: The disk cannot take it.
    """
    session_id = checked_session_id(entry.fields.get("sessionId"))
    for name, known in store.read().entries.items():
        if known.session_id == session_id and store.transcript(parse_key(name), known).exists():
            return name, known, False
    store.make_folder()
    copied = SessionEntry(entry.fields).with_fields(
        sessionFile=None, updatedAt=milliseconds(now), **{_COPIED_FROM: lines.where}
    )
    _copy_lines(lines, store.transcript(key, copied))

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
        key: The copy's key.
        entry: Its entry when it was made.
        store: The workspace's own store.
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
    from workbench.engine.sessions.openclaw_database import DatabaseLines

    for entry in store.read().entries.values():
        place = entry.fields.get(_COPIED_FROM)
        if isinstance(place, str) and entry.session_id:
            is_file = place.endswith(".jsonl")
            yield FileLines(Path(place)) if is_file else DatabaseLines(Path(place), entry.session_id)


def _beside(key: SessionKey, session_id: str) -> SessionKey:
    suffix_id = f"{key.suffix_id}-{session_id}" if key.suffix else session_id
    return replace(key, suffix="thread", suffix_id=suffix_id.lower())


def _copy_lines(lines: Lines, place: Path) -> None:
    with transcript_lock(place):
        if place.exists():
            return
        with replace_file(place, "The session cannot be copied") as file:
            for _, content in lines.read():
                file.write(content + b"\n")
