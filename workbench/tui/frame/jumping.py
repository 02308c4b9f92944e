"""Puts a letter on every row, link and place that can be seen; the letter goes there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.keys.table import COMMAND
from workbench.tui.parts.overlay import Jumpable, Labels, letters

if TYPE_CHECKING:
    from textual.widget import Widget

    from workbench.tui.frame.screen import Frame


class Jumping:
    """Jumps."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._targets: dict[str, tuple[Widget, str]] = {}
        self._begun = ""

    def do(self, command: str) -> bool:
        """Put the letters on everything that can be seen."""
        if command != "jump":
            return False
        found = [
            (part, x, y, target)
            for part in self._parts()
            if isinstance(part, Jumpable)
            for x, y, target in part.spots()
        ]
        if not found:
            self._frame.say(COMMAND["jump"].elsewhere)
            return True
        self._begun, self._targets = "", {}
        labels: dict[Widget, Labels] = {}
        for label, (part, x, y, target) in zip(letters(len(found)), found, strict=False):
            self._targets[label] = (part, target)
            labels.setdefault(part, {}).setdefault(y, []).append((max(0, x), label))
        self._show(labels)
        self._frame.hint((("a letter", "goes there"), ("esc", "leave")))
        return True

    def _parts(self) -> list[Widget]:
        """Return what may have something to jump to, and can be seen; what has the keys comes first."""
        frame, place = self._frame, self._frame.place
        lines = [frame.query_one(f"#{name}") for name in ("rail", "line-of-places")]
        parts = [*place.parts, *lines]
        parts.sort(key=lambda part: part is not frame.focused)
        return [part for part in parts if part.region and part.is_on_screen]

    def _show(self, labels: dict[Widget, Labels]) -> None:
        for part in self._parts():
            if isinstance(part, Jumpable):
                part.labels = labels.get(part, {})
                part.refresh()

    def take(self, key: str) -> bool:
        """Go where the letter is, while there are any."""
        if not self._targets:
            return False
        if key.startswith("ctrl+"):
            self._end()
            return False
        begun = self._begun + key
        if begun in self._targets:
            part, target = self._targets[begun]
            self._end()
            if part.focusable and isinstance(part, Jumpable):
                self._frame.set_focus(part)
            if isinstance(part, Jumpable):
                part.jump_to(target)
        elif any(label.startswith(begun) for label in self._targets):
            self._begun = begun
        else:
            self._end()
            if key != "escape":
                self._frame.say(f"No place here has the letters {begun}.")
        return True

    def look(self) -> None:
        """Take the letters away once something else has the keys or is shown."""
        if self._targets:
            self._end()

    def _end(self) -> None:
        self._targets, self._begun = {}, ""
        self._show({})
        self._frame.hint(())
