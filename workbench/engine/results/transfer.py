"""Answers about memory that comes from elsewhere, and goes there."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from workbench.engine.results.memories import Changed
from workbench.engine.values import dataclass

ImportedAs = Literal["memories", "episodes", "proposals"]
FORM_WORDS: Final = {
    "openclaw": "memory of OpenClaw",
    "sessions": "sessions of OpenClaw",
    "claude-code": "memory of Claude Code",
    "chatgpt": "an export of ChatGPT",
    "claude": "an export of Claude",
    "pre-image": "a copy of MEMORY.md as it was",
    "obsidian": "an Obsidian vault",
    "markdown": "Markdown",
    "text": "plain text",
    "pdf": "PDF",
    "workbench": "an export of a workspace",
}
"""What the form of a source is called, in a preview."""


@dataclass(frozen=True)
class ImportPlace:
    """A folder in which another program keeps memory.

    Args:
        place: As a person types it, `~/.openclaw`.
        program: Whose it is, `OpenClaw`.
    """

    place: str
    program: str


@dataclass(frozen=True)
class ImportPlaces:
    """The folders in which other programs keep memory on this machine."""

    places: tuple[ImportPlace, ...]


@dataclass(frozen=True)
class LeftOut:
    """Something that was not imported.

    Args:
        where: File with line, or part.
    """

    where: str
    reason: str


@dataclass(frozen=True)
class ImportSample:
    """One of the first things that would be imported."""

    where: str
    text: str
    moment: datetime | None


@dataclass(frozen=True)
class PreImageRow:
    """A copy of MEMORY.md that OpenClaw took before it rewrote it.

    Args:
        number: To name it by; 1 is the newest.
        created: When it was taken.
        workspace: The folder that it was of.
        characters: How long it is.
        items: How many things it says.
        missing: Those of them that no memory of this workspace says in these words.
    """

    number: int
    created: datetime | None
    workspace: str
    characters: int
    items: int
    missing: tuple[str, ...]


@dataclass(frozen=True)
class PreImages:
    """The copies of MEMORY.md in a database of OpenClaw, the newest first."""

    source: str
    images: tuple[PreImageRow, ...]


@dataclass(frozen=True)
class ImportPreview:
    """What an import would do.

    Args:
        source: What was named.
        form: What it was recognised as.
        name: Under which its notes are kept and its actor is known.
        imported_as: `memories` where each kind becomes what fits it, `episodes` or `proposals`.
        episodes: How many of them are new; of an import as proposals, the proposals.
        notes: How many documents would be kept as notes.
        files: How many files of a workspace would be put back or joined.
        known: How much was imported before, or is there already.
        earliest: The first moment of what is new.
        latest: The last.
        left_out: What is not imported and why; the first 200.
        left_out_count: How much that is.
        samples: The beginnings of the first few.
        complete: Whether everything was looked at, rather than called off midway.
    """

    source: str
    form: str
    name: str
    imported_as: ImportedAs
    episodes: int = 0
    notes: int = 0
    files: int = 0
    known: int = 0
    earliest: datetime | None = None
    latest: datetime | None = None
    left_out: tuple[LeftOut, ...] = ()
    left_out_count: int = 0
    samples: tuple[ImportSample, ...] = ()
    complete: bool = True


@dataclass(frozen=True)
class ImportProgress:
    """How far an import has come.

    Args:
        read: Bytes.
        total: Bytes there are; 0 where nobody knows.
        added: Memories that are stored by now.
        known: What was there already.
    """

    read: int
    total: int
    added: int
    known: int


@dataclass(frozen=True)
class Imported(Changed):
    """What an import did; the commit is its last one.

    Args:
        source: What was named.
        form: What it was recognised as.
        name: As in the preview.
        imported_as: As in the preview.
        added: How many memories, notes, files or proposals are new.
        known: How much was there already.
        commits: All of them, in order.
        proposals: Numbers, where it was imported as proposals.
        complete: Whether nothing is left to import; what is left comes with the next import of the same source.
        left_out: What was not imported and why; the first 200.
        left_out_count: How much that is.
    """

    source: str = ""
    form: str = ""
    name: str = ""
    imported_as: ImportedAs = "memories"
    added: int = 0
    known: int = 0
    commits: tuple[str, ...] = ()
    proposals: tuple[int, ...] = ()
    complete: bool = True
    left_out: tuple[LeftOut, ...] = ()
    left_out_count: int = 0


@dataclass(frozen=True)
class ImportUndone(Changed):
    """What taking an import back did, or would do; `ids` are the commits of the import, newest first.

    Args:
        source: What had been imported.
        removed: How many memories, proposals and files went.
        kept: What stays and why: it was changed or decided on since; the first 200.
        kept_count: How much that is.
        dry_run: Whether nothing was done.
    """

    source: str = ""
    removed: int = 0
    kept: tuple[LeftOut, ...] = ()
    kept_count: int = 0
    dry_run: bool = False


@dataclass(frozen=True)
class ExportProgress:
    """How far an export has come.

    Args:
        done: How many steps are done: files that were read, memories and files that were written.
    """

    done: int
    total: int


@dataclass(frozen=True)
class Exported:
    """What an export wrote.

    Args:
        target: The file or folder; None where lines were handed over.
        files: How many files of the workspace.
        memories: How many lines about memories.
        size_bytes: Of all that was written.
    """

    target: str | None
    files: int
    memories: int
    size_bytes: int
    ok: bool = True
