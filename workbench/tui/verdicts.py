"""Owns what is decided about proposals of agents: a verdict, what is on its way, and what settles a contradiction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workbench.tui.decisions import APPROVED, DEFERRED, REJECTED, THAT, THIS, UNDECIDED
from workbench.tui.rewording import TEXT, Part, Rewording

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from workbench.engine.results.reviews import Proposal

PROPOSAL_KEY: Final = "proposal:"
_MOST_NAMED = 6


def key_of(number: int) -> str:
    """Return the id of a proposal’s row, which is its link as well."""
    return f"{PROPOSAL_KEY}{number}"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A proposal, and what was decided about it that is being written."""

    proposal: Proposal
    decision: str = UNDECIDED

    @property
    def key(self) -> str:
        """Return the id of its row."""
        return key_of(self.proposal.number)

    @property
    def is_open(self) -> bool:
        """Tell whether it waits for this person now."""
        return self.decision == UNDECIDED


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is decided with one key, and becomes one commit; proposals as somebody saw them.

    Args:
        keep: Stored.
        refuse: Not stored.
        defer: Left to the next reflection.
        reason: Why something is refused.
        store: Where to store, instead of where it was suggested.
        text: What to store, instead of the words of the one that is kept.
        both: Whether those that are kept contradict each other, or memory, and are linked so.
        replacing: Ids of the memories that those which are kept take the place of.
    """

    keep: tuple[Proposal, ...] = ()
    refuse: tuple[Proposal, ...] = ()
    defer: tuple[Proposal, ...] = ()
    reason: str = ""
    store: str | None = None
    text: str | None = None
    both: bool = False
    replacing: tuple[str, ...] = ()

    @property
    def expected(self) -> dict[int, str]:
        """Return what somebody saw, by number: another text is another proposal."""
        return {each.number: each.content for each in (*self.keep, *self.refuse, *self.defer)}

    @property
    def decisions(self) -> dict[int, str]:
        """Return the decision about each number."""
        parts = ((self.keep, APPROVED), (self.refuse, REJECTED), (self.defer, DEFERRED))
        return {each.number: decision for proposals, decision in parts for each in proposals}

    @property
    def left_waiting(self) -> tuple[str, ...]:
        """Return the proposals, as `#4`, that contradict what is kept and get no verdict with it."""
        decided = {f"#{number}" for number in self.decisions}
        named = (each for kept in self.keep for each in kept.conflicts_with if each.startswith("#"))
        return tuple(dict.fromkeys(each for each in named if each not in decided))

    def will(self) -> str:
        """Say what it would do: “store #3, refuse #4”."""
        parts = [
            f"{verb} {numbered(proposals)}"
            for verb, proposals in (("store", self.keep), ("refuse", self.refuse), ("defer", self.defer))
            if proposals
        ]
        if self.replacing:
            parts.append(_retiring(self.replacing))
        return ", ".join(parts) + (", less sure and linked as contradictory" if self.both else "")

    def done(self) -> str:
        """Say what it did: “Stored #3. Refused #4.”."""
        where = f" in the {self.store} store" if self.store else ""
        parts = [f"Stored {numbered(self.keep)}{where}."] if self.keep else []
        parts += [f"Refused {numbered(self.refuse)}."] if self.refuse else []
        parts += [f"Left {numbered(self.defer)} to the next reflection."] if self.defer else []
        return " ".join((*parts, "u takes it back."))


def numbered(proposals: Sequence[Proposal]) -> str:
    """Return proposals by their numbers: “#3”, “#3 and #4”."""
    names = [f"#{each.number}" for each in proposals[:_MOST_NAMED]]
    if (more := len(proposals) - _MOST_NAMED) > 0:
        names.append(f"{more} more")
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)


def _retiring(memories: Sequence[str]) -> str:
    return "retire what memory says" if len(memories) == 1 else f"retire {len(memories)} memories"


def waiting(proposals: Iterable[Proposal], under_way: Iterable[Verdict]) -> tuple[Waiting, ...]:
    """Return proposals with what is decided about them, written already or not."""
    decided = {number: decision for each in under_way for number, decision in each.decisions.items()}
    return tuple(
        Waiting(each, decided.get(each.number, DEFERRED if each.status == "deferred" else UNDECIDED))
        for each in proposals
    )


def rivals(this: Proposal, by_number: Mapping[int, Proposal]) -> tuple[Proposal, ...]:
    """Return the other proposals that one contradicts, as far as they wait."""
    numbers = (each[1:] for each in this.conflicts_with if each.startswith("#"))
    return tuple(by_number[int(each)] for each in numbers if each.isdecimal() and int(each) in by_number)


def contradicted_memories(this: Proposal) -> tuple[str, ...]:
    """Return the ids of the memories that a proposal contradicts."""
    return tuple(each for each in this.conflicts_with if not each.startswith("#"))


def settling(this: Proposal, by_number: Mapping[int, Proposal], choice: str) -> Verdict:
    """Return the verdict that settles what a proposal contradicts.

    Args:
        this: The proposal that one looks at.
        by_number: All that wait.
        choice: `this` stores it in the place of what memory says against it, and refuses its rivals; `that` refuses it,
            and stores the one rival that contradicts nothing else; `both` stores all.
    """
    others, memories = rivals(this, by_number), contradicted_memories(this)
    if choice == THIS:
        return Verdict(keep=(this,), refuse=others, replacing=memories)
    if choice != THAT:
        return Verdict(keep=(this, *others), both=True)
    if len(others) == 1 and not memories and others[0].conflicts_with == (f"#{this.number}",):
        return Verdict(keep=others, refuse=(this,))
    against = ", ".join((*memories, *(f"#{each.number}" for each in others)))
    return Verdict(refuse=(this,), reason=f"it contradicts {against}")


def reworded(proposal: Proposal) -> Rewording:
    """Return what can be written in a proposal: its text, which is stored with these words when it is saved."""
    title = f"#{proposal.number} from {proposal.from_ or 'nobody'}: saving stores it with these words"
    part = Part(TEXT, "what to remember", proposal.content, proposal.content)
    return Rewording(key_of(proposal.number), title, (part,))
