"""Draws an entity with what lies around it: boxes, and edges with their relation written on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.drawing.picture import Picture

if TYPE_CHECKING:
    from workbench.engine.results import GraphView

LEFT, RIGHT, UP, DOWN = "left", "right", "up", "down"


def draw_neighbourhood(view: GraphView, width: int, height: int, *, chosen: str = "") -> Picture:
    """Draw a neighbourhood of one or two hops.

    Args:
        view: With a centre.
        width: Cells there are.
        height: Cells there are; the picture may be higher.
        chosen: Key of the box that the cursor is on; the centre where it is none.

    Returns:
        The keys of its regions are ids of nodes, and `group:…` for boxes that stand for several entities at once.
    """
    raise NotImplementedError


def draw_path(view: GraphView, width: int, height: int, *, chosen: str = "") -> Picture:
    """Draw the way between two entities that `graph_path` found; likewise."""
    raise NotImplementedError


def members_of(view: GraphView, group: str) -> tuple[str, ...]:
    """Return the ids of the entities that a group’s box stands for."""
    raise NotImplementedError


def step(picture: Picture, chosen: str, direction: str) -> str:
    """Return the key of the box that a cursor comes to from one in a direction; the same where there is none."""
    raise NotImplementedError
