"""Draws the way between two entities as a chain of boxes that turns back at the edge, as an ox ploughs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from workbench.display.canvas import DOWN, LEFT, RIGHT, UP, Canvas, Picture, Region, Steps
from workbench.display.cells import cell_width
from workbench.display.graph_drawing import boxes
from workbench.display.graph_drawing.boxes import Box, Style, caption_of, captions_of, measure
from workbench.display.graph_drawing.downward import draw_tree
from workbench.display.graph_drawing.ties import read_ties, whole
from workbench.display.graph_drawing.tree import grow, write_head, write_link
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.display.graph_drawing.ties import Ties
    from workbench.engine.results.graph import GraphView

# Cells from the column where a line turns to the box that it comes to: the turn, the line, its head.
_TURN = 3
_STYLES = (Style(True, 24, 2), Style(True, 14, 3))
_SLACK = 2
_FEWEST_CELLS = 24


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
        chosen: Key of the chosen box; the first one where it is none.

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
    if width >= _FEWEST_CELLS and all(link.there or link.back for link in links):
        for style in _STYLES:
            found = [measure(caption_of(ties, id_, set(ids), told), 1, style) for id_ in ids]
            rows = _rows(found, links, width)
            if rows is not None:
                return _drawn(found, links, rows, width, height, chosen)
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


def _drawn(
    found: Sequence[Box], links: Sequence[_Link], rows: Sequence[_Row], width: int, height: int, chosen: str
) -> Picture:
    lines = sum(row.height for row in rows)
    space = 1 if lines + len(rows) - 1 <= height else 0
    canvas = Canvas(width, lines + space * (len(rows) - 1))
    wide = max(row.width for row in rows)
    left = (width - wide) // 2
    places = _placed(found, links, rows, left, left + wide - 1, space)
    for place in places:
        region = place.region
        boxes.draw(
            canvas, place.box, region.x, region.y, region.width, chosen=place.box.caption.key == chosen
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
