"""What comparing a proposal with something else says: whether it repeats it, or contradicts it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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


def compare_all(
    text: str, others: Mapping[str, str] | Iterable[tuple[str, str]], compare: Compare
) -> Compared:
    """Compare a text with several others.

    Args:
        text: The new one.
        others: Names and texts.
        compare: Tells how two stand to each other.
    """
    pairs = others.items() if isinstance(others, Mapping) else others
    found: dict[str, Relation] = {name: compare(text, other) for name, other in pairs}
    return Compared(
        tuple(name for name, relation in found.items() if relation == "contradicts"),
        next((name for name, relation in found.items() if relation == "repeats"), None),
    )
