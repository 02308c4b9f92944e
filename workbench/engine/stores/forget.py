"""Forgetting: memories are hidden, not deleted, and can be brought back (design document §8.3).

An archived memory has score 0 in `decay-scores.json` and no row in the graph index; its file stays. An item
of core memory leaves MEMORY.md, since that is always read; what it said is noted with its entry, so that
restoring puts it back. Items that say what an archived memory says go, and come back, with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from workbench.engine.documents.core import CoreItem, CoreMemory
from workbench.engine.documents.entity import EntityFile
from workbench.engine.errors import BudgetExceeded, InvalidInput
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.identifiers import parse_memory_id
from workbench.engine.results.memories import Changed
from workbench.engine.settings.sections import Settings
from workbench.engine.stores import scores
from workbench.engine.stores.core import add_item, read_core
from workbench.engine.stores.core_archive import (
    ArchivedItem,
    archived_items,
    move_entry,
    note_items,
    release_ids,
)
from workbench.engine.stores.drafting import Draft
from workbench.engine.stores.locate import Placed, locate_memory
from workbench.engine.stores.wording import clip, text_key

_LEAST_BEGINNING = 20


def plan_archive(
    view: FileView,
    memory_ids: Sequence[str],
    now: datetime,
    settings: Settings,
    first_seen: Mapping[str, datetime] | None = None,
) -> Plan[Changed]:
    """Plan to hide memories.

    Args:
        view: The files.
        memory_ids: Which; a whole entity stands for its facts and relations.
        now: Aware, in the workspace's zone.
        settings: The constants of decay.
        first_seen: When memories came into the history, by id, as far as their files do not say.

    Raises:
        InvalidInput: One is no id, or all are free text, which has no score.
        NotFound: One does not exist.
    """
    draft = Draft(view)
    zone = now.tzinfo or settings.zone
    every = [locate_memory(draft, memory_id, zone) for memory_id in dict.fromkeys(memory_ids)]
    placed, warnings = _scored(every)
    core = read_core(draft)
    along = {memory.id_text: "" for memory in placed if memory.id.kind == "core"}
    for memory in placed:
        if memory.id.kind != "core":
            along.update({item.id: memory.id_text for item in items_saying(core, memory)})
    own = {memory.id_text for memory in placed}
    placed += [locate_memory(draft, item_id, zone) for item_id in along if item_id not in own]
    archived = scores.archive(draft, placed, scores.reckoning_at(now, settings), first_seen or {})
    for memory in placed:
        if memory.id_text in archived:
            _retire(draft, memory, now)
    _take_items(draft, core, along, now)
    ids = tuple(dict.fromkeys((*archived, *along)))
    warnings.extend(f"{memory_id} is archived already." for memory_id in sorted(own - set(ids)))
    return _plan(draft, Action.ARCHIVE, "archived", placed, ids, warnings)


def plan_restore(
    view: FileView,
    memory_ids: Sequence[str],
    now: datetime,
    settings: Settings,
    first_seen: Mapping[str, datetime] | None = None,
) -> Plan[Changed]:
    """Plan to bring archived memories back, with the items of core memory that went with them.

    A fact or relation that was retired holds again, unless another took its place.
    An item of core memory goes to the end of the block it stood in. Where core memory is full it stays
    archived, with a warning; asked for by its own id, that is refused. Arguments as for `plan_archive`.

    Raises:
        InvalidInput: One is no id.
        NotFound: One does not exist, not even archived.
        BudgetExceeded: An item of core memory that was asked for no longer fits.
    """
    draft = Draft(view)
    zone, reckoning = now.tzinfo or settings.zone, scores.reckoning_at(now, settings)
    wanted = tuple(dict.fromkeys(str(parse_memory_id(memory_id)) for memory_id in memory_ids))
    items = archived_items(draft)
    placed = [locate_memory(draft, each, zone) for each in wanted if each not in items]
    restored = list(scores.restore(draft, placed, reckoning, first_seen or {}))
    for memory in placed:
        # What was retired by hand has no entry among the scores; its own line says that it holds no longer.
        if (memory.id_text in restored or memory.retired) and _bring_back(draft, memory):
            restored.append(memory.id_text)
    restored = list(dict.fromkeys(restored))
    warnings: list[str] = []
    for item in items.values():
        if item.id not in wanted and item.along not in wanted:
            continue
        try:
            back = _put_item(draft, item, now, settings)
        except BudgetExceeded as full:
            if item.id in wanted:
                raise
            warnings.append(f"{full.message} {item.id} stays archived.")
        else:
            placed.append(back)
            restored.append(back.id_text)
    if not restored:
        warnings.append("None of these is archived.")
    return _plan(draft, Action.RESTORE, "restored", placed, tuple(restored), warnings)


def _retire(draft: Draft, memory: Placed, now: datetime) -> None:
    """Have an entity's file say that a fact no longer holds, so that nobody reads it as one that does."""
    if memory.id.kind != "entity" or memory.id.block is None:
        return
    file = EntityFile.parse(draft.read(memory.path) or b"", memory.path)
    fact = next((fact for fact in file.facts if fact.block_id == memory.id.block), None)
    if fact is not None:
        retired = file.retire_fact(fact, until=f"{now:%Y-%m-%d}")
        draft.write(memory.path, retired.render(), Action.ARCHIVE, f"retired “{clip(fact.text, 60)}”")


