"""A canvas of terminal cells, and a picture on it: lines that join, things in their places, and the way between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from workbench.display.cells import cell_width, plain
from workbench.display.ink import Span
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.display.ink import Line

NORTH, EAST, SOUTH, WEST = 1, 2, 4, 8
# Indexed by the sum of the arms that meet in a cell.
JOINTS = " │─╰││╭├─╯─┴╮┤┬┼"
LINE_ROLE = "faint"

LEFT, RIGHT, UP, DOWN = "left", "right", "up", "down"
Steps = dict[tuple[str, str], str]

_Cell = tuple[str, str, str]
# The right half of a wide character.
_HALF = ""


class Canvas:
    """Cells to write on; what falls outside is not written."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = max(0, width), max(0, height)
        self._rows: list[dict[int, _Cell]] = [{} for _ in range(self.height)]
        self._arms: list[dict[int, int]] = [{} for _ in range(self.height)]

    def write(self, x: int, y: int, text: str, role: str = "text", link: str = "") -> int:
        """Write text to the right of a cell; return the first cell after it.

        A wide character is written whole or, at an edge, not at all, and takes the other half with it of
        one that it covers.
        """
        if not 0 <= y < self.height:
            return x
        row = self._rows[y]
        for cluster, size in clusters(text):
            if x >= 0 and x + size <= self.width:
                for at in range(x, x + size):
                    self._clear(row, at)
                row[x] = (cluster, role, link)
                if size == 2:
                    row[x + 1] = (_HALF, role, link)
            x += size
        return x

    def _clear(self, row: dict[int, _Cell], x: int) -> None:
        cell = row.pop(x, None)
        if cell is None:
            return
        if cell[0] == _HALF:
            del row[x - 1]
        elif row.get(x + 1, cell)[0] == _HALF:
            del row[x + 1]

    def across(self, y: int, x1: int, x2: int) -> None:
        """Draw a line along a row between two cells, both included."""
        left, right = sorted((x1, x2))
        for x in range(left, right + 1):
            self._arm(x, y, (WEST if x > left else 0) | (EAST if x < right else 0))

    def down(self, x: int, y1: int, y2: int) -> None:
        """Draw a line along a column between two cells, both included."""
        top, bottom = sorted((y1, y2))
        for y in range(top, bottom + 1):
            self._arm(x, y, (NORTH if y > top else 0) | (SOUTH if y < bottom else 0))

    def _arm(self, x: int, y: int, arms: int) -> None:
        if 0 <= x < self.width and 0 <= y < self.height:
            row = self._arms[y]
            row[x] = row.get(x, 0) | arms

    def lines(self) -> tuple[Line, ...]:
        """Return what is drawn; text covers lines, and no line ends in spaces."""
        return tuple(_spans(row, arms) for row, arms in zip(self._rows, self._arms, strict=True))


@lru_cache(maxsize=4096)
def clusters(text: str) -> tuple[tuple[str, int], ...]:
    """Return text made safe, as what each character prints with its marks, and the cells it takes: 1 or 2."""
    safe = plain(text)
    if safe.isascii():
        return tuple((character, 1) for character in safe)
    found: list[tuple[str, int]] = []
    for character in safe:
        size = cell_width(character)
        if size:
            found.append((character, size))
        elif found:
            found[-1] = (found[-1][0] + character, found[-1][1])
    return tuple(found)


def _spans(row: dict[int, _Cell], arms: dict[int, int]) -> Line:
    """Join the cells of a row to spans, with spaces where nothing is."""
    cells = {x: (JOINTS[joined], LINE_ROLE, "") for x, joined in arms.items()} | row
    spans: list[Span] = []
    run: list[str] = []
    look = ("text", "")
    end = 0
    for x in sorted(cells):
        text, role, link = cells[x]
        # Spaces that nobody wrote join what stands before them.
        if x > end:
            run.append(" " * (x - end))
        if (role, link) != look:
            if run:
                spans.append(Span("".join(run), *look))
                run = []
            look = (role, link)
        run.append(text)
        end = x + 1
    if run:
        spans.append(Span("".join(run), *look))
    return tuple(spans)


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of cells; the upper left cell of a drawing is (0, 0)."""

    x: int
    y: int
    width: int
    height: int

    def holds(self, x: int, y: int) -> bool:
        """Tell whether a cell lies in it."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


@dataclass(frozen=True)
class Picture:
    """A drawing.

    Args:
        lines: From the top; may be more than fit, to be scrolled.
        regions: Where each thing stands, by its key, in reading order.
        steps: The key that a cursor comes to from a key in a direction; absent where there is none.
        home: The key that a cursor is on that has no place here.
    """

    lines: tuple[Line, ...]
    regions: Mapping[str, Region]
    steps: Mapping[tuple[str, str], str] = field(default_factory=dict)
    home: str = ""

    def at(self, x: int, y: int) -> str:
        """Return the key of the thing at a cell, or an empty string."""
        return next((key for key, region in self.regions.items() if region.holds(x, y)), "")

    def step(self, chosen: str, direction: str) -> str:
        """Return the key that a cursor comes to from one in a direction; the same where there is none.

        A cursor that has no place here comes to `home` first.
        """
        if chosen not in self.regions:
            return self.home or chosen
        return self.steps.get((chosen, direction), chosen)


def walk_list(steps: Steps, keys: Sequence[str], back: str, on: str) -> None:
    """Let two directions walk a list."""
    for one, other in pairwise(keys):
        steps[one, on] = other
        steps[other, back] = one
