"""The ask line: what is written in it is a question to memory, answered as one types, whatever place is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Input

from workbench.tui.places.ask import ASKED, AskPlace

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.tui.frame.remembered import Remembered
    from workbench.tui.frame.screen import Frame
    from workbench.tui.places.place import Place

# Seconds after the last letter before what was typed is looked for.
_CALM = 0.12
_MOST_ASKED = 20


class Asking:
    """Takes questions and shows what answers them.

    Args:
        line: Where they are written.
    """

    def __init__(self, frame: Frame, line: Input, remembered: Remembered) -> None:
        self._frame = frame
        self._line = line
        self._remembered = remembered
        self._calming: Timer | None = None

    def do(self, command: str) -> bool:
        """Put the cursor into the line, the old question selected; or ask again what was asked before."""
        if command == "ask":
            asked = self._frame.place_named("ask")
            if isinstance(asked, AskPlace) and not self._line.value:
                self._write(asked.text)
            self._frame.set_focus(self._line)
            self._line.action_select_all()
            return True
        place = self._frame.place
        if command == "open" and isinstance(place, AskPlace) and place.cursor_key.startswith(ASKED):
            self.ask(place.cursor_key.removeprefix(ASKED))
            return True
        return False

    def take(self, key: str) -> bool:
        """Leave the line, or go down to what answers."""
        if self._frame.focused is not self._line or key not in ("escape", "down", "enter", "tab"):
            return False
        if key == "escape":
            self._stop()
            if isinstance(self._frame.place, AskPlace):
                self._frame.run_named("back")
            self._frame.focus_place()
            self.show_in(self._frame.place)
            return True
        self._answer()
        self._keep()
        self._frame.focus_place()
        return True

    def show_in(self, place: Place) -> None:
        """Show the question beside its answers alone; `/` has it again in every other place."""
        if self._frame.focused is not self._line:
            self._write(place.text if isinstance(place, AskPlace) else "")

    def _write(self, text: str) -> None:
        with self._line.prevent(Input.Changed):
            self._line.value = text

    def ask(self, text: str) -> None:
        """Ask a question at once, and go to what answers it."""
        self._line.value = text
        self._answer()
        self._keep()
        self._frame.focus_place()

    def typed(self) -> None:
        """Answer what is being typed once the hand rests."""
        if self._frame.focused is self._line:
            self._stop()
            self._calming = self._frame.set_timer(_CALM, self._answer)

    def _stop(self) -> None:
        if self._calming is not None:
            self._calming.stop()
            self._calming = None

    def _answer(self) -> None:
        self._stop()
        place = self._frame.place_named("ask")
        if not isinstance(place, AskPlace):
            return
        is_new = place.text != self._line.value
        place.text, place.asked = self._line.value, tuple(self._remembered.asked)
        if is_new or self._frame.place is not place:
            place.list.clear_marks()
            self._frame.go("ask", focus=False)

    def _keep(self) -> None:
        text = self._line.value.strip()
        if text:
            others = [each for each in self._remembered.asked if each != text]
            self._remembered.asked = [text, *others][:_MOST_ASKED]
