"""The list of a place: the virtual list, moved by the commands of the one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from workbench.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Callable


class ListPart(VirtualList, inherit_bindings=False):
    """Rows with a cursor and marks; posts what `VirtualList` posts."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar = []

    def _sign(self, index: int, key: str) -> str:
        # A tick is another thing than a mark.
        return super()._sign(index, key).replace("✓", "•")

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
