"""`memory/meta/pending-memories.md`: what sub-agents propose (design document §13.2, §13.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.documents.problems import Problem
    from workbench.engine.documents.source import LineSpan, SourceText


@dataclass(frozen=True, slots=True)
class MemoryProposal:
    """One proposal.

    Args:
        number: From 1; 0 in one that is still to be appended.
        sender: The proposing agent (`From`).
        timestamp: ISO 8601 as written.
        store: The suggested store.
        status: `pending`, or as written: `conflict — see #4`, `deferred`.
        conflicts: Numbers of the proposals that the heading or the status names.
        fields: Further fields, names as written.
    """

    sender: str
    content: str
    timestamp: str = ""
    trigger: str = ""
    store: str = ""
    entities: tuple[str, ...] = ()
    confidence: str = ""
    core_worthy: bool = False
    status: str = "pending"
    number: int = 0
    conflicts: tuple[int, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    span: LineSpan | None = None


@dataclass(frozen=True)
class PendingMemories:
    """All proposals in the file's order. Edits return a new one and raise `NotFound` for an unknown number."""

    path: str
    source: SourceText
    proposals: tuple[MemoryProposal, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/pending-memories.md") -> PendingMemories:
        """Read the file. Any bytes will do."""
        raise NotImplementedError

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def proposal(self, number: int) -> MemoryProposal | None:
        """Find a proposal by its number."""
        raise NotImplementedError

    def append(self, proposal: MemoryProposal, *, number: int | None = None) -> PendingMemories:
        """Append a proposal (it is `proposals[-1]` of the result), whatever its texts hold.

        Args:
            number: Its number; the next free one where None.
        """
        raise NotImplementedError

    def set_status(self, number: int, status: str) -> PendingMemories:
        """Change a proposal's status line."""
        raise NotImplementedError

    def flag_conflict(self, numbers: Iterable[int]) -> PendingMemories:
        """Mark proposals as contradicting each other, in heading and status (§13.6)."""
        raise NotImplementedError

    def clear_conflict(self, number: int) -> PendingMemories:
        """Take the mark of a conflict off a proposal's heading and set its status to pending."""
        raise NotImplementedError

    def remove(self, numbers: Iterable[int]) -> PendingMemories:
        """Remove proposals with the rule before them."""
        raise NotImplementedError
