"""Byte-pair merging: how many tokens one piece of text becomes under a vocabulary."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def count_merged(piece: bytes, ranks: Mapping[bytes, int]) -> int:
    """Merge neighbouring tokens, lowest rank and then leftmost first, and count what remains.

    Takes time in the order of n log n for n bytes.

    Args:
        piece: One piece of text in UTF-8.
        ranks: Each token's rank; all single bytes are tokens.

    Returns:
        Tokens left when no two neighbours make a token of the vocabulary.
    """
    size = len(piece)
    if size < 2 or piece in ranks:
        return min(size, 1)
    rank_of = ranks.get
    # A token is known by where it starts; `end[start]` is where it ends, 0 once it was merged away.
    end = list(range(1, size + 1))
    previous = list(range(-1, size - 1))
    waiting = [
        (rank, start, start + 2)
        for start in range(size - 1)
        if (rank := rank_of(piece[start : start + 2])) is not None
    ]
    heapify(waiting)
    remaining = size
    while waiting:
        _, start, stop = heappop(waiting)
        middle = end[start]
        # A pair is stale once either half was merged with something else.
        if middle == 0 or middle >= stop or end[middle] != stop:
            continue
        end[start], end[middle] = stop, 0
        remaining -= 1
        if stop < size:
            previous[stop] = start
            if (rank := rank_of(piece[start : end[stop]])) is not None:
                heappush(waiting, (rank, start, end[stop]))
        before = previous[start]
        if before >= 0 and (rank := rank_of(piece[before:stop])) is not None:
            heappush(waiting, (rank, before, stop))
    return remaining
