"""Draws an entity with what lies around it, in the most readable of several ways that has room; and a way between two.

That way is a chain of boxes that turns back at the edge, as an ox ploughs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from workbench.display.canvas import DOWN, LEFT, RIGHT, UP, Canvas, Picture, Region, Steps
from workbench.display.cells import cell_width, wrap
from workbench.display.graph_drawing import boxes
from workbench.display.graph_drawing.boxes import FRAME_LINES, Box, Style, caption_of, captions_of, measure
from workbench.display.graph_drawing.columns import Columns, draw_columns, hang, place
from workbench.display.graph_drawing.ties import (
    grouped,
    hidden_relations,
    members_in,
    read_ties,
    same_group,
    whole,
)
from workbench.display.graph_drawing.tree import (
    Indented,
    balanced,
    draw_indented,
    draw_tree,
    grow,
    indent,
    leaves,
    sides_of,
    walk,
    write_head,
    write_link,
)
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
# Cells from the column where a line turns to the box that it comes to: the turn, the line, its head.
_TURN = 3
_STYLES = (Style(True, 24, 2), Style(True, 14, 3))
_SLACK = 2
_FEWEST_CELLS_OF_A_WAY = 24


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


def arrange(ties: Ties, width: int, height: int, *, chosen: str, omitted: int) -> Picture:
    """Draw a neighbourhood in the best way that fits.

    Args:
        height: Lines there are; more are taken where even the smallest arrangement needs them.
        omitted: Entities that the view leaves out.
    """
    shown, way = _chosen_way(ties, width, height - bool(omitted))
    root = grow(ties, shown, captions_of(ties, shown))
    keys = [each.caption.key for each in walk(root)]
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
        chosen: Key of the box under the cursor. Any other value selects the centre.

    Returns:
        The keys of its regions are ids of nodes, and `group:…` for boxes that stand for several entities at once.
        Without lines where the view is empty.
    """
    ties = read_ties(view)
    if not ties.center:
        return Picture((), {})
    return arrange(ties, width, height, chosen=chosen, omitted=view.omitted)


def draw_compact(view: GraphView, width: int, *, chosen: str | None = "", plain: bool = False) -> Picture:
    """Draw a neighbourhood or a path as a tree of words, for narrow screens.

    Args:
        chosen: Key of the word under the cursor; None for no cursor. Any other value selects the root.
        plain: Leave out lines and arrows, for screen readers.
    """
    ties = read_ties(view)
    if not ties.center:
        return Picture((), {})
    shown = whole(ties) if len(ties.nodes) <= _MOST_NAMED else grouped(ties, _MOST_NAMED)
    root = grow(ties, shown, captions_of(ties, shown))
    keys = [each.caption.key for each in walk(root)]
    cursor = "" if chosen is None else chosen
    if chosen is not None and chosen not in keys:
        cursor = same_group(chosen, keys) or root.caption.key
    return _with_footer(
        draw_tree(root, width, cursor, plain=plain), hidden_relations(ties, shown), view.omitted, width
    )


def members_of(view: GraphView, group: str) -> tuple[str, ...]:
    """Return the ids of the entities that a group’s box stands for."""
    return members_in(read_ties(view), group)


@dataclass(frozen=True)
class _Link:
    """What leads from a box to the next one and back."""

    there: str
    back: str

    @property
    def width(self) -> int:
        """Cells that it needs in a row."""
        words = [cell_width(each) + 2 for each in (self.there, self.back) if each]
        return sum(words) + len(words) + 1 + _SLACK


@dataclass(frozen=True)
class _Row:
    """Boxes beside one another in the order of the way, and the cells that they need."""

    boxes: tuple[int, ...]
    width: int
    height: int


def draw_path(view: GraphView, width: int, height: int, *, chosen: str = "") -> Picture:
    """Draw the way between two entities that `graph_path` found.

    Args:
        view: Its entities from the one end to the other, by their hops.
        height: Lines there are; more are taken where the chain needs them.
        chosen: Key of the box under the cursor. Any other value selects the first box.

    Returns:
        The keys of its regions are ids of nodes; without lines where there is no way.
    """
    ties = read_ties(view)
    return _chain(ties, width, height, chosen) if ties.center else Picture((), {})


def _chain(ties: Ties, width: int, height: int, chosen: str) -> Picture:
    ids = sorted(ties.nodes, key=lambda id_: ties.nodes[id_].hop)
    chosen = chosen if chosen in ties.nodes else ids[0]
    told = set(pairwise(ids))
    links = [
        _Link(*(", ".join(each) for each in ties.words_between(one, other))) for one, other in pairwise(ids)
    ]
    if width >= _FEWEST_CELLS_OF_A_WAY and all(link.there or link.back for link in links):
        for style in _STYLES:
            found = [measure(caption_of(ties, id_, set(ids), told), 1, style) for id_ in ids]
            rows = _rows(found, links, width)
            if rows is not None:
                return _drawn_way(found, links, rows, width, height, chosen)
    shown = whole(ties)
    return draw_tree(grow(ties, shown, captions_of(ties, shown)), width, chosen)


