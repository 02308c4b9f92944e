"""Tells what a path holds, and opens it as that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from workbench.engine import layout
from workbench.engine.errors import InvalidInput
from workbench.engine.importing.documents import MARKDOWN, TEXT, Documents
from workbench.engine.importing.exported import MANIFEST, ExportedFolder, ExportedLines, is_export
from workbench.engine.importing.openclaw import AgentWorkspace
from workbench.engine.importing.opening import named, shown, walk
from workbench.engine.importing.pieces import Skipped, Source

FORMS: Final = {
    "openclaw": "a workspace of OpenClaw, Moltbot or Clawdbot: MEMORY.md and memory/",
    "obsidian": "an Obsidian vault",
    "markdown": "Markdown files",
    "text": "plain text",
    "workbench": "an export of a workspace, or a workspace",
}
_AGENT_FILES = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md")


def open_source(source: Path, form: str | None = None) -> Source:
    """Open what a person named.

    Args:
        source: A file or folder.
        form: One of `FORMS`; found by looking at it where None.

    Raises:
        NotFound: There is nothing.
        InvalidInput: Nothing in it can be imported, or the form does not fit.
    """
    place = named(source)
    if form is not None and form not in FORMS:
        raise InvalidInput(f"“{form[:40]}” is no form.", remedy=f"Forms are {', '.join(FORMS)}.")
    wanted = form or recognise(place)
    if wanted is None:
        raise InvalidInput(
            "Nothing here can be imported.",
            where=shown(str(source)),
            remedy=f"What can be: {'; '.join(FORMS.values())}.",
        )
    return _OPENED[wanted](place)


def recognise(place: Path) -> str | None:
    """Return the form of a file or folder; None where it is none that is known."""
    return _form_of_folder(place) if place.is_dir() else _form_of_file(place)


def _form_of_folder(place: Path) -> str | None:
    if (place / MANIFEST).is_file() or (place / layout.HISTORY).is_dir():
        return "workbench"
    if (place / ".obsidian").is_dir():
        return "obsidian"
    curated = (place / "MEMORY.md").is_file() or (place / "memory.md").is_file()
    logs = (place / "memory").is_dir()
    if (curated and logs) or ((curated or logs) and any((place / name).is_file() for name in _AGENT_FILES)):
        return "openclaw"
    if logs and any(layout.is_daily_log(f"memory/{path.name}") for path in (place / "memory").glob("*.md")):
        return "openclaw"
    found = next((each for each in walk(place, _is_document) if not isinstance(each, Skipped)), None)
    return "markdown" if found else None


def _form_of_file(place: Path) -> str | None:
    suffix = place.suffix.lower()
    if suffix in (".jsonl", ".ndjson", ".json") and is_export(place):
        return "workbench"
    if suffix in MARKDOWN:
        return "markdown"
    return "text" if suffix in TEXT else None


def _is_document(relative: str) -> bool:
    return relative.lower().endswith((*MARKDOWN, *TEXT))


def _exported(place: Path) -> Source:
    return ExportedFolder(place) if place.is_dir() else ExportedLines(place)


_OPENED: Final[dict[str, Callable[[Path], Source]]] = {
    "openclaw": AgentWorkspace,
    "obsidian": lambda place: Documents(place, "obsidian"),
    "markdown": lambda place: Documents(place, "markdown"),
    "text": lambda place: Documents(place, "text"),
    "workbench": _exported,
}
