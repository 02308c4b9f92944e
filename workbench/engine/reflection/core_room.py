"""How many tokens a change of core memory takes, so that whatever is approved of a proposal keeps within the cap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.markdown.core import CORE_BLOCKS, PIN, CoreMemory
from workbench.engine.markdown.source import load_template
from workbench.engine.reflection.kinds import Kind
from workbench.engine.tokens import count_tokens

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Snapshot

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
        self._in_block = {
            block.name: block.budget - block.tokens for block in core.blocks if block.budget is not None
        }
        self._making = _costs_of_making({block.name for block in core.blocks})

    def take(self, item: ReviewItem) -> bool:
        """Make room for an item; False where there is none, and then nothing is taken."""
        growth = self.growth(item)
        if growth == 0:
            return True
        block = _block_name(item.target)
        making = self._making.get(block, 0)
        if growth + making > self._left or growth > self._in_block.get(block, growth):
            return False
        self._left -= growth + making
        self._making.pop(block, None)
        if block in self._in_block:
            self._in_block[block] -= growth
        return True

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


def _costs_of_making(present: set[str]) -> dict[str, int]:
    """Return what each missing block takes with its heading, and with the file’s title where there is no file."""
    template = CoreMemory.parse(load_template("MEMORY.md"))
    costs = {block.name: count_tokens(block.text) + _BORDER for block in template.blocks}
    title = (
        0
        if present
        else count_tokens(template.text) - sum(map(count_tokens, (b.text for b in template.blocks)))
    )
    return {name: cost + max(0, title) for name, cost in costs.items() if name not in present}