def _bring_back(draft: Draft, memory: Placed) -> bool:
    """Have an entity's file say again that a fact or relation holds; one that another superseded stays as it is."""
    if memory.id.kind != "entity" or memory.id.block is None:
        return False
    file = EntityFile.parse(draft.read(memory.path) or b"", memory.path)
    fact = next((fact for fact in file.retired if fact.block_id == memory.id.block), None)
    if fact is None or fact.provenance.superseded_by is not None:
        return False
    restored = file.restore_fact(memory.id.block)
    draft.write(memory.path, restored.render(), Action.RESTORE, f"restored “{clip(fact.text, 60)}”")
    return True


def items_saying(core: CoreMemory, memory: Placed) -> list[CoreItem]:
    """Return the items of core memory that say what a memory says, in full or by its beginning."""
    whole = text_key(memory.text)
    found = []
    for block in core.blocks:
        for item in block.items:
            key = text_key(item.text)
            beginning = key.rstrip("….").rstrip()
            cut = item.text.rstrip().endswith("…") and len(beginning) >= _LEAST_BEGINNING
            if key and (key == whole or (cut and whole.startswith(beginning))):
                found.append(item)
    return found


def _scored(every: Iterable[Placed]) -> tuple[list[Placed], list[str]]:
    placed, warnings = [], []
    for memory in every:
        if memory.id.store == "file":
            warnings.append(f"{memory.id} is free text, which has no score; edit {memory.path} instead.")
        else:
            placed.append(memory)
    if warnings and not placed:
        raise InvalidInput(
            "Free text has no score and cannot be archived.",
            remedy="Edit the file, or delete the lines for good with `workbench forget --hard`.",
        )
    return placed, warnings


def _take_items(draft: Draft, core: CoreMemory, along: dict[str, str], now: datetime) -> None:
    """Take items out of core memory and note what they said and where."""
    taken = [
        ArchivedItem(item.id, block.name, item.text, item.pinned, along[item.id])
        for block in core.blocks
        for item in block.items
        if item.id in along
    ]
    if not taken:
        return
    after = core
    # From the end, so that the ids of alike items, which are told apart by their order, stay.
    for item in reversed(taken):
        after = after.remove_item(item.id)
    names = ", ".join(f"“{clip(item.text, 60)}” from {item.block}" for item in taken)
    draft.write(core.path, after.render(), Action.EDIT, f"removed {names}")
    note_items(draft, taken, now)
    release_ids(draft, after, now)


def _put_item(draft: Draft, item: ArchivedItem, now: datetime, settings: Settings) -> Placed:
    """Put an archived item back into its block; return it as it stands now."""
    core = read_core(draft)
    block = item.block if core.block(item.block) is not None else "Active Context"
    edit, added = add_item(core, block, item.text, settings, pinned=item.pinned)
    move_entry(draft, item.id, added.id, now)
    draft.write(core.path, edit.core.render(), Action.RESTORE, f"restored “{clip(item.text, 60)}” to {block}")
    placed = locate_memory(draft, added.id, now.tzinfo or settings.zone)
    scores.restore(draft, [placed], scores.reckoning_at(now, settings))
    return placed


def _plan(
    draft: Draft, action: Action, verb: str, placed: list[Placed], ids: tuple[str, ...], warnings: list[str]
) -> Plan[Changed]:
    paths = {memory.path for memory in placed}
    file = placed[0].path if len(paths) == 1 else "memory/*"
    titles = [memory.title for memory in placed if memory.id_text in ids]
    more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
    summary = f"{verb} “{clip(titles[0], 60)}”{more}" if titles else f"nothing was {verb}"
    return draft.plan(action, file, summary, Changed(None, ids=ids, warnings=tuple(warnings)))
