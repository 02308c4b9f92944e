"""Core memory: its blocks and items, the token cap, planned changes, and archived items (§4)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from workbench.engine import layout
from workbench.engine.errors import BudgetExceeded, InvalidInput, NotFound, Stale
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.markdown.core import CORE_BLOCKS, CoreBlock, CoreItem, CoreMemory
from workbench.engine.markdown.decay_scores import ScoreEntry
from workbench.engine.markdown.episodes import NewEntry
from workbench.engine.markdown.source import load_template
from workbench.engine.memory.draft import Draft, RelevanceLookup
from workbench.engine.memory.scores_file import read_scores, write_entries
from workbench.engine.memory.stores import append_episode, read_log, same_entry
from workbench.engine.memory.wording import clean_memory, clip, clip_difference, text_key
from workbench.engine.results.memories import Changed, CoreView, LooseItem
from workbench.engine.results.memories import CoreBlock as BlockView
from workbench.engine.results.memories import CoreItem as ItemView
from workbench.engine.settings.sections import Settings
from workbench.engine.tokens import count_tokens
from workbench.engine.values import dataclass

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
    view: FileView,
    settings: Settings,
    text: str,
    *,
    block: str,
    item_id: str | None,
    moving: Collection[str],
    scores: RelevanceLookup | None,
) -> CoreView:
    """Return core memory as it would be with a text added, regardless of the cap.

    Args:
        text: The item's text; a blank one changes nothing.
        item_id: The item to replace, or None for a new one.
        moving: Items that leave core memory for it.
        scores: If given, what could go is ordered by relevance, else by size.

    Raises:
        NotFound: There is no such block or item.
    """
    core = read_core(view)
    if not text.strip():
        return _view(core, settings)
    name = _block_name(core, block)
    after = core.add_item(name, text) if item_id is None else core.replace_item(item_id, text)
    could_go = tuple(
        LooseItem(item.id, item.text, size) for item, size in _crowding(core, after, name, settings, scores)
    )
    for each in reversed(tuple(moving)):
        after = after.remove_item(each)
    return replace(_view(after, settings), could_go=could_go)


def _crowding(
    before: CoreMemory, after: CoreMemory, name: str, settings: Settings, scores: RelevanceLookup | None
) -> list[tuple[CoreItem, int]]:
    """Return what could go for a text: out of its block if that passes its budget, out of any if all pass the cap."""
    loose = _what_could_go(before, after, scores)
    if count_tokens(after.text) > settings.core.cap:
        return loose
    block, budget = after.block(name), settings.core.budgets.get(name)
    if block is None or budget is None or count_tokens(block.text) <= budget:
        return []
    inside = {item.id for item in block.items}
    return [(item, size) for item, size in loose if item.id in inside]


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
    scores: RelevanceLookup | None = None,
) -> tuple[CoreEdit, CoreItem]:
    """Add an item at the end of a block.

    Args:
        block: Name or slug; a missing one of the four is created.
        text: Its line breaks are kept.
        scores: If given, a refusal names the least relevant items first, else the largest.

    Raises:
        InvalidInput: The text is empty or too long.
        NotFound: There is no such block.
        BudgetExceeded: Core memory would exceed its cap.
    """
    name = _block_name(core, block)
    wording = clean_memory(text, what="An item of core memory")
    before = {item.id for each in core.blocks for item in each.items}
    after = core.add_item(name, wording.text, pinned=pinned)
    edit = within_cap(core, after, settings, scores)
    added = next(item for each in after.blocks for item in each.items if item.id not in before)
    return CoreEdit(edit.core, (*wording.warnings, *edit.warnings)), added


def within_cap(
    before: CoreMemory, after: CoreMemory, settings: Settings, scores: RelevanceLookup | None = None
) -> CoreEdit:
    """Return an acceptable edit: a block over its budget causes a warning, a total over the cap a refusal.

    If core memory already exceeds its cap (by an outside edit), an edit that shrinks it is accepted.

    Raises:
        BudgetExceeded: The message gives the numbers, the remedy candidates for removal.
    """
    cap = settings.core.cap
    total, was = count_tokens(after.text), count_tokens(before.text)
    if total > cap and total >= was:
        loose = _what_could_go(before, after, scores)
        raise BudgetExceeded(
            f"Core memory would hold {total:,} tokens, {total - cap:,} more than its cap of {cap:,}.",
            where=after.path,
            remedy=_remedy(loose),
            candidates=tuple((item.text, size) for item, size in loose[:_MOST_CANDIDATES]),
        )
    warnings = [
        f"{block.name} is {tokens - budget:,} tokens over its budget of {budget:,}; "
        f"only the cap of {cap:,} is enforced."
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


def mark_contradicted(draft: Draft, item_id: str, others: Sequence[str], settings: Settings) -> str:
    """Mark an item of core memory as unsettled, for it contradicts memories that are kept as well (§13.6).

    Words at its end that say so already give way to the mark, which can be taken off again.

    Returns:
        The item's id, another one where its words are others.

    Raises:
        BudgetExceeded: There is no room for the mark.
    """
    core = after = read_core(draft)
    block, item = _located(core, item_id)
    words, told, named = item.text.rpartition(" (contradicts ")
    if told and named.rstrip(")").partition(", ")[0] in others:
        after = core.replace_item(item_id, words)
    changed = next(each for each in after.blocks if each.slug == block.slug).items[block.items.index(item)].id
    edit = within_cap(core, after.set_contradicted(changed, others), settings)
    draft.write(core.path, edit.core.render(), Action.EDIT, f"marked {changed} as unsettled")
    return changed


def settle_contradictions(draft: Draft, gone: Collection[str]) -> None:
    """Take memories that no longer hold out of the marks; an item that contradicts nothing else is settled."""
    core = after = read_core(draft)
    for item_id in [item.id for block in core.blocks for item in block.items]:
        others = core.contradicted_by(item_id)
        left = [other for other in others if other not in gone and other.partition("#^")[0] not in gone]
        if len(left) < len(others):
            after = after.set_contradicted(item_id, left)
    if after is not core:
        draft.write(core.path, after.render(), Action.EDIT, "took off the mark of what is settled")


def rename_contradicted(draft: Draft, renamed: Mapping[str, str]) -> None:
    """Give memories their new ids, by their old ones, in the marks of what they contradict."""
    core = after = read_core(draft)
    for item_id in [item.id for block in core.blocks for item in block.items]:
        others = core.contradicted_by(item_id)
        named = tuple(dict.fromkeys(renamed.get(other, other) for other in others))
        if named != others:
            after = after.set_contradicted(item_id, named)
    if after is not core:
        draft.write(core.path, after.render(), Action.EDIT, "renamed what marks of core memory name")


def _what_could_go(
    before: CoreMemory, after: CoreMemory, scores: RelevanceLookup | None
) -> list[tuple[CoreItem, int]]:
    """Return the unpinned, unchanged items with their tokens, least relevant or largest first."""
    kept = {(item.id, item.text) for block in after.blocks for item in block.items}
    loose = [
        (item, count_tokens(item.text))
        for block in before.blocks
        for item in block.items
        if not item.pinned and (item.id, item.text) in kept
    ]
    score: Callable[[str], float] = (lambda _: 0.0) if scores is None else lambda i: scores.relevance(i).score
    return sorted(loose, key=lambda pair: (round(score(pair[0].id), 2), -pair[1], pair[0].id))


def _remedy(loose: Sequence[tuple[CoreItem, int]]) -> str:
    if not loose:
        return "Nothing else could go: every other item is pinned. Shorten this text, or unpin one."
    named = "; ".join(
        f"{item.id} “{clip(item.text, 40)}” ({size} tokens)" for item, size in loose[:_MOST_CANDIDATES]
    )
    more = len(loose) - _MOST_CANDIDATES
    return f"What could go: {named}{f'; {more} more' if more > 0 else ''}. Shorten or remove one first."


def _block_name(core: CoreMemory, block: str) -> str:
    """Return core memory's name for a block given by a person, including `context` or `[identity]`."""
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
        along: Id of the memory with which it was archived, or empty.
    """

    id: str
    block: str
    text: str
    pinned: bool
    along: str


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
    write_entries(draft, noted, Action.EDIT, "noted what core memory said", now)


def move_entry(draft: Draft, entry_id: str, to: str, now: datetime) -> None:
    """Rename an archived item's entry to the item's present id, dropping the note."""
    entry = read_scores(draft).entries[entry_id]
    unnoted = dataclasses.replace(entry, extra=_without_note(entry))
    for change in ({entry_id: None}, {to: unnoted}):
        write_entries(draft, change, Action.EDIT, f"restored {to}", now)


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
    write_entries(draft, renamed, Action.EDIT, "kept an archived item apart from a new one", now)


def _without_note(entry: ScoreEntry) -> tuple[tuple[str, Any], ...]:
    return tuple((key, value) for key, value in entry.extra if key != _KEY)


def plan_add_item(
    view: FileView,
    block: str,
    text: str,
    settings: Settings,
    now: datetime,
    *,
    scores: RelevanceLookup | None = None,
) -> Plan[Changed]:
    """Plan a new item; see `add_item`. A text already in core memory is not repeated."""
    core = read_core(view)
    known = same_item(core, text)
    if known is not None:
        warning = f"Core memory says this already, as {known.id}."
        return Plan(
            Action.EDIT, core.path, warning, outcome=Changed(None, ids=(known.id,), warnings=(warning,))
        )
    edit, item = add_item(core, block, text, settings, scores=scores)
    into = _located(edit.core, item.id)[0].name
    return _plan(view, now, edit, f"added “{clip(item.text, 60)}” to {into}", item.id)


def plan_replace_item(
    view: FileView, item_id: str, text: str, settings: Settings, now: datetime
) -> Plan[Changed]:
    """Plan a new text for an item; its pin stays, and its id may change with its label.

    Raises:
        NotFound: There is no such item.
        BudgetExceeded: See `within_cap`.
    """
    core = read_core(view)
    block, item = _located(core, item_id)
    wording = clean_memory(text, what="An item of core memory")
    edit = within_cap(core, core.replace_item(item_id, wording.text), settings)
    after = next(each for each in edit.core.blocks if each.slug == block.slug)
    replaced = after.items[block.items.index(item)].id
    old, new = clip_difference(item.text, wording.text)
    summary = f"changed “{old}” to “{new}” in {block.name}"
    return _plan(view, now, CoreEdit(edit.core, (*wording.warnings, *edit.warnings)), summary, replaced)


def plan_remove_item(view: FileView, item_id: str, now: datetime) -> Plan[Changed]:
    """Plan an item's removal. Raises `NotFound`."""
    core = read_core(view)
    block, item = _located(core, item_id)
    summary = f"removed “{clip(item.text, 60)}” from {block.name}"
    return _plan(view, now, CoreEdit(core.remove_item(item_id)), summary, item_id)


