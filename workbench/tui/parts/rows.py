"""Owns what a virtual list shows: rows by index, drawn only when they are seen."""

from __future__ import annotations

from bisect import bisect_right
from copy import copy
from typing import TYPE_CHECKING, Any, Generic, Self, TypeAlias, TypeVar, cast

from workbench.display.ink import BLANK, broken, is_cut
from workbench.display.rows import heading_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from workbench.display.ink import Line


_LINES = (3, 2)
"""How many lines a row may take at most, as long as all rows still fit."""
# Rows of a list that scrolls anyway in which a text may take two lines, and the least height for that.
_FEW, _TALL = 400, 16

Head = TypeVar("Head")
Row = TypeVar("Row")


class Rows(Generic[Head, Row]):
    """Rows under headings, a space before every heading but the first; more may come at the end.

    A row has a key that stays while others come and go; a heading or a space has none, and the cursor passes over it.
    Headings are words, or a pair with what stands beside them, unless what is listed draws them as well.

    Args:
        draw: Draws a row for a width; a subclass that knows more than its row overrides `draw` instead.
        draw_heading: Draws a heading that is neither words nor a pair.
    """

    def __init__(
        self,
        draw: Callable[[Row, int], Line] | None = None,
        draw_heading: Callable[[Head, int], Line] | None = None,
    ) -> None:
        self._draw, self._draw_heading = draw, draw_heading
        self._most = 1
        self._empty()

    def _empty(self) -> None:
        self._rows: list[Head | Row | None] = []
        self._keys: list[str] = []
        self._headings: list[int] = []
        self._below: dict[int, int] = {}
        self._index: dict[str, int] = {}
        self._indexed = 0

    def add(self, row: Row | None, key: str = "", under: Head | None = None) -> None:
        """Add a row at the end; None is a space.

        Args:
            under: Its heading, which begins a section unless the row before stands under the same.
        """
        if under is not None and (not self._headings or self._rows[self._headings[-1]] != under):
            self.add_heading(under)
        self._rows.append(row)
        self._keys.append(key)

    def add_all(self, rows: Sequence[Row], keys: Iterable[str]) -> None:
        """Add many rows at the end, which takes no longer than it must."""
        self._rows.extend(rows)
        self._keys.extend(keys)

    def add_heading(self, head: Head, key: str = "") -> None:
        """Begin a section; with an id, the cursor may stand on its heading."""
        if self._rows:
            self.add(None)
        self._headings.append(len(self._rows))
        self._rows.append(head)
        self._keys.append(key)

    def __len__(self) -> int:
        return len(self._rows)

    def key(self, index: int) -> str:
        """Return the id of a row."""
        return self._keys[index]

    def find(self, key: str) -> int | None:
        """Return where the row with that id is."""
        if self._indexed != (count := len(self._keys)):
            # Backwards, so that of rows with one id the first counts.
            self._index = dict(zip(reversed(self._keys), range(count - 1, -1, -1), strict=True))
            self._indexed = count
        return self._index.get(key) if key else None

    def row(self, key: str) -> Row | None:
        """Return the row with an id; None for a heading, and where there is none."""
        at = self.find(key)
        return None if at is None else self.row_at(at)

    def row_at(self, index: int) -> Row | None:
        """Return the row at an index; None for a heading or a space."""
        return None if self.heading(index) == index else cast("Row | None", self._rows[index])

    def heading(self, index: int) -> int | None:
        """Return the index of the heading a row stands under, or None."""
        at = bisect_right(self._headings, index) - 1
        return self._headings[at] if at >= 0 else None

    def under(self, index: int) -> Head | None:
        """Return the heading that a row stands under."""
        heading = self.heading(index)
        return None if heading is None else self.head(heading)

    def head(self, index: int) -> Head | None:
        """Return the heading at an index; None for a row or a space."""
        return cast("Head", self._rows[index]) if self.heading(index) == index else None

    def owner(self, index: int) -> int:
        """Return the row that a line belongs to: itself, or the one above that it goes on with."""
        return index - self._below.get(index, 0)

    def line(self, index: int, width: int) -> Line:
        """Draw a line: a row, what goes on with it, a heading or a space."""
        owner = self.owner(index)
        head, row = self.head(owner), self.row_at(owner)
        if head is not None:
            return self.draw_heading(head, width)
        # At another width than they were unfolded for, a line has no more parts than lines.
        most = min(self._most, last_line(self, owner) - owner + 1)
        lines = [] if row is None else broken(self.draw(row, width), most)
        return lines[index - owner] if index - owner < len(lines) else BLANK

    def draw(self, row: Row, width: int) -> Line:
        """Draw a row."""
        if self._draw is None:
            raise NotImplementedError
        return self._draw(row, width)

    def draw_heading(self, head: Head, width: int) -> Line:
        """Draw a heading."""
        if self._draw_heading is not None:
            return self._draw_heading(head, width)
        said, beside = head if isinstance(head, tuple) else (str(head), "")
        return heading_row(said, beside, width)

    def spaced(self) -> Self:
        """Return these rows with a space below each, which belongs to it."""
        return self._longer([1] * len(self), spaces=False)

    def fitted(self, width: int, height: int, bar: int = 1) -> Self:
        """Return these rows with what is cut broken into lines, as long as all of them fit a height.

        Where they do not fit anyway, two lines for a text cost nothing that was in one glance.

        Args:
            bar: Cells of the width that a scroll bar takes.
        """
        if height < len(self):
            return self.unfolded(width - bar) if height >= _TALL and len(self) <= _FEW else self
        unfolded = (self.unfolded(width, most) for most in _LINES)
        return next((rows for rows in unfolded if len(rows) <= height), self)

    def unfolded(self, width: int, most: int = _LINES[-1]) -> Self:
        """Return these rows with what is cut broken into so many lines at most."""
        lines = {
            at: len(broken(line, most)) - 1 if most > _LINES[-1] else 1
            for at, key in enumerate(self._keys)
            if key and (row := self.row_at(at)) is not None and is_cut(line := self.draw(row, width))
        }
        if not lines:
            return self
        rows = self._longer([lines.get(at, 0) + last_line(self, at) - at for at in range(len(self))])
        rows._most = most
        return rows

    def _longer(self, lines: Sequence[int], *, spaces: bool = True) -> Self:
        """Return these rows with so many lines going on with each.

        Args:
            spaces: Whether the spaces between sections stay.
        """
        rows = copy(self)
        rows._empty()
        for at, row in enumerate(self._rows):
            if self.owner(at) != at or (row is None and not spaces):
                continue
            if self.heading(at) == at:
                rows._headings.append(len(rows._rows))
            rows.add(cast("Row | None", row), self._keys[at])
            if row is not None and self.heading(at) != at:
                for below in range(1, lines[at] + 1):
                    rows._below[len(rows._rows)] = below
                    rows.add(None)
        return rows

    def keeping(self, kept: Sequence[int]) -> Self:
        """Return only some of these rows, with the headings of sections that still have any.

        Args:
            kept: Indexes of rows that have a key, in their order.
        """
        rows = copy(self)
        rows._empty()
        begun = None
        for at in kept:
            heading = self.heading(at)
            if heading is not None and heading != begun:
                begun = heading
                rows.add_heading(cast("Head", self._rows[heading]), self._keys[heading])
            if heading != at:
                rows.add(cast("Row | None", self._rows[at]), self._keys[at])
        return rows


