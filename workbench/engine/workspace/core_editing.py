"""Changing core memory through the door."""

from __future__ import annotations

from functools import partial

from workbench.engine.results.memories import Changed
from workbench.engine.workspace.changing import Changing


class CoreEditing(Changing):
    """Core memory by blocks and items; its cap is enforced before anything is written."""

    def core_set(self, block: str, body: str, *, expected: str | None = None) -> Changed:
        """Replace the body of a block of core memory.

        Args:
            block: Its name.
            body: Markdown below the heading.
            expected: The body the edit started from.

        Raises:
            NotFound: There is no such block.
            Stale: It no longer reads `expected`.
            BudgetExceeded: Core memory would pass its cap; the message names what could go.
        """
        from workbench.engine.stores.core_changes import plan_set_block

        ground = self._ground
        return self._change(
            lambda view: plan_set_block(view, block, body, ground.settings, ground.now(), expected=expected),
            f"core set {block}",
        )

    def core_add(self, block: str, text: str) -> Changed:
        """Add an item to a block of core memory; raises as `core_set`."""
        from workbench.engine.stores.core_changes import plan_add_item

        ground = self._ground
        return self._change(
            lambda view: plan_add_item(
                view, block, text, ground.settings, ground.now(), standing=ground.scores()
            ),
            f"core add {block}",
        )

    def core_replace(self, id: str, text: str) -> Changed:  # noqa: A002 - the field's word
        """Replace the text of an item of core memory; raises as `core_set`."""
        from workbench.engine.stores.core_changes import plan_replace_item

        ground = self._ground
        return self._change(
            lambda view: plan_replace_item(view, id, text, ground.settings, ground.now()),
            f"core replace {id}",
        )

    def core_remove(self, id: str, *more: str) -> Changed:  # noqa: A002 - the field's word
        """Take items out of core memory, in one commit.

        Raises:
            NotFound: There is no such item.
        """
        from workbench.engine.stores.core_changes import plan_remove_item
        from workbench.engine.stores.together import plan_together

        ground = self._ground
        # From the last one given: items that say the same are told apart by their order.
        steps = [partial(plan_remove_item, item_id=one, now=ground.now()) for one in reversed((id, *more))]
        summary = f"removed {len(steps)} items"
        return self._change(lambda view: plan_together(view, steps, summary), f"core remove {id}")
