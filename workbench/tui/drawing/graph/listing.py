"""Draws a tree as a list of lines, where there is no room for boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.cells import cell_width, wrap
from workbench.tui.drawing.canvas import Canvas
from workbench.tui.drawing.graph.names import packed, shorten
from workbench.tui.drawing.graph.sides import sides_of
from workbench.tui.drawing.graph.stepping import DOWN, LEFT, RIGHT, UP, Steps, walk_list
from workbench.tui.drawing.picture import Picture, Region
from workbench.tui.palette import score_role

if TYPE_CHECKING:
    from workbench.tui.drawing.graph.tree import Branch

# What a relation begins with, by where it points: from the centre, to it, or both.
ARROWS = ("→", "←", "↔")
_MOST_INDENT = 8
_Row = tuple[int, tuple[tuple[str, str], ...]]


def draw_list(root: Branch, width: int, chosen: str) -> Picture:
    """Draw `→ uses  Name` for each box, indented under what it hangs on; every line takes at most `width` cells."""
    width = max(1, width)
    rows: list[_Row] = []
    regions: dict[str, Region] = {}
    steps: Steps = {}

    def add(branch: Branch, depth: int, inner: str) -> None:
        key = branch.card.key
        indent = min(2 * max(0, depth - 1), _MOST_INDENT, max(0, width - 8))
        first = len(rows)
        rows.extend((indent, line) for line in _lines(branch, width - indent, key == chosen))
        regions[key] = Region(indent, first, width - indent, len(rows) - first)
        if inner:
            steps[key, LEFT] = inner
            steps.setdefault((inner, RIGHT), key)
        inward, others = sides_of(branch)
        for child in inward + others:
            add(child, depth + 1, key)

    add(root, 0, "")
    walk_list(steps, list(regions), UP, DOWN)
    canvas = Canvas(width, len(rows))
    for y, (x, parts) in enumerate(rows):
        for text, role in parts:
            x = canvas.write(x, y, text, role)
    return Picture(canvas.lines(), regions, steps, root.card.key)


def _lines(branch: Branch, width: int, chosen: bool) -> list[tuple[tuple[str, str], ...]]:
    card = branch.card
    role = "tab" if chosen else "soft" if card.group else score_role(card.score) + "+strong"
    mark = "▸" if chosen else ""
    name = shorten(mark + card.name, max(1, min(24, width)))
    after = f" · {card.status}" if card.status else " · no file" if card.dashed else ""
    lines: list[tuple[tuple[str, str], ...]] = []
    for at, run in enumerate(branch.runs):
        arrow = "↔ " if run.outward and run.inward else "→ " if run.outward else "← "
        lead = f"{arrow}{run.words}  " if run.words else arrow
        here = at == len(branch.runs) - 1
        if not here or cell_width(lead) + cell_width(name) > width:
            lines.extend(((piece, "soft"),) for piece in wrap(lead, width))
        else:
            lines.append(((lead, "soft"), (name, role)))
            name = ""
    if name:
        lines.append(((name, role),))
    lines[-1] = (*lines[-1], (after, "soft")) if _width(lines[-1]) + cell_width(after) <= width else lines[-1]
    room = max(1, width - 2)
    lines.extend((("  ", "soft"), (line, "soft")) for note in card.notes for line in _note(note, room))
    return lines


def _note(note: tuple[tuple[str, bool], ...], width: int) -> tuple[str, ...]:
    fitting = tuple((word, whole and cell_width(word) <= width) for word, whole in note)
    return packed(fitting, width)


def _width(line: tuple[tuple[str, str], ...]) -> int:
    return sum(cell_width(text) for text, _ in line)
