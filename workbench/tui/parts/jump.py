"""Labels over what is drawn: a letter or two on everything that one may jump to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from rich.segment import Segment
from textual.strip import Strip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.style import Style

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
