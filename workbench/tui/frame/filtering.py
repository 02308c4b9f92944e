"""Filters the list of any place while one types; what is kept comes back with the place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.cells import plain
from workbench.tui.keys.table import COMMAND
from workbench.tui.parts.prompt import Completion

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.tui.frame.screen import Frame
    from workbench.tui.places.place import Place

FILTER = "filter"
# Of more rows, looking them through is left to a thread.
_FEW = 1_000


class Filtering:
    """Takes filters.

    Args:
        frame: Whose lists are filtered.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._completion = Completion()

    def enter(self, place: Place) -> None:
        """Be told of a place that is opened for the first time: its filter of last time holds again."""
        place.filter_line.typed = lambda text: self._typed(place, text)
        if kept := place.kept.get(FILTER, ""):
            self.set(place, kept)

    def set(self, place: Place, text: str) -> None:
        """Filter a place, without writing in the line; nothing drops the filter."""
        place.filter_line.line.write(text)
        self._apply(place, plain(text))
        self._show(place)

    def _typed(self, place: Place, text: str) -> None:
        if text != place.filter.text:
            self._apply(place, text)

    def _apply(self, place: Place, text: str) -> None:
        place.filter.set(text, self._frame.now().date())
        place.kept[FILTER] = text
        if not text or len(place.all_rows) <= _FEW:
            self._frame.reading.forget("filter")
            place.show_rows()
        else:
            self._look_through(place, place.show_rows)

    def _look_through(self, place: Place, then: Callable[[], object] = lambda: None) -> None:
        """Filter on a thread, so that the next letter need not wait."""
        self._frame.reading.read(
            "filter", lambda _workspace: place.filter.prepare(place.all_rows), lambda _found: then()
        )

    def _show(self, place: Place) -> None:
        """Show the line in place of the heading while it says something or is written in."""
        shown = bool(place.filter.text) or self._frame.focused is place.filter_line.line
        place.filter_line.display = shown
        place.head.display = not shown

    def look(self) -> None:
        """Put an empty line away once something else has the keys."""
        place = self._frame.place
        self._show(place)
        if self._frame.focused is place.filter_line.line:
            self._frame.hint(
                (
                    ("enter", "keep the filter"),
                    ("esc", "drop it"),
                    ("↓", "into the list"),
                    ("tab", "complete"),
                )
            )

    def do(self, command: str) -> bool:
        """Put the cursor into the line, what it says selected."""
        if command != "filter":
            return False
        place = self._frame.place
        if place.main is not place.list and not place.FILTERS_MAIN:
            self._frame.say(COMMAND["filter"].elsewhere)
        elif self._frame.focused in (place.card, place.evidence):
            self._frame.say("⸨find⸩ finds in a text; ⸨next-part⸩ goes to the list.")
        else:
            place.filter_line.display, place.head.display = True, False
            self._frame.set_focus(place.filter_line.line)
            self._look_through(place)
            place.filter_line.line.action_select_all()
            self.look()
        return True

    def take(self, key: str) -> bool:
        """Keep the filter, drop it, complete it, or go into the list."""
        place = self._frame.place
        line = place.filter_line.line
        if self._frame.focused is not line:
            return False
        if key in ("enter", "down", "up"):
            if self._frame.reading.is_reading("filter"):
                place.show_rows()
            self._end(place, f"{place.filter.shown:,} of {place.filter.total:,} match." if line.value else "")
        elif key == "escape":
            had = place.filter.text
            self.set(place, "")
            self._end(place, f"Filter “{had}” dropped; all {place.filter.total:,} again." if had else "")
        elif key == "tab":
            text, said = self._completion.next(
                line.value, lambda text: place.filter.complete(text, place.all_rows)
            )
            line.write(text)
            self._frame.say(said)
        else:
            return False
        return True

    def _end(self, place: Place, said: str) -> None:
        self._frame.hint(())
        self._frame.focus_place()
        self._show(place)
        if said:
            self._frame.say(said)
