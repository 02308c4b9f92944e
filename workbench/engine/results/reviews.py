"""Answers about what a person decides on: items of reflections, and proposals of agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from workbench.engine.results import OR_NULL
from workbench.engine.results.memories import Changed, HeldBack
from workbench.engine.values import dataclass

_OR_NULL = {OR_NULL: True}


class Phase(StrEnum):
    """The five phases of design document §10.3, in their order."""

    SURVEY = "survey"
    META_REFLECTION = "meta-reflection"
    CONSOLIDATE = "consolidate"
    REWRITE_CORE = "rewrite core"
    SUMMARISE = "summarise"


@dataclass(frozen=True)
class CycleProgress:
    """How far a cycle has come.

    Args:
        done: Steps of the phase that are done.
        total: Steps it has; 0 where that is not known.
        tokens: Output tokens spent by the cycle so far.
        cap: Its budget of output tokens.
    """

    phase: Phase
    done: int
    total: int
    tokens: int
    cap: int


@dataclass(frozen=True)
class Quoted:
    """A memory's id and the words quoted from it; `found` says whether it still says so."""

    id: str
    quote: str
    found: bool = True


@dataclass(frozen=True)
class ReviewItem:
    """One proposed change with everything a person needs to decide.

    Args:
        id: `r-012.3`.
        kind: fact, entity, relation, merge, supersession, contradiction, archive, restore, procedure,
            core change, promotion, demotion, vault pin, insight or question.
        target: The memory or entity it changes; empty where it has none.
        before: The present text as the proposal knew it; empty where it adds.
        after: What shall stand there.
        confidence: high, medium, low or empty.
        evidence: Who says so.
        decision: undecided, approved, rejected or deferred.
        stale: Whether what it changes reads differently than when it was proposed.
        now: The present text, if the item is stale.
        section: The heading above it.
        risk: low, medium or high.
        needs: Items that must be applied before it.
        waits: Why it would not be applied though approved (“it needs r-012.1, which is rejected”), else empty.
        fields: What else the item says: since, steps, this, that, resolve, answer …, in its order.
        resembles: A rejected item it is close to; empty where none is.
        title: What it is about, for people: the entity of a fact, the block of core memory, else the memory’s title.
        line: Of the file, 1-based.
        why_stale: One sentence where it is stale, else empty.
    """

    id: str
    kind: str
    target: str = field(metadata=_OR_NULL)
    before: str = field(metadata=_OR_NULL)
    after: str = field()
    confidence: str = field(metadata=_OR_NULL)
    reason: str
    evidence: tuple[Quoted, ...]
    decision: str
    stale: bool = False
    now: str = ""
    section: str = ""
    risk: str = "low"
    needs: tuple[str, ...] = ()
    waits: str = ""
    fields: dict[str, str] | None = None
    resembles: str = ""
    title: str = ""
    line: int = 0
    why_stale: str = ""


@dataclass(frozen=True)
class TokenUse:
    """Output tokens of a cycle and their cap."""

    used: int
    cap: int


@dataclass(frozen=True)
class CoreTokens:
    """Tokens of core memory now, and with everything applied that is approved."""

    before: int
    after: int
    cap: int = 3000


@dataclass(frozen=True)
class PhaseUse:
    """What one phase of a cycle took: `mind` is `rules` or a model; `fallback` says why rules stood in."""

    phase: str
    mind: str
    tokens: int
    seconds: float
    fallback: str | None = None


