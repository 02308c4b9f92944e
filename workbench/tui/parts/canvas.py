"""A drawing whose things are walked in the directions in which they lie; scrolled where it is high."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView

from workbench.display.canvas import DOWN, LEFT, RIGHT, UP, Picture
from workbench.display.ink import BLANK, Span
from workbench.tui.palette import PAPER, palette_of
from workbench.tui.parts.line import Labels, labelled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.strip import Strip

    from workbench.display.ink import Line

    Draw = Callable[[int, int, str], Picture]

_MARGIN = 2
_NOTHING = Picture((), {})
_WALKS = {"move-down": DOWN, "move-up": UP, "left": LEFT, "right": RIGHT}


class CanvasPart(ScrollView, can_focus=True):
    """A picture with a cursor. Posts `Moved` when it is on something else, `Opened` on a double click.

    Args:
        empty: Draws what is said where there is nothing in the picture, for a width.
    """

    DEFAULT_CSS = "CanvasPart { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }"

    class Moved(Message):
        """The cursor is on something else."""

    class Opened(Message):
        """What is under the cursor was clicked twice."""

    def __init__(self, *, empty: Callable[[int], Sequence[Line]]) -> None:
        super().__init__()
        self._empty = empty
        self._draw: Draw | None = None
        self._drawn_for: tuple[int, int, str] | None = None
        self.picture = _NOTHING
        self.chosen = ""
        self.labels: Labels = {}

    def show(self, draw: Draw | None, chosen: str = "") -> None:
        """Show a drawing.

        Args:
            draw: Gives it for a width, a height and the key under the cursor; pure. None while it is being read.
            chosen: What the cursor is on; its home where that is not in the picture.
        """
        self._draw, self._drawn_for, self.chosen = draw, None, chosen
        if draw is None:
            self.picture = _NOTHING
        self._lay_out()
        if self.picture.regions and chosen not in self.picture.regions:
            self.chosen = self.picture.home or next(iter(self.picture.regions))
            self._lay_out()
        self._keep_in_sight()
        self.refresh()

    @property
    def cursor_at(self) -> tuple[int, int]:
        """Return the cell in which what the cursor is on begins, from the upper left corner of the part."""
        region = self.picture.regions.get(self.chosen)
        return (0, 0) if region is None else (region.x + _MARGIN, region.y - round(self.scroll_y))

    def choose(self, key: str) -> bool:
        """Put the cursor on something; returns whether it is in the picture."""
        if key not in self.picture.regions:
            return False
        if key != self.chosen:
            self.chosen = key
            self._lay_out()
            self._keep_in_sight()
            self.post_message(self.Moved().set_sender(self))
        return True

    def _lay_out(self) -> None:
        size = self.scrollable_content_region.size
        wanted = (size.width - _MARGIN - 1, size.height, self.chosen)
        if self._draw is None or wanted[0] <= 0 or wanted == self._drawn_for:
            return
        self._drawn_for = wanted
        self.picture = self._draw(*wanted)
        self.virtual_size = Size(0, len(self.picture.lines))
        self.refresh()

    def on_resize(self, _event: events.Resize) -> None:
        self.show(self._draw, self.chosen)

    def _keep_in_sight(self) -> None:
        """Scroll just so far that what is under the cursor can be seen whole, with a line around it."""
        region, height = self.picture.regions.get(self.chosen), self.scrollable_content_region.height
        if region is None or height <= 0:
            return
        top, first, last = round(self.scroll_y), max(0, region.y - 1), region.y + region.height
        if first < top or last >= top + height:
            wanted = first if first < top else min(first, last - height + 1)
            self.scroll_to(y=max(0, wanted), animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        width, palette = self.scrollable_content_region.width, palette_of(self.app)
        lines: Sequence[Line] = self.picture.lines
        if not lines and self._draw is not None:
            lines = self._empty(max(10, width - _MARGIN - 1))
        at = y + round(self.scroll_y)
        line = lines[at] if at < len(lines) else BLANK
        strip = palette.strip((Span(" " * _MARGIN), *line) if line else BLANK, width, PAPER)
        return labelled(strip, self.labels, y, palette)

    def spots(self) -> list[tuple[int, int, str]]:
        """Return the things in sight; see `parts.jump`."""
        top, height = round(self.scroll_y), self.size.height
        return [
            (region.x + _MARGIN, region.y - top, key)
            for key, region in self.picture.regions.items()
            if top <= region.y < top + height
        ]

    def jump_to(self, target: str) -> None:
        """Put the cursor on something."""
        self.choose(target)

    def do(self, command: str) -> bool:
        """Walk or scroll; returns whether the command means something here."""
        if command in _WALKS:
            key = self.picture.step(self.chosen, _WALKS[command])
            # At the upper and the lower end the cursor stays, as it does in a list.
            return self.choose(key) if key != self.chosen else command in ("move-down", "move-up")
        page = max(1, self.size.height - 2)
        by = {"page-down": page, "page-up": -page, "half-down": page // 2, "half-up": -page // 2}.get(command)
        if by is not None:
            self.scroll_to(y=round(self.scroll_y) + by, animate=False, force=True)
            return True
        keys = list(self.picture.regions)
        return (
            bool(keys) and command in ("first", "last") and self.choose(keys[0 if command == "first" else -1])
        )

    def on_click(self, event: events.Click) -> None:
        key = self.picture.at(event.x - _MARGIN, event.y + round(self.scroll_y))
        if key and self.choose(key) and event.chain == 2:
            self.post_message(self.Opened())
