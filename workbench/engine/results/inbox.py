"""Answers about all that waits for a person, about writing it, and about what reflections came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from workbench.engine.results.audit import MemoryChange
from workbench.engine.results.memories import Changed, CoreView, HeldMemory
from workbench.engine.results.reviews import FilePreview, Proposal, Review

ProposalChoice = Literal["accept", "decline", "aside", "both"]
SecretChoice = Literal["keep", "without", "drop"]


@dataclass(frozen=True)
class ProposalTick:
    """What is considered of a proposal, and becomes so with the next writing.

    Args:
        choice: `accept` stores it, `decline` refuses it, `aside` leaves it to the next reflection, `both` stores it
            beside what it contradicts.
        replacing: Ids of the memories that it takes the place of.
        store: Where it is stored, instead of where it was suggested.
        text: What is stored, instead of what was proposed.
    """

    choice: ProposalChoice
    replacing: tuple[str, ...] = ()
    store: str | None = None
    text: str | None = None


@dataclass(frozen=True)
class SecretTick:
    """What is considered of a secret that was held back.

    Args:
        choice: `keep` stores it and allows it from then on, `without` stores the rest, `drop` erases it.
        store: Where it is stored, instead of where it was asked for.
    """

    choice: SecretChoice
    store: str | None = None


@dataclass(frozen=True)
class Inbox:
    """All that waits for a person.

    Args:
        review: What a reflection proposes; its ticks are the decisions of its items.
        proposals: What agents propose; two that contradict each other, and nothing else, are decided on together.
        held: What was held back as a secret.
        proposal_ticks: By number.
        secret_ticks: By number.
        set_aside: Ids of items, and numbers of proposals as `#4`, that were set aside until the next reflection and
            are not ticked anew; they do not wait.
        waiting: How many decisions wait to be written, ticked or not.
        problems: What of the file of proposals cannot be read.
    """

    review: Review
    proposals: tuple[tuple[Proposal, ...], ...]
    held: tuple[HeldMemory, ...]
    proposal_ticks: Mapping[int, ProposalTick]
    secret_ticks: Mapping[int, SecretTick]
    set_aside: frozenset[str]
    waiting: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class InboxPreview:
    """What writing would do now. Items are named by their id, proposals as `#4`, secrets by their number.

    Args:
        accepted: Items that would be applied and proposals that would be stored.
        declined: Those that would be declined, and not proposed again.
        set_aside: Those that would be left to the next reflection.
        kept: Secrets that would be stored, and allowed from then on.
        without: Those that would be stored with the secret left out.
        erased: Those that would be erased, which nothing brings back.
        waiting: What is ticked and cannot be written now, with the reason.
        memories: How each memory would read, secrets left out.
        files: Every file that would change but for secrets, the books of reflection included.
        core_before: Core memory as it is.
        core_after: Core memory as it would be.
    """

    accepted: tuple[str, ...]
    declined: tuple[str, ...]
    set_aside: tuple[str, ...]
    kept: tuple[int, ...]
    without: tuple[int, ...]
    erased: tuple[int, ...]
    waiting: Mapping[str, str]
    memories: tuple[MemoryChange, ...]
    files: tuple[FilePreview, ...]
    core_before: CoreView
    core_after: CoreView

    @property
    def is_empty(self) -> bool:
        """Return True if nothing would be written."""
        return not (
            self.accepted or self.declined or self.set_aside or self.kept or self.without or self.erased
        )


@dataclass(frozen=True)
class Written(Changed):
    """What writing did, in one action; `commit` is its first commit. Named as in the preview.

    Args:
        waiting: What was ticked and could not be written, with the reason.
    """

    accepted: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    kept: tuple[int, ...] = ()
    without: tuple[int, ...] = ()
    erased: tuple[int, ...] = ()
    waiting: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PastItem:
    """What was decided on one item of a past reflection.

    Args:
        decision: approved, rejected or deferred.
        kind: As of a review item; empty where the record does not say.
        target: The memory or entity it changed; empty where it had none.
        text: What it proposed, its beginning.
    """

    id: str
    decision: str
    kind: str
    target: str
    text: str


@dataclass(frozen=True)
class PastReflection:
    """A reflection on which something was decided.

    Args:
        id: `r-012`.
        written: When something of it was written last; None where nothing says so.
        applied: How many of its items were written.
        declined: How many were declined.
        items: What was decided on, as far as its record says.
        summary: What else its record says.
        commits: Of what it changed, newest first; none where history does not reach back so far.
        taken_back: When all of it was taken back; None where it stands.
        taken_back_by: Who did, in words.
    """

    id: str
    written: datetime | None
    applied: int
    declined: int
    items: tuple[PastItem, ...] = ()
    summary: str = ""
    commits: tuple[str, ...] = ()
    taken_back: datetime | None = None
    taken_back_by: str = ""


@dataclass(frozen=True)
class PastReflections:
    """Every past reflection, newest first."""

    reflections: tuple[PastReflection, ...]