def plan_move_item(view: FileView, item_id: str, now: datetime) -> Plan[Changed]:
    """Plan to take an item out of core memory and log it in the timeline. Raises `NotFound`."""
    core = read_core(view)
    block, item = _located(core, item_id)
    draft = Draft(view)
    summary = f"moved “{clip(item.text, 60)}” from {block.name} to the timeline"
    draft.write(core.path, core.remove_item(item_id).render(), Action.EDIT, summary)
    log = read_log(draft, now)
    known = same_entry(log.entries, item.text)
    if known is None:
        entry = NewEntry(f"{now:%H:%M}", item.text, source="user-explicit")
        recorded = append_episode(draft, log, entry, item.text)
    else:
        recorded = known.id
    return draft.plan(Action.EDIT, core.path, summary, Changed(None, ids=(recorded,)))


def plan_pin_item(
    view: FileView, item_id: str, pinned: bool, settings: Settings, now: datetime
) -> Plan[Changed]:
    """Plan to add or remove the mark that protects an item from decay and pruning.

    Raises:
        NotFound: There is no such item.
        BudgetExceeded: There is no room for the mark.
    """
    core = read_core(view)
    block, item = _located(core, item_id)
    edit = within_cap(core, core.set_pinned(item_id, pinned), settings)
    verb, action = ("pinned", Action.PIN) if pinned else ("unpinned", Action.UNPIN)
    return _plan(view, now, edit, f"{verb} “{clip(item.text, 60)}” in {block.name}", item_id, action)


def plan_set_block(
    view: FileView, block: str, body: str, settings: Settings, now: datetime, *, expected: str | None = None
) -> Plan[Changed]:
    """Plan a new body for a block.

    Args:
        body: Markdown without block headings; may be empty.
        expected: The body from which the edit started.

    Raises:
        Stale: The body is no longer the expected one.
        InvalidInput: The body would change other blocks.
        NotFound: There is no such block.
        BudgetExceeded: See `within_cap`.
    """
    core = read_core(view)
    name = _block_name(core, block)
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


def _located(core: CoreMemory, item_id: str) -> tuple[CoreBlock, CoreItem]:
    for block in core.blocks:
        for item in block.items:
            if item.id == item_id:
                return block, item
    raise NotFound(
        f"Core memory has no item {clip(item_id)}.",
        where=core.path,
        remedy="`workbench core --json` lists them.",
    )


def _others(core: CoreMemory, name: str) -> list[tuple[str, str]]:
    return [(block.name, block.text.strip()) for block in core.blocks if name not in (block.name, block.slug)]


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
