"""Recognises where other programs keep memory, and the format of a path, and opens it as a source."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from workbench.engine import layout
from workbench.engine.errors import InvalidInput
from workbench.engine.file_access import expand_home, printable_path
from workbench.engine.results.transfer import ImportPlace
from workbench.engine.sessions.foreign import PROJECTS, is_claude_transcript
from workbench.engine.transfer.agent_memory import NAMES, AgentWorkspace, ClaudeMemory
from workbench.engine.transfer.conversations import MEMBER, ChatExport, Transcripts, form_of
from workbench.engine.transfer.documents import MARKDOWN, SUFFIX, TEXT, Documents, is_document
from workbench.engine.transfer.export_format import ExportedFolder, ExportedLines, is_export
from workbench.engine.transfer.source import (
    LINK,
    MANIFEST,
    Item,
    Note,
    ReadingProgress,
    Skipped,
    Source,
    named_place,
    slug,
    walk_files,
)
from workbench.engine.values import dataclass

FORMS: Final = {
    "openclaw": "a workspace of OpenClaw, Moltbot or Clawdbot, or their state folder",
    "sessions": "transcripts of OpenClaw, Moltbot or Clawdbot",
    "claude-code": "CLAUDE.md, a memory folder or sessions of Claude Code, or ~/.claude",
    "chatgpt": "an export of ChatGPT, packed or not",
    "claude": "an export of Claude, packed or not",
    "obsidian": "an Obsidian vault",
    "markdown": "Markdown files",
    "text": "plain text",
    "pdf": "PDF files",
    "workbench": "an export of a workspace, or a workspace",
}
_AGENT_FILES = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md")

_PROGRAMS: Final = {
    "openclaw": "OpenClaw",
    "clawdbot": "Clawdbot",
    "moltbot": "Moltbot",
    "moldbot": "Moltbot",
    "clawd": "Clawdbot",
    "claude": "Claude Code",
}
_PATTERNS: Final = (
    ".openclaw",
    ".openclaw-*",
    ".clawdbot",
    ".moltbot",
    ".moldbot",
    "clawd",
    "clawd-*",
    ".claude",
)
_VARIABLES: Final = (
    "OPENCLAW_STATE_DIR",
    "OPENCLAW_WORKSPACE_DIR",
    "MOLTBOT_STATE_DIR",
    "CLAWDBOT_STATE_DIR",
    "CLAUDE_CONFIG_DIR",
)


# Names of files that hold notes, transcripts or a store of sessions.
_MEMORY_ENDINGS: Final = (".md", ".markdown", ".jsonl", ".sqlite", ".db")
_DEEPEST: Final = 5
_MOST_LISTED: Final = 5_000


def open_source(source: Path, form: str | None = None) -> Source:
    """Open the path a person named.

    Args:
        source: A file or folder.
        form: One of `FORMS`; None recognises it.

    Raises:
        NotFound: The path does not exist.
        InvalidInput: It holds nothing to import, or the form is unknown.
        DocumentError: It is an archive that cannot be opened.
    """
    place = named_place(source)
    if form is not None and form not in FORMS:
        raise InvalidInput(f"“{form[:40]}” is no form.", remedy=f"Forms are {', '.join(FORMS)}.")
    wanted = form or recognise(place)
    if wanted is None:
        raise InvalidInput(
            "Nothing here can be imported.",
            where=printable_path(str(source)),
            remedy=f"What can be: {'; '.join(FORMS.values())}.",
        )
    return _OPENED[wanted](place)


def recognise(place: Path) -> str | None:
    """Return the form of a file or folder, or None if unknown."""
    return _form_of_folder(place) if place.is_dir() else _form_of_file(place)


def _form_of_folder(place: Path) -> str | None:
    if (place / MANIFEST).is_file() or (place / layout.HISTORY).is_dir():
        return "workbench"
    if (place / ".obsidian").is_dir():
        return "obsidian"
    if _is_agent_workspace(place) or (place / "agents").is_dir():
        return "openclaw"
    if _is_claude_code(place):
        return "claude-code"
    if any(MEMBER.fullmatch(each.name) for each in place.iterdir()):
        return form_of(place)
    if any(place.glob("*.jsonl")) or any(place.glob("sessions/*.jsonl")):
        return "sessions"
    found = next((each for each in walk_files(place, is_document) if not isinstance(each, Skipped)), None)
    return "markdown" if found else None


def _is_agent_workspace(place: Path) -> bool:
    curated = (place / "MEMORY.md").is_file() or (place / "memory.md").is_file()
    logs = (place / "memory").is_dir()
    if (curated and logs) or ((curated or logs) and any((place / name).is_file() for name in _AGENT_FILES)):
        return True
    return logs and any(
        layout.is_daily_log(f"memory/{path.name}") for path in (place / "memory").glob("*.md")
    )


def _is_claude_code(place: Path) -> bool:
    if any((place / name).is_file() or (place / ".claude" / name).is_file() for name in NAMES):
        return True
    if place.name == "memory" and (place / "MEMORY.md").is_file():
        return True
    return any(place.glob(f"{PROJECTS}/*/*.jsonl"))


def _form_of_file(place: Path) -> str | None:
    suffix = place.suffix.lower()
    if place.name in NAMES:
        return "claude-code"
    if suffix == ".zip":
        return form_of(place)
    if suffix == ".json":
        return "workbench" if is_export(place) else form_of(place)
    if suffix in (".jsonl", ".ndjson"):
        return "workbench" if is_export(place) else _form_of_transcript(place)
    if suffix in (".sqlite", ".db"):
        return "sessions"
    if suffix in MARKDOWN:
        return "markdown"
    if suffix == SUFFIX:
        return "pdf"
    return "text" if suffix in TEXT else None


def _form_of_transcript(place: Path) -> str:
    return "claude-code" if is_claude_transcript(place) else "sessions"


@dataclass(frozen=True)
class CombinedSource:
    """Several sources of one installation.

    Args:
        form: Of the whole.
        parts: In order.
    """

    place: Path
    form: str
    parts: tuple[AgentWorkspace | Transcripts, ...]

    @property
    def name(self) -> str:
        return slug(self.place.name)

    def read(self, reading: ReadingProgress) -> Iterator[Item]:
        for part in self.parts:
            yield from _below(part, reading)


def _below(part: AgentWorkspace | Transcripts, reading: ReadingProgress) -> Iterator[Item]:
    """Yield a part's items, cited by their path in the whole."""
    inner = ReadingProgress(reading.zone, reading.own)
    started, total = reading.done, reading.total
    prefix = f"{printable_path(part.place.name)}/"
    if part.place.is_symlink():
        yield Skipped(prefix, LINK)
        return
    for item in part.read(inner):
        reading.done, reading.total = started + inner.done, total + inner.total
        if isinstance(item, Skipped):
            yield replace(item, where=prefix + ("" if item.where == "." else item.where))
        elif isinstance(item, Note):
            place = replace(item.place, file=prefix + item.place.file)
            yield replace(item, place=place, path=prefix + item.path)
        else:
            yield replace(item, place=replace(item.place, file=prefix + item.place.file))
    reading.done, reading.total = started + inner.done, total + inner.total


