"""Core memory: its blocks and items, the token cap, planned changes, and archived items (§4)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from workbench.engine import layout
from workbench.engine.errors import BudgetExceeded, InvalidInput, NotFound, Stale
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.markdown.core import CORE_BLOCKS, CoreBlock, CoreItem, CoreMemory
from workbench.engine.markdown.decay_scores import ScoreEntry
from workbench.engine.markdown.template import load_template
from workbench.engine.memory.draft import Draft, StandingLookup
from workbench.engine.memory.scores_file import change_of_scores, read_scores
from workbench.engine.memory.wording import clean_memory, clip, clip_difference, text_key
from workbench.engine.results.memories import Changed, CoreView
from workbench.engine.results.memories import CoreBlock as BlockView
from workbench.engine.results.memories import CoreItem as ItemView
from workbench.engine.settings.sections import Settings
from workbench.engine.tokens.counting import count_tokens

_MOST_CANDIDATES = 5

_KEY = "core_item"


@dataclass(frozen=True)
class CoreEdit:
    """Core memory after an edit within the cap, and warnings for a person."""

    core: CoreMemory
    warnings: tuple[str, ...] = ()


def core_path(view: FileView) -> str:
    """Return the path of core memory: `MEMORY.md`, or `memory.md` if only that exists."""
    if view.read(layout.CORE) is None and view.read("memory.md") is not None:
        return "memory.md"
    return layout.CORE


def read_core(view: FileView) -> CoreMemory:
    """Return core memory; the template if there is no file yet."""
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
    """Return core memory as it would be with a text added, regardless of the cap.

    Args:
        view: The files.
        settings: They give cap and budgets.
        text: The item's text; a blank one changes nothing.
        block: Name of the block for a new item.
        item_id: The item to replace, or None for a new one.

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
        core: The current state.
        block: Name or slug; a missing one of the four is created.
        text: Its line breaks are kept.
        settings: They give cap and budgets.
        pinned: Whether it may not be pruned.
        standing: If given, a refusal names the least relevant items first, else the largest.

    Raises:
        InvalidInput: The text is empty or too long.
        NotFound: There is no such block.
        BudgetExceeded: Core memory would exceed its cap.
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
    """Return an acceptable edit: a block over its budget causes a warning, a total over the cap a refusal.

    If core memory already exceeds its cap (by an outside edit), an edit that shrinks it is accepted.

    Raises:
        BudgetExceeded: The message gives the numbers, the remedy candidates for removal.
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
    """Return an item of any block with the same meaning."""
    wanted = text_key(text)
    return next((i for block in core.blocks for i in block.items if text_key(i.text) == wanted), None)


def _what_could_go(
    before: CoreMemory, after: CoreMemory, standing: StandingLookup | None
) -> list[tuple[CoreItem, int]]:
    """Return the unpinned, unchanged items with their tokens, least relevant or largest first."""
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
    """Return core memory's name for a block given by a person, including `context` or `[identity]`.

    Raises:
        NotFound: It is neither in the file nor one of the four.
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


@dataclass(frozen=True)
class ArchivedItem:
    """An item as it was in core memory.

    Args:
        id: The id of its entry.
        block: Name of its block.
        text: Its text.
        pinned: Whether it was marked as pinned.
        along: Id of the memory with which it was archived, or empty.
    """

    id: str
    block: str
    text: str
    pinned: bool = False
    along: str = ""


def archived_items(view: FileView) -> dict[str, ArchivedItem]:
    """Return the archived items of core memory by the ids of their entries."""
    found = {}
    for entry_id, entry in read_scores(view).entries.items():
        note = dict(entry.extra).get(_KEY) if entry.extra else None
        if isinstance(note, Mapping):
            found[entry_id] = ArchivedItem(
                entry_id,
                str(note.get("block", "")),
                str(note.get("text", "")),
                bool(note.get("pinned")),
                str(note.get("with", "")),
            )
    return found


def note_items(draft: Draft, items: list[ArchivedItem], now: datetime) -> None:
    """Record the texts of archived items in their entries; items without an entry are skipped."""
    entries = read_scores(draft).entries
    noted: dict[str, ScoreEntry | None] = {}
    for item in items:
        if item.id not in entries:
            continue
        note: dict[str, Any] = {"block": item.block, "text": item.text, "pinned": item.pinned}
        if item.along:
            note["with"] = item.along
        noted[item.id] = dataclasses.replace(
            entries[item.id], extra=(*_without_note(entries[item.id]), (_KEY, note))
        )
    _write(draft, noted, "noted what core memory said", now)


def move_entry(draft: Draft, entry_id: str, to: str, now: datetime) -> None:
    """Rename an archived item's entry to the item's present id, dropping the note."""
    entry = read_scores(draft).entries[entry_id]
    _write(draft, {entry_id: None}, f"restored {to}", now)
    _write(draft, {to: dataclasses.replace(entry, extra=_without_note(entry))}, f"restored {to}", now)


def release_ids(draft: Draft, core: CoreMemory, now: datetime) -> None:
    """Free the ids of archived items for items of core memory by renaming their entries.

    An item's id follows from its text, so a new `Name: …` gets the id of the one archived before.
    """
    archived = archived_items(draft)
    if not archived:
        return
    entries = read_scores(draft).entries
    renamed: dict[str, ScoreEntry | None] = {}
    for block in core.blocks:
        for item in block.items:
            if item.id in archived:
                number = 1
                while f"{item.id}~{number}" in entries:
                    number += 1
                renamed |= {item.id: None, f"{item.id}~{number}": entries[item.id]}
    _write(draft, renamed, "kept an archived item apart from a new one", now)


def _without_note(entry: ScoreEntry) -> tuple[tuple[str, Any], ...]:
    return tuple((key, value) for key, value in entry.extra if key != _KEY)


def _write(draft: Draft, entries: dict[str, ScoreEntry | None], summary: str, now: datetime) -> None:
    file = change_of_scores(read_scores(draft), entries, action=Action.EDIT, summary=summary, now=now)
    if file is not None and file.content is not None:
        draft.write(file.path, file.content, file.action, file.summary)


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
    """Plan a new item; see `add_item`. A text already in core memory is not repeated."""
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
    """Plan a new text for an item; its pin stays, and its id may change with its label.

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
    """Plan to add or remove the mark that protects an item from decay and pruning.

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
    """Plan a new body for a block.

    Args:
        view: The files.
        block: Name or slug.
        body: Markdown without block headings; may be empty.
        settings: They give cap and budgets.
        now: Aware.
        expected: The body from which the edit started.

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
