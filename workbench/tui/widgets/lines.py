"""A few lines drawn for the width there is, as high as they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from workbench.display.ink import BLANK
from workbench.tui.palette import RAISED
from workbench.tui.widgets.painted import palette_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.geometry import Size
    from textual.strip import Strip

    from workbench.display.ink import Line


class Lines(Widget):
    """Lines from a function of the width alone; nothing where there are none.

    Args:
        ground: What they stand on.
    """

    DEFAULT_CSS = "Lines { height: auto; width: 1fr; }"

    def __init__(self, *, id: str | None = None, ground: str = RAISED) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._ground = ground
        self._draw: Callable[[int], Sequence[Line]] = lambda _width: ()

    def show(self, draw: Callable[[int], Sequence[Line]]) -> None:
        """Show other lines.

        Args:
            draw: Gives the lines for a width in cells; pure.
        """
        self._draw = draw
        self.refresh(layout=True)

    def lines(self, width: int) -> Sequence[Line]:
        """Return what is shown at a width."""
        return self._draw(max(1, width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        """Return how many lines there are."""
        return len(self.lines(width))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        lines = self.lines(width)
        return palette_of(self.app).strip(lines[y] if y < len(lines) else BLANK, width, self._ground)
