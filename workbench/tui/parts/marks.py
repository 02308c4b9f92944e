"""Owns which rows of a list are marked, one by one or as a range that follows the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.tui.parts.rows import RowSource


class Marks:
    """Marked ids; while a range is open, also those between where it began and the cursor."""

    def __init__(self) -> None:
        self.keys: frozenset[str] = frozenset()
        self._base: frozenset[str] = frozenset()
        self._anchor = ""

    @property
    def open_range(self) -> bool:
        """Tell whether a range is being drawn."""
        return bool(self._anchor)

    def toggle(self, key: str) -> None:
        """Mark one row or unmark it; an open range ends."""
        self._anchor = ""
        self.keys = self.keys ^ {key}

    def begin_or_end_range(self, rows: RowSource, index: int) -> None:
        """Begin a range at a row, or leave the marks of the open one as they are."""
        if self._anchor:
            self._anchor = ""
            return
        self._anchor, self._base = rows.key(index), self.keys
        self.keys = self._base | {self._anchor}

    def extend(self, rows: RowSource, index: int) -> bool:
        """Let the open range reach to the cursor; returns whether there is one."""
        anchor = rows.find(self._anchor) if self._anchor else None
        if anchor is None:
            return False
        self.keys = self._base | _between(rows, anchor, index)
        return True

    def range_to(self, rows: RowSource, start: int, end: int) -> None:
        """Mark everything between two rows as well."""
        self._anchor = ""
        self.keys = self.keys | _between(rows, start, end)

    def clear(self) -> bool:
        """Unmark everything; returns whether anything was marked."""
        had = bool(self.keys)
        self.keys, self._anchor = frozenset(), ""
        return had


def _between(rows: RowSource, start: int, end: int) -> frozenset[str]:
    first, last = sorted((max(start, 0), max(end, 0)))
    return frozenset(key for at in range(first, last + 1) if (key := rows.key(at)))
