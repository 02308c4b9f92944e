"""Asks for one short answer, and says at once when it makes no sense."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from workbench.display.cells import plain
from workbench.tui.query import parse_days

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from textual.app import App, ComposeResult


class AskScreen(ModalScreen[str | None]):
    """A question with a line to answer it in; gives the answer, or None.

    Args:
        question: One sentence.
        hint: Answers that would do.
        check: Returns what is wrong with an answer, or an empty string.
        text: What was answered before; what is typed replaces it.
        optional: Whether no words are an answer too.
    """

    BINDINGS: ClassVar = [("escape", "dismiss_none", "Leave")]

    def __init__(
        self,
        question: str,
        hint: str,
        check: Callable[[str], str],
        *,
        optional: bool = False,
        text: str = "",
    ) -> None:
        super().__init__()
        self._question, self._hint, self._check, self._optional = question, hint, check, optional
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title", markup=False)
            yield Input(plain(self._text), placeholder=self._hint, compact=True, select_on_focus=True)
            yield Static("", id="ask-problem", classes="dialog-note", markup=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        wrong = self._check(event.value) if event.value.strip() else ""
        self.query_one("#ask-problem", Static).update(wrong)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if not event.value.strip():
            if self._optional:
                self.dismiss("")
        elif not self._check(event.value):
            self.dismiss(event.value)

    def action_dismiss_none(self) -> None:
        self.dismiss(None)


def ask_for_day(app: App[Any], today: date, hint: str, go: Callable[[date, date], object]) -> None:
    """Ask for a day or a span of days, and go there.

    Args:
        app: Shows the question.
        today: In the workspace’s zone.
        hint: Answers that would do.
        go: Told the first and the last day.
    """

    def answered(answer: str | None) -> None:
        days = parse_days(answer, today) if answer else None
        if days is not None:
            go(*days)

    def check(text: str) -> str:
        return "" if parse_days(text, today) else "That is no day that I know."

    app.push_screen(AskScreen("Go to which day?", hint, check), answered)
