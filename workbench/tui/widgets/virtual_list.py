"""The one list of the bench: any number of rows, of which only those in sight are ever drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView

from workbench.display.ink import BLANK, Span, link_at
from workbench.tui.palette import CURSOR, MARKED, PAPER, RAISED
from workbench.tui.widgets.marks import Marks
from workbench.tui.widgets.painted import palette_of
from workbench.tui.widgets.rows import NoRows, last_line, nearest, repeated_heading, step_from

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.strip import Strip

    from workbench.display.ink import Line
    from workbench.tui.palette import Palette
    from workbench.tui.widgets.rows import RowSource

_GUTTER = 2
_MARGIN_RIGHT = 1
_MOST_CACHED = 2000


class VirtualList(ScrollView, can_focus=True):
    """A list with a cursor, marks and headings.

    Keeps its cursor on the same id when the rows change. Posts `Moved`, `Chosen` and `MarksChanged`.
    """

    DEFAULT_CSS = "VirtualList { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }"

    class About(Message):
        """Something about one row.

        Args:
            sender: The list.
            key: Id of the row, empty where there is none.
        """

        def __init__(self, sender: VirtualList, key: str) -> None:
            super().__init__()
            self.sender = sender
            self.key = key

        @property
        def control(self) -> VirtualList:
            return self.sender

    class Moved(About):
        """The cursor is on another row."""

    class Chosen(About):
        """A row was opened: by key or by a double click."""

    class Taught(About):
        """A link in what an empty list says was clicked; the key is where it leads."""

    class MarksChanged(About):
        """Other rows are marked than before."""

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        empty: Callable[[int], Sequence[Line]] | None = None,
        ground: str = PAPER,
        always_lit: bool = False,
    ) -> None:
        super().__init__(id=id)
        self._plain_ground = ground
        self._always_lit = always_lit
        self.rows: RowSource = NoRows()
        self.cursor = -1
        self.marks = Marks()
        self.waiting = False
        self._empty = empty
        self._strips: dict[tuple[int, int, str, str], Strip] = {}
        self._painted_with: Palette | None = None

    @property
    def cursor_key(self) -> str:
        """Return the id of the row under the cursor, empty where there is none."""
        return self.rows.key(self.cursor) if 0 <= self.cursor < len(self.rows) else ""

    @property
    def chosen_keys(self) -> tuple[str, ...]:
        """Return what an action is about: the marked rows in order, or else the row under the cursor."""
        marked = [(at, key) for key in self.marks.keys if (at := self.rows.find(key)) is not None]
        if marked:
            return tuple(key for _, key in sorted(marked))
        return (self.cursor_key,) if self.cursor_key else ()

    def show(self, rows: RowSource, *, keep: str | None = None) -> None:
        """Show other rows, with the cursor on the same id as before, or as near as can be.

        Args:
            rows: The rows.
            keep: Id to put the cursor on instead.
        """
        wanted = keep if keep is not None else self.cursor_key
        before = self.cursor_key
        at_top = round(self.scroll_y) == 0
        screen_line = self.cursor - round(self.scroll_y)
        self.rows = rows
        self.waiting = False
        self._strips.clear()
        found = rows.find(wanted) if wanted else None
        self.cursor = found if found is not None else nearest(self.rows, self.cursor)
        self.virtual_size = Size(0, len(rows))
        if wanted and found is not None and keep is None and not at_top:
            # Rows that come above stay out of sight, unless one is at the beginning, where what is new belongs.
            self.scroll_to(y=max(0, found - screen_line), animate=False, force=True)
        self._keep_cursor_in_sight()
        self.refresh()
        if self.cursor_key != before:
            self.post_message(self.Moved(self, self.cursor_key))

    def grow(self, rows: RowSource) -> None:
        """Show rows of which those shown so far are the beginning: nothing moves.

        Args:
            rows: The same object as before, grown already, or another.
        """
        if self.cursor < 0:
            self.show(rows)
            return
        before = self.virtual_size.height
        self.rows = rows
        self.virtual_size = Size(0, len(rows))
        if before < round(self.scroll_y) + self.size.height:
            self.refresh()

    def redraw(self) -> None:
        """Draw the same rows again: they look otherwise now."""
        self._strips.clear()
        self.refresh()

    def go_to(self, key: str) -> bool:
        """Put the cursor on the row with that id; returns whether there is one."""
        found = self.rows.find(key)
        if found is None:
            return False
        self._move_to(found)
        return True

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = y + round(self.scroll_y)
        if y == 0 and (heading := repeated_heading(self.rows, index)) is not None:
            index = heading
        if index >= len(self.rows):
            return self._render_empty(y, width)
        key = self.rows.key(index)
        ground = self._ground(index, key)
        sign = self._sign(index, key)
        palette = palette_of(self.app)
        if palette is not self._painted_with:
            self._painted_with = palette
            self._strips.clear()
        cached = self._strips.get((index, width, ground, sign))
        if cached is None:
            room = max(1, width - _GUTTER - _MARGIN_RIGHT)
            role = "strong" if self._lit else "faint"
            line = (Span(sign[0], role), Span(sign[1], "decide"), *self._words(index, room))
            cached = palette.strip(line, width, ground)
            if len(self._strips) >= _MOST_CACHED:
                self._strips.clear()
            self._strips[index, width, ground, sign] = cached
        return cached

    def _words(self, index: int, room: int) -> Line:
        """Return what a row says; one that cannot be drawn says so, and costs no other."""
        try:
            return self.rows.line(index, room)
        except Exception as error:  # the outermost shell of a row: the bench goes on
            return (Span(f"This row cannot be shown: {type(error).__name__}: {error}"[:room], "faint"),)

    @property
    def _lit(self) -> bool:
        """Tell whether keys move this list, if only through a filter."""
        return self._always_lit or self.has_focus

    def _ground(self, index: int, key: str) -> str:
        owner = self.rows.owner(index)
        if owner == self.cursor:
            return CURSOR if self._lit else RAISED
        if owner != index:
            key = self.rows.key(owner)
        return MARKED if key and key in self.marks.keys else self._plain_ground

    def _sign(self, index: int, key: str) -> str:
        bar = ("▌" if self._lit else "▏") if self.rows.owner(index) == self.cursor else " "
        return bar + ("✓" if key and key in self.marks.keys else " ")

    def _render_empty(self, y: int, width: int) -> Strip:
        return palette_of(self.app).strip(self._empty_line(y, width), width, self._plain_ground)

    def _empty_line(self, y: int, width: int) -> Line:
        lines: Sequence[Line] = ()
        if not len(self.rows) and not self.waiting and self._empty is not None:
            lines = self._empty(max(10, width - 6))
        line = lines[y - 2] if 0 <= y - 2 < len(lines) else BLANK
        return (Span("   "), *line) if line else BLANK

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self._strips.clear()
        self._refresh_row(self.cursor)

    def _refresh_row(self, index: int) -> None:
        """Draw the lines of a row again."""
        if 0 <= index < len(self.rows):
            for line in range(index, last_line(self.rows, index) + 1):
                self.refresh_line(line)

    def _step(self, by: int) -> None:
        self._move_to(step_from(self.rows, self.cursor, by))

    def _move_to(self, index: int) -> None:
        if index == self.cursor or index < 0:
            self._keep_cursor_in_sight()
            return
        before, self.cursor = self.cursor, index
        if self.marks.extend(self.rows, index):
            self.refresh()
            self.post_message(self.MarksChanged(self, self.cursor_key))
        scrolled = self._keep_cursor_in_sight()
        if not scrolled:
            self._refresh_row(before)
            self._refresh_row(index)
        self.post_message(self.Moved(self, self.cursor_key))

    def _keep_cursor_in_sight(self) -> bool:
        """Scroll just so far that the cursor and its heading can be seen; returns whether that was needed."""
        height = self.scrollable_content_region.height
        if self.cursor < 0 or height <= 0:
            return False
        top = round(self.scroll_y)
        # The line above belongs to the heading: the row itself, or the sticky one in its place.
        first = self.cursor - (self.rows.heading(self.cursor) is not None)
        if self.cursor < height and self.cursor == nearest(self.rows, 0):
            first = 0
        wanted = top
        last = last_line(self.rows, self.cursor)
        if first < top:
            wanted = max(0, first)
        elif last >= top + height:
            wanted = min(last - height + 1, first)
        if wanted == top:
            return False
        self.scroll_to(y=wanted, animate=False, force=True)
        return True

    def action_move_down(self) -> None:
        self._step(1)

    def action_move_up(self) -> None:
        self._step(-1)

    def action_page_down(self) -> None:
        self._step(max(1, self.size.height - 2))

    def action_page_up(self) -> None:
        self._step(-max(1, self.size.height - 2))

    def action_move_first(self) -> None:
        self._move_to(nearest(self.rows, 0))

    def action_move_last(self) -> None:
        self._step(len(self.rows))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to open only where there is a row."""
        return bool(self.cursor_key) if action == "open" else super().check_action(action, parameters)

    def action_open(self) -> None:
        if self.cursor_key:
            self.post_message(self.Chosen(self, self.cursor_key))

    def action_mark(self) -> None:
        if self.cursor_key:
            self.marks.toggle(self.cursor_key)
            self._refresh_row(self.cursor)
            self.post_message(self.MarksChanged(self, self.cursor_key))
            self._step(1)

    def action_mark_range(self) -> None:
        if self.cursor_key:
            self.marks.begin_or_end_range(self.rows, self.cursor)
            self.refresh()
            self.post_message(self.MarksChanged(self, self.cursor_key))

    def clear_marks(self) -> bool:
        """Unmark everything; returns whether anything was marked."""
        if not self.marks.clear():
            return False
        self.refresh()
        self.post_message(self.MarksChanged(self, self.cursor_key))
        return True

    def on_click(self, event: events.Click) -> None:
        if not len(self.rows):
            line = self._empty_line(event.y, self.scrollable_content_region.width)
            if link := link_at(line, event.x):
                self.post_message(self.Taught(self, link))
            return
        index = event.y + round(self.scroll_y)
        on_sticky = event.y == 0 and repeated_heading(self.rows, index) is not None
        if 0 <= index < len(self.rows):
            index = self.rows.owner(index)
        if on_sticky or not 0 <= index < len(self.rows) or not self.rows.key(index):
            return
        if event.shift:
            self.marks.range_to(self.rows, self.cursor, index)
            self.refresh()
        elif event.ctrl:
            self.marks.toggle(self.rows.key(index))
            self.refresh()
        self._move_to(index)
        if event.shift or event.ctrl:
            self.post_message(self.MarksChanged(self, self.cursor_key))
        elif event.chain == 2:
            self.post_message(self.Chosen(self, self.cursor_key))

    def on_resize(self, _event: events.Resize) -> None:
        self._strips.clear()
        self._keep_cursor_in_sight()
