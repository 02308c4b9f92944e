"""What comparing a proposal with something else says: whether it repeats it, or contradicts it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

Relation = Literal["", "repeats", "contradicts"]

Compare = Callable[[str, str], Relation]
"""Tells how a new text stands to an older one."""


@dataclass(frozen=True)
class Compared:
    """How a text stands to others, by their names.

    Args:
        contradicts: What it cannot hold beside, in the order given.
        repeats: The first that says the same, or None.
    """

    contradicts: tuple[str, ...] = ()
    repeats: str | None = None


def compare_all(text: str, others: Iterable[tuple[str, str]], compare: Compare) -> Compared:
    """Compare a text with several others.

    Args:
        text: The new one.
        others: Names and texts; facts without an id of their own go by one name, their entity’s.
        compare: Tells how two stand to each other.
    """
    found = [(name, compare(text, other)) for name, other in others]
    contradicts = dict.fromkeys(name for name, relation in found if relation == "contradicts")
    return Compared(
        tuple(contradicts), next((name for name, relation in found if relation == "repeats"), None)
    )


def ways_to_say(fact: str, label: str) -> tuple[str, ...]:
    """Return a fact as it stands, and with the name of its entity, which it may leave out: “Drinks tea”, of Robin."""
    if not label or label.casefold() in fact.casefold():
        return (fact,)
    return (fact, f"{label} {fact[:1].lower()}{fact[1:]}" if fact[1:2].islower() else f"{label} {fact}")
