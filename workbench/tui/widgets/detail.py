"""Shows lines to read: scrolls them, and lets one walk the links in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from workbench.display.ink import BLANK, Span, line_width, link_at
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.palette import RAISED
from workbench.tui.widgets.painted import palette_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.display.ink import Line

_MARGIN = 2


class Detail(ScrollView, can_focus=True):
    """Lines drawn for the width there is, by a function of that width alone. Posts `Followed` for a link."""

    BINDINGS: ClassVar = bindings(
        commands.ScrollDown, commands.ScrollUp, commands.ScrollPageDown, commands.ScrollPageUp,
        commands.ScrollHome, commands.ScrollEnd, commands.NextLink, commands.PreviousLink, commands.FollowLink,
    )  # fmt: skip
    DEFAULT_CSS = "Detail { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }"

    class Followed(Message):
        """A link was followed; `link` is the id it leads to."""

        def __init__(self, sender: Detail, link: str) -> None:
            super().__init__()
            self.sender = sender
            self.link = link

        @property
        def control(self) -> Detail:
            return self.sender

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._draw: Callable[[int], Sequence[Line]] = lambda _width: ()
        self._subject = ""
        self._lines: Sequence[Line] = ()
        self._width = -1
        self._links: list[tuple[int, int, str]] = []
        self.link = -1

    def show(self, draw: Callable[[int], Sequence[Line]], subject: str = "") -> None:
        """Show other lines.

        Args:
            draw: Gives the lines for a width in cells; pure.
            subject: What they are about; the same as before keeps the place and the link one was at.
        """
        self._draw = draw
        if subject != self._subject or not subject:
            self._subject, self.link = subject, -1
            self.scroll_to(y=0, animate=False, force=True)
        self._width = -1
        self._lay_out()
        self.refresh()

    def return_to(self, row: int, link: int) -> None:
        """Come back to where one was: how far one had read, and the link that was chosen, -1 for none."""
        self.link = min(link, len(self._links) - 1)
        self.scroll_to(y=row, animate=False, force=True)
        self.refresh_bindings()
        self.refresh()

    @property
    def focused_link(self) -> str:
        """Return where the chosen link leads, empty where none is chosen."""
        return self._links[self.link][2] if 0 <= self.link < len(self._links) else ""

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width - 2 * _MARGIN
        if width == self._width or width <= 0:
            return
        self._width = width
        self._lines = self._draw(width)
        self._links = [
            (row, at, span.link)
            for row, line in enumerate(self._lines)
            for at, span in enumerate(line)
            # A link that wraps goes on in the next line; it counts once.
            if span.link and not (row and at <= 1 and _ends_with_link(self._lines[row - 1], span.link))
        ]
        self.link = min(self.link, len(self._links) - 1)
        self.virtual_size = Size(0, len(self._lines) + 2)

    def on_resize(self, _event: events.Resize) -> None:
        self._lay_out()

    def watch_show_vertical_scrollbar(self) -> None:
        """Draw anew for what the scroll bar leaves."""
        self._lay_out()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        row = y + round(self.scroll_y) - 1
        line = self._lines[row] if 0 <= row < len(self._lines) else BLANK
        if not line:
            return palette_of(self.app).strip(BLANK, width, RAISED)
        target = self._links[self.link] if self.has_focus and 0 <= self.link < len(self._links) else None
        drawn: list[Span] = [Span(" " * _MARGIN)]
        for at, span in enumerate(line):
            chosen = target is not None and span.link == target[2] and (row, at) >= target[:2]
            drawn.append(Span(span.text, "here" if chosen else span.role, span.link))
        return palette_of(self.app).strip(tuple(drawn), width, RAISED)

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self.refresh()

    # --- reading --------------------------------------------------------------------------------------------

    def _scroll(self, by: int) -> None:
        self.scroll_to(y=round(self.scroll_y) + by, animate=False, force=True)

    def action_scroll_down(self) -> None:
        self._scroll(1)

    def action_scroll_up(self) -> None:
        self._scroll(-1)

    def action_scroll_page_down(self) -> None:
        self._scroll(max(1, self.size.height - 2))

    def action_scroll_page_up(self) -> None:
        self._scroll(-max(1, self.size.height - 2))

    def action_scroll_home(self) -> None:
        self.scroll_to(y=0, animate=False, force=True)

    def action_scroll_end(self) -> None:
        self.scroll_to(y=self.max_scroll_y, animate=False, force=True)

    # --- links ----------------------------------------------------------------------------------------------

    def action_next_link(self) -> None:
        self._choose(self.link + 1)

    def action_previous_link(self) -> None:
        self._choose(self.link - 1 if self.link >= 0 else len(self._links) - 1)

    def _choose(self, at: int) -> None:
        if not 0 <= at < len(self._links):
            self.link = -1
            self.screen.focus_next() if at >= 0 else self.screen.focus_previous()
        else:
            self.link = at
            row = self._links[at][0] + 1
            if not round(self.scroll_y) <= row < round(self.scroll_y) + self.size.height:
                self.scroll_to(y=max(0, row - self.size.height // 2), animate=False, force=True)
        self.refresh_bindings()
        self.refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to follow only where a link is chosen, so that the key can mean something else of the pane's."""
        if action == "follow_link":
            return bool(self.focused_link)
        return super().check_action(action, parameters)

    def action_follow_link(self) -> None:
        if self.focused_link:
            self.post_message(self.Followed(self, self.focused_link))

    def on_click(self, event: events.Click) -> None:
        row = event.y + round(self.scroll_y) - 1
        if 0 <= row < len(self._lines) and (link := link_at(self._lines[row], event.x - _MARGIN)):
            self.post_message(self.Followed(self, link))


def _ends_with_link(line: Line, link: str) -> bool:
    return bool(line) and line_width(line) > 0 and line[-1].link == link