def _openclaw(place: Path) -> Source:
    agents = place / "agents"
    if _is_agent_workspace(place) or not agents.is_dir():
        return AgentWorkspace(place)
    spaces = sorted(each for each in place.glob("workspace*") if each.is_dir())
    return CombinedSource(place, "openclaw", (*map(AgentWorkspace, spaces), Transcripts(agents)))


def _claude_code(place: Path) -> Source:
    if place.is_file() and place.suffix == ".jsonl":
        return Transcripts(place, "claude-code")
    if place.is_dir() and not _is_claude_code(place):
        return Transcripts(place, "claude-code")
    return ClaudeMemory(place)


def _exported(place: Path) -> Source:
    return ExportedFolder(place) if place.is_dir() else ExportedLines(place)


_OPENED: Final[dict[str, Callable[[Path], Source]]] = {
    "openclaw": _openclaw,
    "sessions": Transcripts,
    "claude-code": _claude_code,
    "chatgpt": lambda place: ChatExport(place, "chatgpt"),
    "claude": lambda place: ChatExport(place, "claude"),
    "obsidian": lambda place: Documents(place, "obsidian"),
    "markdown": lambda place: Documents(place, "markdown"),
    "text": lambda place: Documents(place, "text"),
    "pdf": lambda place: Documents(place, "pdf"),
    "workbench": _exported,
}


def known_places(environment: Mapping[str, str], home: Path, workspace: Path) -> Iterator[ImportPlace]:
    """Yield the folders in which other programs may keep memory, each once; names of files tell, and none is opened.

    Args:
        environment: Its variables may name folders of other programs.
        home: The user's folder.
        workspace: Never offered to itself, nor anything in it.
    """
    named = [
        (expand_home(environment[name]), name.split("_")[0].lower())
        for name in _VARIABLES
        if environment.get(name)
    ]
    usual = [
        (place, place.name.removeprefix(".").split("-")[0])
        for pattern in _PATTERNS
        for place in sorted(home.glob(pattern))
    ]
    seen = {workspace}
    for place, program in (*named, *usual):
        if not place.is_dir():
            continue
        real = place.resolve()
        if real in seen or workspace in real.parents or not _may_hold_memory(real):
            continue
        seen.add(real)
        yield ImportPlace(_at_home(place, home), _PROGRAMS[program])


def _at_home(place: Path, home: Path) -> str:
    return f"~/{place.relative_to(home)}" if place.is_relative_to(home) else str(place)


def _may_hold_memory(folder: Path) -> bool:
    """Return whether any file below a folder is called as memory is; True where that cannot be told."""
    listed = 0
    waiting = [(folder, 0)]
    for place, depth in waiting:
        try:
            with os.scandir(place) as listing:
                for entry in listing:
                    listed += 1
                    if entry.is_file(follow_symlinks=False) and entry.name.lower().endswith(_MEMORY_ENDINGS):
                        return True
                    if depth < _DEEPEST and entry.is_dir(follow_symlinks=False):
                        waiting.append((Path(entry.path), depth + 1))
        except OSError:
            if place == folder:
                return True
        if listed > _MOST_LISTED:
            return True
    return False
