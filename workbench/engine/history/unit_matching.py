"""Finds, between two versions of a file, which unit of the one is which unit of the other."""

from __future__ import annotations

from bisect import bisect_left
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from workbench.engine.history.document_units import Unit

_ALIKE = 0.6
_COMPARED_CHARACTERS = 2000


def match_units(left: Sequence[Unit], right: Sequence[Unit]) -> dict[int, int]:
    """Pair the units of two versions.

    Keys pair first, then equal text in the same section, then equal text anywhere, and last units of a kind
    that stand beside a paired unit under the same heading and read alike: those were changed.

    Returns:
        Positions in `left` to positions in `right`; one to one, in no particular order.
    """
    pairs: dict[int, int] = {}
    keys = {unit.key: position for position, unit in enumerate(right) if unit.key}
    for position, unit in enumerate(left):
        if unit.key in keys and unit.key:
            pairs[position] = keys[unit.key]
    _pair_equal(left, right, pairs, lambda unit: (unit.kind, unit.section, unit.meaning))
    _pair_equal(left, right, pairs, lambda unit: (unit.kind, unit.meaning))
    _pair_alike(left, right, pairs)
    return pairs


def moved_units(left: Sequence[Unit], right: Sequence[Unit], pairs: dict[int, int]) -> set[int]:
    """Return the left units that in the right version stand under another heading, or in another order."""
    moved = {
        i for i, j in pairs.items() if left[i].kind != "title" and not _same_owner(left, right, pairs, i, j)
    }
    return moved | _out_of_order(sorted((i, j) for i, j in pairs.items() if i not in moved))


def _same_owner(left: Sequence[Unit], right: Sequence[Unit], pairs: dict[int, int], i: int, j: int) -> bool:
    """Tell whether two units stand under the same heading; a title that came or went makes no difference."""
    ours, theirs = left[i].owner, right[j].owner
    if ours >= 0 and pairs.get(ours) == theirs:
        return True
    return all(owner < 0 or units[owner].kind == "title" for owner, units in ((ours, left), (theirs, right)))


def _out_of_order(pairs: Sequence[tuple[int, int]]) -> set[int]:
    """Return the left positions that changed places: all but a longest run of pairs in the same order.

    Args:
        pairs: In the order of the left positions.
    """
    tails: list[int] = []
    tail_of: list[int] = []
    previous: list[int] = []
    for index, (_, right) in enumerate(pairs):
        length = bisect_left(tails, right)
        previous.append(tail_of[length - 1] if length else -1)
        tails[length : length + 1] = [right]
        tail_of[length : length + 1] = [index]
    kept, index = set(), tail_of[-1] if tail_of else -1
    while index >= 0:
        kept.add(index)
        index = previous[index]
    return {left for index, (left, _) in enumerate(pairs) if index not in kept}


def _pair_equal(
    left: Sequence[Unit], right: Sequence[Unit], pairs: dict[int, int], signature: Callable[[Unit], Hashable]
) -> None:
    taken = set(pairs.values())
    free_left = [i for i in range(len(left)) if i not in pairs and left[i].key is None]
    free_right = [j for j in range(len(right)) if j not in taken and right[j].key is None]
    if not free_left or not free_right:
        return
    ours = [signature(left[i]) for i in free_left]
    theirs = [signature(right[j]) for j in free_right]
    for block in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        for step in range(block.size):
            pairs[free_left[block.a + step]] = free_right[block.b + step]
            taken.add(free_right[block.b + step])
    elsewhere: dict[Hashable, list[int]] = {}
    for sign, j in zip(reversed(theirs), reversed(free_right), strict=True):
        if j not in taken:
            elsewhere.setdefault(sign, []).append(j)
    for sign, i in zip(ours, free_left, strict=True):
        if i not in pairs and elsewhere.get(sign):
            pairs[i] = elsewhere[sign].pop()


def _pair_alike(left: Sequence[Unit], right: Sequence[Unit], pairs: dict[int, int]) -> None:
    taken = set(pairs.values())
    free: dict[tuple[int, str], list[int]] = {}
    for j, unit in enumerate(right):
        if j not in taken and unit.key is None:
            free.setdefault((unit.owner, unit.kind), []).append(j)
    for i, unit in enumerate(left):
        if i in pairs or unit.key is not None:
            continue
        owner = pairs.get(unit.owner, -2) if unit.owner >= 0 else -1
        candidates = free.get((owner, unit.kind), [])
        for j in candidates:
            beside = pairs.get(i - 1, -1) == j - 1 or (i + 1 in pairs and pairs[i + 1] == j + 1)
            if beside and _alike(unit.meaning, right[j].meaning):
                pairs[i] = j
                candidates.remove(j)
                break


def _alike(one: str, other: str) -> bool:
    matcher = SequenceMatcher(None, one[:_COMPARED_CHARACTERS], other[:_COMPARED_CHARACTERS], autojunk=False)
    return matcher.quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE
