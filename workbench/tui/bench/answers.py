"""The frozen answers that panes draw."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class Status:
    """Where one is, and what waits for a person.

    Args:
        workspace: Name of the folder.
        path: The folder itself.
        role: Whose door this is: `person`, `reader`, …
        now: The engine's time, in the workspace's zone.
        moment: The past moment shown, or None for now.
        alerts: Changes of critical files that nobody has acknowledged.
        to_decide: Review items, proposals without a verdict, and what was held back as a secret.
        notices: What works only in part, one sentence each: a stale index, a file that cannot be read whole.
        reading: Files read and files to read, or None when all have been.
        index: What search may not know yet, in a word or two; empty when its index is up to date.
        importing: How far an import is that runs now, in a word or two; empty where none does.
        cycle: How far a reflection is that runs now, in a word or two; empty where none does.
    """

    workspace: str
    path: str
    role: str
    now: datetime
    moment: datetime | None = None
    alerts: int = 0
    to_decide: int = 0
    notices: tuple[str, ...] = ()
    reading: tuple[int, int] | None = None
    index: str = ""
    importing: str = ""
    cycle: str = ""


@dataclass(frozen=True, slots=True)
class CoreItem:
    """One line of core memory; `id` is `core:<block>:<slug>`, `tokens` counts it as the engine does."""

    id: str
    text: str
    tokens: int = 0
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class CoreBlock:
    """One block of MEMORY.md; `budget` is None for a heading that the layout does not know."""

    name: str
    tokens: int
    budget: int | None
    items: tuple[CoreItem, ...] = ()


@dataclass(frozen=True, slots=True)
class CoreMemory:
    """The whole of core memory against its cap, in tokens."""

    blocks: tuple[CoreBlock, ...]
    tokens: int
    cap: int


@dataclass(frozen=True, slots=True)
class Episode:
    """One thing that happened, or one part of a flat daily log.

    Args:
        id: `episode:…`, or `file:…#L…` for a part of a flat log.
        day: In the workspace's zone.
        time: `14:30`, or empty where the file tells none.
        type: `decision`, `fact`, …; `log` for a part of a flat log.
        confidence: `high`, `medium`, `low`, or empty.
        tags: Without `#`.
        source: `conversation`, `reflection`, …
        text: Everything it says.
        path: Workspace-relative.
        score: 0 to 1, or None where it has none.
        status: `active`, `fading`, `dormant`, `archived`, or empty.
        pinned: Never decays.
        scope: Whom it is for; None for the owner alone.
    """

    id: str
    day: date
    time: str
    type: str
    confidence: str
    tags: tuple[str, ...]
    source: str
    text: str
    path: str
    score: float | None = None
    status: str = ""
    pinned: bool = False
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A way from one memory to another: where it leads, and the words to show for it."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One change of a memory."""

    commit: str
    timestamp: datetime
    actor: str
    approval: str
    summary: str


@dataclass(frozen=True, slots=True)
class Score:
    """How alive a memory is: `value` 0 to 1, `raw` before the cap, its `status`, and the terms of the formula."""

    value: float
    raw: float
    status: str
    terms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory with all that is known about it, as `show` gives it.

    Args:
        links_to: What it names.
        links_from: What names it, and what was learned from it.
        retired: Whether it is a fact or relation that no longer holds.
        scope: Whom it is for; None for the owner alone.
        history: Newest first; None while it has not been looked for, which may take a moment.
    """

    id: str
    store: str
    path: str
    start_line: int
    end_line: int
    text: str
    pinned: bool = False
    score: Score | None = None
    provenance: tuple[str, ...] = ()
    valid_from: str | None = None
    valid_until: str | None = None
    superseded_by: str | None = None
    retired: bool = False
    links_to: tuple[Link, ...] = ()
    links_from: tuple[Link, ...] = ()
    scope: str | None = None
    history: tuple[HistoryEntry, ...] | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line of the audit log: one file changed by one commit; `group` names its action, of so many `commits`."""

    timestamp: datetime
    action: str
    file: str
    actor: str
    approval: str
    summary: str
    commit: str
    group: str = ""
    commits: int = 1


@dataclass(frozen=True, slots=True)
class Alert:
    """A change of a critical file that wants a person's word."""

    id: str
    file: str
    timestamp: datetime
    actor: str
    summary: str
    commit: str
    acknowledged: bool = False


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after; None where it was not there."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One commit of the history with everything it changed."""

    commit: str
    timestamp: datetime
    actor: str
    approval: str
    trigger: str
    summary: str
    files: tuple[FileChange, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an action did; `commit` is None when it changed nothing, `summary` is one sentence for a person."""

    summary: str
    commit: str | None = None
    ids: tuple[str, ...] = ()
