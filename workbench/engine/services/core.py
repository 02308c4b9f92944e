"""Core memory: seen, tried out and changed."""

from __future__ import annotations

from functools import partial

from workbench.engine import results
from workbench.engine.memory.core import (
    plan_add_item,
    plan_remove_item,
    plan_replace_item,
    plan_set_block,
    preview_core,
    view_core,
)
from workbench.engine.memory.draft import plan_together
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import Mutator


class Core:
    """Core memory by blocks and items; its cap is enforced before anything is written."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator) -> None:
        self._context = context
        self._mutator = mutator

    def view(self) -> results.memories.CoreView:
        """Return core memory: its blocks, items and token budget."""
        return view_core(self._context.files, self._context.settings)

    def preview(self, block: str, text: str, *, id: str | None = None) -> results.memories.CoreView:  # noqa: A002 - the field's word
        """Return core memory as it would be with a text in it, over its cap or not; nothing is written.

        Args:
            block: Name of the block that a new item would join.
            id: The item whose text it would replace, or None for a new one.

        Raises:
            NotFound: There is no such block or item.
        """
        return preview_core(self._context.files, self._context.settings, text, block=block, item_id=id)

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

    def add(self, block: str, text: str) -> results.memories.Changed:
        """Add an item to a block of core memory; raises as `set`."""
        context = self._context
        return self._mutator.change(
            lambda view: plan_add_item(
                view, block, text, context.settings, context.now(), scores=context.scores()
            ),
            f"core add {block}",
        )

    def replace(self, id: str, text: str) -> results.memories.Changed:  # noqa: A002 - the field's word
        """Replace the text of an item of core memory; raises as `set`."""
        context = self._context
        return self._mutator.change(
            lambda view: plan_replace_item(view, id, text, context.settings, context.now()),
            f"core replace {id}",
        )

    def remove(self, id: str, *more: str) -> results.memories.Changed:  # noqa: A002 - the field's word
        """Take items out of core memory, in one commit.

        Raises:
            NotFound: There is no such item.
        """
        context = self._context
        # From the last one given: items that say the same are told apart by their order.
        steps = [partial(plan_remove_item, item_id=one, now=context.now()) for one in reversed((id, *more))]
        summary = f"removed {len(steps)} items"
        return self._mutator.change(lambda view: plan_together(view, steps, summary), f"core remove {id}")
