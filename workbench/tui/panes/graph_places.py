"""Owns the places of the graph browser: the table, the entities of one box, a neighbourhood, a way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["table", "members", "around", "path"]
GRAPH = "graph"
_TABLE, _MEMBERS, _PATH, _BETWEEN = "table:", "members:", "path:", ">"


@dataclass(frozen=True)
class GraphPlace:
    """What the list part shows.

    Args:
        kind: The table, the members of a group, what lies around an entity, or the way between two.
        center: Id of the entity in the middle, of the group's centre, or where the way begins; in the table the row.
        other: Where the way ends, or the group.
        item: A fact of the centre that is meant, or empty.
    """

    kind: Kind
    center: str = ""
    other: str = ""
    item: str = ""

    @property
    def is_drawing(self) -> bool:
        """Tell whether it is drawn rather than listed."""
        return self.kind in ("around", "path")

    @property
    def key(self) -> str:
        """Return the key of this place on the trail."""
        if self.kind == "around":
            return self.center
        if self.kind == "table":
            return f"{_TABLE}{self.center}" if self.center else ""
        return f"{_PATH if self.kind == 'path' else _MEMBERS}{self.center}{_BETWEEN}{self.other}"


def place_of_key(key: str) -> GraphPlace:
    """Return the place that a key of the trail, or the id of an entity or of its fact or relation, means."""
    if key.startswith(_TABLE):
        return GraphPlace("table", key.removeprefix(_TABLE))
    if key.startswith(_MEMBERS):
        center, _, group = key.removeprefix(_MEMBERS).partition(_BETWEEN)
        return GraphPlace("members", center, group)
    if key.startswith(_PATH):
        start, _, goal = key.removeprefix(_PATH).partition(_BETWEEN)
        return GraphPlace("path", start, goal)
    center, block, _ = key.partition("#")
    return GraphPlace("around", center, item=key if block else "") if key else GraphPlace("table")
