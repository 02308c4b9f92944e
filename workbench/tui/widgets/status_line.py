"""One line at an edge of the screen, drawn by a pure function of its width, with parts that can be clicked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from workbench.display.cells import cell_width
from workbench.display.ink import BLANK
from workbench.tui.palette import RAISED
from workbench.tui.widgets.painted import palette_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.strip import Strip

    from workbench.display.ink import Line


class StatusLine(Widget):
    """A line. Posts `Pressed` for a part of it that leads somewhere.

    Args:
        ground: What it stands on.
    """

    DEFAULT_CSS = "StatusLine { height: 1; }"

    class Pressed(Message):
        """A part was clicked: where it leads, and how far from the left edge the click was, in cells."""

        def __init__(self, sender: StatusLine, link: str, x: int) -> None:
            super().__init__()
            self.sender = sender
            self.link = link
            self.x = x

        @property
        def control(self) -> StatusLine:
            return self.sender

    def __init__(self, *, id: str | None = None, ground: str = RAISED) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._ground = ground
        self._draw: Callable[[int], Line] = lambda _width: BLANK
        self.line: Line = BLANK

    def show(self, draw: Callable[[int], Line]) -> None:
        """Draw another line; `draw` is pure and is asked again when the width changes."""
        self._draw = draw
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        self.line = self._draw(width) if y == 0 else BLANK
        return palette_of(self.app).strip(self.line, width, self._ground)

    def on_click(self, event: events.Click) -> None:
        left = 0
        for span in self.line:
            right = left + cell_width(span.text)
            if left <= event.x < right:
                self.post_message(self.Pressed(self, span.link, event.x))
                return
            left = right
