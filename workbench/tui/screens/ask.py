"""Asks for one short answer, and says at once when it makes no sense."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult


class AskScreen(ModalScreen[str | None]):
    """A question with a line to answer it in; gives the answer, or None.

    Args:
        question: One sentence.
        hint: Answers that would do.
        check: Returns what is wrong with an answer, or an empty string.
    """

    BINDINGS: ClassVar = [("escape", "dismiss_none", "Leave")]

    def __init__(self, question: str, hint: str, check: Callable[[str], str]) -> None:
        super().__init__()
        self._question, self._hint, self._check = question, hint, check

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title", markup=False)
            yield Input(placeholder=self._hint, compact=True)
            yield Static("", id="ask-problem", classes="dialog-note", markup=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        wrong = self._check(event.value) if event.value.strip() else ""
        self.query_one("#ask-problem", Static).update(wrong)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip() and not self._check(event.value):
            self.dismiss(event.value)

    def action_dismiss_none(self) -> None:
        self.dismiss(None)