AnyRows: TypeAlias = Rows[Any, Any]


def nearest(rows: AnyRows, index: int) -> int:
    """Return the row nearest to an index that a cursor may stand on, further down first; -1 where there is none."""
    count = len(rows)
    start = max(0, min(index, count - 1))
    below = (at for at in range(start, count) if rows.key(at))
    above = (at for at in range(min(start, count) - 1, -1, -1) if rows.key(at))
    return next(below, next(above, -1))


def last_line(rows: AnyRows, index: int) -> int:
    """Return the last of the lines that belong to a row."""
    while index + 1 < len(rows) and rows.owner(index + 1) == rows.owner(index):
        index += 1
    return index


def step_from(rows: AnyRows, index: int, by: int) -> int:
    """Return where a cursor comes to that moves by so many rows, over headings and spaces, stopping at the ends."""
    if not len(rows):
        return -1
    target = min(max(index + by, 0), len(rows) - 1)
    direction = 1 if by > 0 else -1
    at = target
    while 0 <= at < len(rows) and not rows.key(at):
        at += direction
    return at if 0 <= at < len(rows) else nearest(rows, target)


def repeated_heading(rows: AnyRows, index: int) -> int | None:
    """Return the heading to repeat on the top line while its rows scroll by, for the line that would be there."""
    if not 0 < index < len(rows) or not rows.key(rows.owner(index)):
        return None
    below = index + 1
    if below < len(rows) and rows.owner(below) == rows.owner(index):
        # What goes on below would stand there without its beginning.
        return None
    if below < len(rows) and not rows.key(below):
        # It would stand above nothing but the space before the next section.
        return None
    heading = rows.heading(index)
    return heading if heading is not None and heading < index else None
