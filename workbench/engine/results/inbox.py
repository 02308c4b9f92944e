"""Answers about all that waits for a person, about writing it, and about what reflections came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime
from typing import Literal

from workbench.engine.results.audit import MemoryChange
from workbench.engine.results.memories import Changed, CoreView, HeldMemory
from workbench.engine.results.reviews import FilePreview, Proposal, Review
from workbench.engine.values import dataclass

ProposalChoice = Literal["accept", "decline", "aside", "both"]
SecretChoice = Literal["keep", "without", "drop"]
ConflictChoice = Literal["this", "that", "both"]


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
class DeviceVersion:
    """What one device made of something that another one changed too.

    Args:
        text: Its text; None if it was deleted there.
        device: The device, by its name.
        timestamp: When that device last changed anything before the two were joined.
    """

    text: str | None
    device: str
    timestamp: datetime


@dataclass(frozen=True)
class SyncConflict:
    """What two devices changed differently.

    Args:
        id: `c-` and hex digits.
        path: The file.
        unit: What of it, by its name; empty for the whole file.
        before: Its text before both changes; None if there was none.
        this: What is in the file until the decision.
        that: What waits.
        reason: Why a person is asked, in words.
        may_keep_both: Whether both can stand beside each other.
        stale: Whether the file was changed again since, so that it has to be written by hand.
        line: Where it is in the file, from 1.
    """

    id: str
    path: str
    unit: str
    before: str | None
    this: DeviceVersion
    that: DeviceVersion
    reason: str
    may_keep_both: bool
    stale: bool
    line: int = 1

    @property
    def older(self) -> DeviceVersion:
        """Return the version of the device that changed anything first."""
        return self.that if self.that.timestamp < self.this.timestamp else self.this

    @property
    def newer(self) -> DeviceVersion:
        """Return the other version."""
        return self.this if self.older is self.that else self.that


@dataclass(frozen=True)
class SyncConflicts:
    """All that two devices changed differently and nobody has decided on, oldest first."""

    conflicts: tuple[SyncConflict, ...]


@dataclass(frozen=True)
class ConflictsDecided(Changed):
    """What was decided of what devices changed differently.

    Args:
        decided: Ids of what is settled now.
        waiting: What cannot be decided so now, with the reason.
    """

    decided: tuple[str, ...] = ()
    waiting: Mapping[str, str] = field(default_factory=dict)


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
            are not ticked again; they do not wait.
        waiting: How many decisions wait to be written, ticked or not.
        problems: What of the file of proposals cannot be read.
        unreadable: Why what devices changed differently cannot be read; empty if it can.
        conflicts: What two devices changed differently.
        conflict_ticks: By id.
    """

    review: Review
    proposals: tuple[tuple[Proposal, ...], ...]
    held: tuple[HeldMemory, ...]
    proposal_ticks: Mapping[int, ProposalTick]
    secret_ticks: Mapping[int, SecretTick]
    set_aside: frozenset[str]
    waiting: int
    problems: tuple[str, ...] = ()
    conflicts: tuple[SyncConflict, ...] = ()
    conflict_ticks: Mapping[str, ConflictChoice] = field(default_factory=dict)
    unreadable: str = ""


@dataclass(frozen=True)
class Decisions:
    """How many decisions something is, as the Inbox lists them: two proposals that are one row there are one.

    Args:
        waiting: Those that cannot be written now; no part of the total.
    """

    accepted: int = 0
    declined: int = 0
    set_aside: int = 0
    erased: int = 0
    waiting: int = 0

    @property
    def total(self) -> int:
        """Return how many are written."""
        return self.accepted + self.declined + self.set_aside + self.erased


def decisions_by_name(
    accepted: Iterable[str],
    declined: Iterable[str],
    set_aside: Iterable[str],
    together: Iterable[tuple[str, ...]],
) -> dict[str, str]:
    """Return approved, rejected or deferred for each decision, by the first name of those that are decided together."""
    first = {name: names[0] for names in together for name in names}
    found: dict[str, str] = {}
    for names, decision in ((accepted, "approved"), (declined, "rejected"), (set_aside, "deferred")):
        for name in names:
            found.setdefault(first.get(name, name), decision)
    return found


def _count(of: InboxPreview | Written) -> Decisions:
    found = decisions_by_name(of.accepted, of.declined, of.set_aside, of.together)
    first = {name: names[0] for names in of.together for name in names}
    counts = Counter(found.values())
    return Decisions(
        counts["approved"] + len(of.kept) + len(of.without),
        counts["rejected"],
        counts["deferred"],
        len(of.erased),
        len({first.get(name, name) for name in of.waiting} - found.keys()),
    )


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
        together: Names of proposals that are one decision.
        notes: What a person should know before, such as how many changes that need a declined one still wait.
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
    together: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def decisions(self) -> Decisions:
        """Return how many decisions that would be."""
        return _count(self)

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
        together: Names of proposals that are one decision.
    """

    accepted: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    kept: tuple[int, ...] = ()
    without: tuple[int, ...] = ()
    erased: tuple[int, ...] = ()
    waiting: Mapping[str, str] = field(default_factory=dict)
    together: tuple[tuple[str, ...], ...] = ()

    @property
    def decisions(self) -> Decisions:
        """Return how many decisions those were."""
        return _count(self)


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
        waits: Whether its items wait for a decision again, since it was taken back.
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
    waits: bool = False


@dataclass(frozen=True)
class PastReflections:
    """Every past reflection, newest first."""

    reflections: tuple[PastReflection, ...]
