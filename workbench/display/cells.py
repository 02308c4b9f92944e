"""Makes any text safe and exact to print in terminal cells: nothing in it can move the cursor, hide or reorder."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from workbench.engine.patterns import lazy_pattern

ELLIPSIS = "…"
HIDDEN = "�"
TAB_STOP = 4
# A base letter keeps this many combining marks; real scripts need no more, stacked noise does.
_MARKS_PER_CELL = 3
# Punctuation of wide scripts that does not begin a line.
NEVER_FIRST = frozenset("，。、；：！？）」』】》〉…—～ー々")
# The longest run of characters looked at for each cell asked for; marks beyond it could only be noise.
_CHARACTERS_PER_CELL = 8
# Letters that join the one before them, and fillers: terminals give them no cell of their own.
_JOINED = lazy_pattern(
    "[\u1160-\u11ff\u302e\u302f\u3164\ua8b4-\ua8c3\ud7b0-\ud7fb\uffa0\U0001f3fb-\U0001f3ff]"
)
# Signs that are two cells wide although Unicode 15 calls them narrow.
_WIDE = lazy_pattern("[\u2630-\u2637\u268a-\u268f\u4dc0-\u4dff\U0001d300-\U0001d356\U0001d360-\U0001d376]")


@lru_cache(maxsize=8192)
def _shown(character: str) -> tuple[str, int]:
    """Return what stands for one character on the screen, and its width in cells; width -1 is a combining mark."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code), 1
    if code == 0x7F:
        return "␡", 1
    if code in (0xFE0E, 0xFE0F, 0x200D, 0xAD):
        # Variation selectors and joiners change widths from one terminal to the next.
        return "", 0
    category = unicodedata.category(character)
    if category in ("Mn", "Me"):
        return character, -1
    if character == "\u2028" or character == "\u2029" or category in ("Cc", "Cf", "Cs", "Co", "Cn"):
        return HIDDEN, 1
    if category == "Mc" or _JOINED.match(character):
        return character, 0
    return character, 2 if _WIDE.match(character) or unicodedata.east_asian_width(character) in "WF" else 1


def _safe(text: str) -> list[tuple[str, int]]:
    """Take text apart into what is printed for each visible character, with its width in cells."""
    cells: list[tuple[str, int]] = []
    marks = 0
    column = 0
    for index, character in enumerate(text):
        if character == "\t":
            stop = TAB_STOP - column % TAB_STOP
            cells.extend([(" ", 1)] * stop)
            column += stop
            continue
        if character == "\u200c" and _between_letters(text, index):
            cells[-1] = (cells[-1][0] + character, cells[-1][1])
            continue
        shown, width = _shown(character)
        if width == -1:
            marks += 1
            if cells and marks <= _MARKS_PER_CELL:
                cells[-1] = (cells[-1][0] + shown, cells[-1][1])
            continue
        marks = 0
        if shown:
            cells.append((shown, width))
            column += width
    return cells


def _between_letters(text: str, index: int) -> bool:
    """Tell whether a zero-width non-joiner does its orthographic work, as in Persian, rather than hide."""
    around = text[index - 1 : index] + text[index + 1 : index + 2]
    return len(around) == 2 and all(ord(letter) > 0x590 and letter.isalpha() for letter in around)


def plain(text: str, width: int | None = None) -> str:
    """Return text as one line that prints as itself and nothing else.

    Controls and escapes become their visible pictures, hidden and reordering characters a `�`, tabs and line breaks
    white space; joiners and variation selectors go, so that a terminal agrees on the width.

    Args:
        text: Anything at all, of any length.
        width: Cells available; longer text ends in “…”. None keeps all of it.
    """
    if width is not None:
        if width <= 0:
            return ""
        text = text[: width * _CHARACTERS_PER_CELL + 64]
    if text.isascii() and text.isprintable():
        return text if width is None or len(text) <= width else text[: width - 1] + ELLIPSIS
    cells = _safe(" ".join(text.splitlines()) if "\n" in text or "\r" in text else text)
    if width is None or sum(cell for _, cell in cells) <= width:
        return "".join(shown for shown, _ in cells)
    kept: list[str] = []
    used = 0
    for shown, cell in cells:
        if used + cell > width - 1:
            break
        kept.append(shown)
        used += cell
    return "".join(kept) + ELLIPSIS


def cell_width(text: str) -> int:
    """Return how many cells text takes that `plain` has made safe."""
    if text.isascii():
        return len(text)
    # A non-joiner in safe text does its orthographic work, and takes no cell.
    return sum(max(0, _shown(character)[1]) for character in text if character != "\u200c")


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Return text as exactly `width` cells: made safe, cut with “…” or filled with spaces.

    Args:
        right: Put the filling before the text, for numbers that line up.
    """
    safe = plain(text, width)
    filling = " " * max(0, width - cell_width(safe))
    return filling + safe if right else safe + filling


def wrap(text: str, width: int, *, limit: int | None = None) -> list[str]:
    """Break one paragraph into safe lines of at most `width` cells, at spaces where there are any.

    Args:
        text: One paragraph; line breaks in it count as spaces.
        width: Cells a line may take, at least 1.
        limit: Most lines to give back; the last one then ends in “…”.

    Returns:
        At least one line, which may be empty.
    """
    width = max(1, width)
    if limit is not None:
        text = text[: width * (limit + 1) * _CHARACTERS_PER_CELL]
    lines: list[str] = []
    line: list[tuple[str, int]] = []
    used = 0
    break_at = 0
    after_wide = False
    for shown, cell in _safe(" ".join(text.splitlines())):
        may_break_here = (cell == 2 or after_wide) and shown[0] not in NEVER_FIRST
        if may_break_here:
            break_at = len(line)
        while used + cell > width and shown != " " and line:
            split = break_at or len(line)
            lines.append(_joined(line[:split]))
            line = line[split:]
            used = sum(size for _, size in line)
            break_at = 0
        line.append((shown, cell))
        used += cell
        after_wide = cell == 2
        if shown == " ":
            break_at = len(line)
    lines.append(_joined(line))
    if limit is not None and len(lines) > limit:
        lines = [*lines[: limit - 1], fit_ellipsis(lines[limit - 1], width)]
    return lines


def fit_ellipsis(text: str, width: int) -> str:
    """Return safe text ending in “…” within `width` cells, whether or not it was too long."""
    text = text.rstrip(ELLIPSIS + " ")
    return (
        text + ELLIPSIS
        if cell_width(text) < width
        else plain(text + " ", width - 1).rstrip(ELLIPSIS) + ELLIPSIS
    )


def _joined(cells: list[tuple[str, int]]) -> str:
    return "".join(shown for shown, _ in cells).rstrip(" ")
