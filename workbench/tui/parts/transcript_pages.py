"""The pages of a long transcript that were read, and where each would stand if all of them were there."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection

    from workbench.display.ink import Line
    from workbench.display.transcript import Entry

PAGE = 64
# Rows that a line is thought to take until it was read.
_GUESS = 4
_MOST_PAGES = 24


@dataclass(frozen=True)
class TranscriptPage:
    """A page that was read.

    Args:
        owners: The line of the transcript that each row is of.
        firsts: First row of each line that has any.
        folding: Lines that can be folded and unfolded.
    """

    rows: tuple[Line, ...]
    owners: tuple[int, ...]
    firsts: dict[int, int]
    folding: frozenset[int]


def page_of(number: int) -> int:
    """Return the page, from 0, that a line of the transcript, 1-based, is on."""
    return (number - 1) // PAGE


class TranscriptPages:
    """Pages by their number from 0; those that were not read have a height that is guessed."""

    def __init__(self) -> None:
        self._pages: OrderedDict[int, TranscriptPage] = OrderedDict()
        self._stale: set[int] = set()
        self._heights: list[int] = []
        self._starts: list[int] = [0]

    def __len__(self) -> int:
        """Return how many pages there are, read or not."""
        return len(self._heights)

    @property
    def height(self) -> int:
        """Return how many rows all pages take."""
        return self._starts[-1]

    @property
    def kept(self) -> int:
        """Return how many pages are held in memory."""
        return len(self._pages)

    def clear(self) -> None:
        """Forget everything."""
        self._pages.clear()
        self._stale.clear()
        self._heights = []
        self._measure()

    def grow_to(self, total: int) -> None:
        """Make room for a number of lines, no fewer than before."""
        pages = -(-total // PAGE)
        self._heights += [PAGE * _GUESS] * (pages - len(self._heights))
        if pages and (pages - 1) not in self._pages:
            self._heights[-1] = (total - (pages - 1) * PAGE) * _GUESS
        self._measure()

    def _measure(self) -> None:
        self._starts = [0, *accumulate(self._heights)]

    def get(self, page: int) -> TranscriptPage | None:
        """Return a page that was read, though it may have to be read again; None where it was not."""
        return self._pages.get(page)

    def place_of(self, number: int) -> int:
        """Return the row at which a line is thought to be that was not read."""
        page = page_of(number)
        return self._starts[page] + (number - 1 - page * PAGE) * self._heights[page] // PAGE

    def lacks(self, page: int) -> bool:
        """Tell whether a page has to be read."""
        return page not in self._pages or page in self._stale

    def outdate(self, page: int | None = None) -> None:
        """Let a page, or all that are there, be read again when they are next in sight."""
        self._stale.update(self._pages if page is None else (page,))

    def take(self, page: int, entries: Sequence[Entry], top: int) -> int:
        """Take in a page that was read, so that nothing in sight moves.

        Args:
            top: The row at the top of what is seen.

        Returns:
            The row that shall be at the top now.
        """
        rows: list[Line] = []
        owners: list[int] = []
        firsts: dict[int, int] = {}
        for entry in entries:
            if entry.rows:
                firsts[entry.number] = len(rows)
                rows.extend(entry.rows)
                owners.extend([entry.number] * len(entry.rows))
        anchor = self._anchor(page, top)
        before = self._heights[page]
        folding = frozenset(each.number for each in entries if each.folds)
        self._pages[page] = TranscriptPage(tuple(rows), tuple(owners), firsts, folding)
        self._pages.move_to_end(page)
        self._stale.discard(page)
        self._heights[page] = len(rows)
        ends = self._starts[page] + before
        self._measure()
        if anchor is not None and anchor[0] in firsts:
            return self._starts[page] + firsts[anchor[0]] + anchor[1]
        # Pages above turned out higher or lower than they were thought.
        return top + len(rows) - before if ends <= top else top

    def _anchor(self, page: int, top: int) -> tuple[int, int] | None:
        """Return the line at the top and how many of its rows are above, where it is of a page that comes again."""
        known = self._pages.get(page)
        at = top - self._starts[page]
        if known is None or not 0 <= at < len(known.rows):
            return None
        number = known.owners[at]
        return number, at - known.firsts[number]

    def drop_but(self, needed: Collection[int]) -> None:
        """Let go of the pages that were read longest ago, until few are left; never of those that are needed."""
        for page in list(self._pages):
            if len(self._pages) <= _MOST_PAGES:
                return
            if page not in needed:
                del self._pages[page]

    def in_sight(self, top: int, height: int) -> list[int]:
        """Return the pages in sight, and after them those one would come to next."""
        if not self._heights:
            return []
        first, last = self.page_at(top), self.page_at(top + height)
        around = [page for page in (last + 1, first - 1) if 0 <= page < len(self._heights)]
        return [*range(first, last + 1), *around]

    def page_at(self, row: int) -> int:
        """Return the page that a row is on; the nearest where it is on none."""
        return min(len(self._heights) - 1, max(0, bisect_right(self._starts, row) - 1))

    def nearest(self, number: int) -> int:
        """Return the line on the same page nearest to one, with anything to see."""
        page = self._pages.get(page_of(number))
        if page is None or not page.firsts:
            return number
        return min(page.firsts, key=lambda each: (abs(each - number), each))

    def rows_of(self, number: int) -> tuple[int, int] | None:
        """Return the first row of a line and the first behind it; None where its page is not there."""
        at = page_of(number)
        page = self._pages.get(at)
        if page is None or number not in page.firsts:
            return None
        first = page.firsts[number]
        behind = next((row for each, row in page.firsts.items() if each > number), len(page.rows))
        return self._starts[at] + first, self._starts[at] + behind

    def owner(self, row: int) -> int:
        """Return the line that a row is of; 0 where nothing was read."""
        if not 0 <= row < self._starts[-1]:
            return 0
        at = self.page_at(row)
        page = self._pages.get(at)
        inside = row - self._starts[at]
        return page.owners[inside] if page is not None and inside < len(page.owners) else 0

    def row(self, row: int) -> Line:
        """Return one row as it is drawn; nothing where it was not read."""
        at = self.page_at(row)
        page = self._pages.get(at)
        inside = row - self._starts[at]
        return page.rows[inside] if page is not None and 0 <= inside < len(page.rows) else ()
