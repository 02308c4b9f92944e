"""The list of a place: any number of rows, of which only those in sight are ever drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView

from workbench.display.ink import BLANK, PRESS_LINK, Span, link_at
from workbench.tui.palette import CURSOR, MARKED, PAPER, RAISED, palette_of
from workbench.tui.parts.line import DrawnLines, Labels, labelled
from workbench.tui.parts.rows import Rows, last_line, nearest, repeated_heading, step_from

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.strip import Strip

    from workbench.display.ink import Line
    from workbench.tui.palette import Palette
    from workbench.tui.parts.rows import AnyRows


class Marks:
    """Marked ids; while a range is open, also those between where it began and the cursor."""

    def __init__(self) -> None:
        self.keys: frozenset[str] = frozenset()
        self._base: frozenset[str] = frozenset()
        self._anchor = ""

    @property
    def open_range(self) -> bool:
        """Tell whether a range is being drawn."""
        return bool(self._anchor)

    def toggle(self, key: str) -> None:
        """Mark one row or unmark it; an open range ends."""
        self._anchor = ""
        self.keys = self.keys ^ {key}

    def begin_or_end_range(self, rows: AnyRows, index: int) -> None:
        """Begin a range at a row, or leave the marks of the open one as they are."""
        if self._anchor:
            self._anchor = ""
            return
        self._anchor, self._base = rows.key(index), self.keys
        self.keys = self._base | {self._anchor}

    def extend(self, rows: AnyRows, index: int) -> bool:
        """Let the open range reach to the cursor; returns whether there is one."""
        anchor = rows.find(self._anchor) if self._anchor else None
        if anchor is None:
            return False
        self.keys = self._base | _between(rows, anchor, index)
        return True

    def range_to(self, rows: AnyRows, start: int, end: int) -> None:
        """Mark everything between two rows as well."""
        self._anchor = ""
        self.keys = self.keys | _between(rows, start, end)

    def clear(self) -> bool:
        """Unmark everything; returns whether anything was marked."""
        had = bool(self.keys)
        self.keys, self._anchor = frozenset(), ""
        return had


def _between(rows: AnyRows, start: int, end: int) -> frozenset[str]:
    first, last = sorted((max(start, 0), max(end, 0)))
    return frozenset(key for at in range(first, last + 1) if (key := rows.key(at)))


_GUTTER = 2
_MARGIN_RIGHT = 1
_MOST_CACHED = 300


class ListPart(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows with a cursor, marks and headings, moved by the commands of the one table.

    Keeps its cursor on the same id when the rows change. Posts `Moved` and `Chosen`.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar = []

    DEFAULT_CSS = "ListPart { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }"

    class About(Message):
        """Something about one row.

        Args:
            key: Id of the row, empty where there is none.
        """

        def __init__(self, sender: ListPart, key: str) -> None:
            super().__init__()
            # Where a place moves the cursor, it would pass for the sender, and nobody above it would be told.
            self.set_sender(sender)
            self.sender = sender
            self.key = key

        @property
        def control(self) -> ListPart:
            return self.sender

    class Moved(About):
        """The cursor is on another row."""

    class Chosen(About):
        """A row was opened by a double click."""

    def __init__(
        self,
        *,
        id: str | None = None,
        empty: Callable[[int], Sequence[Line]] | None = None,
        ground: str = PAPER,
        always_lit: bool = False,
    ) -> None:
        super().__init__(id=id)
        self._plain_ground = ground
        self._always_lit = always_lit
        self._given: AnyRows = Rows[str, str]()
        self.rows: AnyRows = self._given
        """What was given to be shown, with as many lines for each as fit."""
        self._fitted_to = Size(0, 0)
        self.cursor = -1
        self.marks = Marks()
        self._empty = empty
        self._strips: dict[tuple[int, int, str, str], Strip] = {}
        self._painted_with: Palette | None = None
        self.labels: Labels = {}
        self._dragged_from = ""

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

    def show(self, rows: AnyRows) -> None:
        """Show other rows, with the cursor on the same id as before, or as near as can be."""
        before = self.cursor_key
        at_top = round(self.scroll_y) == 0
        screen_line = self.cursor - round(self.scroll_y)
        self._given = rows
        rows = self.rows = self._fitted()
        self._strips.clear()
        found = rows.find(before) if before else None
        self.cursor = found if found is not None else nearest(self.rows, self.cursor)
        self.virtual_size = Size(0, len(rows))
        if found is not None and not at_top:
            # Rows that come above stay out of sight, unless one is at the beginning, where what is new belongs.
            self.scroll_to(y=max(0, found - screen_line), animate=False, force=True)
        self._keep_cursor_in_sight()
        self.refresh()
        if self.cursor_key != before:
            self.post_message(self.Moved(self, self.cursor_key))

    def _fitted(self) -> AnyRows:
        self._fitted_to = self.size
        try:
            return self._given.fitted(*self.room, bar=0 if self._has_gutter else 1)
        except Exception:  # a row that cannot be drawn says so in its own place
            return self._given

    @property
    def room(self) -> Size:
        """Return the cells that rows are drawn in."""
        return Size(self._room(self.size.width - self._has_gutter), self.size.height)

    @property
    def _has_gutter(self) -> bool:
        """Return whether the scroll bar has room of its own, whether there is one or not."""
        return self.styles.scrollbar_gutter == "stable"

    def _room(self, width: int) -> int:
        return max(1, width - _GUTTER - _MARGIN_RIGHT)

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
        if y == 0 and self.size != self._fitted_to:
            # What was shown before there was a place on the screen.
            self._fitted_to = self.size
            self.call_later(self.on_resize)
        if y == 0 and (heading := repeated_heading(self.rows, index)) is not None:
            index = heading
        if index >= len(self.rows):
            return labelled(self._render_empty(y, width), self.labels, y, palette_of(self.app))
        key = self.rows.key(index)
        ground = self._ground(index, key)
        sign = self._sign(index, key)
        palette = palette_of(self.app)
        if palette is not self._painted_with:
            self._painted_with = palette
            self._strips.clear()
        cached = self._strips.get((index, width, ground, sign))
        if cached is None:
            role = "strong" if self._lit else "faint"
            line = (Span(sign[0], role), Span(sign[1], "decide"), *self._words(index, self._room(width)))
            cached = palette.strip(line, width, ground)
            if len(self._strips) >= _MOST_CACHED:
                self._strips.clear()
            self._strips[index, width, ground, sign] = cached
        return labelled(cached, self.labels, y, palette)

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
        # A tick is another thing than a mark.
        return bar + ("•" if key and key in self.marks.keys else " ")

    def _render_empty(self, y: int, width: int) -> Strip:
        return palette_of(self.app).strip(self._empty_line(y, width), width, self._plain_ground)

    def _empty_line(self, y: int, width: int) -> Line:
        lines: Sequence[Line] = ()
        if not len(self.rows) and self._empty is not None:
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

    def spots(self) -> list[tuple[int, int, str]]:
        """Return the rows in sight; see `parts.jump`."""
        top = round(self.scroll_y)
        in_sight = range(top, min(len(self.rows), top + self.size.height))
        sticky = repeated_heading(self.rows, top) is not None
        return [
            (0, at - top, self.rows.key(at))
            for at in in_sight
            if self.rows.key(at) and self.rows.owner(at) == at and not (sticky and at == top)
        ]

    def jump_to(self, target: str) -> None:
        """Put the cursor on a row."""
        self.go_to(target)

    def do(self, command: str) -> bool:
        """Carry out a command of moving or marking.

        Args:
            command: Id of the command.

        Returns:
            Whether it means something here.
        """
        act: Callable[[], object] | None = {
            "move-down": lambda: self._step(1),
            "move-up": lambda: self._step(-1),
            "page-down": lambda: self._step(max(1, self.size.height - 2)),
            "page-up": lambda: self._step(-max(1, self.size.height - 2)),
            "half-down": lambda: self._step(max(1, self.size.height // 2)),
            "half-up": lambda: self._step(-max(1, self.size.height // 2)),
            "first": lambda: self._move_to(nearest(self.rows, 0)),
            "last": lambda: self._step(len(self.rows)),
            "next-heading": lambda: self._to_heading(1),
            "previous-heading": lambda: self._to_heading(-1),
            "mark": self._mark,
            "range": self._mark_range,
        }.get(command)
        return act is not None and act() is not False

    def _to_heading(self, by: int) -> bool:
        """Put the cursor on the first row of the next section; False where there are no headings."""
        if self.cursor < 0 or self.rows.heading(self.cursor) is None:
            return False
        here, at = self.rows.heading(self.cursor), self.cursor
        while 0 <= at < len(self.rows) and (self.rows.heading(at) == here or not self.rows.key(at)):
            at += by
        if not 0 <= at < len(self.rows):
            return True
        section = self.rows.heading(at)
        while at > 0 and self.rows.heading(at - 1) == section and self.rows.key(self.rows.owner(at - 1)):
            at -= 1
        self._move_to(at)
        return True

    def _mark(self) -> None:
        if self.cursor_key:
            self.marks.toggle(self.cursor_key)
            self._refresh_row(self.cursor)
            self._step(1)

    def _mark_range(self) -> None:
        if self.cursor_key:
            self.marks.begin_or_end_range(self.rows, self.cursor)
            self.refresh()

    def clear_marks(self) -> bool:
        """Unmark everything; returns whether anything was marked."""
        if not self.marks.clear():
            return False
        self.refresh()
        return True

    def on_click(self, event: events.Click) -> None:
        if not len(self.rows):
            return
        index = self._row_under(event)
        at = event.y + round(self.scroll_y)
        if index < 0 or (event.y == 0 and repeated_heading(self.rows, at) is not None):
            return
        if event.shift:
            self.marks.range_to(self.rows, self.cursor, index)
            self.refresh()
        elif event.ctrl:
            self.marks.toggle(self.rows.key(index))
            self.refresh()
        self._move_to(index)
        if event.shift or event.ctrl:
            return
        line = self._words(at, self._room(self.scrollable_content_region.width))
        if (link := link_at(line, event.x - _GUTTER)).startswith(PRESS_LINK):
            self.post_message(DrawnLines.Pressed(link))
        elif event.chain == 2:
            self.post_message(self.Chosen(self, self.cursor_key))

    def on_resize(self) -> None:
        self.show(self._given)

    # Dragging the mouse marks a range.

    def _row_under(self, event: events.MouseEvent) -> int:
        """Return the row under the mouse that a cursor may stand on; -1 where there is none."""
        at = event.y + round(self.scroll_y)
        if not 0 <= at < len(self.rows):
            return -1
        at = self.rows.owner(at)
        return at if self.rows.key(at) else -1

    def on_mouse_down(self, event: events.MouseDown) -> None:
        at = self._row_under(event)
        if event.button == 1 and at >= 0 and not (event.shift or event.ctrl):
            self._dragged_from = self.rows.key(at)
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        start = self.rows.find(self._dragged_from) if self._dragged_from else None
        at = self._row_under(event)
        if start is None or at < 0 or (at == start and not self.marks.open_range):
            return
        if not self.marks.open_range:
            self.marks.begin_or_end_range(self.rows, start)
        self._move_to(at)

    def on_mouse_up(self, _event: events.MouseUp) -> None:
        if self._dragged_from:
            self._dragged_from = ""
            self.release_mouse()
            if self.marks.open_range:
                self.marks.begin_or_end_range(self.rows, self.cursor)
