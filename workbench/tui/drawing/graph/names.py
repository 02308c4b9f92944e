"""Brings names to a width: broken at spaces where there is room below, shortened in the middle where there is none."""

from __future__ import annotations

from functools import lru_cache

from workbench.display.cells import ELLIPSIS, cell_width, plain, wrap
from workbench.tui.drawing.canvas import clusters

LONGEST_NAME = 24
NAMELESS = "(no name)"
# No name is looked at beyond this; the detail has all of it.
_MOST_CHARACTERS = 400


@lru_cache(maxsize=4096)
def shorten(text: str, width: int = LONGEST_NAME) -> str:
    """Return a safe name of at most `width` cells; of a longer one the beginning and the end stay."""
    safe = plain(text[:_MOST_CHARACTERS]).strip() or NAMELESS
    if cell_width(safe) <= width:
        return safe
    if width < 3:
        return plain(safe, width)
    cells = clusters(safe)
    head = _taken(cells, width - 1 - (width - 1) // 3)
    tail = _taken(cells[::-1], (width - 1) // 3)
    return "".join(shown for shown, _ in head) + ELLIPSIS + "".join(shown for shown, _ in tail[::-1])


def _taken(cells: tuple[tuple[str, int], ...], room: int) -> tuple[tuple[str, int], ...]:
    for at, (_, size) in enumerate(cells):
        room -= size
        if room < 0:
            return cells[:at]
    return cells


@lru_cache(maxsize=4096)
def name_lines(text: str, width: int, most: int) -> tuple[str, ...]:
    """Return a name as at most `most` lines of at most `width` cells."""
    lines = wrap(shorten(text, width * most), width)
    if len(lines) > most:
        # Breaking at spaces took more room than there is; the middle is what can be spared.
        lines = wrap(shorten(text, width * most - width // 2), width)
    return (
        tuple(lines)
        if len(lines) <= most
        else (*lines[: most - 1], shorten("".join(lines[most - 1 :]), width))
    )


def packed(words: tuple[tuple[str, bool], ...], width: int) -> tuple[str, ...]:
    """Put words into lines of at most `width` cells.

    Args:
        words: Safe words, and whether each must stay whole even where it is wider than a line.
        width: Cells, at least 1.
    """
    lines: list[str] = []
    for word, whole in words:
        pieces = [word] if whole or cell_width(word) <= width else wrap(word, width)
        for piece in pieces:
            if lines and cell_width(lines[-1]) + 1 + cell_width(piece) <= width:
                lines[-1] += " " + piece
            else:
                lines.append(piece)
    return tuple(lines)
