"""Core: what the agent always carries, block by block, with the room that is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from workbench.display.ink import BLANK, ink, spread
from workbench.display.rows import bar, block_row, item_row
from workbench.engine.results.memories import CoreBlock
from workbench.tui.places.place import Place
from workbench.tui.verbs import Memory
from workbench.tui.widgets.rows import SectionedRows

if TYPE_CHECKING:
    from workbench.display.ink import Line
    from workbench.engine.results.memories import CoreItem, CoreView
    from workbench.engine.workspace import Workspace


class CoreRows(SectionedRows["CoreBlock | CoreItem"]):
    """Items under their blocks."""

    def __init__(self, core: CoreView) -> None:
        super().__init__()
        for block in core.blocks:
            self._add_heading(block)
            for item in block.items:
                self._add(item, item.id)

    def item(self, key: str) -> CoreItem | None:
        """Return the item with an id."""
        row = self._row(key)
        return None if isinstance(row, CoreBlock) else row

    def line(self, index: int, width: int) -> Line:
        """Draw a row."""
        row = self._rows[index]
        if row is None:
            return BLANK
        return block_row(row, width) if isinstance(row, CoreBlock) else item_row(row, width)


class CorePlace(Place):
    """Core memory."""

    EMPTY: ClassVar[str] = (
        "The agent carries nothing yet; n writes down what every session should begin with."
    )

    def read(self, workspace: Workspace) -> CoreView:
        return workspace.core()

    def rows(self, results: CoreView) -> CoreRows:
        return CoreRows(results)

    def heading(self, results: CoreView, width: int) -> Line:
        said = f"{results.tokens:,} of {results.cap:,} tokens"
        return spread(
            (ink(said, "soft"),), bar(results.tokens / results.cap if results.cap else 1.0, 10), width
        )

    def subject(self, key: str) -> Memory | None:
        rows = self.list.rows
        item = rows.item(key) if isinstance(rows, CoreRows) else None
        return None if item is None else Memory(item.id, "core", item.text, item.pinned)
