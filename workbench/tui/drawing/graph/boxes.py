"""Boxes: how big one is in a style, and how it is drawn; its marks say what colour says as well."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.display.cells import cell_width
from workbench.tui.drawing.graph.names import LONGEST_NAME, name_lines, packed, shorten
from workbench.tui.palette import score_role

if TYPE_CHECKING:
    from workbench.tui.drawing.canvas import Canvas
    from workbench.tui.drawing.graph.cards import Card, Note

GROUP_SIGN = "⊞"
# Cells that a border and the space within take on both sides; lines of the lowest box with a border.
FRAME, FRAME_LINES = 4, 3


@dataclass(frozen=True, slots=True)
class Style:
    """How the boxes of a drawing look.

    Args:
        framed: With a border around; otherwise `[ Name ]`.
        name_width: Cells of a line of text in a box.
        name_lines: Lines a name may take.
        joined: Whether several relations may stand on one line.
        note_width: Cells of a line of notes; as wide as the name where it is 0.
        aside: Whether notes may stand beside the name.
        status_below: Whether a box without a border says its status below the name rather than after it.
    """

    framed: bool
    name_width: int = LONGEST_NAME
    name_lines: int = 1
    joined: bool = True
    note_width: int = 0
    aside: bool = False
    status_below: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """A card, measured.

    Args:
        rows: What stands in it, from the top: text and role.
        width: Cells with the border.
        height: Lines with the border.
        body: Its first line that has text, from its top.
        aside: What stands beside its first line.
    """

    card: Card
    rows: tuple[tuple[str, str], ...]
    width: int
    height: int
    body: int
    framed: bool
    aside: str = ""


@lru_cache(maxsize=4096)
def measure(card: Card, runs: int, style: Style) -> Box:
    """Return a card as a box.

    Args:
        card: To be written in it.
        runs: How many lines end at it on the side of the centre; each ends at a line of text.
        style: Of the box.
    """
    sign = f"{GROUP_SIGN} " if card.group else ""
    names = name_lines(sign + card.name, style.name_width, style.name_lines)
    if style.framed:
        titles = [cell_width(shorten(title, style.name_width)) for title in (card.type, card.status) if title]
    else:
        titles = []
        if card.status and not style.status_below:
            names = (*names[:-1], f"{names[-1]} · {card.status}")
    inner = max(*(cell_width(line) for line in names), *titles, 1)
    widest = max((cell_width(word) for note in card.notes for word, whole in note if whole), default=0)
    room = max(inner, widest, style.note_width or style.name_width)
    aside = ""
    below = list(card.notes)
    if card.status and style.status_below and not style.framed:
        below.insert(0, ((card.status, True),))
    if style.aside and len(names) == 1:
        while below and cell_width(names[0] + aside) + _APART + _width(below[0]) <= style.note_width:
            aside += " " * _APART + " ".join(word for word, _ in below.pop(0))
        inner = max(inner, cell_width(names[0] + aside))
    notes = [line for note in below for line in packed(note, room)]
    inner = max(inner, *(cell_width(line) for line in notes), 0)
    role = "soft" if card.group else "faint" if card.dashed else score_role(card.score) + "+strong"
    rows = [(line, role) for line in names] + [(line, "soft") for line in notes]
    rows += [("", "text")] * (runs - len(rows))
    body = int(style.framed)
    return Box(card, tuple(rows), inner + FRAME, len(rows) + 2 * body, body, style.framed, aside)


def _width(note: Note) -> int:
    return sum(cell_width(word) + 1 for word, _ in note) - 1


def draw(canvas: Canvas, box: Box, x: int, y: int, width: int, *, chosen: bool, centre: bool = False) -> None:
    """Draw a box with its upper left cell at a cell, as wide as `width`."""
    if box.framed:
        _draw_framed(canvas, box, x, y, width, chosen, centre)
    else:
        _draw_compact(canvas, box, x, y, width, chosen, centre)


# Cells between the name and a note beside it.
_APART = 2
# Corners from the upper left around, then the horizontal and the vertical side.
_LIGHT, _HEAVY, _DOUBLE, _DASHED = "╭╮╯╰─│", "┏┓┛┗━┃", "╔╗╝╚═║", "╭╮╯╰╌┆"
# What stands in a vertical side where a line leaves it to the left or to the right.
_LEAVES = {"│": "┤├", "┃": "┨┠", "║": "╢╟", "┆": "┤├"}
_LEAVES_BELOW = {"─": "┬", "━": "┯", "═": "╤", "╌": "┬"}


def _border(card: Card, chosen: bool, centre: bool) -> tuple[str, str]:
    look = _HEAVY if chosen else _DOUBLE if centre else _DASHED if card.dashed else _LIGHT
    return look, "text" if chosen else "faint" if card.group or card.dashed else "store.semantic"


def _draw_framed(canvas: Canvas, box: Box, x: int, y: int, width: int, chosen: bool, centre: bool) -> None:
    look, role = _border(box.card, chosen, centre)
    inner = width - 2
    canvas.write(x, y, look[0] + look[4] * inner + look[1], role)
    if box.card.type:
        canvas.write(x + 1, y, f" {shorten(box.card.type, inner - 2)} ", "faint")
    for at, (text, text_role) in enumerate(box.rows, y + 1):
        canvas.write(x, at, look[5] + " " * inner + look[5], role)
        if chosen and at == y + 1:
            text_role = "tab"
        canvas.write(x + 2, at, text, text_role, _link(box.card))
    last = y + box.height - 1
    canvas.write(x, last, look[3] + look[4] * inner + look[2], role)
    if box.card.status:
        status = shorten(box.card.status, inner - 2)
        canvas.write(x + width - 3 - cell_width(status), last, f" {status} ", "soft")


def _draw_compact(canvas: Canvas, box: Box, x: int, y: int, width: int, chosen: bool, centre: bool) -> None:
    look, role = _border(box.card, chosen, centre)
    last = len(box.rows) - 1
    for at, (text, text_role) in enumerate(box.rows):
        sides = look[5] * 2
        if not box.card.dashed:
            sides = "[]" if not last else look[0:2] if at == 0 else look[3] + look[2] if at == last else sides
        canvas.write(x, y + at, sides[0] + " " * (width - 2) + sides[1], role)
        marked = chosen and at == 0
        if marked:
            canvas.write(x + 1, y, "▸", role)
            canvas.write(x + 2 + cell_width(text), y, "◂", role)
        after = canvas.write(x + 2, y + at, text, "tab" if marked else text_role, _link(box.card))
        if at == 0:
            canvas.write(after + _APART, y, box.aside.strip(), "soft", _link(box.card))


def leave(
    canvas: Canvas, box: Box, x: int, y: int, *, right: bool, chosen: bool, centre: bool = False
) -> None:
    """Join the vertical side of a framed box at a cell with the line that leaves it."""
    if box.framed:
        look, role = _border(box.card, chosen, centre)
        canvas.write(x, y, _LEAVES[look[5]][right], role)


def leave_below(canvas: Canvas, box: Box, x: int, y: int, *, chosen: bool) -> None:
    """Join the lower side of a framed box at a cell with the line that leaves it."""
    if box.framed:
        look, role = _border(box.card, chosen, False)
        canvas.write(x, y, _LEAVES_BELOW[look[4]], role)


def _link(card: Card) -> str:
    return "" if card.group else card.key
