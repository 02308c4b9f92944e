"""Keeps a place in a transcript of any length: only the pages in sight are there, the others are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Size
from textual.message import Message

from workbench.display.lit_words import LIT
from workbench.tui.views.transcript import Look
from workbench.tui.widgets.detail import Detail
from workbench.tui.widgets.transcript_pages import TranscriptPages, page_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.display.transcript import Entry

GUTTER = 2
_MARGIN_RIGHT = 1


class TranscriptScroll(Detail):
    """A transcript with a cursor on one of its lines. Posts `Wanted` for a page, and `At` for another line."""

    class Wanted(Message):
        """Pages in sight are not there; `most_wanted` says which."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, TranscriptScroll.Wanted)

    class At(Message):
        """The cursor is on another line."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, TranscriptScroll.At)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.total = 0
        self.number = 0
        self.unfolded: frozenset[int] = frozenset()
        self.waiting = False
        self.words = ""
        self._pages = TranscriptPages()
        self._drawn_for = 0
        self._target = 0
        self._seeks_lit = False

    # --- what it shows --------------------------------------------------------------------------------------

    @property
    def text_width(self) -> int:
        """Return how wide a line of text may be, in cells."""
        return max(20, self.scrollable_content_region.width - GUTTER - _MARGIN_RIGHT)

    def open(self, total: int, at: int) -> None:
        """Show another transcript.

        Args:
            total: How many lines it has.
            at: The line to begin at, 1-based.
        """
        self._pages.clear()
        self.unfolded = frozenset()
        self.waiting = False
        self.words = ""
        self.number, self.link = 0, -1
        self._grow_to(total)
        self.scroll_to(y=0, animate=False, force=True)
        self.go_to(at)
        self.refresh()

    def renew(self, total: int) -> None:
        """Read again what is shown, of which there may be more now; nothing moves."""
        if total < self.total:
            self.open(total, min(self.number, total))
            return
        at_end = self.number == self.total
        self._pages.outdate()
        grew = total > self.total
        self._grow_to(total)
        if grew and at_end:
            self.go_to(total)
        self._ask()

    def _grow_to(self, total: int) -> None:
        self.total = total
        self._pages.grow_to(total)
        self.virtual_size = Size(0, self._pages.height)

    @property
    def look(self) -> Look:
        """Return how pages are to be drawn now."""
        return Look(self.text_width, self.unfolded, self.words)

    def arrive(self, page: int, entries: Sequence[Entry], look: Look) -> None:
        """Take in a page that was read.

        Args:
            page: Its number, from 0.
            entries: Its lines, drawn.
            look: How they were drawn; what is drawn otherwise by now is asked for again.
        """
        if look != self.look or not 0 <= page < len(self._pages):
            self._ask()
            return
        top = self._pages.take(page, entries, round(self.scroll_y))
        self.virtual_size = Size(0, self._pages.height)
        self._pages.drop_but(self._in_sight())
        if self._target and page == page_of(self._target):
            self._reach()
        elif top != round(self.scroll_y):
            self.scroll_to(y=max(0, top), animate=False, force=True)
        self.find_links()
        self._ask()
        self.refresh_bindings()
        self.refresh()

    def most_wanted(self) -> int | None:
        """Return the page to read next; None where everything in sight is there."""
        if not self.is_attached or self.scrollable_content_region.height <= 0:
            return None
        if self._drawn_for != self.text_width:
            self._drawn_for = self.text_width
            self._pages.outdate()
        if self._target and self._pages.lacks(page := page_of(self._target)):
            return page
        return next((page for page in self._in_sight() if self._pages.lacks(page)), None)

    def _in_sight(self) -> list[int]:
        return self._pages.in_sight(round(self.scroll_y), self.size.height)

    def _ask(self) -> None:
        if self.most_wanted() is not None:
            self.post_message(self.Wanted())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self.total:
            self._ask()

    def watch_show_vertical_scrollbar(self) -> None:
        super().watch_show_vertical_scrollbar()
        # A bar that only appears after one has come to a place knows nothing of it.
        self.vertical_scrollbar.position = self.scroll_y

    # --- where one is ---------------------------------------------------------------------------------------

    def go_to(self, number: int) -> None:
        """Put the cursor on a line, or the nearest there is, now or as soon as its page is read."""
        if not self.total:
            return
        self._target = min(max(1, number), self.total)
        if self._pages.lacks(page_of(self._target)):
            self.scroll_to(y=max(0, self._pages.place_of(self._target)), animate=False, force=True)
        else:
            self._reach()
        self._ask()

    def light(self, words: str) -> None:
        """Have words lit wherever they are said in sight."""
        self.words = words
        self._pages.outdate()
        self._ask()

    def go_to_words(self, number: int) -> None:
        """Put the cursor on a line that says what is lit: it is shown whole, and its first such row is in sight."""
        page = self._pages.get(page_of(number))
        if number not in self.unfolded and (page is None or number in page.folding):
            self.unfolded |= {number}
            self._pages.outdate(page_of(number))
        self._seeks_lit = True
        self.go_to(number)

    def _reach(self) -> None:
        """Put the cursor on the line that was asked for, or on the nearest one with anything to see."""
        target, self._target = self._target, 0
        found = self._pages.nearest(target)
        if found:
            self._set(found)
            if self._seeks_lit:
                self._show_lit()
        self._seeks_lit = False

    def _show_lit(self) -> None:
        first, behind = self._pages.rows_of(self.number) or (0, 0)
        lit = (row for row in range(first, behind) if any(span.role == LIT for span in self._pages.row(row)))
        row = next(lit, first)
        top, height = round(self.scroll_y), self.scrollable_content_region.height
        if not top <= row < top + height:
            self.scroll_to(y=max(0, row - height // 3), animate=False, force=True)

    def _set(self, number: int, *, align: bool = True) -> None:
        another = number != self.number
        self.number = number
        if another:
            self.link = -1
            self.find_links()
            self.post_message(self.At())
            self.refresh_bindings()
        if align:
            self._keep_in_sight()
        self.refresh()

    def _keep_in_sight(self) -> None:
        rows = self._pages.rows_of(self.number)
        height = self.scrollable_content_region.height
        if rows is None or height <= 0:
            return
        top = round(self.scroll_y)
        wanted = top
        if rows[0] < top:
            wanted = rows[0] if rows[1] - rows[0] <= height else max(rows[0], rows[1] - height)
        elif rows[1] > top + height:
            wanted = min(rows[0], rows[1] - height)
        if wanted != top:
            self.scroll_to(y=max(0, wanted), animate=False, force=True)

    def _step(self, by: int) -> None:
        rows = self._pages.rows_of(self.number)
        top, height = round(self.scroll_y), self.scrollable_content_region.height
        if rows is None or rows[1] <= top or rows[0] >= top + height:
            self._set(self._first_in_sight() or self.number)
            return
        if by > 0 and rows[1] > top + height:
            self._scroll(by)
            return
        if by < 0 and rows[0] < top:
            self._scroll(by)
            return
        number = self.number + by
        while 1 <= number <= self.total:
            page = self._pages.get(page_of(number))
            if page is None:
                self.go_to(number)
                return
            if number in page.firsts:
                self._set(number)
                return
            number += by

    def _first_in_sight(self) -> int:
        """Return the first line that begins in sight; else the one that fills the view; 0 where nothing is there."""
        top, height = round(self.scroll_y), self.scrollable_content_region.height
        filling = 0
        for row in range(top, top + height):
            owner = self._pages.owner(row)
            filling = filling or owner
            if owner and self._pages.owner(row - 1) != owner:
                return owner
        return filling

    def _turn(self, by: int) -> None:
        self._scroll(by)
        if found := self._first_in_sight():
            self._set(found, align=False)

    def action_scroll_down(self) -> None:
        self._step(1)

    def action_scroll_up(self) -> None:
        self._step(-1)

    def action_scroll_page_down(self) -> None:
        self._turn(max(1, self.size.height - 2))

    def action_scroll_page_up(self) -> None:
        self._turn(-max(1, self.size.height - 2))

    def action_scroll_home(self) -> None:
        self.go_to(1)

    def action_scroll_end(self) -> None:
        self.go_to(self.total)

    def find_links(self) -> None:
        """Note the links in the line under the cursor."""

    def _lay_out(self) -> None:
        """Have everything drawn for the width there is now, and what one is at stay in sight."""
        if self.total:
            self._keep_in_sight()
            self._ask()
