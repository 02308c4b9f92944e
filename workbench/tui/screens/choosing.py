"""What screens have in common in which one types to narrow a list and chooses from it."""

from __future__ import annotations

from textual import on
from textual.screen import ModalScreen

from workbench.tui.widgets.filter_bar import FilterBar, FilterInput
from workbench.tui.widgets.virtual_list import VirtualList


class ChoosingScreen(ModalScreen[str | None]):
    """A line over a list: the line keeps the focus, the keys that move go on to the list, enter chooses."""

    answered_text: str | None = None
    """What was typed when the rows that are shown were found; None before there are any."""
    is_unread = False

    @property
    def is_behind(self) -> bool:
        """Return True while the rows do not answer what is typed, or are not there yet."""
        return not any(bar.text == self.answered_text for bar in self.query(FilterBar))

    def choose(self, key: str) -> None:
        """Do what choosing a row of the list is for.

        Args:
            key: Of the row.
        """
        raise NotImplementedError

    @on(FilterInput.Passed)
    def _passed(self, event: FilterInput.Passed) -> None:
        event.stop()
        getattr(self.query_one(VirtualList), f"action_{event.action}")()

    @on(FilterInput.Submitted)
    def _submitted(self, event: FilterInput.Submitted) -> None:
        event.stop()
        if key := self.query_one(VirtualList).cursor_key:
            self.choose(key)

    @on(VirtualList.Chosen)
    def _chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        self.choose(event.key)

    @on(FilterInput.Left)
    def _left(self, event: FilterInput.Left) -> None:
        event.stop()
        self.action_close()

    def action_close(self) -> None:
        """Leave without having chosen."""
        self.dismiss(None)
