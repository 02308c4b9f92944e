"""Core memory: seen, tried out and changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.memory.core import (
    plan_add_item,
    plan_move_item,
    plan_remove_item,
    plan_replace_item,
    plan_set_block,
    preview_core,
    view_core,
)
from workbench.engine.memory.draft import plan_together
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import Mutator

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView, Plan


class Core:
    """Core memory by blocks and items; its cap is enforced before anything is written."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator) -> None:
        self._context = context
        self._mutator = mutator

    def view(self) -> results.memories.CoreView:
        """Return core memory: its blocks, items and token budget."""
        return view_core(self._context.files, self._context.settings)

    def preview(
        self,
        block: str,
        text: str,
        *,
        id: str | None = None,
        moving: Sequence[str] = (),
    ) -> results.memories.CoreView:
        """Return core memory as it would be with a text in it, over its cap or not; nothing is written.

        Args:
            block: Name of the block that a new item would join.
            id: The item whose text it would replace, or None for a new one.
            moving: Items that would leave core memory for it.

        Raises:
            NotFound: There is no such block or item.
        """
        context = self._context
        return preview_core(
            context.files,
            context.settings,
            text,
            block=block,
            item_id=id,
            moving=moving,
            scores=context.scores(),
        )

    def set(self, block: str, body: str, *, expected: str | None = None) -> results.memories.Changed:
        """Replace the body of a block of core memory.

        Args:
            body: Markdown below the heading.
            expected: The body the edit started from.

        Raises:
            NotFound: There is no such block.
            Stale: It no longer reads `expected`.
            BudgetExceeded: Core memory would pass its cap; the message names what could go.
        """
        context = self._context
        return self._mutator.change(
            lambda view: plan_set_block(
                view, block, body, context.settings, context.now(), expected=expected
            ),
            f"core set {block}",
        )

    def add(self, block: str, text: str, *, moving: Sequence[str] = ()) -> results.memories.Changed:
        """Add an item to a block of core memory; raises as `set`.

        Args:
            moving: Items that leave core memory for the timeline in the same commit, to make room.
        """
        context = self._context

        def add(view: FileView) -> Plan[results.memories.Changed]:
            return plan_add_item(view, block, text, context.settings, context.now(), scores=context.scores())

        return self._mutator.change(self._with_room(add, moving), f"core add {block}")

    def replace(
        self,
        id: str,
        text: str,
        *,
        moving: Sequence[str] = (),
    ) -> results.memories.Changed:
        """Replace the text of an item of core memory; raises and makes room as `add`."""
        context = self._context

        def replace(view: FileView) -> Plan[results.memories.Changed]:
            return plan_replace_item(view, id, text, context.settings, context.now())

        return self._mutator.change(self._with_room(replace, moving), f"core replace {id}")

    def _with_room(
        self, plan: Callable[[FileView], Plan[results.memories.Changed]], moving: Sequence[str]
    ) -> Callable[[FileView], Plan[results.memories.Changed]]:
        """Return a planner that moves items to the timeline first."""
        # From the last one given: items that say the same are told apart by their order.
        moves = [partial(plan_move_item, item_id=one, now=self._context.now()) for one in reversed(moving)]
        items = "an item" if len(moves) == 1 else f"{len(moves)} items"
        summary = f"made room in core memory: {items} moved to the timeline"
        return lambda view: plan_together(view, (*moves, plan), summary)

    def remove(self, id: str, *more: str) -> results.memories.Changed:
        """Take items out of core memory, in one commit.

        Raises:
            NotFound: There is no such item.
        """
        context = self._context
        # From the last one given: items that say the same are told apart by their order.
        steps = [partial(plan_remove_item, item_id=one, now=context.now()) for one in reversed((id, *more))]
        summary = f"removed {len(steps)} items"
        return self._mutator.change(lambda view: plan_together(view, steps, summary), f"core remove {id}")
