"""Answers about proposals: what agents ask to be remembered, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from workbench.engine.results.memories import Changed, HeldBack

ProposalStatus = Literal["pending", "conflict", "deferred"]


@dataclass(frozen=True)
class Proposal:
    """A memory that waits for a verdict.

    Args:
        number: What it is called by; no other proposal ever has it.
        from_: The proposing agent, as the file says; `main` and `person` where those proposed it.
        timestamp: When; None where the file does not say so legibly.
        trigger: What set it off, in the agent's words; empty where it did not say.
        store: The suggested store.
        content: What is to be remembered.
        entities: What it is about: ids (`type--slug`) or `TYPE:NAME`.
        confidence: high, medium or low, as the agent says.
        core_worthy: Whether it asks to stand in core memory as well.
        status: `pending`, `conflict`, or `deferred` to the reflection.
        conflicts_with: What it contradicts: `#4` for another proposal, or a memory's id.
        repeats: What says the same already: `#4` or a memory's id; None where nothing does.
        type: What kind of episode it would be; empty where the routing decides.
        tags: Topical tags.
        origins: Ids of memories or sources that it was learned from.
        line: Where it stands in the file, from 1.
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
        rejected: Refused.
        deferred: Left to the next reflection.
        retired: Ids of the memories that no longer hold, since something was stored in their place.
    """

    committed: tuple[int, ...] = ()
    rejected: tuple[int, ...] = ()
    deferred: tuple[int, ...] = ()
    retired: tuple[str, ...] = ()
