"""Finds anything by a few letters: what can be done here, and every memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.containers import Vertical
from textual.message import Message
from textual.worker import get_current_worker

from workbench.display.ink import BLANK, Line, Span, column, gap, ink, spread
from workbench.tui.palette import RAISED
from workbench.tui.screens.choosing import ChoosingScreen
from workbench.tui.views.memory import store_of_id, store_sign
from workbench.tui.widgets.filter_bar import FilterBar
from workbench.tui.widgets.rows import SectionedRows
from workbench.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual.app import ComposeResult

MOST_FOUND = 200
# Seconds between two looks whether all is read.
_LOOK_AGAIN = 0.05
# What the keys of what can be done begin with.
_KNOWN = ("run:", "theme:", "pane:")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that can be found.

    Args:
        key: What it is: `run:` and a command, `theme:` and a name, `pane:` and an id, or a link.
        text: What it is found by.
        sign: A key or a word to show beside it.
    """

    key: str
    text: str
    sign: str = ""


class FindRows(SectionedRows["Finding | str"]):
    """Findings under the headings of their kinds."""

    def __init__(self, found: Sequence[tuple[str, Sequence[Finding]]]) -> None:
        super().__init__()
        for heading, findings in found:
            if findings:
                self._add_heading(heading)
            for each in findings:
                self._add(each, each.key)

    def line(self, index: int, width: int) -> Line:
        """Draw a heading, a finding, or a space."""
        row = self._rows[index]
        if row is None:
            return BLANK
        if isinstance(row, str):
            return (Span(row, "soft"),)
        if row.key.startswith(_KNOWN):
            return spread((ink(row.text, "text", width),), (column(row.sign, 6, "soft", right=True),), width)
        return (
            Span(store_sign(row.key), f"store.{store_of_id(row.key)}"),
            gap(1),
            ink(row.text, "text", max(1, width - 2)),
        )


def search(
    words: tuple[str, ...],
    offered: Sequence[Finding],
    memories: Iterable[Finding],
    cancelled: Callable[[], bool],
) -> list[tuple[str, Sequence[Finding]]]:
    """Find what holds every word; memories only once there is a word to find them by.

    Args:
        words: Lower-case.
        offered: What can be done or gone to.
        memories: Newest first.
        cancelled: Tells whether nobody waits for the answer any more.
    """
    matching = [each for each in offered if all(word in each.text.casefold() for word in words)]
    found: list[Finding] = []
    if words:
        for count, each in enumerate(memories):
            if count % 500 == 0 and cancelled():
                break
            text = each.text.casefold()
            if all(word in text for word in words):
                found.append(each)
                if len(found) == MOST_FOUND:
                    break
    return [("Do and go", matching), ("Memories", found)]


class FindScreen(ChoosingScreen):
    """Gives the key of what was chosen, or None.

    Args:
        offered: What can be done or gone to.
        memories: Gives every memory that can be found, newest first.
        is_reading: Returns True while memories are read that can be found then.
    """

    class Found(Message):
        """A search is over; it was through all that there is where `whole` is true."""

        def __init__(self, text: str, found: list[tuple[str, Sequence[Finding]]], *, whole: bool) -> None:
            super().__init__()
            self.text = text
            self.found = found
            self.whole = whole

    BINDINGS: ClassVar = [("escape", "close", "Close")]

    def __init__(
        self,
        offered: Sequence[Finding],
        memories: Callable[[], Iterable[Finding]],
        is_reading: Callable[[], bool],
    ) -> None:
        super().__init__()
        self._offered, self._memories, self._is_reading = offered, memories, is_reading
        self._first = ""
        self._is_whole = False

    @property
    def is_behind(self) -> bool:
        """Return True while another row may come to be the first: what can be done is known at once, memory is not."""
        if super().is_behind:
            return True
        here = [rows.cursor_key for rows in self.query(VirtualList)]
        return not (self._is_whole or any(key.startswith(_KNOWN) for key in here))

    def compose(self) -> ComposeResult:
        with Vertical(classes="card"):
            yield FilterBar("type to find a command, a pane, a theme or a memory")
            yield VirtualList(id="find-list", ground=RAISED, always_lit=True)

    def on_mount(self) -> None:
        self.query_one(FilterBar).open()
        self._show("", search((), self._offered, (), lambda: False))

    def _show(self, text: str, found: list[tuple[str, Sequence[Finding]]]) -> None:
        rows = self.query_one(VirtualList)
        # Whoever has chosen a row stays there when more is found by the same words.
        stays = text == self.answered_text and rows.cursor_key != self._first
        self.answered_text = text
        rows.show(FindRows(found), keep=None if stays else "")
        self._first = next((each.key for _, findings in found for each in findings), "")

    @on(FilterBar.Changed)
    def _changed(self, event: FilterBar.Changed) -> None:
        event.stop()
        self._search(event.text, whole=not self._is_reading())

    def search_again(self) -> None:
        """Take note that there is more to be found."""
        if (text := self.query_one(FilterBar).text).strip():
            self._search(text, whole=not self._is_reading())

    def _search_the_rest(self) -> None:
        """Search again once all is read."""
        if self._is_reading():
            self.set_timer(_LOOK_AGAIN, self._search_the_rest)
        else:
            self.search_again()

    @work(thread=True, exclusive=True)
    def _search(self, text: str, *, whole: bool) -> None:
        worker = get_current_worker()
        words = tuple(text.casefold().split())
        found = search(words, self._offered, self._memories(), lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.post_message(self.Found(text, found, whole=whole))

    @on(Found)
    def _found(self, event: Found) -> None:
        event.stop()
        if event.text != self.query_one(FilterBar).text:
            return
        self._is_whole = event.whole
        self._show(event.text, event.found)
        if not event.whole:
            self.set_timer(_LOOK_AGAIN, self._search_the_rest)

    def choose(self, key: str) -> None:
        """Give what was chosen to whoever asked."""
        self.dismiss(key)
