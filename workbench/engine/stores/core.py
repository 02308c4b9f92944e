"""Core memory: its blocks and items with their tokens, and the cap that it keeps (design document §4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.engine import layout
from workbench.engine.documents.core import CORE_BLOCKS, CoreItem, CoreMemory
from workbench.engine.documents.template import load_template
from workbench.engine.errors import BudgetExceeded, NotFound
from workbench.engine.history.plan import FileView
from workbench.engine.results.core import CoreBlock as BlockView
from workbench.engine.results.core import CoreItem as ItemView
from workbench.engine.results.core import CoreView
from workbench.engine.settings.sections import Settings
from workbench.engine.stores.lookups import StandingLookup
from workbench.engine.stores.wording import clean_memory, clip, text_key
from workbench.engine.tokens import count_tokens

_MOST_CANDIDATES = 5


@dataclass(frozen=True)
class CoreEdit:
    """Core memory after an edit that keeps within the cap, and what a person should know about it."""

    core: CoreMemory
    warnings: tuple[str, ...] = ()


def core_path(view: FileView) -> str:
    """Return where core memory stands: `MEMORY.md`, or `memory.md` where only that one exists."""
    if view.read(layout.CORE) is None and view.read("memory.md") is not None:
        return "memory.md"
    return layout.CORE


def read_core(view: FileView) -> CoreMemory:
    """Return core memory as it stands; the template's where there is none yet."""
    path = core_path(view)
    content = view.read(path)
    return CoreMemory.parse(load_template(layout.CORE) if content is None else content, path)


def view_core(view: FileView, settings: Settings) -> CoreView:
    """Return blocks and items with their tokens; a missing file shows as empty, not as the template."""
    path = core_path(view)
    return _view(CoreMemory.parse(view.read(path) or b"", path), settings)


def preview_core(
    view: FileView, settings: Settings, text: str, *, block: str, item_id: str | None = None
) -> CoreView:
    """Return core memory as it would be with a text in it, whether or not it keeps within the cap.

    Args:
        view: The files.
        settings: Give cap and budgets.
        text: Of the item; a blank one changes nothing.
        block: Name of the block that a new item would join.
        item_id: The item whose text it would replace, or None for a new one.

    Raises:
        NotFound: There is no such block or item.
    """
    core = read_core(view)
    if not text.strip():
        return _view(core, settings)
    if item_id is None:
        return _view(core.add_item(block_name(core, block), text), settings)
    return _view(core.replace_item(item_id, text), settings)


def _view(core: CoreMemory, settings: Settings) -> CoreView:
    budgets = settings.core.budgets
    blocks = tuple(
        BlockView(
            name=block.name,
            tokens=count_tokens(block.text),
            budget=budgets.get(block.name) if block.standard else None,
            items=tuple(ItemView(item.id, item.text, item.pinned) for item in block.items),
            body=core.source.text_of(block.body) if block.body else "",
        )
        for block in core.blocks
    )
    return CoreView(blocks, count_tokens(core.text), settings.core.cap, core.path)


def add_item(
    core: CoreMemory,
    block: str,
    text: str,
    settings: Settings,
    *,
    pinned: bool = False,
    standing: StandingLookup | None = None,
) -> tuple[CoreEdit, CoreItem]:
    """Add an item at the end of a block.

    Args:
        core: As it stands.
        block: Name or slug; one of the four is made where it is missing.
        text: Its lines stay lines.
        settings: Give cap and budgets.
        pinned: Whether it may not be pruned.
        standing: Where given, a refusal names the least relevant items first, else the largest.

    Raises:
        InvalidInput: The text is empty or too long.
        NotFound: There is no such block.
        BudgetExceeded: Core memory would pass its cap.
    """
    name = block_name(core, block)
    wording = clean_memory(text, what="An item of core memory")
    before = {item.id for each in core.blocks for item in each.items}
    after = core.add_item(name, wording.text, pinned=pinned)
    edit = within_cap(core, after, settings, standing)
    added = next(item for each in after.blocks for item in each.items if item.id not in before)
    return CoreEdit(edit.core, (*wording.warnings, *edit.warnings)), added


