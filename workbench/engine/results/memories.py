"""Answers about memories: stored, found, shown, forgotten; core memory; secrets held back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING

from workbench.engine.results import NOT_IN_JSON
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.results.audit import Changes, WayBack, WhyForgotten
    from workbench.engine.results.decay import Fall
    from workbench.engine.results.recall import Found
    from workbench.engine.results.reviews import Reflected


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
        path: The file that holds it.
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
    """What `forget` found, and whether it was applied.

    Args:
        hard: Whether they are deleted from disk rather than archived.
        router: Who named what is meant: `given` with the call; for a message, `rules` or `model`.
        fallback: Why the rules named it though a model is configured, else None.
    """

    matches: tuple[Match, ...]
    applied: bool
    commit: str | None = None
    files: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    ok: bool = True
    warnings: tuple[str, ...] = ()
    hard: bool = False
    router: str = "given"
    fallback: str | None = None


@dataclass(frozen=True)
class MessageOutcome:
    """What a message asked of memory and what was done.

    Args:
        kind: remember, forget, reflect, recall, changes, learned, why-forgotten, go-back or none.
        applied: Whether anything was changed.
        permanently: Whether deletion from disk was asked for.
        note: What a person should know before they confirm, or why nothing is offered or kept; else
            None.
        changes: What changed, or what was learned.
        why_forgotten: Why something is not recalled any more.
        way_back: What going back would undo; never done by a message.
    """

    kind: str
    phrase: str | None
    content: str | None
    applied: bool
    remembered: Remembered | None = None
    forgotten: Forgotten | None = None
    found: Found | None = None
    reflected: Reflected | None = None
    permanently: bool = False
    note: str | None = None
    changes: Changes | None = None
    why_forgotten: WhyForgotten | None = None
    way_back: WayBack | None = None


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
    """A commit that touched a memory.

    Args:
        undone: Whether it was taken back and not done again since, or took such a one back.
        owner: Who did it, as of an action; empty where that is not known.
    """

    commit: str
    timestamp: datetime
    actor: str
    approval: str
    summary: str
    undone: bool = field(default=False, metadata={NOT_IN_JSON: True})
    owner: str = field(default="", metadata={NOT_IN_JSON: True})


@dataclass(frozen=True)
class Shown:
    """One memory with all that is known about it.

    Args:
        scope: Whom it is for; None for the owner alone.
        retired: Whether it is a fact or relation that no longer holds.
    """

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
    scope: str | None = None
    retired: bool = False


@dataclass(frozen=True)
class Saying:
    """Words that a memory rests on.

    Args:
        id: The memory, or the line of a transcript, that they stand in.
        quote: The words, secrets on which nobody has decided masked.
        path: The file that holds them; a transcript's may lie outside the workspace.
        line: Their first line there, 1-based.
        speaker: Who said so: the role in the transcript, `user` of an entry that the person asked for; None where
            nothing tells.
        moment: When; None where nothing tells.
        session: The key of the session that they were said in; None where it was none.
    """

    id: str
    quote: str
    path: str | None
    line: int
    speaker: str | None = None
    moment: datetime | None = None
    session: str | None = None


@dataclass(frozen=True)
class Written:
    """The commit that wrote a memory's present words.

    Args:
        trigger: What caused it, in one line; None where nobody said.
    """

    commit: str
    timestamp: datetime
    actor: str
    approval: str
    summary: str
    trigger: str | None = None


@dataclass(frozen=True)
class Why:
    """Why a memory is believed, what uses it, and when it fades.

    Args:
        basis: What it rests on: `words` in `said`; the `commit` in `written`; `adoption`, where that is the commit
            the history begins with; `file`, where no commit has it.
        said: The words, those of a transcript before those of the memory drawn from it.
        told: Words for a source that is no memory, such as `user-explicit`.
        lost: Sources that cannot be read any more.
        more: How many sources were not looked into.
        used_by: Ids of the memories that name it.
        status: Of its score; None where it has none.
        falls: Every threshold that it passes from now on if nobody touches it; of a fact, its entity's.
        reworded: Where a fact rests on words: the last change of its own since it was learned from them, or None.
    """

    id: str
    title: str
    basis: str
    said: tuple[Saying, ...]
    told: tuple[str, ...]
    lost: tuple[str, ...]
    more: int
    written: Written | None
    used_by: tuple[str, ...]
    status: str | None
    falls: tuple[Fall, ...]
    reworded: Written | None = None


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One episode, or one stretch of a flat daily log, on the timeline.

    Args:
        day: `2026-02-02` in the workspace's zone.
        time: `14:30`, or None where the log does not say.
        kind: `episode` or `log`.
        scope: Whom it is for; None for the owner alone.
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
    scope: str | None = None


@dataclass(frozen=True)
class Timeline:
    """Entries newest first; `next` is the cursor of the following page, None at the end."""

    entries: tuple[TimelineEntry, ...]
    next: str | None
    total: int


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
class LooseItem:
    """An item of core memory that could leave it, and the tokens that would be free then."""

    id: str
    text: str
    tokens: int


@dataclass(frozen=True)
class CoreView:
    """Core memory with its token budget.

    Args:
        could_go: Of a preview in which a block passes its budget, or the whole its cap: what could go, the least
            relevant first.
    """

    blocks: tuple[CoreBlock, ...]
    tokens: int
    cap: int
    path: str = "MEMORY.md"
    could_go: tuple[LooseItem, ...] = ()

    @property
    def tokens_outside(self) -> int:
        """Return the tokens in no block: the title of the file, and what stands between that and the first block."""
        return max(0, self.tokens - sum(block.tokens for block in self.blocks))


@dataclass(frozen=True)
class HeldMemory:
    """Something that was not stored since it looks like a secret.

    Args:
        number: To decide on it by.
        text: What should be remembered, or the line that somebody wrote, the secrets left out.
        asked: `remember`, `propose`, or `edit` for what was written into a file from outside.
        role: Of the door that asked; `outside` for an edit.
        kinds: What was found, for example `GitHub token`.
        digests: Under which they can be allowed.
        store: The store that was asked for, if any.
        scope: Whom it would be for besides the owner, if anybody.
        path: The file of an edit, else empty.
        line: Of the secret in it, 1-based, when it was found.
        left_out: Whether that file stays out of history; else a placeholder replaces the secret.
    """

    number: int
    text: str
    asked: str
    role: str
    timestamp: datetime
    kinds: tuple[str, ...]
    digests: tuple[str, ...]
    store: str | None = None
    scope: str | None = None
    path: str = ""
    line: int | None = None
    left_out: bool = False


@dataclass(frozen=True)
class HeldSecret:
    """The words of something that was held back, with the secret in them: for a person’s eyes."""

    number: int
    text: str


@dataclass(frozen=True)
class HeldBackList:
    """Everything that waits for a person's decision because it looks like a secret."""

    held: tuple[HeldMemory, ...]


@dataclass(frozen=True)
class SecretPlace:
    """Where a memory file holds what looks like a secret.

    Args:
        path: Workspace-relative.
        line: 1-based.
        kind: What it looks like.
        digest: Under which it can be allowed.
        allowed: Whether it is.
    """

    path: str
    line: int
    kind: str
    digest: str
    allowed: bool


@dataclass(frozen=True)
class SecretScan:
    """What looks like a secret in the memory files, and how many files were looked at."""

    places: tuple[SecretPlace, ...]
    files: int
