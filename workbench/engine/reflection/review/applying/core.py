"""Core memory, as approved: other words, new items and items that leave, always within its cap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.errors import NotFound
from workbench.engine.memory.core import plan_add_item, plan_pin_item, plan_replace_item, read_core
from workbench.engine.memory.forget import plan_archive
from workbench.engine.memory.wording import clip, text_key

if TYPE_CHECKING:
    from workbench.engine.reflection.review.applying.step import Step
    from workbench.engine.reflection.review.item_changes import CoreAddition, CoreWording, Demoting


def reword_core_item(step: Step, change: CoreWording) -> None:
    """Change what an item says.

    Raises:
        BudgetExceeded: Core memory would pass its cap.
        NotFound: There is no such item.
    """
    context = step.context
    plan = plan_replace_item(
        step.draft, called_now(step, change.item), change.text, context.settings, context.now
    )
    outcome = step.draft.lay(plan)
    step.ids.extend(outcome.ids)
    step.warnings.extend(outcome.warnings)


def add_core_item(step: Step, change: CoreAddition) -> None:
    """Add an item at the end of a block; raises as `reword_core_item`."""
    context = step.context
    plan = plan_add_item(
        step.draft, change.block, change.text, context.settings, context.now, scores=context.standing
    )
    outcome = step.draft.lay(plan)
    step.ids.extend(outcome.ids)
    step.warnings.extend(outcome.warnings)


def demote(step: Step, change: Demoting) -> None:
    """Take an item out of core memory; it is archived, so that it can be restored. Raises `NotFound`."""
    context = step.context
    item = called_now(step, change.item)
    outcome = step.draft.lay(
        plan_archive(step.draft, [item], context.now, context.settings, context.first_seen)
    )
    step.ids.extend(outcome.ids)
    step.warnings.extend(outcome.warnings)


def pin_core_item(step: Step, item: str) -> None:
    """Mark an item so that it is neither pruned nor fades; raises as `reword_core_item`."""
    context = step.context
    outcome = step.draft.lay(
        plan_pin_item(step.draft, called_now(step, item), True, context.settings, context.now)
    )
    step.ids.extend(outcome.ids)


def called_now(step: Step, item_id: str) -> str:
    """Return the id that an item has by now: alike items are told apart by their order, which others may change.

    Raises:
        NotFound: It is gone.
    """
    original = step.before.core.item(item_id)
    if original is None:
        raise NotFound(
            f"Core memory has no item {clip(item_id)}.", remedy="`workbench core --json` lists them."
        )
    block = item_id.split(":")[1]
    drafted = [item for each in read_core(step.draft).blocks if each.slug == block for item in each.items]
    same = [item for item in drafted if text_key(item.text) == text_key(original.text)]
    if any(item.id == item_id for item in same):
        return item_id
    if not same:
        raise NotFound(
            f"Another item of this reflection changes {clip(item_id)} already.",
            remedy="Reject one of the two.",
        )
    return same[0].id
