"""What the engine answers: frozen values, and the one rule that turns them into the JSON of the contracts.

Field names are the JSON's keys in snake case; `to_json` writes them in camel case, times as ISO 8601 in
UTC, absent values as null.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from workbench.engine.clock import render_time

if TYPE_CHECKING:
    from collections.abc import Mapping


def to_json(value: object) -> Any:
    """Turn a result into what `json.dumps` takes.

    Args:
        value: A result, or anything made of results, mappings, sequences and scalars.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {camel_case(f.name): to_json(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, datetime):
        return render_time(value)
    if isinstance(value, date):
        return value.isoformat()
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)


def camel_case(name: str) -> str:
    """Turn `start_line` into `startLine`; a trailing underscore (of a reserved word) is dropped."""
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(part.capitalize() for part in rest)


@dataclass(frozen=True)
class Changed:
    """What every mutation answers.

    Args:
        commit: The commit's hash; None where nothing had to change.
        files: Workspace-relative paths that changed.
        ids: The memories concerned.
        warnings: What a person should know, one sentence each.
    """

    commit: str | None
    files: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    ok: bool = True


@dataclass(frozen=True)
class EntityRef:
    """An entity named by a memory."""

    id: str
    type: str
    name: str


@dataclass(frozen=True)
class RelationRef:
    """A relation between two entities by id."""

    from_: str
    relation: str
    to: str


@dataclass(frozen=True)
class HeldBack:
    """Why something was not stored: it waits for a person's decision."""

    reason: str
    detail: str


@dataclass(frozen=True)
class Remembered(Changed):
    """What `remember` did, or would do with `dry_run`.

    Args:
        id: The memory's id.
        store: core, episodic, semantic, procedural or vault.
        path: The file it stands in.
        router: `rules`, `model` or `given`.
        fallback: Why the rules answered though a model is configured, else None.
        core_update: The core item written beside it, or None.
        questions: Near matches of entities that a person should settle.
    """

    id: str = ""
    store: str = ""
    path: str = ""
    router: str = "rules"
    fallback: str | None = None
    tags: tuple[str, ...] = ()
    confidence: str = "high"
    entities: tuple[EntityRef, ...] = ()
    relations: tuple[RelationRef, ...] = ()
    core_update: str | None = None
    summary: str = ""
    held_back: HeldBack | None = None
    questions: tuple[str, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True)
class Match:
    """A memory that a query to forget would concern."""

    id: str
    store: str
    path: str
    snippet: str
    score: float


@dataclass(frozen=True)
class Forgotten:
    """What `forget` found, and whether it was applied."""

    matches: tuple[Match, ...]
    applied: bool
    commit: str | None = None
    files: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    ok: bool = True
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Signals:
    """What each lane of search contributed, 0–1 or None where the lane had nothing to say."""

    vector: float | None
    text: float | None
    graph: float | None
    decay: float | None


@dataclass(frozen=True)
class Hit:
    """One search result; lines are 1-based and inclusive."""

    id: str
    path: str
    start_line: int
    end_line: int
    snippet: str
    score: float
    store: str
    status: str | None
    signals: Signals
    title: str = ""
    date: str | None = None


@dataclass(frozen=True)
class Found:
    """What `search` answers."""

    results: tuple[Hit, ...]
    provider: str
    model: str | None
    fallback: str | None
    likely_absent: bool
    took_ms: float


@dataclass(frozen=True)
class Excerpt:
    """Lines of a memory file; `from_` is the first line's number (1-based)."""

    path: str
    text: str
    from_: int
    lines: int


@dataclass(frozen=True)
class Score:
    """A memory's relevance (design document §9.1).

    Args:
        value: `min(raw, 1)`.
        raw: The formula's result.
        status: active, fading, dormant, archived, or pinned.
        terms: The formula's terms by name.
    """

    value: float
    raw: float
    status: str
    terms: Mapping[str, float | str | bool | None]


@dataclass(frozen=True)
class Validity:
    """When a fact was true."""

    from_: str | None
    until: str | None
    superseded_by: str | None


@dataclass(frozen=True)
class Links:
    """Memories that a memory names, and those that name it."""

    to: tuple[str, ...]
    from_: tuple[str, ...]


@dataclass(frozen=True)
class HistoryEntry:
    """A commit that touched a memory."""

    commit: str
    timestamp: datetime
    actor: str
    approval: str
    summary: str


@dataclass(frozen=True)
class Shown:
    """One memory with all that is known about it."""

    id: str
    store: str
    path: str
    start_line: int
    end_line: int
    text: str
    score: Score | None
    provenance: tuple[str, ...]
    validity: Validity
    links: Links
    history: tuple[HistoryEntry, ...]
    title: str = ""


