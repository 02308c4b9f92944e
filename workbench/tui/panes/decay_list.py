"""The list of the heatmap: rows of cells, with a cursor that also moves along them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip

from workbench.tui import commands
from workbench.tui.drawing.heat import FARTHEST, GLYPHS
from workbench.tui.keymap import bindings
from workbench.tui.palette import CURSOR, MARKED, PAPER
from workbench.tui.views.decay_rows import HeatRows
from workbench.tui.widgets.painted import palette_of
from workbench.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from workbench.tui.views.decay_rows import Frame

# Columns that the list puts before a row: the bar of the cursor and the sign of a mark.
_GUTTER = 2
_MARGIN_RIGHT = 1
# What marks the cell one is at, and one of which no score is known.
_CELL, _NOTHING = "◆", "◇"
_UNKNOWN = " " + GLYPHS["unrecorded"]


class HeatList(VirtualList):
    """Memories over time. Posts `Looked` when the cursor is at another cell of a row, and `KeepWanted` in a trial."""

    # Enter means one of two things here; a key that is bound anew forgets what it meant to every list.
    BINDINGS: ClassVar = bindings(commands.CellBack, commands.CellOn, commands.Open, commands.KeepRate)
    DEFAULT_CSS = "HeatList { scrollbar-gutter: stable; }"

    class Looked(Message):
        """The cursor is at another day."""

        def __init__(self, frame: Frame) -> None:
            super().__init__()
            self.frame = frame

    class KeepWanted(Message):
        """What is tried is to be kept."""

    trial = False

    @property
    def heat(self) -> HeatRows | None:
        """Return the rows, once there are any."""
        return self.rows if isinstance(self.rows, HeatRows) else None

    @property
    def row_width(self) -> int:
        """Return the cells that a row may take."""
        return max(1, self.scrollable_content_region.width - _GUTTER - _MARGIN_RIGHT)

    @property
    def cells_begin(self) -> int:
        """Return the column of the list at which the cells of every row begin."""
        return _GUTTER + (self.heat.cells_at(self.row_width)[0] if self.heat is not None else 0)

    def show_heat(self, rows: HeatRows) -> None:
        """Show other rows; the cursor stays in the group that it was in."""
        before = self.heat
        if before is not None and 0 <= self.cursor < len(before):
            rows.near = before.group(self.cursor)
        self.show(rows)

    def set_frame(self, frame: Frame) -> None:
        """Show another stretch of time, or the same with the cursor at another day."""
        rows = self.heat
        if rows is None:
            return
        before = rows.cells_at(self.row_width)
        rows.frame = frame
        if rows.cells_at(self.row_width) == before:
            self._refresh_row(self.cursor)
        else:
            self._strips.clear()
            self.refresh()

    def set_trial(self, *, on: bool) -> None:
        """Put the rows on another ground while what they show is only tried."""
        if on != self.trial:
            self.trial = on
            self._plain_ground = MARKED if on else PAPER
            self._strips.clear()
            self.refresh()

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        index = y + round(self.scroll_y)
        rows = self.heat
        if rows is None or index != self.cursor or not self.cursor_key:
            return strip
        begin, window = rows.cells_at(self.row_width)
        at = _GUTTER + begin + window.column(rows.frame.cell)
        palette = palette_of(self.app)
        look = palette.style("here" if self._lit else "strong", CURSOR)
        under = strip.crop(at, at + 1).text
        # A cell printed the other way round would look like another status.
        sign = Strip([Segment(_NOTHING if under.strip(_UNKNOWN) == "" else _CELL, look)], 1)
        return Strip.join([strip.crop(0, at), sign, strip.crop(at + 1, strip.cell_length)])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave enter to the question whether the rate that is tried is kept."""
        if action == "open" and self.trial:
            return False
        if action == "keep_rate":
            return self.trial
        if action in ("cell_back", "cell_on"):
            return self.heat is not None
        return super().check_action(action, parameters)

    def action_keep_rate(self) -> None:
        self.post_message(self.KeepWanted())

    def action_cell_back(self) -> None:
        self._look(-1)

    def action_cell_on(self) -> None:
        self._look(1)

    def _look(self, by: int) -> None:
        if self.heat is not None:
            self._look_at(self.heat.frame.cell + by)

    def _look_at(self, cell: int) -> None:
        rows = self.heat
        if rows is None:
            return
        frame = rows.frame.at_cell(cell)
        if abs(frame.day) <= FARTHEST:
            self.post_message(self.Looked(frame))

    def on_click(self, event: events.Click) -> None:
        rows = self.heat
        index = event.y + round(self.scroll_y)
        if rows is None or not 0 <= index < len(rows) or not rows.key(index):
            return
        begin, window = rows.cells_at(self.row_width)
        cell = window.cell_at(event.x - _GUTTER - begin)
        if cell is not None:
            self._look_at(cell)
