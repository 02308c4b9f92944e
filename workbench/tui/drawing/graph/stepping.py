"""How a cursor walks from box to box."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.tui.drawing.graph.stands import Columns, Stand
    from workbench.tui.drawing.picture import Region

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


def steps_in_rows(regions: Mapping[str, Region], directions: Sequence[int], keys: Sequence[str]) -> Steps:
    """Walk a chain that turns back at the edge: along it to the left and right, to the nearest row up and down.

    Args:
        regions: Where the boxes stand.
        directions: Of each box’s row, 1 to the right.
        keys: In the order of the chain.
    """
    steps: Steps = {}
    for at, (key, direction) in enumerate(zip(keys, directions, strict=True)):
        on, back = (RIGHT, LEFT) if direction == 1 else (LEFT, RIGHT)
        if at + 1 < len(keys):
            steps[key, on] = keys[at + 1]
        if at:
            steps[key, back] = keys[at - 1]
        middle = regions[key].x + regions[key].width // 2
        for way, wanted in ((UP, -1), (DOWN, 1)):
            line = regions[key].y
            rows = {region.y for region in regions.values() if (region.y - line) * wanted > 0}
            if rows:
                nearest = min(rows, key=lambda row: abs(row - line))
                beside = [each for each in keys if regions[each].y == nearest]
                steps[key, way] = min(
                    beside, key=lambda each: abs(regions[each].x + regions[each].width // 2 - middle)
                )
    return steps