@dataclass(frozen=True)
class CoreItem:
    """One item of a core block."""

    id: str
    text: str
    pinned: bool


@dataclass(frozen=True)
class CoreBlock:
    """One block of core memory; `budget` is None for a block beyond the four."""

    name: str
    tokens: int
    budget: int | None
    items: tuple[CoreItem, ...]
    body: str = ""


@dataclass(frozen=True)
class CoreView:
    """Core memory with its token budget."""

    blocks: tuple[CoreBlock, ...]
    tokens: int
    cap: int
    path: str = "MEMORY.md"


@dataclass(frozen=True)
class DecayEntry:
    """One memory's score and what it is made of; `value` at forecast days is in `forecast`."""

    id: str
    store: str
    base: float
    type_weight: float | None
    access_count: int
    created: datetime
    last_accessed: datetime
    pinned: bool
    raw: float | None
    score: float
    status: str
    title: str = ""
    forecast: Mapping[str, float] | None = None
    would_be: str | None = None


@dataclass(frozen=True)
class DecayView:
    """All scores at a moment; `lambda_` per day."""

    now: datetime
    lambda_: float
    entries: tuple[DecayEntry, ...]


@dataclass(frozen=True)
class GraphNode:
    """An entity in a neighbourhood; `hop` 0 is the centre."""

    id: str
    type: str
    label: str
    score: float
    hop: int


@dataclass(frozen=True)
class GraphEdge:
    """A relation in a neighbourhood."""

    from_: str
    relation: str
    to: str
    confidence: str
    first_seen: str | None
    last_accessed: str | None


@dataclass(frozen=True)
class GraphFact:
    """A fact of the centre entity."""

    id: str
    text: str
    provenance: tuple[str, ...]
    validity: Validity


@dataclass(frozen=True)
class GraphView:
    """A neighbourhood, or the whole graph where `center` is None."""

    center: str | None
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    facts: tuple[GraphFact, ...] = ()
    summary: str = ""


@dataclass(frozen=True)
class AuditEntry:
    """One line of the audit log."""

    timestamp: datetime
    action: str
    file: str
    actor: str
    approval: str
    summary: str
    commit: str | None


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
    """What `audit verify` found."""

    ok: bool
    problems: tuple[VerifyProblem, ...]
    commits: int
    entries: int


@dataclass(frozen=True)
class Brief:
    """What an agent needs at the start of a session."""

    core: str
    tokens: int
    cap: int
    alerts: tuple[Alert, ...]
    proposals_waiting: int
    reflection_due: bool
    unprocessed_episodes: int
    notices: tuple[str, ...]


@dataclass(frozen=True)
class Check:
    """One line of `doctor`: `state` is ok, degraded or broken."""

    name: str
    state: str
    detail: str
    remedy: str | None = None


@dataclass(frozen=True)
class Diagnosis:
    """What works here, what is degraded and how to mend it."""

    ok: bool
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class TimelineEntry:
    """One episode, or one stretch of a flat daily log, on the timeline.

    Args:
        day: `2026-02-02` in the workspace's zone.
        time: `14:30`, or None where the log does not say.
        kind: `episode` or `log`.
    """

    id: str
    day: str
    time: str | None
    kind: str
    type: str
    confidence: str
    source: str
    tags: tuple[str, ...]
    title: str
    path: str
    start_line: int
    end_line: int
    text: str
    status: str | None = None
    score: float | None = None


@dataclass(frozen=True)
class Timeline:
    """Entries newest first; `next` is the cursor of the following page, None at the end."""

    entries: tuple[TimelineEntry, ...]
    next: str | None
    total: int


@dataclass(frozen=True)
class MessageOutcome:
    """What a message asked of memory and what was done.

    Args:
        kind: remember, forget, reflect, recall or none.
        applied: Whether anything was changed.
    """

    kind: str
    phrase: str | None
    content: str | None
    applied: bool
    remembered: Remembered | None = None
    forgotten: Forgotten | None = None
    found: Found | None = None


@dataclass(frozen=True)
class FileVersion:
    """A tracked file as it was at a moment."""

    path: str
    size: int
    text: str | None = None


@dataclass(frozen=True)
class Moment:
    """Memory as it was: the newest commit not later than a time."""

    time: datetime
    commit: str | None
    timestamp: datetime | None
    files: tuple[FileVersion, ...]


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
class CommitView:
    """One commit with everything that accounts for it."""

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
