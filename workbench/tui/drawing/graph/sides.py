"""Decides what hangs left of a centre and what right of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.tui.drawing.graph.tree import Branch

Sides = tuple[tuple["Branch", ...], tuple["Branch", ...]]


def sides_of(root: Branch) -> Sides:
    """Return what only points at a centre, and all else that hangs on it."""
    left = tuple(each for each in root.children if each.runs and not any(run.outward for run in each.runs))
    kept = {each.card.key for each in left}
    return left, tuple(each for each in root.children if each.card.key not in kept)


def balanced(sides: Sides) -> Sides:
    """Move the last of the fuller side to the end of the other one until both have about as many boxes."""
    left, right = list(sides[0]), list(sides[1])
    sizes = [leaves(side) for side in (left, right)]
    while True:
        full, free = (left, right) if sizes[0] > sizes[1] else (right, left)
        if len(full) < 2 or max(sizes) - min(sizes) < 2 * leaves((full[-1],)):
            return tuple(left), tuple(right)
        moved = full.pop()
        free.append(moved)
        at = 0 if full is left else 1
        sizes[at] -= leaves((moved,))
        sizes[1 - at] += leaves((moved,))


def leaves(side: Sequence[Branch]) -> int:
    """Return how many boxes of a side stand at least below one another."""
    return sum(max(1, leaves(each.children)) for each in side)
