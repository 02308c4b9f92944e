"""How many tokens a change of core memory takes, so that whatever is approved of a proposal keeps within the cap."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from workbench.engine.documents import CORE_BLOCKS
from workbench.engine.documents.core import PIN
from workbench.engine.documents.template import load_template
from workbench.engine.reflection.kinds import Kind
from workbench.engine.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.documents.pending_reflection import ReviewItem
    from workbench.engine.reflection.model import Snapshot
    from workbench.engine.results import CoreBlock, CoreItem

# Tokens merge over the borders of lines; counted alone, lines may come to a little less than in the file.
_BORDER: Final = 3


class Room:
    """Tokens that additions may still take.

    Only what grows counts: an item that shrinks core memory may be rejected while one that grows it is approved, so
    every subset of the items taken keeps within the cap if all growth together does.

    Args:
        snapshot: Its core memory with tokens and cap.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        core = snapshot.core
        self._items = {item.id: item for block in core.blocks for item in block.items}
        self._left = core.cap - core.tokens
        self._blocks = {block.name: block for block in core.blocks}
        self._in_block: defaultdict[str, int] = defaultdict(int)
        for name, block in self._blocks.items():
            if block.budget is not None:
                self._in_block[name] = block.budget - block.tokens
        missing = [name for name in CORE_BLOCKS if name not in self._blocks]
        if missing:
            # A missing block is made from the template, once.
            self._left -= (
                count_tokens(load_template("MEMORY.md").decode()) if core.blocks == () else 40 * len(missing)
            )

    def take(self, item: ReviewItem) -> bool:
        """Make room for an item; False where there is none, and then nothing is taken."""
        growth = self.growth(item)
        block = _block_name(item.target)
        if growth > 0 and (
            growth > self._left or (block in self._blocks_with_budget and growth > self._in_block[block])
        ):
            return False
        if growth > 0:
            self._left -= growth
            self._in_block[block] -= growth
        return True

    @property
    def _blocks_with_budget(self) -> set[str]:
        return {name for name, block in self._blocks.items() if block.budget is not None}

    def growth(self, item: ReviewItem) -> int:
        """Return by how many tokens an item lets core memory grow at most; 0 where it shrinks."""
        if item.kind == Kind.DEMOTION:
            return 0
        known = self._items.get(item.target)
        new = count_tokens(f"- {item.text} {PIN if known is None or known.pinned else ''}\n")
        if known is None:
            return new + _BORDER
        old = count_tokens(f"- {known.text} {PIN if known.pinned else ''}\n")
        return max(0, new - old + _BORDER)


def _block_name(target: str) -> str:
    slug = target.split(":")[1] if ":" in target else ""
    return next((name for name in CORE_BLOCKS if name.casefold().replace(" ", "-") == slug), slug)


def block_named(snapshot: Snapshot, name: str) -> CoreBlock | None:
    """Return a block of core memory by its name."""
    return next((block for block in snapshot.core.blocks if block.name == name), None)


def items_of(snapshot: Snapshot, name: str) -> tuple[CoreItem, ...]:
    """Return the items of a block; none where there is no such block."""
    block = block_named(snapshot, name)
    return block.items if block else ()


def all_items(snapshot: Snapshot) -> Iterable[CoreItem]:
    """Return every item of core memory in its order."""
    return (item for block in snapshot.core.blocks for item in block.items)
