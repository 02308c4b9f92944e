"""Owns what is decided about things held back as secrets: what waits, a choice, and what it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workbench.tui.decisions import APPROVED, REJECTED, UNDECIDED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.results.memories import HeldMemory

HELD_KEY: Final = "held:"
KEEP, WITHOUT, DROP = "keep", "without", "drop"
_DECISIONS: Final = {KEEP: APPROVED, WITHOUT: APPROVED, DROP: REJECTED}


@dataclass(frozen=True, slots=True)
class Held:
    """Something that was held back, and what was decided about it that is being written."""

    memory: HeldMemory
    decision: str = UNDECIDED

    @property
    def key(self) -> str:
        """Return the id of its row, which is its link as well."""
        return f"{HELD_KEY}{self.memory.number}"

    @property
    def is_open(self) -> bool:
        """Tell whether it waits for this person now."""
        return self.decision == UNDECIDED


@dataclass(frozen=True, slots=True)
class HeldChoice:
    """What is decided with one key about things that were held back.

    Args:
        choice: `keep` lets the secrets in, `without` stores the rest, `drop` forgets it.
        held: What it is about.
    """

    choice: str
    held: tuple[HeldMemory, ...]

    @property
    def decisions(self) -> dict[int, str]:
        """Return the decision about each number."""
        return {each.number: _DECISIONS[self.choice] for each in self.held}

    def done(self) -> str:
        """Say what it did."""
        count = len(self.held)
        what = "It is" if count == 1 else f"{count} are"
        if self.choice == DROP:
            return f"{what} dropped; no trace of {'it' if count == 1 else 'them'} stays."
        if self.choice == WITHOUT and all(each.left_out for each in self.held):
            return f"{what} stored without the secret."
        how = "stored without the secret" if self.choice == WITHOUT else "stored, and the secret allowed"
        return f"{what} {how}. u takes {'it' if count == 1 else 'them'} back."


def held(memories: Iterable[HeldMemory], under_way: Iterable[HeldChoice]) -> tuple[Held, ...]:
    """Return what was held back with what is decided about it."""
    decided = {number: decision for each in under_way for number, decision in each.decisions.items()}
    return tuple(Held(each, decided.get(each.number, UNDECIDED)) for each in memories)
