"""Asks before everything goes back to a moment, and says exactly what that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.screen import ModalScreen

from workbench.tui.palette import RAISED
from workbench.tui.views.going_back import going_back_lines
from workbench.tui.widgets.lines import Lines

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.engine.results.audit import Comparison


class GoingBackScreen(ModalScreen[bool]):
    """A question that enter answers with yes: nothing is lost by it, and undo takes it back.

    Args:
        when: The moment in words.
        comparison: What came after it.
    """

    BINDINGS: ClassVar = [("enter", "go_back", "Go back"), ("escape", "stay", "Stay")]

    def __init__(self, when: str, comparison: Comparison) -> None:
        super().__init__()
        self._when, self._comparison = when, comparison

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Lines(ground=RAISED)

    def on_mount(self) -> None:
        self.query_one(Lines).show(lambda width: going_back_lines(self._when, self._comparison, width))

    def action_go_back(self) -> None:
        self.dismiss(True)

    def action_stay(self) -> None:
        self.dismiss(False)
