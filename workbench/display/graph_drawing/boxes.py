"""Boxes: names brought to a width, what is written in a box, how big it is, and how it is drawn."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.display.canvas import clusters
from workbench.display.cells import ELLIPSIS, cell_width, plain, wrap
from workbench.display.ink import score_role
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.display.canvas import Canvas
    from workbench.display.graph_drawing.ties import Shown, Ties

LONGEST_NAME = 24
NAMELESS = "(no name)"
# No name is looked at beyond this; the detail has all of it.
_MOST_CHARACTERS = 400


@lru_cache(maxsize=4096)
def shorten(text: str, width: int = LONGEST_NAME) -> str:
    """Return a safe name of at most `width` cells; of a longer one the beginning and the end stay."""
    safe = plain(text[:_MOST_CHARACTERS]).strip() or NAMELESS
    if cell_width(safe) <= width:
        return safe
    if width < 3:
        return plain(safe, width)
    cells = clusters(safe)
    head = _taken(cells, width - 1 - (width - 1) // 3)
    tail = _taken(cells[::-1], (width - 1) // 3)
    return "".join(shown for shown, _ in head) + ELLIPSIS + "".join(shown for shown, _ in tail[::-1])


def _taken(cells: tuple[tuple[str, int], ...], room: int) -> tuple[tuple[str, int], ...]:
    for at, (_, size) in enumerate(cells):
        room -= size
        if room < 0:
            return cells[:at]
    return cells


@lru_cache(maxsize=4096)
def name_lines(text: str, width: int, most: int) -> tuple[str, ...]:
    """Return a name as at most `most` lines of at most `width` cells."""
    lines = wrap(shorten(text, width * most), width)
    if len(lines) > most:
        # Breaking at spaces took more room than there is; the middle is what can be spared.
        lines = wrap(shorten(text, width * most - width // 2), width)
    return (
        tuple(lines)
        if len(lines) <= most
        else (*lines[: most - 1], shorten("".join(lines[most - 1 :]), width))
    )


def packed(words: tuple[tuple[str, bool], ...], width: int) -> tuple[str, ...]:
    """Put words into lines of at most `width` cells.

    Args:
        words: Safe words, and whether each must stay whole even where it is wider than a line.
        width: Cells, at least 1.
    """
    lines: list[str] = []
    for word, whole in words:
        pieces = [word] if whole or cell_width(word) <= width else wrap(word, width)
        for piece in pieces:
            if lines and cell_width(lines[-1]) + 1 + cell_width(piece) <= width:
                lines[-1] += " " + piece
            else:
                lines.append(piece)
    return tuple(lines)


# Words of a sentence, and whether each must stay whole.
Note = tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class Caption:
    """What is written in a box.

    Args:
        type: Any text; empty for a group.
        score: 0-1; None for a group.
        status: To be said in a word; empty where nothing is to be said.
        dashed: Whether it is only named, without a file.
        group: Whether it stands for several.
        notes: Sentences below the name, as words and whether each must stay whole.
    """

    key: str
    name: str
    type: str = ""
    score: float | None = None
    status: str = ""
    dashed: bool = False
    group: bool = False
    notes: tuple[Note, ...] = ()


# The states that are said; the others are the ordinary case.
_SAID = ("dormant", "archived", "pinned")


def captions_of(ties: Ties, shown: Shown) -> dict[str, Caption]:
    """Return what is written in the box of each entity that has one.

    Args:
        shown: What hangs on each entity: entities and groups.
    """
    told = {(inner, outer) for inner, hung in shown.items() for outer in hung if isinstance(outer, str)}
    drawn = {ties.center, *(outer for _, outer in told)}
    return {id_: caption_of(ties, id_, drawn, told) for id_ in drawn}


def caption_of(ties: Ties, id_: str, drawn: set[str], told: set[tuple[str, str]]) -> Caption:
    """Return what is written in the box of an entity.

    Args:
        drawn: Ids of all that have boxes.
        told: Pairs whose relations are drawn, either way; the others are told in words.
    """
    node = ties.nodes[id_]
    notes: list[Note] = []
    if itself := ties.words.get((id_, id_)):
        notes.append((("↺", True), *((word, True) for word in _listed(itself)), ("itself", True)))
    others: dict[tuple[str, ...], list[str]] = {}
    beside = {
        other: words
        for other in ties.neighbours[id_]
        if other in drawn and (id_, other) not in told and (other, id_) not in told
        if (words := ties.words.get((id_, other)))
    }
    for other in sorted(beside, key=ties.relevance):
        others.setdefault(beside[other], []).append(shorten(ties.nodes[other].label))
    notes.extend(
        (
            ("also", True),
            *((word, True) for word in _listed(words)),
            *((word, False) for name in _listed(names) for word in name.split(" ") if word),
        )
        for words, names in others.items()
    )
    status = node.status if node.status in _SAID else ""
    return Caption(
        id_,
        node.label,
        node.type,
        node.score if node.known else 0.0,
        status,
        not node.known,
        notes=tuple(notes),
    )


def _listed(words: Sequence[str]) -> list[str]:
    """Put a comma after each but the last."""
    return [*(f"{word}," for word in words[:-1]), *words[-1:]]


GROUP_SIGN = "⊞"
# Cells that a border and the space within take on both sides; lines of the lowest box with a border.
FRAME, FRAME_LINES = 4, 3


@dataclass(frozen=True, slots=True)
class Style:
    """How the boxes of a drawing look.

    Args:
        framed: With a border around; otherwise `[ Name ]`.
        name_width: Cells of a line of text in a box.
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
    """A caption, measured.

    Args:
        rows: What stands in it, from the top: text and role.
        body: Its first line that has text, from its top.
        aside: What stands beside its first line.
    """

    caption: Caption
    rows: tuple[tuple[str, str], ...]
    width: int
    height: int
    body: int
    framed: bool
    aside: str


