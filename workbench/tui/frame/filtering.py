"""Filters the list of any place, or finds words in any text, while one types; a filter comes back with its place.

What is written in the ask line is a question to memory, answered as one types, whatever place is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from textual.widgets import Input

from workbench.display.cells import plain
from workbench.tui.keys.table import COMMAND
from workbench.tui.parts.line import Completion
from workbench.tui.places.ask import ASKED, AskPlace

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.remembered import Remembered
    from workbench.tui.frame.screen import Frame
    from workbench.tui.parts.filter import RowFilter
    from workbench.tui.parts.rows import AnyRows
    from workbench.tui.places.place import Place

FILTER = "filter"
# Of more rows, looking them through is left to a thread.
_FEW = 1_000
# Seconds after the last letter before what was typed is looked for.
_CALM = 0.12
_MOST_ASKED = 20


class Filtering:
    """Takes filters."""

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

        def look(_workspace: Workspace) -> tuple[AnyRows, RowFilter]:
            rows = place.all_rows
            return rows, place.filter.looking_through(rows, self._frame.courtesy.unless(lambda: False))

        def show(found: tuple[AnyRows, RowFilter]) -> None:
            rows, looked = found
            if rows is place.all_rows:
                place.filter.take_over(looked)
            then()

        self._frame.reading.read("filter", look, show)

    def _show(self, place: Place) -> None:
        """Show the line in place of the heading while it says something or is written in."""
        shown = bool(place.filter.text) or self._frame.focused is place.filter_line.line
        place.filter_line.display = shown
        place.head.display = not shown

    def look(self) -> None:
        """Put an empty line away once something else has the keys."""
        self._show(self._frame.place)

    def do(self, command: str) -> bool:
        """Put the cursor into the line, what it says selected."""
        if command != "filter":
            return False
        place = self._frame.place
        focused: object = self._frame.focused
        if place.main is not place.list and not place.FILTERS_MAIN:
            self._frame.say(COMMAND["filter"].elsewhere)
        elif isinstance(focused, Findable):
            # What follows is typed: a sentence would have its letters run as commands.
            self._frame.run_named("find")
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
        self._frame.focus_place()
        self._show(place)
        if said:
            self._frame.say(said)


@runtime_checkable
class Findable(Protocol):
    """A part with a text in which words can be found."""

    def light(self, words: str) -> None:
        """Have words lit wherever they stand; none light nothing."""
        ...

    def matches(self, step: int, told: Callable[[int, int], object]) -> None:
        """Go to a match of what is lit.

        Args:
            step: 1 for the next, -1 for the one before, 0 for the first from where one is.
            told: Told which it is, 1-based, of how many; 0 of 0 where there is none, of 0 where nobody counted.
        """
        ...


class Finding:
    """Takes words to find.

    Args:
        frame: In whose parts they are found.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._words = ""
        self._part: Findable | None = None

    def do(self, command: str) -> bool:
        """Ask for words, or go to the next match of them or the one before."""
        part: object = self._frame.focused
        if command == "find":
            if isinstance(part, Findable):
                self._begin(part)
            else:
                self._frame.say(COMMAND["find"].elsewhere)
            return True
        if command in ("next", "previous") and self._part is not None and part is self._part:
            self._step(self._part, 1 if command == "next" else -1)
            return True
        return False

    def look(self) -> None:
        """Light nothing any more once something else has the keys."""
        focused: object = self._frame.focused
        if self._part is None or focused in (None, self._part) or self._frame.editing.is_asking:
            return
        self._part.light("")
        self._part = None

    def _begin(self, part: Findable) -> None:
        self._part = part

        def changed(words: str) -> None:
            part.light(words)
            if words.strip():
                self._words = words
                self._step(part, 0)

        def take(words: str) -> str | None:
            return None if words.strip() else "Write what to look for; esc leaves."

        self._frame.editing.ask("find", self._words, take=take, changed=changed)
        changed(self._words)

    def _step(self, part: Findable, step: int) -> None:
        words = self._words

        def told(at: int, of: int) -> None:
            if not at:
                self._frame.say(f"“{words}” is not here.")
            elif of == 1:
                self._frame.say(f"“{words}” is here once." if step == 0 else COMMAND["next"].elsewhere)
            else:
                which = f"{at:,} of {of:,}" if of else f"line {at:,}"
                self._frame.say(f"“{words}”: {which}; ⸨next⸩ goes on, ⸨previous⸩ goes back.")

        part.matches(step, told)


class Asking:
    """Takes questions and shows what answers them.

    Args:
        line: Where they are written.
    """

    def __init__(self, frame: Frame, line: Input, remembered: Remembered) -> None:
        self._frame = frame
        self.line = line
        self._remembered = remembered
        self._calming: Timer | None = None

    def do(self, command: str) -> bool:
        """Put the cursor into the line, the old question selected; or ask again what was asked before."""
        if command == "ask":
            asked = self._frame.place_named("ask")
            if isinstance(asked, AskPlace) and not self.line.value:
                self._write(asked.text)
            self._frame.set_focus(self.line)
            self.line.action_select_all()
            return True
        place = self._frame.place
        if command == "open" and isinstance(place, AskPlace) and place.cursor_key.startswith(ASKED):
            self.ask(place.cursor_key.removeprefix(ASKED))
            return True
        return False

    def take(self, key: str) -> bool:
        """Leave the line, or go down to what answers."""
        if self._frame.focused is not self.line or key not in ("escape", "down", "enter", "tab"):
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
        if self._frame.focused is not self.line:
            self._write(place.text if isinstance(place, AskPlace) else "")

    def _write(self, text: str) -> None:
        with self.line.prevent(Input.Changed):
            self.line.value = text

    def ask(self, text: str) -> None:
        """Ask a question at once, and go to what answers it."""
        self.line.value = text
        self._answer()
        self._keep()
        self._frame.focus_place()

    def typed(self) -> None:
        """Answer what is being typed once the hand rests."""
        if self._frame.focused is self.line:
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
        is_new = place.text != self.line.value
        place.text, place.asked = self.line.value, tuple(self._remembered.asked)
        if is_new or self._frame.place is not place:
            place.list.clear_marks()
            self._frame.go("ask", focus=False)

    def _keep(self) -> None:
        text = self.line.value.strip()
        if text:
            others = [each for each in self._remembered.asked if each != text]
            self._remembered.asked = [text, *others][:_MOST_ASKED]
