"""Shows a drawing, scrolled where it is higher than the screen, with a cursor that walks from box to box."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView

from workbench.display.canvas import Picture
from workbench.display.ink import BLANK, Span
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.palette import PAPER
from workbench.tui.widgets.painted import palette_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.strip import Strip

    from workbench.display.ink import Line

    Draw = Callable[[int, int, str], Picture]
    Step = Callable[[Picture, str, str], str]

_MARGIN = 2
_NOTHING = Picture((), {})


class DrawingCanvas(ScrollView, can_focus=True):
    """A drawing of boxes. Posts `Moved` when the cursor is on another box, and `Opened` when one is gone into.

    Args:
        step: Tells where a cursor comes to from a box in a direction: `left`, `right`, `up`, `down`.
        empty: Draws what is said where the drawing has no boxes, for a width.
    """

    BINDINGS: ClassVar = bindings(
        commands.MoveDown, commands.MoveUp, commands.MoveLeft, commands.MoveRight, commands.MoveFirst,
        commands.PageDown, commands.PageUp, commands.Open,
    )  # fmt: skip
    DEFAULT_CSS = """
    DrawingCanvas {
        overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; height: 1fr; background: $background;
    }
    """

    class About(Message):
        """Something about one box, by its key."""

        def __init__(self, sender: DrawingCanvas, key: str) -> None:
            super().__init__()
            self.sender = sender
            self.key = key

        @property
        def control(self) -> DrawingCanvas:
            return self.sender

    class Moved(About):
        """The cursor is on another box."""

    class Opened(About):
        """A box was gone into: by key or by a double click."""

    def __init__(
        self,
        *,
        step: Step,
        empty: Callable[[int], Sequence[Line]],
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(id=id)
        self._step = step
        self._empty = empty
        self._draw: Draw | None = None
        self._drawn_for: tuple[int, int, str] | None = None
        self._waiting = True
        self.picture = _NOTHING
        self.chosen = ""

    def show(self, draw: Draw, chosen: str, *, afresh: bool) -> None:
        """Show a drawing.

        Args:
            draw: Gives the drawing for a width, a height and the chosen key; pure.
            chosen: The box that the cursor is on.
            afresh: It is about something else than the one before: begin at its cursor.
        """
        self._draw, self._waiting, self._drawn_for = draw, False, None
        self.chosen = chosen
        if afresh:
            self.scroll_to(y=0, animate=False, force=True)
        self._lay_out()
        if self.picture.regions and self.chosen not in self.picture.regions:
            self.chosen = self._home
            self._lay_out()
        self._keep_in_sight()

    @property
    def _home(self) -> str:
        """Return the box that a cursor is on that has no place in the drawing."""
        return self.picture.home or next(iter(self.picture.regions))

    def choose(self, key: str) -> bool:
        """Put the cursor on a box; returns whether there is one of that key."""
        if key not in self.picture.regions:
            return False
        if key != self.chosen:
            self.chosen = key
            self._lay_out()
            self._keep_in_sight()
            self.post_message(self.Moved(self, key))
        return True

    def _lay_out(self) -> None:
        size = self.scrollable_content_region.size
        width, height = size.width - _MARGIN - 1, size.height
        wanted = (width, height, self.chosen)
        if self._draw is None or width <= 0 or wanted == self._drawn_for:
            return
        self._drawn_for = wanted
        self.picture = self._draw(*wanted)
        self.virtual_size = Size(0, len(self.picture.lines))
        self.refresh()

    def on_resize(self, _event: events.Resize) -> None:
        self._lay_out()
        self._keep_in_sight()

    def _keep_in_sight(self) -> None:
        """Scroll just so far that the chosen box can be seen whole, with a line around it."""
        region = self.picture.regions.get(self.chosen)
        height = self.scrollable_content_region.height
        if region is None or height <= 0:
            return
        top = round(self.scroll_y)
        first, last = max(0, region.y - 1), region.y + region.height
        if first < top or last >= top + height:
            wanted = first if first < top else min(first, last - height + 1)
            self.scroll_to(y=max(0, wanted), animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        palette = palette_of(self.app)
        if not self.picture.lines:
            lines = () if self._waiting else self._empty(max(10, width - 6))
            line = lines[y - 2] if 0 <= y - 2 < len(lines) else BLANK
            return palette.strip((Span("   "), *line) if line else BLANK, width, PAPER)
        at = y + round(self.scroll_y)
        line = self.picture.lines[at] if at < len(self.picture.lines) else BLANK
        return palette.strip((Span(" " * _MARGIN), *line) if line else BLANK, width, PAPER)

    # --- walking --------------------------------------------------------------------------------------------

    def _walk(self, direction: str) -> None:
        if self.picture.regions:
            self.choose(self._step(self.picture, self.chosen, direction))

    def action_move_down(self) -> None:
        self._walk("down")

    def action_move_up(self) -> None:
        self._walk("up")

    def action_move_left(self) -> None:
        self._walk("left")

    def action_move_right(self) -> None:
        self._walk("right")

    def action_move_first(self) -> None:
        if self.picture.regions:
            self.choose(self._home)

    def action_page_down(self) -> None:
        self._scroll(max(1, self.size.height - 2))

    def action_page_up(self) -> None:
        self._scroll(-max(1, self.size.height - 2))

    def _scroll(self, by: int) -> None:
        self.scroll_to(y=round(self.scroll_y) + by, animate=False, force=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to open only where there is a box."""
        return (
            self.chosen in self.picture.regions
            if action == "open"
            else super().check_action(action, parameters)
        )

    def action_open(self) -> None:
        if self.chosen in self.picture.regions:
            self.post_message(self.Opened(self, self.chosen))

    def on_click(self, event: events.Click) -> None:
        key = self.picture.at(event.x - _MARGIN, event.y + round(self.scroll_y))
        if key and self.choose(key) and event.chain == 2:
            self.post_message(self.Opened(self, key))
