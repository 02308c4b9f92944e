"""Finds anything by a few letters: what can be done here, and every memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.containers import Vertical
from textual.message import Message
from textual.worker import get_current_worker

from workbench.tui.ink import BLANK, Line, Span, column, gap, ink, spread
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
        if row.key.partition(":")[0] in ("run", "theme", "pane"):
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
    """

    class Found(Message):
        """A search is over."""

        def __init__(self, found: list[tuple[str, Sequence[Finding]]]) -> None:
            super().__init__()
            self.found = found

    BINDINGS: ClassVar = [("escape", "close", "Close")]

    def __init__(self, offered: Sequence[Finding], memories: Callable[[], Iterable[Finding]]) -> None:
        super().__init__()
        self._offered, self._memories = offered, memories

    def compose(self) -> ComposeResult:
        with Vertical(classes="card"):
            yield FilterBar("type to find a command, a pane, a theme or a memory")
            yield VirtualList(id="find-list", ground=RAISED, always_lit=True)

    def on_mount(self) -> None:
        self.query_one(FilterBar).open()
        self._show(search((), self._offered, (), lambda: False))

    def _show(self, found: list[tuple[str, Sequence[Finding]]]) -> None:
        self.query_one(VirtualList).show(FindRows(found), keep="")

    @on(FilterBar.Changed)
    def _changed(self, event: FilterBar.Changed) -> None:
        event.stop()
        self._search(tuple(event.text.casefold().split()))

    def search_again(self) -> None:
        """Take note that there is more to be found."""
        if words := tuple(self.query_one(FilterBar).text.casefold().split()):
            self._search(words)

    @work(thread=True, exclusive=True)
    def _search(self, words: tuple[str, ...]) -> None:
        worker = get_current_worker()
        found = search(words, self._offered, self._memories(), lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.post_message(self.Found(found))

    @on(Found)
    def _found(self, event: Found) -> None:
        event.stop()
        self._show(event.found)

    def choose(self, key: str) -> None:
        """Give what was chosen to whoever asked."""
        self.dismiss(key)
