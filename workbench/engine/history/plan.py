"""Planned changes: the files to write, their attribution, and what may be taken in of an outside edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from workbench.engine.values import dataclass

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
U = TypeVar("U")


class Action(StrEnum):
    """The actions of the audit log (design document §12.4, with DESIGN's additions)."""

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
    SYNC = "SYNC"


@dataclass(frozen=True)
class Attribution:
    """Who changes something, with whose approval, and why.

    Args:
        actor: A tag of design document §12.3, for example `bot:trigger-remember` or `manual`.
        approval: `auto`, `approved`, `pending` or `—`.
        trigger: One line, for example `user said “remember …”`.
        asker: The owner of the action for later undoing: the requesting role, with the actor that a person named
            (`person as skill:backup`); empty if nobody asked.
        may_touch_critical: Whether they have a person's right to change critical files and to decide.
        may_write_vault: Whether they may change notes of the vault.
    """

    actor: str
    approval: str = "auto"
    trigger: str = "—"
    asker: str = ""
    may_touch_critical: bool = False
    may_write_vault: bool = True


@dataclass(frozen=True)
class FileChange:
    """The new content of one file.

    Args:
        path: Workspace-relative POSIX path of a tracked file.
        content: The whole new content, or None to delete the file.
        action: Its action in the audit log.
        summary: The audit line's summary, one line.
        by_actor: Actor and summary of each line, where several actors changed it; an empty actor is the commit's.
    """

    path: str
    content: bytes | None
    action: Action
    summary: str
    by_actor: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Event:
    """An audit line without a file change, such as an alert or an acknowledgement; an empty actor is the commit's."""

    action: Action
    file: str
    summary: str
    actor: str = ""


@dataclass(frozen=True)
class Plan(Generic[T_co]):
    """All changes of one user-level action, and its answer.

    Args:
        action: The action of the commit's subject.
        file: The file of the subject, or a pattern such as `memory/graph/entities/*`.
        summary: The subject's summary, one line.
        changes: The files. A plan with neither changes nor events makes no commit.
        events: Audit lines without a file change.
        trailers: Further trailers of the commit, for example `("Reverts", "abc1234")`.
        outcome: The answer for the caller.
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
    """The tracked files as a planner sees them; its reads are checked before its plan is carried out."""

    def read(self, path: str) -> bytes | None:
        """Return a file's content, or None if there is no such file."""
        ...

    def list(self, folder: str) -> list[str]:
        """Return the tracked paths below a folder, sorted."""
        ...


Planner = Callable[[FileView], Plan[T]]


@dataclass(frozen=True)
class Receipt(Generic[T_co]):
    """Proof that a plan was carried out.

    Args:
        commit: The commit's full hash, or None if the plan changed nothing.
        files: The changed paths.
        outcome: The plan's answer.
        adopted: Commits of outside edits adopted first.
    """

    commit: str | None
    files: tuple[str, ...]
    outcome: T_co
    adopted: tuple[str, ...] = ()


@dataclass(frozen=True)
class OutsideEdit:
    """A file edited from outside.

    Args:
        after: The content on disk.
        before: Returns the content in history, or None.
    """

    path: str
    after: bytes
    before: Callable[[], bytes | None]


@dataclass(frozen=True)
class Screened:
    """The part of an edited file that history may keep.

    Args:
        content: What is committed and, if it differs, what replaces the file; None leaves the file unchanged
            and out of history.
        told: What was held back, and who decides.
    """

    content: bytes | None
    told: str


# Checks edits; returns by path what is held back. Replaced content has already been saved elsewhere.
Screen = Callable[[Sequence[OutsideEdit]], Mapping[str, Screened]]


def screen_nothing(_edits: Sequence[OutsideEdit]) -> Mapping[str, Screened]:
    """Accept all edits."""
    return {}


def common_pattern(paths: list[str]) -> str:
    """Return the path of one file, or a pattern for the common folder of several."""
    if len(paths) == 1:
        return paths[0]
    shared: list[str] = []
    for parts in zip(*(path.split("/")[:-1] for path in paths), strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "/".join([*shared, "*"])
