"""Answers about memory as it was."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from workbench.engine.results.json_shape import OR_NULL
from workbench.engine.results.memories import Score

_OR_NULL = {OR_NULL: True}


@dataclass(frozen=True)
class HistoryLine:
    """Every commit on the way from the first to the newest, oldest first; all columns are equally long.

    Args:
        commits: Full hashes.
        seconds: When each was made, seconds since 1970 in UTC; may step back where a clock was set back.
        actors: Who made each: `manual`, `bot:main`, `reflection:r-012`, `system:decay`, …
    """

    commits: tuple[str, ...]
    seconds: tuple[int, ...]
    actors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PastFile:
    """A tracked file as it was; `blob` is git's hash of its content."""

    path: str
    size: int
    blob: str
    text: str | None = None


@dataclass(frozen=True)
class Moment:
    """Memory as it was: the newest commit not later than a time.

    Args:
        time: What was asked for.
        commit: None where everything is later.
        timestamp: When the commit was made.
        actor: Who made it.
        summary: What it did.
    """

    time: datetime
    commit: str | None
    timestamp: datetime | None
    files: tuple[PastFile, ...]
    actor: str = field(default="", metadata=_OR_NULL)
    summary: str = field(default="", metadata=_OR_NULL)


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """How one memory differs between two moments.

    Args:
        change: added, changed, removed or scored (its text is the same, its pin or archiving is not).
        before: Its text at the earlier moment; None where it was not there.
        after: Its text at the later moment; None where it is not there.
    """

    id: str
    store: str
    path: str
    title: str
    change: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class FileChanged:
    """How one file differs between two moments: added, changed or removed."""

    path: str
    change: str


@dataclass(frozen=True)
class Comparison:
    """What is different at a later moment; `to` is None where that is the files as they are now.

    Args:
        memories: In the order core, episodic, semantic, procedural, vault, other files.
    """

    from_: str | None
    to: str | None
    files: tuple[FileChanged, ...]
    memories: tuple[MemoryChange, ...]


@dataclass(frozen=True)
class Copied:
    """What was written out of a commit into a folder of its own."""

    commit: str
    folder: str
    files: int
    bytes: int


@dataclass(frozen=True)
class PastScores:
    """Scores at a moment in the past, by the constants as they are now."""

    commit: str
    timestamp: datetime
    scores: tuple[PastScore, ...]


@dataclass(frozen=True, slots=True)
class PastScore:
    """A memory's score at a moment in the past."""

    id: str
    store: str
    title: str
    score: Score