def within_cap(
    before: CoreMemory, after: CoreMemory, settings: Settings, standing: StandingLookup | None = None
) -> CoreEdit:
    """Return an edit that may stand; a block over its budget is a warning, the whole over its cap refused.

    Where core memory is over its cap already (it was edited from outside), an edit that shrinks it may stand.

    Raises:
        BudgetExceeded: The message gives the numbers, the remedy what could go.
    """
    cap = settings.core.cap
    total, was = count_tokens(after.text), count_tokens(before.text)
    if total > cap and total >= was:
        loose = _what_could_go(before, after, standing)
        raise BudgetExceeded(
            f"Core memory would hold {total:,} tokens, {total - cap:,} more than its cap of {cap:,}.",
            where=after.path,
            remedy=_remedy(loose),
            candidates=tuple((item.text, size) for item, size in loose[:_MOST_CANDIDATES]),
        )
    warnings = [
        f"{block.name} holds {tokens:,} tokens; its budget is {budget:,}."
        for block in after.blocks
        if block.standard
        and (budget := settings.core.budgets.get(block.name)) is not None
        and (tokens := count_tokens(block.text)) > budget
    ]
    if total > cap:
        warnings.append(
            f"Core memory still holds {total:,} tokens, {total - cap:,} more than its cap of {cap:,}."
        )
    return CoreEdit(after, tuple(warnings))


def same_item(core: CoreMemory, text: str) -> CoreItem | None:
    """Return the item that says the same already, in whatever block."""
    wanted = text_key(text)
    return next((i for block in core.blocks for i in block.items if text_key(i.text) == wanted), None)


def _what_could_go(
    before: CoreMemory, after: CoreMemory, standing: StandingLookup | None
) -> list[tuple[CoreItem, int]]:
    """Return what is not pinned with its tokens, least relevant or largest first; what is being changed is no help."""
    kept = {(item.id, item.text) for block in after.blocks for item in block.items}
    loose = [
        (item, count_tokens(item.text))
        for block in before.blocks
        for item in block.items
        if not item.pinned and (item.id, item.text) in kept
    ]
    score: Callable[[str], float] = (
        (lambda _: 0.0) if standing is None else lambda i: standing.standing(i).score
    )
    return sorted(loose, key=lambda pair: (round(score(pair[0].id), 2), -pair[1], pair[0].id))


def _remedy(loose: Sequence[tuple[CoreItem, int]]) -> str:
    if not loose:
        return "Nothing else could go: every other item is pinned. Shorten this text, or unpin one."
    named = "; ".join(
        f"{item.id} “{clip(item.text, 40)}” ({size} tokens)" for item, size in loose[:_MOST_CANDIDATES]
    )
    more = len(loose) - _MOST_CANDIDATES
    return f"What could go: {named}{f'; {more} more' if more > 0 else ''}. Shorten or remove one first."


def block_name(core: CoreMemory, block: str) -> str:
    """Return how core memory calls the block that a person means, `context` or `[identity]` included.

    Raises:
        NotFound: It is neither one of the file nor one of the four.
    """
    found = core.block(block)
    if found is not None:
        return found.name if found.standard else found.slug
    wanted = block.strip().strip("[]").casefold().replace("-", " ").replace("_", " ")
    for name in CORE_BLOCKS:
        if wanted and wanted in (name.casefold(), *name.casefold().split()):
            return name
    names = ", ".join(dict.fromkeys([*(each.name for each in core.blocks if each.heading), *CORE_BLOCKS]))
    raise NotFound(
        f"Core memory has no block “{clip(block)}”.", where=core.path, remedy=f"Its blocks are {names}."
    )