@lru_cache(maxsize=4096)
def measure(caption: Caption, runs: int, style: Style) -> Box:
    """Return a caption as a box.

    Args:
        runs: How many lines end at it on the side of the centre; each ends at a line of text.
    """
    sign = f"{GROUP_SIGN} " if caption.group else ""
    names = name_lines(sign + caption.name, style.name_width, style.name_lines)
    if style.framed:
        titles = [
            cell_width(shorten(title, style.name_width)) for title in (caption.type, caption.status) if title
        ]
    else:
        titles = []
        if caption.status and not style.status_below:
            names = (*names[:-1], f"{names[-1]} · {caption.status}")
    inner = max(*(cell_width(line) for line in names), *titles, 1)
    widest = max((cell_width(word) for note in caption.notes for word, whole in note if whole), default=0)
    room = max(inner, widest, style.note_width or style.name_width)
    aside = ""
    below = list(caption.notes)
    if caption.status and style.status_below and not style.framed:
        below.insert(0, ((caption.status, True),))
    if style.aside and len(names) == 1:
        while below and cell_width(names[0] + aside) + _APART + _width(below[0]) <= style.note_width:
            aside += " " * _APART + " ".join(word for word, _ in below.pop(0))
        inner = max(inner, cell_width(names[0] + aside))
    notes = [line for note in below for line in packed(note, room)]
    inner = max(inner, *(cell_width(line) for line in notes), 0)
    role = "soft" if caption.group else "faint" if caption.dashed else score_role(caption.score) + "+strong"
    rows = [(line, role) for line in names] + [(line, "soft") for line in notes]
    rows += [("", "text")] * (runs - len(rows))
    body = int(style.framed)
    return Box(caption, tuple(rows), inner + FRAME, len(rows) + 2 * body, body, style.framed, aside)


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


def _border(caption: Caption, chosen: bool, centre: bool) -> tuple[str, str]:
    look = _HEAVY if chosen else _DOUBLE if centre else _DASHED if caption.dashed else _LIGHT
    return look, "text" if chosen else "faint" if caption.group or caption.dashed else "store.semantic"


def _draw_framed(canvas: Canvas, box: Box, x: int, y: int, width: int, chosen: bool, centre: bool) -> None:
    look, role = _border(box.caption, chosen, centre)
    inner = width - 2
    canvas.write(x, y, look[0] + look[4] * inner + look[1], role)
    if box.caption.type:
        canvas.write(x + 1, y, f" {shorten(box.caption.type, inner - 2)} ", "faint")
    for at, (text, text_role) in enumerate(box.rows, y + 1):
        canvas.write(x, at, look[5] + " " * inner + look[5], role)
        if chosen and at == y + 1:
            text_role = "tab"
        canvas.write(x + 2, at, text, text_role, _link(box.caption))
    last = y + box.height - 1
    canvas.write(x, last, look[3] + look[4] * inner + look[2], role)
    if box.caption.status:
        status = shorten(box.caption.status, inner - 2)
        canvas.write(x + width - 3 - cell_width(status), last, f" {status} ", "soft")


def _draw_compact(canvas: Canvas, box: Box, x: int, y: int, width: int, chosen: bool, centre: bool) -> None:
    look, role = _border(box.caption, chosen, centre)
    last = len(box.rows) - 1
    for at, (text, text_role) in enumerate(box.rows):
        sides = look[5] * 2
        if not box.caption.dashed:
            sides = "[]" if not last else look[0:2] if at == 0 else look[3] + look[2] if at == last else sides
        canvas.write(x, y + at, sides[0] + " " * (width - 2) + sides[1], role)
        marked = chosen and at == 0
        if marked:
            canvas.write(x + 1, y, "▸", role)
            canvas.write(x + 2 + cell_width(text), y, "◂", role)
        after = canvas.write(x + 2, y + at, text, "tab" if marked else text_role, _link(box.caption))
        if at == 0:
            canvas.write(after + _APART, y, box.aside.strip(), "soft", _link(box.caption))


def leave(
    canvas: Canvas, box: Box, x: int, y: int, *, right: bool, chosen: bool, centre: bool = False
) -> None:
    """Join the vertical side of a framed box at a cell with the line that leaves it."""
    if box.framed:
        look, role = _border(box.caption, chosen, centre)
        canvas.write(x, y, _LEAVES[look[5]][right], role)


def leave_below(canvas: Canvas, box: Box, x: int, y: int, *, chosen: bool) -> None:
    """Join the lower side of a framed box at a cell with the line that leaves it."""
    if box.framed:
        look, role = _border(box.caption, chosen, False)
        canvas.write(x, y, _LEAVES_BELOW[look[4]], role)


def _link(caption: Caption) -> str:
    return "" if caption.group else caption.key
