"""Asks before something is destroyed, with keys other than the one that started it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from workbench.tui.keymap import shown_key

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult


class ConfirmScreen(ModalScreen[bool]):
    """A question whose harmless answer is the easy one: escape and enter change nothing.

    Args:
        question: What would be destroyed.
        consequence: What that means.
        verb: What is done, a single word.
        started_by: The key that led here; the destroying key is another one.
    """

    BINDINGS: ClassVar = [("escape,enter", "cancel", "Cancel")]

    def __init__(self, question: str, consequence: str, verb: str, started_by: str) -> None:
        super().__init__()
        self._question, self._consequence, self._verb = question, consequence, verb
        self._key = next(letter for letter in f"{verb.lower()}y" if letter.isalpha() and letter != started_by)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title", markup=False)
            yield Static(self._consequence, classes="dialog-text", markup=False)
            keys = f"{self._key}  {self._verb}      {shown_key('escape')}  cancel"
            yield Static(keys, classes="dialog-keys", markup=False)

    def on_key(self, event: events.Key) -> None:
        if event.key == self._key:
            event.stop()
            self.dismiss(True)

    def action_cancel(self) -> None:
        self.dismiss(False)
