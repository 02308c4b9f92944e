"""Changes of core memory as plans within its cap: add, replace, remove and pin items, rewrite a block."""

from __future__ import annotations

from datetime import datetime

from workbench.engine.documents.core import CoreBlock, CoreMemory
from workbench.engine.errors import InvalidInput, NotFound, Stale
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.results.memories import Changed
from workbench.engine.settings.sections import Settings
from workbench.engine.stores.core import CoreEdit, add_item, block_name, read_core, same_item, within_cap
from workbench.engine.stores.core_archive import release_ids
from workbench.engine.stores.differing import clip_difference
from workbench.engine.stores.drafting import Draft
from workbench.engine.stores.lookups import StandingLookup
from workbench.engine.stores.wording import clean_memory, clip


def plan_add_item(
    view: FileView,
    block: str,
    text: str,
    settings: Settings,
    now: datetime,
    *,
    pinned: bool = False,
    standing: StandingLookup | None = None,
) -> Plan[Changed]:
    """Plan a new item; see `add_item`. What core memory says already is not said twice."""
    core = read_core(view)
    known = same_item(core, text)
    if known is not None:
        warning = f"Core memory says this already, as {known.id}."
        return Plan(
            Action.EDIT, core.path, warning, outcome=Changed(None, ids=(known.id,), warnings=(warning,))
        )
    edit, item = add_item(core, block, text, settings, pinned=pinned, standing=standing)
    return _plan(
        view, now, edit, f"added “{clip(item.text, 60)}” to {_block_of(edit.core, item.id).name}", item.id
    )


def plan_replace_item(
    view: FileView, item_id: str, text: str, settings: Settings, now: datetime
) -> Plan[Changed]:
    """Plan another text for an item; its pin stays, and its id may change with its label.

    Raises:
        NotFound: There is no such item.
        BudgetExceeded: See `within_cap`.
    """
    core = read_core(view)
    block = _block_of(core, item_id)
    wording = clean_memory(text, what="An item of core memory")
    position = [item.id for item in block.items].index(item_id)
    edit = within_cap(core, core.replace_item(item_id, wording.text), settings)
    replaced = _block_of_name(edit.core, block.slug).items[position].id
    old, new = clip_difference(block.items[position].text, wording.text)
    summary = f"changed “{old}” to “{new}” in {block.name}"
    return _plan(view, now, CoreEdit(edit.core, (*wording.warnings, *edit.warnings)), summary, replaced)


def plan_remove_item(view: FileView, item_id: str, now: datetime) -> Plan[Changed]:
    """Plan an item's removal. Raises `NotFound`."""
    core = read_core(view)
    block = _block_of(core, item_id)
    text = next(item.text for item in block.items if item.id == item_id)
    summary = f"removed “{clip(text, 60)}” from {block.name}"
    return _plan(view, now, CoreEdit(core.remove_item(item_id)), summary, item_id)


def plan_pin_item(
    view: FileView, item_id: str, pinned: bool, settings: Settings, now: datetime
) -> Plan[Changed]:
    """Plan the mark that keeps an item from decay and pruning, or its removal.

    Raises:
        NotFound: There is no such item.
        BudgetExceeded: There is no room for the mark.
    """
    core = read_core(view)
    block = _block_of(core, item_id)
    text = next(item.text for item in block.items if item.id == item_id)
    edit = within_cap(core, core.set_pinned(item_id, pinned), settings)
    verb, action = ("pinned", Action.PIN) if pinned else ("unpinned", Action.UNPIN)
    return _plan(view, now, edit, f"{verb} “{clip(text, 60)}” in {block.name}", item_id, action)


def plan_set_block(
    view: FileView, block: str, body: str, settings: Settings, now: datetime, *, expected: str | None = None
) -> Plan[Changed]:
    """Plan another body for a block.

    Args:
        view: The files.
        block: Name or slug.
        body: Markdown without headings of blocks; may be empty.
        settings: Give cap and budgets.
        now: Aware.
        expected: The body the edit started from.

    Raises:
        Stale: The body is no longer the expected one.
        InvalidInput: The body would change other blocks.
        NotFound: There is no such block.
        BudgetExceeded: See `within_cap`.
    """
    core = read_core(view)
    name = block_name(core, block)
    standing = core.block(name)
    current = core.source.text_of(standing.body) if standing and standing.body else ""
    if expected is not None and _lines(expected) != _lines(current):
        raise Stale(
            f"{name} has changed since this edit began.",
            where=core.path,
            remedy="Look at it again, then edit.",
        )
    wording = clean_memory(body, what="A block of core memory", limit=200_000) if body.strip() else None
    after = core.set_block_body(name, wording.text if wording else "")
    if _others(after, name) != _others(core.ensure_blocks() if standing is None else core, name):
        raise InvalidInput(
            f"This text would change other blocks than {name}.",
            where=core.path,
            remedy="Leave out headings of level one and two, and close every fence and comment.",
        )
    edit = within_cap(core, after, settings)
    warnings = (*(wording.warnings if wording else ()), *edit.warnings)
    return _plan(view, now, CoreEdit(edit.core, warnings), f"rewrote {name}", None)


def _plan(
    view: FileView,
    now: datetime,
    edit: CoreEdit,
    summary: str,
    item_id: str | None,
    action: Action = Action.EDIT,
) -> Plan[Changed]:
    draft = Draft(view)
    draft.write(edit.core.path, edit.core.render(), action, summary)
    release_ids(draft, edit.core, now)
    outcome = Changed(None, ids=(item_id,) if item_id else (), warnings=edit.warnings)
    return draft.plan(action, edit.core.path, summary, outcome)


def _block_of(core: CoreMemory, item_id: str) -> CoreBlock:
    for block in core.blocks:
        if any(item.id == item_id for item in block.items):
            return block
    raise NotFound(
        f"Core memory has no item {clip(item_id)}.",
        where=core.path,
        remedy="`workbench core --json` lists them.",
    )


def _block_of_name(core: CoreMemory, slug: str) -> CoreBlock:
    return next(block for block in core.blocks if block.slug == slug)


def _others(core: CoreMemory, name: str) -> list[tuple[str, str]]:
    return [(block.name, block.text.strip()) for block in core.blocks if name not in (block.name, block.slug)]


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
