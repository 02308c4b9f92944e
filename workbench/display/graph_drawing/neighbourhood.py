"""Draws an entity with what lies around it, in the most readable of several ways that has the room."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.display.canvas import Picture
from workbench.display.cells import wrap
from workbench.display.graph_drawing.boxes import FRAME_LINES, Style, captions_of
from workbench.display.graph_drawing.columns import Columns, draw_columns, hang, place
from workbench.display.graph_drawing.downward import Indented, draw_indented, draw_tree, indent
from workbench.display.graph_drawing.ties import (
    grouped,
    hidden_relations,
    members_in,
    read_ties,
    same_group,
    whole,
)
from workbench.display.graph_drawing.tree import balanced, grow, leaves, sides_of
from workbench.display.ink import Span
from workbench.display.words import counted
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.display.graph_drawing.ties import Shown, Ties
    from workbench.engine.results.graph import GraphView

# So many entities are always drawn one by one, the centre among them.
ALWAYS_SINGLE = 12
# More are, up to so many, where they fit.
_MOST_SINGLE = 48
# A tree of words names so many.
_MOST_NAMED = 60
# Where entities share boxes, so many boxes are enough to look at; fewer than the others say are too few to be drawn
# with borders, on both sides of the centre, or at all.
_MOST_BOXES, _FEWEST_FRAMED, _FEWEST_BESIDE, _FEWEST_BOXES = 28, 14, 10, 3
_FEWEST_CELLS = (34, 6)
_FRAMED = (Style(True, 24, 2), Style(True, 18, 2), Style(True, 14, 2, joined=False))
_PLAIN = (
    Style(False, 24),
    Style(False, 18, 2),
    Style(False, 14, 2, joined=False),
    Style(False, 12, 3, joined=False),
)
_INDENTED = (
    Style(False, 24, note_width=44),
    Style(False, 24),
    Style(False, 24, joined=False),
    Style(False, 14, 2, joined=False),
    Style(False, 24, note_width=54, aside=True),
)
_BESIDE = (*_FRAMED, *_PLAIN)

Way = Columns | Indented


@dataclass(frozen=True)
class _Styles:
    """What to try.

    Args:
        beside: Styles of boxes on both sides of the centre.
        balanced: Whether boxes may change sides.
    """

    beside: tuple[Style, ...]
    below: tuple[Style, ...] = ()
    balanced: bool = False


_ALL = _Styles(_BESIDE, _INDENTED, balanced=True)


def arrange(ties: Ties, width: int, height: int, *, chosen: str, omitted: int = 0) -> Picture:
    """Draw a neighbourhood in the best way that fits.

    Args:
        height: Lines there are; more are taken where even the smallest arrangement needs them.
        omitted: Entities that the view leaves out.
    """
    shown, way = _chosen_way(ties, width, height - bool(omitted))
    root = grow(ties, shown, captions_of(ties, shown))
    keys = [each.caption.key for each in root.walk()]
    cursor = chosen if chosen in keys else same_group(chosen, keys) or root.caption.key
    picture = _drawn(way, width, cursor) if way else draw_tree(root, width, cursor)
    return _with_footer(picture, hidden_relations(ties, shown), omitted, width)


def _with_footer(picture: Picture, hidden: int, omitted: int, width: int) -> Picture:
    """Say below a drawing what is not drawn."""
    parts = []
    if hidden:
        parts.append(f"{counted(hidden, 'relation')} among them not drawn")
    if omitted:
        parts.append(f"{omitted:,} more {'entity' if omitted == 1 else 'entities'} not drawn")
    if not parts:
        return picture
    told = ((Span(each, "soft"),) for each in wrap("; ".join(parts), max(1, width)))
    return replace(picture, lines=(*picture.lines, *told))


def _chosen_way(ties: Ties, width: int, height: int) -> tuple[Shown, Way | None]:
    """Return what is shown, and the way of arranging it; None where it is to be a list."""
    count = len(ties.nodes)
    roomy = width >= _FEWEST_CELLS[0]
    if roomy and count <= max(ALWAYS_SINGLE, min(_MOST_SINGLE, 2 * height)):
        shown = whole(ties)
        way = next(_fitting(ties, shown, width, height), None)
        if way:
            return shown, way
    if count <= ALWAYS_SINGLE:
        shown = whole(ties)
        # It is scrolled, then; what is lowest is scrolled least.
        ways = _ways(ties, shown, width, height, tall=True) if roomy else ()
        return shown, min(ways, key=lambda way: way.height, default=None)
    most = min(_MOST_BOXES, count - 2)
    # What is hidden is said in a line below.
    height -= 1
    if not roomy or height < _FEWEST_CELLS[1]:
        return grouped(ties, max(_FEWEST_BOXES, min(most, height - 1))), None
    return (
        _most_boxes(ties, width, height, _Styles(_FRAMED), min(most, _FEWEST_FRAMED), most)
        or _most_boxes(ties, width, height, _Styles(_BESIDE), min(most, _FEWEST_BESIDE), most)
        or _most_boxes(ties, width, height, _Styles(_BESIDE, _INDENTED), _FEWEST_BOXES, most)
        or (grouped(ties, _FEWEST_BOXES), None)
    )


def _most_boxes(
    ties: Ties, width: int, height: int, styles: _Styles, fewest: int, most: int
) -> tuple[Shown, Way] | None:
    """Return as many boxes as fit, found by halving; None where even the fewest do not."""
    best: tuple[Shown, Way] | None = None
    while fewest <= most:
        boxes = fewest if best is None else (fewest + most + 1) // 2
        shown = grouped(ties, boxes)
        way = next(_fitting(ties, shown, width, height, styles), None)
        if way:
            best, fewest = (shown, way), boxes + 1
        elif best is None:
            return None
        else:
            most = boxes - 1
    return best


def _fitting(ties: Ties, shown: Shown, width: int, height: int, styles: _Styles = _ALL) -> Iterator[Way]:
    """Give the arrangements that fit, the most readable first."""
    return (way for way in _ways(ties, shown, width, height, styles) if way.height <= height)


def _drawn(way: Way, width: int, cursor: str) -> Picture:
    return draw_columns(way, width, cursor) if isinstance(way, Columns) else draw_indented(way, width, cursor)


def _ways(
    ties: Ties, shown: Shown, width: int, height: int, styles: _Styles = _ALL, *, tall: bool = False
) -> Iterator[Way]:
    """Give the arrangements that have the width, the most readable first.

    Args:
        shown: What hangs on each entity.
        height: Lines there are; not all that is given keeps to them.
        tall: Give those as well that are sure to be too high.
    """
    captions = captions_of(ties, shown)
    trees = {joined: grow(ties, shown, captions, joined=joined) for joined in (True, False)}
    natural = {joined: sides_of(tree) for joined, tree in trees.items()}
    arrangements = [(place, natural)]
    if any(each.children for each in trees[True].children):
        arrangements.append((hang, natural))
    if styles.balanced:
        even = {joined: balanced(sides) for joined, sides in natural.items()}
        arrangements += [(way, even) for way, _ in arrangements]
    for way, sides in arrangements:
        highest = max(leaves(side) for side in sides[True])
        for style in styles.beside:
            if not tall and highest * (FRAME_LINES if style.framed else 1) > height:
                continue
            columns = way(trees[style.joined], *sides[style.joined], style, width=width, height=height)
            if columns:
                yield columns
    for style in styles.below:
        downward = indent(trees[style.joined], style)
        if downward.width <= width:
            yield downward


def draw_neighbourhood(view: GraphView, width: int, height: int, *, chosen: str = "") -> Picture:
    """Draw a neighbourhood of one or two hops.

    Args:
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


def draw_compact(view: GraphView, width: int, *, chosen: str | None = "", plain: bool = False) -> Picture:
    """Draw a neighbourhood, or a path, as a tree of words, which a narrow screen has room for; likewise.

    Where `chosen` is None, there is no cursor. A plain one has no lines and no arrows, for those to whom it is read.
    """
    ties = read_ties(view)
    if not ties.center:
        return Picture((), {})
    shown = whole(ties) if len(ties.nodes) <= _MOST_NAMED else grouped(ties, _MOST_NAMED)
    root = grow(ties, shown, captions_of(ties, shown))
    keys = [each.caption.key for each in root.walk()]
    cursor = "" if chosen is None else chosen
    if chosen is not None and chosen not in keys:
        cursor = same_group(chosen, keys) or root.caption.key
    return _with_footer(
        draw_tree(root, width, cursor, plain=plain), hidden_relations(ties, shown), view.omitted, width
    )


def members_of(view: GraphView, group: str) -> tuple[str, ...]:
    """Return the ids of the entities that a group’s box stands for."""
    return members_in(read_ties(view), group)
