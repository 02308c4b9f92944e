"""Draws the way between two entities as a chain of boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.drawing.graph.grouping import whole
from workbench.tui.drawing.graph.listing import draw_list
from workbench.tui.drawing.graph.tree import grow

if TYPE_CHECKING:
    from workbench.tui.drawing.graph.ties import Ties
    from workbench.tui.drawing.picture import Picture


def draw_chain(ties: Ties, width: int, height: int, *, chosen: str) -> Picture:
    """Draw a chain from its first entity."""
    root = grow(ties, whole(ties))
    return draw_list(root, width, chosen if chosen in ties.nodes else ties.center)
