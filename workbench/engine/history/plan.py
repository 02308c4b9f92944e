"""What a change is before it happens: the files it wants to write and how it is accounted for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
U = TypeVar("U")


class Action(StrEnum):
    """The vocabulary of the audit log (design document §12.4, with DESIGN's additions)."""

    CREATE = "CREATE"
    EDIT = "EDIT"
    APPEND = "APPEND"
    DELETE = "DELETE"
    ARCHIVE = "ARCHIVE"
    MERGE = "MERGE"
    REVERT = "REVERT"
    DECAY = "DECAY"
    RENAME = "RENAME"
    ALERT = "ALERT"
    ACK = "ACK"
    PROPOSE = "PROPOSE"
    COMMIT = "COMMIT"
    REJECT = "REJECT"
    RESTORE = "RESTORE"
    PIN = "PIN"
    UNPIN = "UNPIN"
    PRUNE = "PRUNE"
    PURGE = "PURGE"


@dataclass(frozen=True)
class Attribution:
    """Who changes something, on whose approval, and what set it off.

    Args:
        actor: A tag of design document §12.3, for example `bot:trigger-remember` or `manual`.
        approval: `auto`, `approved`, `pending` or `—`.
        trigger: One line, for example `user said “remember …”`.
        asker: Whose the action is, for those who take it back: the role of the door that was asked, with the actor
            that a person named (`person as skill:backup`); empty where nobody asked.
    """

    actor: str
    approval: str = "auto"
    trigger: str = "—"
    asker: str = ""


@dataclass(frozen=True)
class FileChange:
    """One file as it shall be.

    Args:
        path: Workspace-relative POSIX path of a tracked file.
        content: The whole new content, or None to delete the file.
        action: What the audit log calls it.
        summary: The audit line's summary, one line.
    """

    path: str
    content: bytes | None
    action: Action
    summary: str


@dataclass(frozen=True)
class Event:
    """An audit line that goes with no change of a file, such as an alert or an acknowledgement."""

    action: Action
    file: str
    summary: str


@dataclass(frozen=True)
class Plan(Generic[T_co]):
    """Everything one user-level action changes, and what it answers when it stands.

    Args:
        action: The action of the commit's subject.
        file: The file of the subject, or a pattern such as `memory/graph/entities/*`.
        summary: The subject's summary, one line.
        changes: The files. A plan with neither changes nor events makes no commit.
        events: Audit lines without a file change.
        trailers: Further trailers of the commit, for example `("Reverts", "abc1234")`.
        outcome: What the caller wants to know.
    """

    action: Action
    file: str
    summary: str
    changes: tuple[FileChange, ...] = ()
    events: tuple[Event, ...] = ()
    trailers: tuple[tuple[str, str], ...] = ()
    outcome: T_co = field(default=None)  # type: ignore[assignment]  # a plan without an answer is a Plan[None]

    def answering(self, outcome: U) -> Plan[U]:
        """Return the same plan with another outcome."""
        return Plan(
            self.action, self.file, self.summary, self.changes, self.events, self.trailers, outcome=outcome
        )


class FileView(Protocol):
    """The tracked files as a planner sees them; what it reads is checked before its plan is carried out."""

    def read(self, path: str) -> bytes | None:
        """Return a file's content, or None where there is no such file."""
        ...

    def list(self, folder: str) -> list[str]:
        """Return the tracked paths below a folder, sorted."""
        ...


Planner = Callable[[FileView], Plan[T]]


@dataclass(frozen=True)
class Receipt(Generic[T_co]):
    """Proof that a plan was carried out.

    Args:
        commit: The commit's full hash, or None where the plan changed nothing.
        files: The changed paths.
        timestamp: When, in UTC.
        outcome: The plan's own.
        adopted: Commits of outside edits that had to be taken in first.
    """

    commit: str | None
    files: tuple[str, ...]
    timestamp: datetime
    outcome: T_co
    adopted: tuple[str, ...] = ()
