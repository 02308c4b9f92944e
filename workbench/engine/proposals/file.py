"""Reads the file of proposals as answers, and knows what is waiting in it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.clock import time_or_none
from workbench.engine.documents.memory_proposal import Mark, MemoryProposal
from workbench.engine.documents.pending_memories import PendingMemories
from workbench.engine.results.proposals import Proposal, Proposals
from workbench.engine.scopes import written_scope

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from workbench.engine.history.plan import FileView
    from workbench.engine.results.proposals import ProposalStatus

REPEATS: Final = "Repeats"
TYPE: Final = "Type"
TAGS: Final = "Tags"
ORIGINS: Final = "Origins"
SCOPE: Final = "For"
"""Further fields beside those of design document §13.2; a value that is a list is parted by commas."""


def read_proposals(view: FileView) -> PendingMemories:
    """Return the proposals that wait; none where there is no file."""
    return PendingMemories.parse(view.read(layout.PENDING_MEMORIES) or b"", layout.PENDING_MEMORIES)


def overview(pending: PendingMemories) -> Proposals:
    """Return what waits, as an answer."""
    known = {proposal.number for proposal in pending.proposals}
    return Proposals(
        tuple(_answer(proposal, known) for proposal in pending.proposals),
        tuple(f"{problem.line}: {problem.message} {problem.remedy}" for problem in pending.problems),
    )


def conflicts_of(proposal: MemoryProposal, known: set[int]) -> tuple[str, ...]:
    """Return what a proposal contradicts: others that wait, as `#4`, and memories by id."""
    return (*(f"#{other}" for other in proposal.conflicts if other in known), *proposal.against)


def without(
    pending: PendingMemories,
    numbers: Iterable[int],
    became: Mapping[int, str] = MappingProxyType({}),
    retired: Collection[str] = (),
) -> PendingMemories:
    """Return the file without some proposals, and with what others say about contradicting them set right.

    Args:
        pending: The file.
        numbers: Of what goes.
        became: Of what goes because it was stored, by number: the memory that it became, which others now contradict.
        retired: Ids of memories that no longer hold.
    """
    gone = {*numbers, *became}
    marks = {}
    for proposal in pending.proposals:
        others = tuple(other for other in proposal.conflicts if other not in gone)
        stored = (became[other] for other in proposal.conflicts if other in became)
        holding = (memory for memory in (*proposal.against, *stored) if memory not in retired)
        mark = Mark(others, tuple(dict.fromkeys(holding)))
        if proposal.number not in gone and mark != Mark(proposal.conflicts, proposal.against):
            marks[proposal.number] = mark
    return (pending.mark(marks) if marks else pending).remove(gone)


def listed(text: str) -> tuple[str, ...]:
    """Return the parts of a field that is a list."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _answer(proposal: MemoryProposal, known: set[int]) -> Proposal:
    conflicts = conflicts_of(proposal, known)
    status: ProposalStatus = "deferred" if proposal.is_deferred else "conflict" if conflicts else "pending"
    return Proposal(
        number=proposal.number,
        from_=proposal.sender,
        timestamp=time_or_none(proposal.timestamp),
        trigger=proposal.trigger,
        store=proposal.store,
        content=proposal.content,
        entities=proposal.entities,
        confidence=proposal.confidence,
        core_worthy=proposal.core_worthy,
        status=status,
        conflicts_with=conflicts,
        repeats=proposal.field(REPEATS) or None,
        type=proposal.field(TYPE),
        tags=listed(proposal.field(TAGS)),
        origins=listed(proposal.field(ORIGINS)),
        line=proposal.span.start if proposal.span else 0,
        scope=written_scope(proposal.field(SCOPE)),
    )
