"""Opens what every place has: import, export, syncing, tokens, index and health, and why a memory did not answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.keys.places import HEALTH, IMPORT
from workbench.tui.keys.table import COMMAND
from workbench.tui.places.ask import AskPlace
from workbench.tui.sheets.access import Letting
from workbench.tui.sheets.exporting import Exporting
from workbench.tui.sheets.syncing import Syncing
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from workbench.tui.frame.screen import Frame
    from workbench.tui.parts.chooser import Choice


class Sheets:
    """Opens them.

    Args:
        frame: Over which they open.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def do(self, command: str) -> bool:
        """Open the sheet of a command."""
        if command == "health":
            self._frame.go(HEALTH.name)
        elif command == "import":
            self._frame.go(IMPORT.name, spot="")
        elif command == "export":
            Exporting(self._frame).begin()
        elif command == "sync":
            Syncing(self._frame).begin()
        elif command == "tokens":
            Letting(self._frame).begin()
        elif command == "why-not":
            self._why_not()
        else:
            return False
        return True

    def take(self, key: str) -> bool:  # noqa: ARG002 - there is no line to write in
        """Take no key: nothing is written here."""
        return False

    def _why_not(self) -> None:
        place = self._frame.place
        if not isinstance(place, AskPlace) or place.results is None or not place.results.question.words:
            self._frame.say(COMMAND["why-not"].elsewhere)
            return
        question = place.results.question.words

        def take(choice: Choice) -> None:
            place.ask_why_not(Memory(choice.id, choice.store, choice.text))
            self._frame.read_card()
            self._frame.read()

        self._frame.choosing.choose_memory(f"Which memory did you expect for “{question}”?", take)
