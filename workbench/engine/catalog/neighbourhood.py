"""Walks over the graph: what stands around an entity, and how two entities are joined."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

MOST_NODES = 500
"""Neighbourhoods larger than this are cut at the nearest entities, and say how many are left out."""

Steps = Callable[[Collection[str]], Iterable[tuple[str, str]]]
"""Gives the steps that lead on from some entities, whatever the direction of a relation: (from, to)."""


@dataclass(frozen=True)
class Surroundings:
    """What lies around an entity.

    Args:
        hops: Hops by entity id, nearest first.
        omitted: Entities within reach for which there was no room.
    """

    hops: dict[str, int]
    omitted: int


def around(
    center: str,
    steps: Steps,
    *,
    depth: int,
    most: int,
    admit: Callable[[Collection[str]], Sequence[str]] = sorted,
    best: Callable[[Sequence[str], int], Sequence[str]] = lambda names, room: names[:room],
) -> Surroundings:
    """Collect what lies within some hops of an entity, nearest first.

    Args:
        center: The entity to start from.
        steps: Asked once for each hop.
        depth: Hops to follow, 0 or more.
        most: Entities to collect at most, the centre included.
        admit: Gives those of some entities that may be given, in a settled order; a way through another is none.
        best: Chooses so many of the entities of one hop where there is no room for all of them.
    """
    hops = {center: 0}
    seen = {center}
    reached: Sequence[str] = [center]
    omitted = 0
    for hop in range(1, depth + 1):
        found = {far for _, far in steps(reached)} - seen
        seen |= found
        reached = admit(found)
        room = most - len(hops)
        kept = reached if len(reached) <= room else best(reached, room) if room else ()
        hops.update(dict.fromkeys(kept, hop))
        omitted += len(reached) - len(kept)
        if not reached:
            break
    return Surroundings(hops, omitted)


def shortest_path(start: str, goal: str, steps: Steps) -> list[str] | None:
    """Return the entities of a shortest way between two, in walking order; the same one each time.

    Args:
        start: Where to begin.
        goal: Where to arrive.
        steps: Asked once for each hop, from whichever end has fewer entities to go on from.

    Returns:
        None where there is no way; one entity where start and goal are the same.
    """
    if start == goal:
        return [start]
    came_by: tuple[dict[str, str], dict[str, str]] = ({start: start}, {goal: goal})
    reached = [[start], [goal]]
    while reached[0] and reached[1]:
        side = 0 if len(reached[0]) <= len(reached[1]) else 1
        own, other = came_by[side], came_by[1 - side]
        found: dict[str, str] = {}
        for near, far in steps(reached[side]):
            if far not in own and (far not in found or near < found[far]):
                found[far] = near
        own.update(found)
        # Until now the two sides had nothing in common, so all that they have now is equally far.
        if meeting := min((name for name in found if name in other), default=None):
            return [*_back(meeting, came_by[0])[::-1], *_back(meeting, came_by[1])[1:]]
        reached[side] = sorted(found)
    return None


def _back(name: str, came_by: dict[str, str]) -> list[str]:
    way = [name]
    while (before := came_by[way[-1]]) != way[-1]:
        way.append(before)
    return way
