"""Answers about who changed what, and memory as it was."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from workbench.engine.results.json_shape import OR_NULL
from workbench.engine.results.memories import Score


@dataclass(frozen=True)
class AuditEntry:
    """One line of the audit log.

    Args:
        group: The first commit of the action that it belongs to; entries of one action have the same.
        action_commits: How many commits that action has.
    """

    timestamp: datetime
    action: str
    file: str
    actor: str
    approval: str
    summary: str
    commit: str | None
    group: str | None = None
    action_commits: int = 1


@dataclass(frozen=True)
class AuditLog:
    """Audit entries, newest first."""

    entries: tuple[AuditEntry, ...]


@dataclass(frozen=True)
class Alert:
    """A change of a critical file that a person has to see."""

    id: str
    file: str
    timestamp: datetime
    actor: str
    summary: str
    diff: str
    acknowledged: bool
    commit: str | None = None


@dataclass(frozen=True)
class NextStep:
    """What undo or redo would do.

    Args:
        commit: The first of the action.
        by: Whose it is, in words.
        timestamp: When it was done.
        summary: What it did.
        own: Whether it is the asker's.
    """

    commit: str
    by: str
    timestamp: datetime
    summary: str
    own: bool


@dataclass(frozen=True)
class NextSteps:
    """What undo, undo of one's own and redo would do; None where there is nothing."""

    undo: NextStep | None = None
    own: NextStep | None = None
    redo: NextStep | None = None


@dataclass(frozen=True)
class Alerts:
    """All alerts, newest first."""

    alerts: tuple[Alert, ...]


@dataclass(frozen=True)
class VerifyProblem:
    """A place where audit log, history and files disagree."""

    kind: str
    where: str
    detail: str


@dataclass(frozen=True)
class Verified:
    """What `audit verify` found; the files in `waiting` differ because nobody has decided on the secrets in them."""

    ok: bool
    problems: tuple[VerifyProblem, ...]
    commits: int
    entries: int
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True)
class VerifyProgress:
    """How far `audit verify` has come; `total` is 0 where nobody knows it yet."""

    phase: str
    done: int
    total: int


@dataclass(frozen=True)
class BlameLine:
    """Who wrote a line, and when."""

    line: int
    text: str
    commit: str
    actor: str
    timestamp: datetime


@dataclass(frozen=True)
class Blame:
    """A file's lines with who wrote each."""

    path: str
    lines: tuple[BlameLine, ...]


@dataclass(frozen=True)
class FileDiff:
    """How one file differs between two commits; `before` and `after` are None where there was no file."""

    path: str
    before: str | None
    after: str | None
    unified: str


@dataclass(frozen=True)
class DiffView:
    """What changed between two commits."""

    from_: str | None
    to: str
    files: tuple[FileDiff, ...]


@dataclass(frozen=True)
class ActionCommit:
    """One of the commits that make up an action."""

    commit: str
    timestamp: datetime
    subject: str


@dataclass(frozen=True)
class CommitView:
    """One commit with everything that accounts for it; `action` lists all commits of its action, newest first."""

    commit: str
    timestamp: datetime
    actor: str
    approval: str
    trigger: str
    subject: str
    files: tuple[str, ...]
    entries: tuple[AuditEntry, ...]
    trailers: tuple[tuple[str, str], ...]
    undone_by: str | None = None
    action: tuple[ActionCommit, ...] = ()


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
