"""Owns the graph browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from workbench.tui.panes.base import Pane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.tui.ink import Line


class GraphPane(Pane):
    """Not yet."""

    title: ClassVar[str] = "Graph"

    def teach(self, width: int) -> Sequence[Line]:
        del width
        return ()

    def reload(self) -> None:
        self.list.waiting = False
        self.has_read()

    def apply_filter(self, text: str) -> None:
        del text

    def show_detail(self, key: str) -> None:
        del key
