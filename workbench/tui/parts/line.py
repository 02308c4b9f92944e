"""Lines that are drawn for the width there is, what is laid over them, and one that is written in.

Drawn are crumbs, status, keys, rail and sheets. Laid over are letters on everything one may jump to, and what the mouse
has selected. What is written in says what it is for, and which keys end it.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from rich.segment import Segment
from textual.containers import Horizontal
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from workbench.display.cells import cell_width, plain
from workbench.display.ink import BLANK, Span, gap, ink, link_at, links_in
from workbench.tui.palette import RAISED, palette_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.style import Style
    from textual import events
    from textual.app import ComposeResult
    from textual.geometry import Size
    from textual.selection import Selection

    from workbench.display.ink import Line
    from workbench.tui.palette import Palette

Labels = dict[int, list[tuple[int, str]]]
"""By row of a part: where a label begins, in cells, and what it says."""
_LETTERS = "asdfghjklqwertyuiopzxcvbnm"
# Cells that the text has before its title and its keys get any.
_TEXT_FIRST = 24
_MOST_NAMED = 5


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
        lines = self.lines(width) if width else ()
        if self.styles.auto_dimensions and (not width or len(lines) != height):
            self.refresh(layout=True)
            return
        refresh_changed(self, lines, self._painted)

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
        found = ((x, y, link) for y, line in enumerate(lines) for x, link in links_in(line))
        return [(x - 1, y, link) for x, y, link in found]

    def jump_to(self, target: str) -> None:
        """Go where a link leads."""
        self.post_message(self.Pressed(target))

    def on_click(self, event: events.Click) -> None:
        lines = self.lines(self.size.width)
        if event.y < len(lines) and (link := link_at(lines[event.y], event.x)):
            self.post_message(self.Pressed(link))


def refresh_changed(part: Widget, lines: Sequence[Line], painted: Sequence[Line]) -> None:
    """Paint those lines of a part again that are not painted yet: a terminal far away is sent nothing else."""
    pairs = enumerate(zip_longest(lines, painted))
    changed = [Region(0, y, part.size.width, 1) for y, (line, before) in pairs if line != before]
    if changed:
        part.refresh(*changed)


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


class WrittenLine(Input):
    """An input whose text prints as itself: what is pasted becomes one line of it."""

    DEFAULT_CSS = """
    WrittenLine { height: 1; border: none; padding: 0; background: $panel; }
    WrittenLine:focus { border: none; background: $panel; background-tint: transparent; }
    WrittenLine > .input--placeholder { color: $faint; }
    """

    def __init__(self, placeholder: str = "") -> None:
        super().__init__(placeholder=placeholder, compact=True, select_on_focus=False)

    def write(self, text: str) -> None:
        """Replace the text, with the cursor at its end."""
        self.value = plain(text)
        self.cursor_position = len(self.value)

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        text = plain(" ".join(event.text.split()))
        if self.selection.is_empty:
            self.insert_text_at_cursor(text)
        else:
            self.replace(text, *self.selection)


class Completion:
    """Completes a text as far as there is one way; then offers each of the ways in turn."""

    def __init__(self) -> None:
        self._offered: tuple[str, ...] = ()

    def next(self, text: str, complete: Callable[[str], Sequence[str]]) -> tuple[str, str]:
        """Return what the text becomes, and a sentence that names the ways.

        Args:
            complete: Returns the whole texts that it may become.
        """
        if text in self._offered:
            return self._offered[(self._offered.index(text) + 1) % len(self._offered)], ""
        offered = tuple(complete(text))
        if not offered:
            return text, f"Nothing here begins with “{text}”." if text else "There is nothing to choose from."
        shared = _shared_beginning(offered)
        goes_on = len(shared) > len(text) and shared.casefold().startswith(text.casefold())
        self._offered = () if len(offered) == 1 or goes_on else offered
        more = f" and {len(offered) - _MOST_NAMED} more" if len(offered) > _MOST_NAMED else ""
        said = f"{', '.join(offered[:_MOST_NAMED])}{more}." if len(offered) > 1 else ""
        return (offered[0] if self._offered else shared), said


def _shared_beginning(texts: Sequence[str]) -> str:
    first, *rest = texts
    shared = len(first)
    for each in rest:
        same = (
            at for at, (a, b) in enumerate(zip(first, each, strict=False)) if a.casefold() != b.casefold()
        )
        shared = min(shared, len(each), next(same, shared))
    return first[:shared]


class PromptLine(Horizontal):
    """One line for one answer, in place of the keys; hidden until it is opened."""

    DEFAULT_CSS = """
    PromptLine { height: 1; display: none; background: $panel; }
    PromptLine > DrawnLines { width: auto; height: 1; }
    PromptLine > WrittenLine { width: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__(id="prompt")
        self.line = WrittenLine()
        self.typed: Callable[[str], object] = lambda _text: None
        self._title = DrawnLines(ground="cursor")
        self._keys = DrawnLines(ground="cursor")
        self._said = ("", "")

    def compose(self) -> ComposeResult:
        yield self._title
        yield self.line
        yield self._keys

    def open(self, title: str, initial: str, keys: str, *, selected: bool = False) -> None:
        """Show the line.

        Args:
            initial: What it says to begin with.
            keys: What ends it, at the right as long as there is room.
            selected: Whether what it says is selected, so that typing replaces it.
        """
        self._said = (title, keys)
        self.line.write(initial)
        if selected:
            self.line.action_select_all()
        self.display = True
        self._fit()

    def close(self) -> None:
        """Hide the line."""
        self.display = False

    def on_resize(self, _event: events.Resize) -> None:
        self._fit()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.typed(event.value)

    def _fit(self) -> None:
        title, keys = self._said
        width = self.screen.size.width
        title = plain(title, max(1, width - _TEXT_FIRST))
        room = width - cell_width(title) - 3 - _TEXT_FIRST
        keys = keys if cell_width(keys) + 2 <= room else ""
        self._title.styles.width = cell_width(title) + 3
        self._title.show(lambda _width: ((gap(1), ink(title, "decide.strong"), gap(2)),))
        self._keys.styles.width = cell_width(keys) + 2 if keys else 0
        self._keys.show(lambda _width: ((gap(1), Span(keys, "soft"), gap(1)),))
