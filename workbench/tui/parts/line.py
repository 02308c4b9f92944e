"""Lines that are drawn for the width there is: crumbs, status, keys, rail and sheets.

What is laid over drawn lines: letters on everything one may jump to, and what the mouse has selected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.display.ink import BLANK, link_at, links_in
from workbench.tui.palette import RAISED, palette_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.style import Style
    from textual import events
    from textual.geometry import Region, Size
    from textual.selection import Selection

    from workbench.display.ink import Line
    from workbench.tui.palette import Palette

Labels = dict[int, list[tuple[int, str]]]
"""By row of a part: where a label begins, in cells, and what it says."""
_LETTERS = "asdfghjklqwertyuiopzxcvbnm"


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


@runtime_checkable
class Jumpable(Protocol):
    """A part with things that one may jump to."""

    labels: Labels

    def spots(self) -> Sequence[tuple[int, int, str]]:
        """Return what can be seen: column and row within the part, and the id or link."""
        ...

    def jump_to(self, target: str) -> None:
        """Go to one of them."""
        ...


def letters(count: int) -> list[str]:
    """Return as many different labels: single letters where they are enough, else two of them each."""
    if count <= len(_LETTERS):
        return list(_LETTERS[:count])
    return [first + second for first in _LETTERS for second in _LETTERS][:count]


def labelled(strip: Strip, labels: Mapping[int, list[tuple[int, str]]], row: int, palette: Palette) -> Strip:
    """Return a line with its labels over it."""
    for at, label in labels.get(row, ()):
        strip = _covered(strip, at, label, palette.style("here"))
    return strip


def _covered(strip: Strip, at: int, label: str, style: Style) -> Strip:
    width = strip.cell_length
    if at >= width:
        return strip
    cells = min(len(label), width - at)
    left, right = strip.crop(0, at), strip.crop(at + cells, width)
    return Strip([*left, Segment(label[:cells], style), *right], width)


def selectable(strip: Strip, row: int, selection: Selection | None, style: Style) -> Strip:
    """Return a line of which parts can be selected, with what is selected of it standing out.

    Args:
        row: Its number in the whole text.
        selection: What is selected of that text, if anything.
    """
    span = selection.get_span(row) if selection is not None else None
    if span is not None:
        strip = _marked(strip, *span, style)
    return strip.apply_offsets(0, row)


def _marked(strip: Strip, start: int, stop: int, style: Style) -> Strip:
    segments: list[Segment] = []
    at = 0
    for text, look, control in strip:
        end = at + len(text)
        left = min(max(start - at, 0), len(text))
        right = len(text) if stop < 0 else min(max(stop - at, left), len(text))
        for piece, chosen in ((text[:left], False), (text[left:right], True), (text[right:], False)):
            if piece:
                segments.append(Segment(piece, look + style if chosen and look else look, control))
        at = end
    return Strip(segments, strip.cell_length)


def selected_text(selection: Selection, rows: int, text: Callable[[int], str], margin: int) -> str:
    """Return what is selected, without the space at either side.

    Args:
        text: Returns a line without its margin.
        margin: Cells to the left of every line.
    """
    first = 0 if selection.start is None else min(max(0, selection.start.y), rows)
    last = rows - 1 if selection.end is None else min(selection.end.y, rows - 1)
    lines = []
    for row in range(first, last + 1):
        start, stop = selection.get_span(row) or (0, 0)
        line = " " * margin + text(row)
        lines.append(line[start : len(line) if stop < 0 else stop])
    # A margin that was selected along is none of the text.
    return "\n".join(line[margin:] if not line[:margin].strip() else line for line in map(str.rstrip, lines))
