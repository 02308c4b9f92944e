"""What becomes of a key: an answer, a letter of a line, the second key of a sheet, or a command; one after another."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, TypeAlias

from textual import events
from textual.widgets import Input, TextArea

from workbench.tui.keys.table import MOVING, Command, Listed, Prefix, canonical, written

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from textual.app import App
    from textual.dom import DOMNode
    from textual.timer import Timer

    from workbench.tui.frame.screen import Frame
    from workbench.tui.verbs.act import Act

# Seconds after which the sheet of a prefix appears.
_SHEET_AFTER = 0.4
_NEVER_WAITING = frozenset({"escape", "ctrl+q", "ctrl+t", "f1", "slash", "question_mark"})
_MOVES = frozenset(command.id for command in MOVING)
# These are for the card while a question stands, wherever the keys are.
_READS = frozenset({"half-down", "half-up", "page-down", "page-up", "details"})
_STEPS = frozenset({"undo", "redo"})
# What keys that are no text do while a line is being written.
_WHILE_WRITING = frozenset({"quit", "help", "next-theme"})
INERT = 0.3
"""Seconds after its painting in which a question takes no answer; 0 takes whatever was typed whenever."""
# Paintings remembered; a key that waited longer than those is about the oldest.
_MOST = 64
Typed: TypeAlias = events.Key | events.Paste

# A key that got no further for so long holds up no other: the keyboard must never fall silent.
_SECONDS_TO_FOLLOW = 3.0
# Rows that are not there after so long hold up the next key no more.
_SECONDS_TO_ANSWER = 2.0
# A screen that opens takes a few rounds of messages; one that never takes the focus must not eat the keys.
_MOST_ROUNDS = 20
# Seconds between two looks whether the rows are there that a key is about.
_LOOK_AGAIN = 0.01


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
        if self.question is not None and self._answer(self.question, key):
            return True
        if any(each.take(key) for each in frame.takers):
            return True
        if isinstance(frame.focused, Input | TextArea):
            return self._take_while_writing(key)
        if self._prefix is not None:
            self._take_second(self._prefix, key)
            return True
        if key.isdecimal() and frame.place.take_digit(key):
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

    def _answer(self, act: Act, key: str) -> bool:
        """Take a key as the answer to a question.

        Any but enter withdraws it, so that no later enter answers what one no longer thinks of; esc says so, and the
        others go on to do what they do. What goes through the card leaves it, since what it is about may be longer
        than the screen.

        Returns:
            Whether the key was for the question alone.
        """
        frame = self._frame
        if key == "enter" and not self._seen.may_answer(self._typed_at):
            frame.say("Read the question first; enter answers it now.")
        elif key == "enter":
            self.question = None
            frame.acting.act(act)
            frame.redraw()
        elif not self._reads(key):
            bound = frame.keymap.bound(key)
            if isinstance(bound, Command) and bound.id == "quit" and len(key) > 1:
                self.question = None
                return False  # what was asked is left as it was
            self.withdraw()
            return key == "escape"
        return True

    def withdraw(self) -> None:
        """Leave what is asked as it was, if anything is: one has gone on to something else."""
        if (act := self.question) is not None:
            self.question = None
            self._frame.say("Left as it was.")
            act.leave()
            self._frame.read_card()

    def _reads(self, key: str) -> bool:
        """Go through the card, if that is what a key does."""
        frame = self._frame
        bound, card = frame.keymap.bound(key), frame.place.card
        if not isinstance(bound, Command) or isinstance(frame.focused, Input | TextArea):
            return False
        reads = _READS | _MOVES if frame.focused is card else _READS
        return bool(card.region) and bound.id in reads and card.do(bound.id)

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


class TypedAhead:
    """A queue of keys and pastes; the next one leaves it once the one before has had its effect.

    Textual hands a key to the widget that has the focus when the key comes in. While the key before it is still on
    its way, that is the wrong widget: of `/a` typed in one go, `a` would be a key of the list and not of the filter.

    A key that is about rows waits until they answer what was typed before it. Escape gives up waiting; after some
    seconds so does any other key.

    Args:
        app: The app that the keys are for.
        deliver: Hands one of them to the widget that has the focus; called on the app's own message pump.
        must_wait: Returns True for a key that is about rows which are not there yet.
        given_up: Told of a key that waited so long, and is not done; without it the last key waits on.
    """

    def __init__(
        self,
        app: App[None],
        deliver: Callable[[Typed], Awaitable[None]],
        must_wait: Callable[[Typed], bool],
        *,
        given_up: Callable[[Typed], None] | None,
    ) -> None:
        self._app = app
        self._deliver = deliver
        self._must_wait = must_wait
        self._given_up = given_up
        self._waiting: deque[Typed] = deque()
        self._is_under_way = False
        self._moved_at = 0.0
        self._looking: Timer | None = None

    async def take(self, typed: Typed) -> None:
        """Deliver a key now, or in its turn."""
        if self._looking is not None and isinstance(typed, events.Key) and typed.key == "escape":
            self._waiting.clear()
        self._waiting.append(typed)
        if not self._is_under_way or (self._looking is None and self._is_late):
            await self._deliver_next()

    @property
    def _is_late(self) -> bool:
        return time.monotonic() - self._moved_at > _SECONDS_TO_FOLLOW

    async def _deliver_next(self) -> None:
        if not self._app.screen_stack:
            self._waiting.clear()
        self._is_under_way = bool(self._waiting)
        while self._waiting and self._must_wait(self._waiting[0]):
            if self._looking is None:
                self._moved_at = time.monotonic()
            waits_on = len(self._waiting) == 1 and self._given_up is None
            if waits_on or time.monotonic() - self._moved_at <= _SECONDS_TO_ANSWER:
                self._looking = self._app.set_timer(_LOOK_AGAIN, self._deliver_next)
                return
            typed = self._waiting.popleft()
            if self._given_up is not None:
                self._given_up(typed)
        self._looking = None
        self._is_under_way = bool(self._waiting)
        if self._waiting:
            await self._deliver(self._waiting.popleft())
            await self._follow_twice(self._way())

    def _way(self) -> tuple[DOMNode, ...]:
        """Return what a key passes on its way: from the widget in focus up to the app."""
        focused = self._app.focused or self._app.screen
        return (*(node for node in focused.ancestors_with_self if node is not self._app), self._app)

    async def _follow_twice(self, way: Sequence[DOMNode], rounds: int = 1) -> None:
        """Follow a key, then what it set off: messages, another focus, the mounting of a screen that it opened."""

        async def once_more() -> None:
            if self._is_ready() or rounds == _MOST_ROUNDS:
                await self._follow((*way, *self._way()), self._deliver_next)
            else:
                await self._follow_twice(self._way(), rounds + 1)

        await self._follow(way, once_more)

    def _is_ready(self) -> bool:
        """Return True if the screen on top is there and has put its focus where it begins."""
        screen = self._app.screen
        return screen.is_mounted and (screen.focused is not None or not screen.focus_chain)

    async def _follow(self, way: Sequence[DOMNode], then: Callable[[], Awaitable[None]]) -> None:
        """Go the way of a key, at each node behind the messages that wait there; then do something else."""
        self._moved_at = time.monotonic()
        for at, node in enumerate(way):
            # A node that is being removed takes no call, and lets no key through either.
            if node.call_later(self._follow, way[at + 1 :], then) or node is self._app:
                return
        await then()
