"""What is laid over drawn lines: letters on everything one may jump to, and what the mouse has selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from rich.segment import Segment
from textual.strip import Strip

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.style import Style
    from textual.selection import Selection

    from workbench.tui.palette import Palette

Labels = dict[int, list[tuple[int, str]]]
"""By row of a part: where a label begins, in cells, and what it says."""
_LETTERS = "asdfghjklqwertyuiopzxcvbnm"


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
