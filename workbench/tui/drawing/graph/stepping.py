"""How a cursor walks from box to box."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.tui.drawing.graph.columns import Columns, Stand

LEFT, RIGHT, UP, DOWN = "left", "right", "up", "down"
Steps = dict[tuple[str, str], str]


def steps_in_columns(columns: Columns) -> Steps:
    """Walk columns: up and down in one, inward to what a box hangs on, outward to what hangs on it.

    Where nothing hangs on a box, outward leads to the nearest one of the next column.
    """
    steps: Steps = {}
    found = columns.columns()
    for at, column in enumerate(found):
        walk_list(steps, [each.branch.card.key for each in column], UP, DOWN)
        for each in column:
            for direction, side, beside in ((LEFT, -1, at - 1), (RIGHT, 1, at + 1)):
                if not 0 <= beside < len(found):
                    continue
                hung = [child for child in each.children if child.side == side]
                goal = _nearest(each, hung or found[beside])
                steps[each.branch.card.key, direction] = goal.branch.card.key
        for each in column:
            for child in each.children:
                back = LEFT if child.side == 1 else RIGHT
                steps[child.branch.card.key, back] = each.branch.card.key
    return steps


def _nearest(stand: Stand, others: Sequence[Stand]) -> Stand:
    return min(others, key=lambda other: (abs(other.anchor - stand.anchor), other.y))


def walk_list(steps: Steps, keys: Sequence[str], back: str, on: str) -> None:
    """Let two directions walk a list."""
    for one, other in pairwise(keys):
        steps[one, on] = other
        steps[other, back] = one
