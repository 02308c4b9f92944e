"""What a screen reader needs of the frame: which part has the keys, and the terminal's cursor where one is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Offset
from textual.widgets import Input, TextArea

from workbench.tui.parts.canvas import CanvasPart

if TYPE_CHECKING:
    from workbench.tui.frame.screen import Frame


def where(frame: Frame) -> str:
    """Return which part has the keys, in a word, and the row in a list."""
    focused, place = frame.focused, frame.place
    if isinstance(focused, Input | TextArea):
        return "Question:" if focused.id == "ask" else "Writing:"
    if focused is place.card:
        return "Card:"
    if focused is place.evidence:
        return "Evidence:"
    if isinstance(focused, CanvasPart):
        return "Drawing:"
    if focused is place.list and place.list.cursor >= 0:
        return f"Row {place.list.cursor + 1} of {len(place.list.rows)}:"
    return "List:"


def put_cursor(frame: Frame) -> None:
    """Put the cursor of the terminal on the row that has the keys, or at the beginning of the part."""
    focused, rows = frame.focused, frame.place.list
    if focused is None or isinstance(focused, Input | TextArea):
        return
    across, down = 0, rows.cursor - round(rows.scroll_y) if focused is rows else 0
    if isinstance(focused, CanvasPart):
        across, down = focused.cursor_at
    frame.app.cursor_position = focused.content_region.offset + Offset(across, max(0, down))
