"""Core: what the agent always carries, block by block, with the room that is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from workbench.display.ink import ink, spread
from workbench.display.rows import block_row, budget_bar, item_row
from workbench.display.today import fitting
from workbench.tui.parts.filter import Filterable
from workbench.tui.parts.rows import Rows
from workbench.tui.places.place import Place
from workbench.tui.verbs.adding import to_block
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from workbench.display.ink import Line
    from workbench.engine.results.memories import CoreBlock, CoreItem, CoreView
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.adding import Destination


_BAR = 10


class CorePlace(Place):
    """Core memory."""

    EMPTY: ClassVar[str] = (
        "The agent carries nothing yet; ⸨new⸩ writes down what every session should begin with."
    )
    FILTER_KEYS: ClassVar[tuple[str, ...]] = ("block", "is")

    def read(self, workspace: Workspace) -> CoreView:
        return workspace.core()

    def rows(self, results: CoreView) -> Rows[CoreBlock, CoreItem]:
        rows: Rows[CoreBlock, CoreItem] = Rows(item_row, _block)
        for block in results.blocks:
            rows.add_heading(block)
            rows.add_all(block.items, [item.id for item in block.items])
        return rows

    def heading(self, results: CoreView, width: int) -> Line:
        said = f"{results.tokens:,} of {results.cap:,} tokens"
        if outside := results.tokens_outside:
            said = fitting(
                width - _BAR - 2,
                f"{said}, {outside:,} of them the file’s title",
                f"{said}, title {outside:,}",
                said,
            )
        return spread((ink(said, "soft"),), budget_bar(results.tokens, results.cap, _BAR), width)

    @property
    def destination(self) -> Destination | None:
        block = self.list.rows.under(self.list.cursor)
        return to_block(block.name) if block is not None else None

    def filterable(self, item: CoreItem) -> Filterable:
        blocks = tuple(each.name for each in self.results.blocks if item in each.items)
        return Filterable(item.text, {"block": blocks, "is": ("pinned",) if item.pinned else ()})

    def subject(self, key: str) -> Memory | None:
        item: CoreItem | None = self.row(key)
        return None if item is None else Memory(item.id, "core", item.text, item.pinned)


def _block(block: CoreBlock, width: int) -> Line:
    return block_row(block.name, block.tokens, block.budget, width)
