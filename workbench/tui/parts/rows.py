"""Owns what a virtual list shows: rows by index, drawn only when they are seen."""

from __future__ import annotations

from bisect import bisect_right
from copy import copy
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from workbench.display.ink import Line


Row = TypeVar("Row")


class RowSource(Protocol):
    """Rows of a list; a row whose key is empty is a heading or a space, which the cursor passes over."""

    def __len__(self) -> int: ...

    def key(self, index: int) -> str:
        """Return the id of a row, stable while rows come and go."""
        ...

    def find(self, key: str) -> int | None:
        """Return where the row with that id is."""
        ...

    def heading(self, index: int) -> int | None:
        """Return the index of the heading a row stands under, or None."""
        ...

    def owner(self, index: int) -> int:
        """Return the row that a line belongs to; itself unless it goes on with the row before."""
        ...

    def line(self, index: int, width: int) -> Line:
        """Draw a row."""
        ...


class KeyedRows:
    """The half of a row source that is the same everywhere: keys and headings, kept in two lists.

    Args:
        keys: One for each row, empty for headings and spaces.
        headings: Indexes of the rows that are headings, ascending.
    """

    def __init__(self, keys: Sequence[str], headings: Sequence[int]) -> None:
        self._keys = keys
        self._headings = headings
        self._index: dict[str, int] = {}
        self._indexed = 0

    def __len__(self) -> int:
        return len(self._keys)

    def key(self, index: int) -> str:
        """Return the id of a row."""
        return self._keys[index]

    def find(self, key: str) -> int | None:
        """Return where the row with that id is."""
        # Rows only ever come at the end, so those looked at once stay where they are.
        for at in range(self._indexed, len(self._keys)):
            if each := self._keys[at]:
                self._index.setdefault(each, at)
        self._indexed = len(self._keys)
        return self._index.get(key)

    def heading(self, index: int) -> int | None:
        """Return the index of the heading a row stands under, or None."""
        at = bisect_right(self._headings, index) - 1
        return self._headings[at] if at >= 0 else None

    def owner(self, index: int) -> int:
        """Return the row itself: rows of one line have no others."""
        return index

    def line(self, index: int, width: int) -> Line:
        """Draw a row."""
        raise NotImplementedError

    def keeping(self, kept: Collection[int]) -> KeyedRows:
        """Return only some of the rows, with the headings of sections that still have any.

        Args:
            kept: Indexes of rows that have a key.
        """
        return KeptRows(self, self._with_headings(kept))

    def _with_headings(self, kept: Collection[int]) -> list[int | None]:
        """Return the indexes of rows that are kept and of their headings, None for a space before a heading."""
        found: list[int | None] = []
        wanted, begun, is_kept = frozenset(kept), None, False
        for at in range(len(self)):
            # Lines without a key go on with the row before.
            is_kept = at in wanted if self._keys[at] else is_kept and self.owner(at) != at
            if not is_kept:
                continue
            heading = self.heading(at)
            if heading is not None and heading not in (begun, at):
                found += [None, heading] if found else [heading]
            begun = heading
            found.append(at)
        return found


class KeptRows(KeyedRows):
    """Some of the rows of another source.

    Args:
        whole: The source.
        shown: Indexes of what is left of it; None is a space.
    """

    def __init__(self, whole: KeyedRows, shown: Sequence[int | None]) -> None:
        self.whole = whole
        self._shown = shown
        where = {at: index for index, at in enumerate(shown)}
        headings = {whole.heading(at) for at in shown if at is not None}
        super().__init__(
            ["" if at is None else whole.key(at) for at in shown],
            sorted(where[at] for at in headings if at is not None and at in where),
        )

    def line(self, index: int, width: int) -> Line:
        """Draw a row."""
        at = self._shown[index]
        return () if at is None else self.whole.line(at, width)


class SectionedRows(KeyedRows, Generic[Row]):
    """Rows under headings, a space before every heading but the first; more may come at the end."""

    def __init__(self) -> None:
        self._rows: list[Row | None] = []
        self._row_keys: list[str] = []
        self._row_headings: list[int] = []
        super().__init__(self._row_keys, self._row_headings)

    def _add(self, row: Row | None, key: str = "") -> None:
        """Add a row at the end; None is a space, or has nothing but its id."""
        self._rows.append(row)
        self._row_keys.append(key)

    def _add_heading(self, row: Row, key: str = "") -> None:
        """Begin a section; with an id, the cursor may stand on its heading."""
        if self._rows:
            self._add(None)
        self._row_headings.append(len(self._rows))
        self._add(row, key)

    def keeping(self, kept: Collection[int]) -> Self:
        """Return rows of the same kind: only some of these, with the headings of sections that still have any."""
        rows = copy(self)
        SectionedRows.__init__(rows)
        headings = frozenset(self._row_headings)
        for at in self._with_headings(kept):
            if at is None:
                continue
            if at in headings:
                rows._add_heading(cast("Row", self._rows[at]), self._row_keys[at])
            else:
                rows._add(self._rows[at], self._row_keys[at])
        return rows

    def _row(self, key: str) -> Row | None:
        """Return the row of that id, if there is one."""
        at = self.find(key)
        return self._rows[at] if at is not None else None


class NoRows(KeyedRows):
    """No rows at all."""

    def __init__(self) -> None:
        super().__init__((), ())

    def line(self, index: int, width: int) -> Line:
        """Refuse: there is nothing to draw."""
        raise IndexError(f"row {index} of an empty list, {width} cells wide")


def nearest(rows: RowSource, index: int) -> int:
    """Return the row nearest to an index that a cursor may stand on, further down first; -1 where there is none."""
    count = len(rows)
    start = max(0, min(index, count - 1))
    below = (at for at in range(start, count) if rows.key(at))
    above = (at for at in range(min(start, count) - 1, -1, -1) if rows.key(at))
    return next(below, next(above, -1))


def last_line(rows: RowSource, index: int) -> int:
    """Return the last of the lines that belong to a row."""
    while index + 1 < len(rows) and rows.owner(index + 1) == rows.owner(index):
        index += 1
    return index


def step_from(rows: RowSource, index: int, by: int) -> int:
    """Return where a cursor comes to that moves by so many rows, over headings and spaces, stopping at the ends."""
    if not len(rows):
        return -1
    target = min(max(index + by, 0), len(rows) - 1)
    direction = 1 if by > 0 else -1
    at = target
    while 0 <= at < len(rows) and not rows.key(at):
        at += direction
    return at if 0 <= at < len(rows) else nearest(rows, target)


def repeated_heading(rows: RowSource, index: int) -> int | None:
    """Return the heading to repeat on the top line while its rows scroll by, for the row that would be there."""
    if not 0 < index < len(rows) or not rows.key(index):
        return None
    heading = rows.heading(index)
    return heading if heading is not None and heading < index else None
