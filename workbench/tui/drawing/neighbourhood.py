"""Draws an entity with what lies around it: boxes, and edges with their relation written on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.drawing.graph import grouping
from workbench.tui.drawing.graph.arrangement import arrange
from workbench.tui.drawing.graph.path import draw_chain
from workbench.tui.drawing.graph.stepping import DOWN, LEFT, RIGHT, UP
from workbench.tui.drawing.graph.ties import read_ties
from workbench.tui.drawing.picture import Picture

if TYPE_CHECKING:
    from workbench.engine.results.graph import GraphView

__all__ = ["DOWN", "LEFT", "RIGHT", "UP", "draw_neighbourhood", "draw_path", "members_of", "step"]


def draw_neighbourhood(view: GraphView, width: int, height: int, *, chosen: str = "") -> Picture:
    """Draw a neighbourhood of one or two hops.

    Args:
        view: With a centre.
        width: Cells there are.
        height: Cells there are; the picture may be higher.
        chosen: Key of the box that the cursor is on; the centre where it is none.

    Returns:
        The keys of its regions are ids of nodes, and `group:…` for boxes that stand for several entities at once.
        Without lines where the view is empty.
    """
    ties = read_ties(view)
    if not ties.center:
        return Picture((), {})
    return arrange(ties, width, height, chosen=chosen, omitted=view.omitted)


def draw_path(view: GraphView, width: int, height: int, *, chosen: str = "") -> Picture:
    """Draw the way between two entities that `graph_path` found; likewise."""
    ties = read_ties(view)
    if not ties.center:
        return Picture((), {})
    return draw_chain(ties, width, height, chosen=chosen)


def members_of(view: GraphView, group: str) -> tuple[str, ...]:
    """Return the ids of the entities that a group’s box stands for."""
    return grouping.members_of(read_ties(view), group)


def step(picture: Picture, chosen: str, direction: str) -> str:
    """Return the key of the box that a cursor comes to from one in a direction; the same where there is none.

    A cursor that has no box here comes to the centre first.
    """
    if chosen not in picture.regions:
        return picture.home or chosen
    return picture.steps.get((chosen, direction), chosen)
