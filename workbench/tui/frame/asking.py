"""The ask line: what is written in it is a question to memory, whatever place is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.widgets import Input

    from workbench.tui.frame.screen import Frame


class Asking:
    """Takes questions.

    Args:
        frame: Whose line it is.
        line: Where they are written.
    """

    def __init__(self, frame: Frame, line: Input) -> None:
        self._frame = frame
        self._line = line

    def do(self, command: str) -> bool:
        """Put the cursor into the line, the old question selected."""
        if command != "ask":
            return False
        self._frame.set_focus(self._line)
        self._line.action_select_all()
        return True

    def take(self, key: str) -> bool:
        """Leave the line, or ask."""
        if self._frame.focused is not self._line or key not in ("escape", "down", "enter", "tab"):
            return False
        if key == "enter" and self._line.value.strip():
            self._frame.say("Asking opens with its results; they cannot be shown yet.")
        self._frame.focus_place()
        return True
