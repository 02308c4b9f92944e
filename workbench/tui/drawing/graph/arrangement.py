"""Chooses how a neighbourhood is arranged: the first of several ways, the most readable first, that has the room."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.tui.drawing.graph.boxes import Style
from workbench.tui.drawing.graph.columns import Columns, place
from workbench.tui.drawing.graph.columns_drawing import draw_columns
from workbench.tui.drawing.graph.grouping import grouped, same_group, whole
from workbench.tui.drawing.graph.indented import draw_indented, indent
from workbench.tui.drawing.graph.listing import draw_list
from workbench.tui.drawing.graph.tree import Branch, grow
from workbench.tui.ink import ink

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.tui.drawing.graph.ties import Ties
    from workbench.tui.drawing.picture import Picture

# So many entities are always drawn one by one, the centre among them.
ALWAYS_SINGLE = 12
_MOST_BOXES = 48
_FEWEST_CELLS = (34, 6)
_FRAMED = (Style(True, 24, 2), Style(True, 18, 2), Style(True, 14, 3))
_PLAIN = (Style(False, 24), Style(False, 16))


def arrange(ties: Ties, width: int, height: int, *, chosen: str, omitted: int = 0) -> Picture:
    """Draw a neighbourhood in the best way that fits.

    Args:
        ties: With a centre.
        width: Cells there are.
        height: Lines there are; more are taken where even the smallest arrangement needs them.
        chosen: Key of the chosen box.
        omitted: Entities that the view leaves out.
    """
    footer = 1 if omitted else 0
    picture = _arranged(ties, width, height - footer, chosen)
    if not omitted:
        return picture
    words = f"{omitted:,} more lie around it that are not drawn; filter, or see the table."
    return replace(picture, lines=(*picture.lines, (ink(words, "soft", max(0, width)),)))


def _arranged(ties: Ties, width: int, height: int, chosen: str) -> Picture:
    smallest: Branch | None = None
    for root in _trees(ties, height):
        smallest = root
        keys = [each.card.key for each in root.walk()]
        cursor = chosen if chosen in keys else same_group(chosen, keys) or root.card.key
        if width < _FEWEST_CELLS[0] or height < _FEWEST_CELLS[1]:
            continue
        for columns in _ways(root, width):
            if columns.width <= width and columns.height <= height:
                return draw_columns(columns, width, cursor)
        downward = indent(root)
        if downward.width <= width and downward.height <= height:
            return draw_indented(downward, width, cursor)
    assert smallest is not None
    keys = [each.card.key for each in smallest.walk()]
    cursor = chosen if chosen in keys else same_group(chosen, keys) or smallest.card.key
    if width >= _FEWEST_CELLS[0]:
        downward = indent(smallest)
        if downward.width <= width:
            return draw_indented(downward, width, cursor)
    return draw_list(smallest, width, cursor)


def _trees(ties: Ties, height: int) -> Iterator[Branch]:
    """Give the tree with every entity where there are few, then with ever fewer boxes."""
    count = len(ties.nodes)
    if count <= max(ALWAYS_SINGLE, min(_MOST_BOXES, 2 * height)):
        yield grow(ties, whole(ties))
    if count > ALWAYS_SINGLE:
        for boxes in (48, 40, 32, 26, 21, 18, 15, 12, 10, 8, 6, 4):
            if boxes < count:
                yield grow(ties, grouped(ties, boxes))


def _ways(root: Branch, width: int) -> Iterator[Columns]:
    left, right = sides_of(root)
    for styles in (_FRAMED, _PLAIN):
        for style in styles:
            airy = place(root, left, right, style, width=width, space=1)
            yield airy
            if airy.width <= width:
                yield place(root, left, right, style, width=width, space=0)


def sides_of(root: Branch) -> tuple[tuple[Branch, ...], tuple[Branch, ...]]:
    """Return what hangs left of a centre and what right of it: left what only points at it."""
    left = tuple(each for each in root.children if each.runs and not any(run.outward for run in each.runs))
    return left, tuple(each for each in root.children if each not in left)