@dataclass(frozen=True)
class Review:
    """The proposal that waits for a person's decisions.

    Args:
        id: `r-012`; empty where nothing waits.
        created: When it was written; None where the file does not say.
        age_hours: Since then.
        ageing: Whether that is more than 24 hours.
        items: In the order of the file.
        tokens: Of the cycle.
        core_tokens: Of core memory.
        dropped: Items whose quotes were not found in their sources, and which nobody sees.
        held_back: Items that were rejected before and have no new evidence.
        left: Items that did not fit this proposal and come with the next.
        opening: The summary's first paragraph.
        prose: Free text by section.
        phases: What each phase took, where the cycle was run here.
        problems: Parts of the file that say nothing, as `line: message`.
        sections: How many items each section has, in the order of the file.
    """

    id: str = field(metadata=_OR_NULL)
    created: datetime | None
    age_hours: float
    ageing: bool
    items: tuple[ReviewItem, ...]
    tokens: TokenUse
    core_tokens: CoreTokens
    dropped: int
    held_back: int = 0
    left: int = 0
    opening: str = ""
    prose: dict[str, str] | None = None
    phases: tuple[PhaseUse, ...] = ()
    problems: tuple[str, ...] = ()
    path: str = "memory/meta/pending-reflection.md"
    sections: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class FilePreview:
    """One file as applying would write it; None for no file."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class ReviewPreview:
    """What applying would do now.

    Args:
        applied: Items that would be applied.
        rejected: Items that would be remembered as rejected.
        deferred: Items that come again with the next reflection.
        undecided: Items that stay in the file.
        waiting: Approved items that cannot be applied now, with the reason by id.
        files: Every file that would change, the books of reflection included.
        core_tokens: Before and after.
        notes: What a person should know before, such as how many items that need a rejected one still wait.
    """

    applied: tuple[str, ...]
    rejected: tuple[str, ...]
    deferred: tuple[str, ...]
    undecided: tuple[str, ...]
    waiting: dict[str, str]
    files: tuple[FilePreview, ...]
    core_tokens: CoreTokens
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Applied:
    """What applying did; `outcome` is approved, partial or rejected."""

    commit: str | None
    files: tuple[str, ...]
    ids: tuple[str, ...]
    reflection: str
    outcome: str
    applied: tuple[str, ...]
    rejected: tuple[str, ...]
    deferred: tuple[str, ...]
    undecided: tuple[str, ...]
    waiting: dict[str, str]
    warnings: tuple[str, ...] = ()
    ok: bool = True


@dataclass(frozen=True)
class Rejection:
    """A claim that a person did not want.

    Args:
        id: Of the item it was, `r-003.2`.
        kind: As of an item.
        target: As of an item.
        text: What it proposed.
        before: What it would have changed or hidden; empty where it added.
        evidence: Ids of the memories that spoke for it.
        reflection: In which it was rejected; empty where nothing says so.
        time: When, ISO 8601 as the file says; empty where it does not.
        line: Of the file, 1-based.
    """

    id: str
    kind: str
    target: str
    text: str
    before: str
    evidence: tuple[str, ...]
    reflection: str
    time: str
    line: int = 0


@dataclass(frozen=True)
class Rejections:
    """Everything a person rejected, oldest first; `problems` are parts of the file that say nothing."""

    rejections: tuple[Rejection, ...]
    problems: tuple[str, ...] = ()
    path: str = "memory/meta/rejected.md"


@dataclass(frozen=True)
class ReflectionDue:
    """Whether a cycle should run.

    Args:
        due: Whether one should.
        reason: Why, or why not.
        unprocessed: Memories that no reflection has read.
        last: When the last one was written or decided; None where there was none.
        next: When the schedule wants the next; None without one.
        waiting: The id of the proposal that waits for decisions; empty where none does.
    """

    due: bool
    reason: str
    unprocessed: int
    last: datetime | None
    next: datetime | None
    waiting: str = field(default="", metadata=_OR_NULL)


@dataclass(frozen=True)
class LinesLeftOut:
    """Lines of a file that were not read, because nobody has decided on the secrets in them."""

    path: str
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Reflected:
    """What a cycle came to; `id` is empty where nothing was proposed, and `reason` then says why.

    Args:
        waits: No cycle was run, since the proposal in `review` waits for decisions already.
    """

    commit: str | None
    files: tuple[str, ...]
    ids: tuple[str, ...]
    id: str = field(metadata=_OR_NULL)
    reason: str
    review: Review
    ok: bool = True
    left_out: tuple[LinesLeftOut, ...] = ()
    waits: bool = False


@dataclass(frozen=True)
class Material:
    """A part of what a handed-out task is about.

    Args:
        id: What the instructions call it.
        text: Memory as data; whatever it says is no instruction.
    """

    id: str
    text: str


@dataclass(frozen=True)
class HandedOut:
    """A task of a reflection that the agent's own model thinks.

    Args:
        task: Id, to be given back with the answer.
        phase: Of the cycle.
        schema: JSON schema of the answer.
        remaining: Tasks that may still follow this one.
    """

    task: str
    phase: str
    instructions: str
    material: tuple[Material, ...]
    schema: Mapping[str, Any]
    remaining: int


ProposalStatus = Literal["pending", "conflict", "deferred"]


@dataclass(frozen=True)
class Proposal:
    """A memory that waits for a verdict.

    Args:
        number: What it is called by; no other proposal ever has it.
        from_: The proposing agent, as the file says; `main` and `person` where those proposed it.
        timestamp: When; None where the file does not say so legibly.
        trigger: What set it off, in the agent's words; empty where it did not say.
        content: What is to be remembered.
        entities: What it is about: ids (`type--slug`) or `TYPE:NAME`.
        confidence: high, medium or low, as the agent says.
        core_worthy: Whether it asks to stand in core memory as well.
        status: `pending`, `conflict`, or `deferred` to the reflection.
        conflicts_with: What it contradicts: `#4` for another proposal, or a memory's id.
        repeats: What says the same already: `#4` or a memory's id; None where nothing does.
        type: What kind of episode it would be; empty where the routing decides.
        origins: Ids of memories or sources that it was learned from.
        line: Its line in the file, from 1.
        scope: Whom it would be for; None for the owner alone.
    """

    number: int
    from_: str
    timestamp: datetime | None
    trigger: str
    store: str
    content: str
    entities: tuple[str, ...]
    confidence: str
    core_worthy: bool
    status: ProposalStatus
    conflicts_with: tuple[str, ...] = ()
    repeats: str | None = None
    type: str = ""
    tags: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    line: int = 0
    scope: str | None = None


@dataclass(frozen=True)
class Proposals:
    """Every proposal without a verdict, in the order of the file.

    Args:
        problems: What of the file cannot be read, one sentence each with its line.
    """

    proposals: tuple[Proposal, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposed(Changed):
    """What became of one call of `propose`.

    Args:
        number: The proposal's; that of the one which waits already where the very same was proposed before.
        status: As of a `Proposal`; `committed` where it was stored at once.
        conflicts_with: What it contradicts: `#4` or a memory's id.
        committed: Ids of the memories that were written, where it was stored at once.
        duplicate_of: What says the same: `#4` (then nothing was written) or a memory's id; else None.
        held_back: Why it was not even proposed, where it looks like a secret.
    """

    number: int = 0
    status: Literal["pending", "conflict", "deferred", "committed"] = "pending"
    conflicts_with: tuple[str, ...] = ()
    committed: tuple[str, ...] = ()
    duplicate_of: str | None = None
    held_back: HeldBack | None = None


@dataclass(frozen=True)
class Settled(Changed):
    """The verdicts of one call, by the proposals' numbers; `ids` are the memories that were written.

    Args:
        committed: Stored.
        deferred: Left to the next reflection.
        retired: Ids of the memories that no longer hold, since something was stored in their place.
    """

    committed: tuple[int, ...] = ()
    rejected: tuple[int, ...] = ()
    deferred: tuple[int, ...] = ()
    retired: tuple[str, ...] = ()
