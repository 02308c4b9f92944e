"""The list of a place: the virtual list, moved by the commands of the one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from workbench.tui.parts.jump import Labels, labelled
from workbench.tui.widgets.painted import palette_of
from workbench.tui.widgets.rows import repeated_heading
from workbench.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.strip import Strip


class ListPart(VirtualList, inherit_bindings=False):
    """Rows with a cursor and marks; posts what `VirtualList` posts."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar = []

    def _sign(self, index: int, key: str) -> str:
        # A tick is another thing than a mark.
        return super()._sign(index, key).replace("✓", "•")

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.labels: Labels = {}
        self._dragged_from = ""

    def render_line(self, y: int) -> Strip:
        return labelled(super().render_line(y), self.labels, y, palette_of(self.app))

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
            "move-down": self.action_move_down,
            "move-up": self.action_move_up,
            "page-down": self.action_page_down,
            "page-up": self.action_page_up,
            "half-down": lambda: self._step(max(1, self.size.height // 2)),
            "half-up": lambda: self._step(-max(1, self.size.height // 2)),
            "first": self.action_move_first,
            "last": self.action_move_last,
            "next-heading": lambda: self._to_heading(1),
            "previous-heading": lambda: self._to_heading(-1),
            "mark": self.action_mark,
            "range": self.action_mark_range,
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
        while at > 0 and self.rows.heading(at - 1) == section and self.rows.key(at - 1):
            at -= 1
        self._move_to(at)
        return True

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
