"""Finds words in the text that has the keys, lights them, and goes from one match to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from workbench.tui.keys.table import COMMAND

if TYPE_CHECKING:
    from workbench.tui.frame.screen import Frame


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

    def take(self, key: str) -> bool:  # noqa: ARG002 - the line is that of `Editing`
        """Take no key."""
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
            return None if words.strip() else "Write what is to be found; esc leaves."

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
