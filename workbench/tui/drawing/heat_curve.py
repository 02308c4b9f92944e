"""Draws one memory’s score over time as a curve, with the thresholds it falls below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.display.ink import Line, Span
from workbench.tui.drawing.heat import HAIR, TODAY_LINE, join_cells
from workbench.tui.palette import heat_role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.decay import ScorePoint
    from workbench.tui.drawing.heat import Window

_EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
_RULED: Final = "┈"
LABELS: Final = 5
"""Columns at the right in which thresholds are written."""


def curve_lines(
    points: Sequence[ScorePoint],
    window: Window,
    thresholds: Sequence[float],
    *,
    store: str,
    height: int,
    cell: int,
) -> list[Line]:
    """Draw scores as bars of eighths of a cell, on a ground of threshold lines.

    Args:
        points: One for each cell of the window.
        window: Where the cells stand.
        thresholds: 0-1; the row that each lies in is ruled and labelled at its right.
        store: Whose hue the bars have.
        height: Rows for scores from 0 to 1.
        cell: The one that stands out.

    Returns:
        The rows from the top, each as wide as the window and its labels.
    """
    ruled = {min(height - 1, int(threshold * height)): threshold for threshold in sorted(thresholds)}
    chosen = cell - window.first
    lines: list[Line] = []
    for row in reversed(range(height)):
        cells = [
            _bar(point, row, height, store, ruled, chosen=at == chosen) for at, point in enumerate(points)
        ]
        if window.line is None:
            cells.append((" ", "text"))
        else:
            cells.insert(window.line, (TODAY_LINE, "soft"))
        label = f" {ruled[row]:.2g}" if row in ruled else ""
        lines.append((*join_cells(cells), Span(f"{label:<{LABELS}.{LABELS}}", "faint")))
    return lines


def _bar(
    point: ScorePoint, row: int, height: int, store: str, ruled: dict[int, float], *, chosen: bool
) -> tuple[str, str]:
    eighths = round((point.value or 0.0) * height * 8) - row * 8
    glyph = _EIGHTHS[min(8, max(0, eighths))]
    if row == 0 and glyph == " " and point.value:
        # The least there is still shows, so that little is not mistaken for nothing.
        glyph = _EIGHTHS[1]
    if glyph == " ":
        return (_RULED if row in ruled else "╎" if chosen else " "), "soft" if chosen else HAIR
    return glyph, "strong" if chosen else heat_role(store, point.value)
