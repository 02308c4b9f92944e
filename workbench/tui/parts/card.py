"""Shows the card of what is under the cursor; scrolls, and shows details on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView

from workbench.display.card import card_lines
from workbench.display.ink import BLANK, Span, link_at
from workbench.tui.palette import PAPER
from workbench.tui.widgets.painted import palette_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.strip import Strip

    from workbench.display.card import Card
    from workbench.display.ink import Line

_MARGIN = 1


class CardPart(ScrollView, can_focus=True):
    """One card. Posts `Followed` where a link in it is clicked."""

    DEFAULT_CSS = "CardPart { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }"

    class Followed(Message):
        """A link was clicked: the id it leads to."""

        def __init__(self, link: str) -> None:
            super().__init__()
            self.link = link

    def __init__(self, *, id: str | None = None, empty: str = "") -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.card: Card | None = None
        self.details = False
        self._empty = empty
        self._lines: list[Line] = []

    def show(self, card: Card | None) -> None:
        """Show another card, or nothing; the same thing read again stays scrolled as it was."""
        same = card is not None and self.card is not None and card.title == self.card.title
        self.card = card
        self._draw()
        if not same:
            self.scroll_to(y=0, animate=False, force=True)

    def _draw(self) -> None:
        width = max(1, self.scrollable_content_region.width - 2 * _MARGIN)
        if self.card is None:
            self._lines = [(Span(self._empty, "faint"),)] if self._empty else []
        else:
            self._lines = card_lines(self.card, width, details=self.details)
        self.virtual_size = Size(0, len(self._lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        at = y + round(self.scroll_y)
        line = self._lines[at] if at < len(self._lines) else BLANK
        width = self.scrollable_content_region.width
        return palette_of(self.app).strip((Span(" " * _MARGIN), *line) if line else BLANK, width, PAPER)

    def on_resize(self, _event: events.Resize) -> None:
        self._draw()

    def on_click(self, event: events.Click) -> None:
        at = event.y + round(self.scroll_y)
        if at < len(self._lines) and (link := link_at(self._lines[at], event.x - _MARGIN)):
            self.post_message(self.Followed(link))

    def do(self, command: str) -> bool:
        """Scroll, or show details; returns whether the command means something here."""
        page = max(1, self.size.height - 2)
        if command == "details":
            self.details = not self.details
            self._draw()
            return True
        to: Callable[[], float] | None = {
            "move-down": lambda: self.scroll_y + 1,
            "move-up": lambda: self.scroll_y - 1,
            "half-down": lambda: self.scroll_y + page // 2,
            "half-up": lambda: self.scroll_y - page // 2,
            "page-down": lambda: self.scroll_y + page,
            "page-up": lambda: self.scroll_y - page,
            "first": lambda: 0.0,
            "last": lambda: float(len(self._lines)),
        }.get(command)
        if to is None:
            return False
        self.scroll_to(y=to(), animate=False, force=True)
        return True
