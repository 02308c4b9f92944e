"""Chooses how a neighbourhood is arranged: the first of several ways, the most readable first, that has the room."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.tui.drawing.graph.boxes import Style
from workbench.tui.drawing.graph.columns import Columns, place
from workbench.tui.drawing.graph.columns_drawing import draw_columns
from workbench.tui.drawing.graph.grouping import grouped, same_group, whole
from workbench.tui.drawing.graph.indented import Indented, draw_indented, indent
from workbench.tui.drawing.graph.listing import draw_list
from workbench.tui.drawing.graph.sides import balanced, sides_of
from workbench.tui.drawing.graph.tree import Branch, Card, grow
from workbench.tui.ink import ink

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from workbench.tui.drawing.graph.ties import Ties
    from workbench.tui.drawing.graph.tree import Group
    from workbench.tui.drawing.picture import Picture

# So many entities are always drawn one by one, the centre among them.
ALWAYS_SINGLE = 12
_MOST_BOXES = 48
_BOXES = (48, 40, 32, 26, 21, 18, 15, 12, 10, 8, 6, 4)
_FEWEST_CELLS = (34, 6)
_FRAMED = (Style(True, 24, 2), Style(True, 18, 2), Style(True, 14, 2, joined=False))
_PLAIN = (
    Style(False, 24),
    Style(False, 18, 2),
    Style(False, 14, 2, joined=False),
    Style(False, 12, 3, joined=False),
)
_INDENTED = (Style(False, 24), Style(False, 24, joined=False), Style(False, 14, 2, joined=False))


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
    roomy = width >= _FEWEST_CELLS[0] and height >= _FEWEST_CELLS[1]
    trees = Branch(Card("", "")), Branch(Card("", ""))
    cursor = ""
    for shown in _choices(ties, height):
        trees = grow(ties, shown), grow(ties, shown, joined=False)
        keys = [each.card.key for each in trees[0].walk()]
        cursor = chosen if chosen in keys else same_group(chosen, keys) or trees[0].card.key
        if roomy:
            for way in _ways(*trees, width):
                if way.height <= height:
                    return _drawn(way, width, cursor)
    if width >= _FEWEST_CELLS[0] and (lowest := min(_ways(*trees, width), key=_height, default=None)):
        return _drawn(lowest, width, cursor)
    return draw_list(trees[0], width, cursor)


def _height(way: Columns | Indented) -> int:
    return way.height


def _drawn(way: Columns | Indented, width: int, cursor: str) -> Picture:
    return draw_columns(way, width, cursor) if isinstance(way, Columns) else draw_indented(way, width, cursor)


def _choices(ties: Ties, height: int) -> Iterator[Mapping[str, Sequence[str | Group]]]:
    """Give a box to every entity where there are few, then ever fewer boxes."""
    count = len(ties.nodes)
    if count <= max(ALWAYS_SINGLE, min(_MOST_BOXES, 2 * height)):
        yield whole(ties)
    if count > ALWAYS_SINGLE:
        yield from (grouped(ties, boxes) for boxes in _BOXES if boxes < count)


def _ways(joined: Branch, apart: Branch, width: int) -> Iterator[Columns | Indented]:
    """Give the arrangements of a tree that have the width, the most readable first.

    Args:
        joined: With several relations of two entities on one line.
        apart: With a line for each.
        width: Cells there are.
    """
    for sides in (sides_of, lambda tree: balanced(sides_of(tree))):
        for style in (*_FRAMED, *_PLAIN):
            tree = joined if style.joined else apart
            left, right = sides(tree)
            for space in (1, 0):
                columns = place(tree, left, right, style, width=width, space=space)
                if columns.width > width:
                    break
                yield columns
    for style in _INDENTED:
        downward = indent(joined if style.joined else apart, style)
        if downward.width <= width:
            yield downward
