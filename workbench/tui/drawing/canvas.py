"""A canvas of terminal cells: text that keeps its columns in any script, and lines that join where they meet."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.display.cells import cell_width, plain
from workbench.display.ink import Span

if TYPE_CHECKING:
    from workbench.display.ink import Line

NORTH, EAST, SOUTH, WEST = 1, 2, 4, 8
# Indexed by the sum of the arms that meet in a cell.
JOINTS = " │─╰││╭├─╯─┴╮┤┬┼"
LINE_ROLE = "faint"

_Cell = tuple[str, str, str]
# The right half of a wide character.
_HALF = ""


class Canvas:
    """Cells to write on; what falls outside is not written.

    Args:
        width: Cells of every line.
        height: Lines.
    """

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
