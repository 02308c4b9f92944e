"""Lines that are drawn for the width there is: crumbs, status, keys, rail and sheets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from workbench.display.ink import BLANK, link_at, links_in
from workbench.tui.palette import RAISED, palette_of
from workbench.tui.parts.overlay import Labels, labelled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.geometry import Region, Size
    from textual.strip import Strip

    from workbench.display.ink import Line


class DrawnLines(Widget):
    """Lines of a pure function of the width. Posts `Pressed` for a part that leads somewhere."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "DrawnLines { height: auto; width: 1fr; }"

    class Pressed(Message):
        """A part was clicked that leads somewhere."""

        def __init__(self, link: str) -> None:
            super().__init__()
            self.link = link

    def __init__(self, *, id: str | None = None, ground: str = RAISED) -> None:
        super().__init__(id=id)
        self._ground = ground
        self.labels: Labels = {}
        self._draw: Callable[[int], Sequence[Line]] = lambda _width: ()
        self._painted: Sequence[Line] = ()

    def show(self, draw: Callable[[int], Sequence[Line]]) -> None:
        """Show other lines; `draw` is pure and is asked again for another width."""
        self._draw = draw
        width, height = self.size
        grows = self.styles.auto_dimensions and (not width or len(self.lines(width)) != height)
        self.refresh(layout=grows)

    def lines(self, width: int) -> Sequence[Line]:
        """Return what is shown at a width."""
        return self._draw(max(1, width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        return len(self.lines(width))

    def render_lines(self, crop: Region) -> list[Strip]:
        # Drawn once for all of them, and not once for each.
        self._painted = self.lines(self.size.width)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        lines = self._painted
        palette = palette_of(self.app)
        strip = palette.strip(lines[y] if y < len(lines) else BLANK, self.size.width, self._ground)
        return labelled(strip, self.labels, y, palette)

    def spots(self) -> list[tuple[int, int, str]]:
        """Return what leads somewhere; see `parts.jump`."""
        lines = self.lines(self.size.width)
        return [(x - 1, y, link) for y, line in enumerate(lines) for x, link in links_in(line)]

    def jump_to(self, target: str) -> None:
        """Go where a link leads."""
        self.post_message(self.Pressed(target))

    def on_click(self, event: events.Click) -> None:
        lines = self.lines(self.size.width)
        if event.y < len(lines) and (link := link_at(lines[event.y], event.x)):
            self.post_message(self.Pressed(link))
