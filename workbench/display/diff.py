"""Draws a difference, unified or side by side, with the very words that changed lit inside each line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.cells import plain
from workbench.display.ink import BLANK, Line, Span, gap, line_width, wrap_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.display.diffing import DiffRow, Piece

SPLIT_FROM = 110
_NUMBER = 5
_SIGNS = {"removed": "−", "added": "+", "same": " "}
# A longer line is cut: the file itself has the rest, and nobody reads it here.
_LONGEST = 4000


def diff_lines(rows: Sequence[DiffRow], width: int, *, numbers: bool = True) -> list[Line]:
    """Draw a difference, side by side where there is room and there are two sides.

    Args:
        rows: From `diffing.compare`.
        width: Cells.
        numbers: Whether each line has its number: of a file, not of a memory.
    """
    lead = _NUMBER if numbers else 0
    both = any(row.before_number and row.after_number for row in rows)
    return list((_split if width >= SPLIT_FROM and both else _unified)(rows, width, lead))


def _unified(rows: Sequence[DiffRow], width: int, lead: int) -> Iterable[Line]:
    for row in rows:
        if row.kind == "gap":
            yield _gap_line(row, width, lead)
        elif row.kind == "same":
            yield from _side(row.after, row.after_number, "same", width, lead)
        else:
            if row.before_number:
                yield from _side(row.before, row.before_number, "removed", width, lead)
            if row.after_number:
                yield from _side(row.after, row.after_number, "added", width, lead)


def _split(rows: Sequence[DiffRow], width: int, lead: int) -> Iterable[Line]:
    half = (width - 1) // 2
    for row in rows:
        if row.kind == "gap":
            yield _gap_line(row, width, lead)
            continue
        same = row.kind == "same"
        left = list(_side(row.before, row.before_number, "same" if same else "removed", half, lead))
        right = list(_side(row.after, row.after_number, "same" if same else "added", half, lead))
        for at in range(max(len(left), len(right))):
            yield (
                *(left[at] if at < len(left) else (gap(half),)),
                gap(1),
                *(right[at] if at < len(right) else ()),
            )


def _gap_line(row: DiffRow, width: int, lead: int) -> Line:
    count = row.before_number
    text = f"{'⋮':>{max(0, lead - 1)}}  {count} unchanged line{'s' * (count != 1)}"
    return (Span(plain(text, width), "faint"),)


def _side(pieces: tuple[Piece, ...], number: int, kind: str, width: int, lead: int) -> list[Line]:
    """Draw one version of one line, wrapped, its background reaching to the edge."""
    if not number:
        return []
    role = "soft" if kind == "same" else kind
    text = tuple(
        Span(plain(piece.text[:_LONGEST]), f"{role}.word" if piece.changed else role)
        for piece in pieces
        if piece.text
    )
    lines: list[Line] = []
    for at, line in enumerate(wrap_line(text, max(8, width - lead - 2)) if text else [BLANK]):
        shown = f"{number:>{lead - 1}} " if at == 0 and lead else " " * lead
        sign = _SIGNS[kind] if at == 0 else " "
        body = (Span(shown, "faint"), Span(sign + " ", role), *line)
        lines.append((*body, gap(width - line_width(body), role)))
    return lines