def _rows(found: Sequence[Box], links: Sequence[_Link], width: int) -> list[_Row] | None:
    """Put boxes into rows of at most `width` cells; None where one with the words after it is wider."""
    rows: list[_Row] = []
    at = 0
    while at < len(found):
        taken = [at]
        used = (_TURN if rows else 0) + found[at].width
        while taken[-1] + 1 < len(found):
            following = taken[-1] + 1
            longer = used + links[following - 1].width + found[following].width
            after = links[following].width + 1 if following < len(links) else 0
            if longer + after > width:
                break
            used = longer
            taken.append(following)
        last = taken[-1]
        used += links[last].width + 1 if last < len(links) else 0
        if used > width:
            return None
        rows.append(_Row(tuple(taken), used, max(found[each].height for each in taken)))
        at = last + 1
    return rows


@dataclass(frozen=True)
class _Place:
    """Where a box stands, and in which direction the way goes on from it: 1 to the right, -1 to the left."""

    box: Box
    region: Region
    direction: int
    turns: bool

    @property
    def line(self) -> int:
        """The line that the way runs on."""
        return self.region.y + self.box.body

    @property
    def ahead(self) -> int:
        """The cell of its side that the way leaves."""
        return self.region.x + (self.region.width - 1 if self.direction == 1 else 0)

    @property
    def behind(self) -> int:
        """The cell of its side that the way comes to."""
        return self.region.x + (0 if self.direction == 1 else self.region.width - 1)


def _placed(
    found: Sequence[Box], links: Sequence[_Link], rows: Sequence[_Row], left: int, right: int, space: int
) -> list[_Place]:
    """Give boxes their cells, rows going to the right and to the left in turn between two edges."""
    places: list[_Place] = []
    y = 0
    for number, row in enumerate(rows):
        direction = -1 if number % 2 else 1
        at = (left if direction == 1 else right) + (direction * _TURN if number else 0)
        for index in row.boxes:
            box = found[index]
            x = at if direction == 1 else at - box.width + 1
            turns = index == row.boxes[-1] and index < len(links)
            places.append(_Place(box, Region(x, y, box.width, box.height), direction, turns))
            at += direction * (box.width + (links[index].width if index < len(links) else 0))
        y += row.height + space
    return places


def _drawn_way(
    found: Sequence[Box], links: Sequence[_Link], rows: Sequence[_Row], width: int, height: int, chosen: str
) -> Picture:
    lines = sum(row.height for row in rows)
    space = 1 if lines + len(rows) - 1 <= height else 0
    canvas = Canvas(width, lines + space * (len(rows) - 1))
    wide = max(row.width for row in rows)
    left = (width - wide) // 2
    places = _placed(found, links, rows, left, left + wide - 1, space)
    for placed in places:
        region = placed.region
        boxes.draw(
            canvas, placed.box, region.x, region.y, region.width, chosen=placed.box.caption.key == chosen
        )
    for (one, other), link in zip(pairwise(places), links, strict=True):
        turn = left + wide - 1 if one.direction == 1 else left
        _draw_link(canvas, one, other, link, turn, chosen)
    keys = [place.box.caption.key for place in places]
    regions = {
        place.box.caption.key: place.region
        for place in sorted(places, key=lambda place: (place.region.y, place.region.x))
    }
    return Picture(
        canvas.lines(), regions, steps_in_rows(regions, [place.direction for place in places], keys), keys[0]
    )


def _draw_link(canvas: Canvas, one: _Place, other: _Place, link: _Link, turn: int, chosen: str) -> None:
    """Draw what leads from a box to the next, round the edge where that stands in the row below."""
    ahead = one.direction
    start = one.ahead + ahead
    arrival = other.behind - other.direction
    if one.turns:
        end = turn - ahead
        canvas.across(one.line, start, turn)
        canvas.down(turn, one.line, other.line)
        canvas.across(other.line, turn, arrival)
    else:
        end = arrival
        canvas.across(one.line, start, end)
    write_link(canvas, one.line, start, end, link.there, link.back)
    if link.there:
        write_head(canvas, arrival, other.line, rightward=other.direction == 1)
    else:
        marked = other.box.caption.key == chosen
        boxes.leave(canvas, other.box, other.behind, other.line, right=other.direction == -1, chosen=marked)
    if link.back:
        write_head(canvas, start, one.line, rightward=ahead == -1)
    else:
        boxes.leave(
            canvas, one.box, one.ahead, one.line, right=ahead == 1, chosen=one.box.caption.key == chosen
        )


def steps_in_rows(regions: Mapping[str, Region], directions: Sequence[int], keys: Sequence[str]) -> Steps:
    """Walk a chain that turns back at the edge: along it to the left and right, to the nearest row up and down.

    Args:
        regions: Where the boxes stand.
        directions: Of each box’s row, 1 to the right.
        keys: In the order of the chain.
    """
    steps: Steps = {}
    for at, (key, direction) in enumerate(zip(keys, directions, strict=True)):
        on, back = (RIGHT, LEFT) if direction == 1 else (LEFT, RIGHT)
        if at + 1 < len(keys):
            steps[key, on] = keys[at + 1]
        if at:
            steps[key, back] = keys[at - 1]
        middle = regions[key].x + regions[key].width // 2
        for way, wanted in ((UP, -1), (DOWN, 1)):
            line = regions[key].y
            rows = {region.y for region in regions.values() if (region.y - line) * wanted > 0}
            if rows:
                nearest = min(rows, key=lambda row: abs(row - line))
                beside = [each for each in keys if regions[each].y == nearest]
                steps[key, way] = min(
                    beside, key=lambda each: abs(regions[each].x + regions[each].width // 2 - middle)
                )
    return steps
