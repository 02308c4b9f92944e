"""Walks over the graph: what stands around an entity, and how two entities are joined."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from workbench.engine.catalog.model import EdgeRecord

Neighbours = Callable[[str], Sequence[EdgeRecord]]


def around(
    center: str, neighbours: Neighbours, *, depth: int, most: int
) -> tuple[dict[str, int], list[EdgeRecord]]:
    """Collect what lies within some hops of an entity, nearest first.

    Args:
        center: The entity to start from.
        neighbours: Gives the relations of an entity, in both directions; asked twice for each.
        depth: Hops to follow, 0 or more.
        most: Entities to collect at most, the centre included.

    Returns:
        Hops by entity id in the order they were reached, and the relations among them, each once.
    """
    hops = {center: 0}
    waiting = deque([center])
    while waiting:
        current = waiting.popleft()
        for edge in neighbours(current) if hops[current] < depth else ():
            other = edge.to if edge.from_ == current else edge.from_
            if other not in hops and len(hops) < most:
                hops[other] = hops[current] + 1
                waiting.append(other)
    edges = dict.fromkeys(
        edge for entity in hops for edge in neighbours(entity) if edge.from_ in hops and edge.to in hops
    )
    return hops, list(edges)


def shortest_path(start: str, goal: str, neighbours: Neighbours, *, most: int) -> list[EdgeRecord] | None:
    """Return the relations of a shortest way between two entities, in walking order.

    Args:
        start: Where to begin.
        goal: Where to arrive.
        neighbours: Gives the relations of an entity, in both directions.
        most: Entities to visit before giving up.

    Returns:
        None where there is no way; an empty list where start and goal are the same.
    """
    if start == goal:
        return []
    came_by: dict[str, EdgeRecord | None] = {start: None}
    waiting = deque([start])
    while waiting and len(came_by) <= most:
        current = waiting.popleft()
        for edge in neighbours(current):
            other = edge.to if edge.from_ == current else edge.from_
            if other in came_by:
                continue
            came_by[other] = edge
            if other == goal:
                return _walk_back(goal, came_by)
            waiting.append(other)
    return None


def _walk_back(goal: str, came_by: dict[str, EdgeRecord | None]) -> list[EdgeRecord]:
    path: list[EdgeRecord] = []
    current = goal
    while (edge := came_by[current]) is not None:
        path.append(edge)
        current = edge.from_ if edge.to == current else edge.to
    return path[::-1]
