"""What screens have in common in which one types to narrow a list and chooses from it."""

from __future__ import annotations

from textual import on
from textual.screen import ModalScreen

from workbench.tui.widgets.filter_bar import FilterInput
from workbench.tui.widgets.virtual_list import VirtualList


class ChoosingScreen(ModalScreen[str | None]):
    """A line over a list: the line keeps the focus, the keys that move go on to the list, enter chooses."""

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
