"""Answers about who changed what, and memory as it was."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


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
