"""What becomes of a key: an answer, a letter of a line, the second key of a sheet, or a command."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from textual.widgets import Input, TextArea

from workbench.tui.keys.table import MOVING, Command, Listed, Prefix, canonical, written

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.timer import Timer

    from workbench.tui.frame.screen import Frame
    from workbench.tui.verbs.act import Act

# Seconds after which the sheet of a prefix appears.
_SHEET_AFTER = 0.4
_NEVER_WAITING = frozenset({"escape", "ctrl+q", "ctrl+t", "f1", "slash", "question_mark"})
_MOVES = frozenset(command.id for command in MOVING)
_STEPS = frozenset({"undo", "redo"})
# What keys that are no text do while a line is being written.
_WHILE_WRITING = frozenset({"quit", "help", "next-theme"})
INERT = 0.3
"""Seconds after its painting in which a question takes no answer; 0 takes whatever was typed whenever."""
# Paintings remembered; a key that waited longer than those is about the oldest.
_MOST = 64


class Pressing:
    """Takes a key to what it is for.

    Args:
        clock: Seconds, on the clock that keys are stamped with.
    """

    def __init__(self, frame: Frame, clock: Callable[[], float]) -> None:
        self._frame = frame
        self._seen = Seen(clock)
        self._typed_at = 0.0
        self.count = 0
        """How many keys were pressed."""
        self.question: Act | None = None
        """What waits for enter or esc."""
        self._prefix: Prefix | None = None
        self._sheet_timer: Timer | None = None

    def take(self, key: str, typed_at: float) -> bool:
        """Act on a key.

        Args:
            typed_at: When it was typed, on the clock of the frame.

        Returns:
            False where it is text of the line that is being written.
        """
        frame, key = self._frame, canonical(key)
        self._typed_at = typed_at
        self.count += 1
        if self.question is not None:
            self._answer(self.question, key)
            return True
        if any(capability.take(key) for capability in frame.capabilities):
            return True
        if isinstance(frame.focused, Input | TextArea):
            return self._take_while_writing(key)
        if self._prefix is not None:
            self._take_second(self._prefix, key)
            return True
        bound = frame.keymap.bound(key)
        if bound is None:
            frame.say(f"{written(key)} is no key here; {frame.keymap.key('help')} lists those there are.")
        elif isinstance(bound, Command):
            frame.run(bound)
        elif isinstance(bound, Prefix):
            self._prefix = bound
            self._sheet_timer = frame.set_timer(_SHEET_AFTER, lambda: frame.edges.show_sheet(self._prefix))
        else:
            frame.go(bound.name)
        return True

    def _take_while_writing(self, key: str) -> bool:
        frame = self._frame
        bound = frame.keymap.bound(key)
        if len(key) > 1 and isinstance(bound, Command) and bound.id in _WHILE_WRITING:
            frame.run(bound)
            return True
        if key == "ctrl+a" and isinstance(frame.focused, Input | TextArea):
            frame.focused.action_select_all()
            return True
        return False

    def _take_second(self, prefix: Prefix, key: str) -> None:
        self._prefix = None
        if self._sheet_timer is not None:
            self._sheet_timer.stop()
        self._frame.edges.show_sheet(None)
        command = next((each for each in prefix.commands if key in each.keys), None)
        if command is not None:
            self._frame.run(command)
        elif key != "escape":
            self._frame.say(f"{written(prefix.key)} {written(key)} is not a command.")

    def ask(self, act: Act) -> None:
        """Ask the question of an act; the next enter that was typed after it could be read does it."""
        self.question = act
        self._seen.ask()
        self._frame.redraw()

    def _answer(self, act: Act, key: str) -> None:
        frame = self._frame
        if key == "enter" and not self._seen.may_answer(self._typed_at):
            frame.say("Read the question first; enter answers it now.")
        elif key == "enter":
            self.question = None
            frame.acting.act(act.call, stays=act.stays)
            frame.redraw()
        elif key == "escape":
            self.question = None
            frame.say("Left as it was.")
            act.leave()
            frame.read_card()
        else:
            bound, card = frame.keymap.bound(key), frame.place.card
            # What a question is about may be longer than the screen.
            moves = isinstance(bound, Command) and bound.id in _MOVES and frame.focused is card
            if not (moves and isinstance(bound, Command) and card.do(bound.id)):
                frame.say("Answer with enter or esc.")

    def painted(self) -> None:
        """Note what can be read on the screen from now on."""
        self._seen.paint_row(self._frame.place_name, self._frame.place.cursor_key)
        if self.question is not None:
            self._seen.paint_question()

    def go_to_seen(self) -> None:
        """Put the cursor back on the row that was painted under it when the key was typed."""
        place = self._frame.place
        row = self._seen.row_at(self._frame.place_name, self._typed_at)
        if row and place.main is place.list and row != place.cursor_key and not place.visited:
            place.list.go_to(row)

    def must_wait(self, key: str) -> bool:
        """Return whether a key is about rows that are still being read, or a text that is still being saved."""
        frame, reading = self._frame, self._frame.reading
        if frame.editing.is_busy or frame.writing.is_busy:
            return True
        bound = frame.keymap.bound(canonical(key))
        if (
            isinstance(bound, Command)
            and bound.id in _STEPS
            and not isinstance(frame.focused, Input | TextArea)
        ):
            # What would be taken back is told from what was done last.
            return frame.acting.is_busy or reading.is_reading("counts")
        if key in _NEVER_WAITING or isinstance(bound, Listed) or isinstance(frame.focused, Input | TextArea):
            return False
        first = reading.is_reading("place") and frame.place.results is None
        return first or reading.is_reading("go") or reading.is_reading("visit")

    def give_up(self, key: str) -> None:
        """Say that a key was not done: what it is about could not be read in time."""
        self._frame.say(f"Still reading; {written(canonical(key))} was not done.", is_problem=True)


# Knows what had been painted when a key was typed, so that no key acts on what nobody has seen.


class Seen:
    """What was painted, and when.

    Args:
        clock: Seconds, on the clock that keys are stamped with.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._rows: deque[tuple[float, str, str]] = deque(maxlen=_MOST)
        self._question_at: float | None = None

    def paint_row(self, place: str, key: str) -> None:
        """Note which row of a place is under the cursor on the screen from now on."""
        if not self._rows or self._rows[-1][1:] != (place, key):
            self._rows.append((self._clock(), place, key))

    def row_at(self, place: str, typed_at: float) -> str:
        """Return the row of a place that was under the cursor on the screen; empty where another place was shown."""
        if not INERT:
            return ""
        shown = next((each for each in reversed(self._rows) if each[0] <= typed_at), None)
        return shown[2] if shown is not None and shown[1] == place else ""

    def ask(self) -> None:
        """Note that a question is asked; it cannot be read yet."""
        self._question_at = None

    def paint_question(self) -> None:
        """Note that the question can be read from now on."""
        if self._question_at is None:
            self._question_at = self._clock()

    def may_answer(self, typed_at: float) -> bool:
        """Return whether what was typed then may answer the question."""
        if not INERT:
            return True
        return self._question_at is not None and typed_at - self._question_at >= INERT
