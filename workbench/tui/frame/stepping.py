"""Two ways to change a value by one key: stepping through a few values, and pressing the key that is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.parts.chooser import Steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.tui.frame.screen import Frame

# Values shown to either side of the present one.
_AROUND = 2


class Stepping:
    """Steps through values with the arrows, and waits for a key that something is to have.

    Args:
        frame: On whose lines it says what it waits for.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._steps: Steps | None = None
        self._at = 0
        self._key: Callable[[str], bool] | None = None

    def step(self, steps: Steps, by: int = 0) -> None:
        """Begin to step through values.

        Args:
            by: How many steps are taken at once.
        """
        self._steps, self._at = steps, steps.at
        self._move(by)

    def ask_key(self, title: str, took: Callable[[str], bool]) -> None:
        """Wait for a key.

        Args:
            took: Told of it, esc and enter among them; returns whether nothing more is waited for.
        """
        self._key = took
        self._frame.say(f"{title}: press the new key.")
        self._frame.hint((("esc", "as it was"),))

    @property
    def is_waiting(self) -> bool:
        """Return whether the next key is one of ours."""
        return self._steps is not None or self._key is not None

    def leave(self) -> None:
        """Wait no longer; what was looked at is as it was."""
        steps = self._steps
        if self.is_waiting:
            self._key = None
            self._end()
        if steps is not None:
            steps.try_out(steps.values[steps.at])

    def do(self, command: str) -> bool:  # noqa: ARG002 - it is begun by what it is for
        """Carry out no command."""
        return False

    def take(self, key: str) -> bool:
        """Step, take or leave; or hand on the key that is waited for."""
        if self._key is not None:
            if self._key(key):
                self._key = None
                self._frame.hint(())
            return True
        steps = self._steps
        if steps is None:
            return False
        if key in ("left", "right"):
            self._move(1 if key == "right" else -1)
        elif key == "enter":
            self._end()
            steps.take(steps.values[self._at])
        elif key == "escape":
            self._end()
            steps.try_out(steps.values[steps.at])
            self._frame.say("Left as it was.")
        else:
            self._frame.say(f"{steps.title}: enter takes {steps.values[self._at]}, esc leaves it.")
        return True

    def _move(self, by: int) -> None:
        steps = self._steps
        if steps is None:
            return
        self._at = (self._at + by) % len(steps.values)
        value = steps.values[self._at]
        # Of many values those around, so that the present one is in sight.
        first = max(0, min(self._at - _AROUND, len(steps.values) - 2 * _AROUND - 1))
        near = steps.values[first : first + 2 * _AROUND + 1]
        others = " · ".join(f"▸{each}" if each == value else each for each in near)
        before, after = "… " * (first > 0), " …" * (first + len(near) < len(steps.values))
        self._frame.say(f"{steps.title}: {before}{others}{after}")
        self._frame.hint((("← →", "another"), ("enter", f"take {value}"), ("esc", "leave it")))
        if by:
            steps.try_out(value)

    def _end(self) -> None:
        self._steps = None
        self._frame.hint(())
