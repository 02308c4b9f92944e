"""Forgetting hides a memory reversibly; hard deletion removes it with everything that refers to it (§8.3)."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from workbench.engine import layout
from workbench.engine.errors import BudgetExceeded, InvalidInput, Refused
from workbench.engine.history.erasure import erase_from_content, erasure_of
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.history.work_files import stem_of
from workbench.engine.identifiers import linked_in, parse_memory_id
from workbench.engine.markdown.core import CoreItem, CoreMemory
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.episodes import EpisodeLog
from workbench.engine.markdown.outline import read_outline
from workbench.engine.markdown.proposals import PendingMemories
from workbench.engine.markdown.reflection_records import RejectedClaims
from workbench.engine.markdown.review import PendingReflection, ReviewItem, cited_id
from workbench.engine.markdown.source import SourceText
from workbench.engine.memory.core import (
    ArchivedItem,
    add_item,
    archived_items,
    move_entry,
    note_items,
    read_core,
    release_ids,
    settle_contradictions,
)
from workbench.engine.memory.decay import DecayContext
from workbench.engine.memory.draft import Draft, MemoryLookup
from workbench.engine.memory.entities import merged_into
from workbench.engine.memory.lookup import LocatedMemory, locate_memory
from workbench.engine.memory.scores_file import Decision, decide, drop_entries
from workbench.engine.memory.wording import clip, text_key
from workbench.engine.results.memories import Changed
from workbench.engine.settings.sections import Settings
from workbench.engine.values import dataclass

_LEAST_BEGINNING = 20

_META_FILES = (
    layout.PENDING_REFLECTION,
    layout.REFLECTION_LOG,
    layout.EVOLUTION,
    layout.REJECTED,
)
_DELETED = "deleted for good"
_LEAST_TEXT = 3
_MOST_NAMED = 5


def plan_archive(
    view: FileView,
    memory_ids: Sequence[str],
    now: datetime,
    settings: Settings,
    first_seen: Mapping[str, datetime] | None = None,
) -> Plan[Changed]:
    """Plan to hide memories.

    Args:
        memory_ids: The memories; a whole entity includes its facts and relations.
        first_seen: When memories entered the history, by id, for those whose files do not say.

    Raises:
        InvalidInput: An id is malformed, or all are free text, which has no score.
        NotFound: One does not exist.
    """
    draft = Draft(view)
    zone = now.tzinfo or settings.zone
    every = [locate_memory(draft, memory_id, zone) for memory_id in dict.fromkeys(memory_ids)]
    memories, warnings = _scored(every)
    core = read_core(draft)
    along = {memory.id_text: "" for memory in memories if memory.id.kind == "core"}
    for memory in memories:
        if memory.id.kind != "core":
            along.update({item.id: memory.id_text for item in items_saying(core, memory.text)})
    own = {memory.id_text for memory in memories}
    memories += [locate_memory(draft, item_id, zone) for item_id in along if item_id not in own]
    archived = _decide(draft, Decision.ARCHIVE, memories, now, settings, first_seen or {})
    for memory in memories:
        if memory.id_text in archived:
            _retire(draft, memory, now)
    _remove_items(draft, core, along, now)
    settle_contradictions(draft, archived)
    ids = tuple(dict.fromkeys((*archived, *along)))
    warnings.extend(f"{memory_id} is archived already." for memory_id in sorted(own - set(ids)))
    return _plan(draft, Action.ARCHIVE, "archived", memories, ids, warnings)


def plan_restore(
    view: FileView,
    memory_ids: Sequence[str],
    now: datetime,
    settings: Settings,
    first_seen: Mapping[str, datetime] | None = None,
) -> Plan[Changed]:
    """Plan to restore archived memories, with the items of core memory archived along with them.

    A retired fact or relation becomes current again, unless another has replaced it. An item of core memory goes to
    the end of its former block. If core memory is full, the item stays archived, with a warning; if it was named
    by its own id, that is an error. Arguments as for `plan_archive`.

    Raises:
        InvalidInput: An id is malformed.
        NotFound: One does not exist, not even archived.
        BudgetExceeded: A named item of core memory no longer fits.
    """
    draft = Draft(view)
    zone = now.tzinfo or settings.zone
    wanted = tuple(dict.fromkeys(str(parse_memory_id(memory_id)) for memory_id in memory_ids))
    items = archived_items(draft)
    memories = [locate_memory(draft, each, zone) for each in wanted if each not in items]
    restored = list(_decide(draft, Decision.RESTORE, memories, now, settings, first_seen or {}))
    for memory in memories:
        # A fact retired by hand has no entry in the scores; its own line says that it is no longer current.
        if (memory.id_text in restored or memory.retired) and _unretire(draft, memory):
            restored.append(memory.id_text)
    restored = list(dict.fromkeys(restored))
    warnings: list[str] = []
    for item in items.values():
        if item.id not in wanted and item.along not in wanted:
            continue
        try:
            back = _restore_item(draft, item, now, settings)
        except BudgetExceeded as full:
            if item.id in wanted:
                raise
            warnings.append(f"{full.message} {item.id} stays archived.")
        else:
            memories.append(back)
            restored.append(back.id_text)
    if not restored:
        warnings.append("None of these is archived.")
    return _plan(draft, Action.RESTORE, "restored", memories, tuple(restored), warnings)


def _retire(draft: Draft, memory: LocatedMemory, now: datetime) -> None:
    """Mark a fact as no longer current in its entity's file, so that readers do not trust it."""
    if memory.id.kind != "entity" or memory.id.block is None:
        return
    file = EntityFile.parse(draft.read(memory.path) or b"", memory.path)
    fact = next((fact for fact in file.facts if fact.block_id == memory.id.block), None)
    if fact is not None:
        retired = file.retire(fact, until=f"{now:%Y-%m-%d}")
        draft.write(memory.path, retired.render(), Action.ARCHIVE, f"retired “{clip(fact.text, 60)}”")


def _unretire(draft: Draft, memory: LocatedMemory) -> bool:
    """Make a fact or relation current again in its entity's file, unless another superseded it."""
    if memory.id.kind != "entity" or memory.id.block is None:
        return False
    file = EntityFile.parse(draft.read(memory.path) or b"", memory.path)
    fact = next((fact for fact in file.retired if fact.block_id == memory.id.block), None)
    if fact is None or fact.provenance.successor_block is not None:
        return False
    restored = file.restore_fact(memory.id.block)
    draft.write(memory.path, restored.render(), Action.RESTORE, f"restored “{clip(fact.text, 60)}”")
    return True


def items_saying(core: CoreMemory, text: str) -> list[CoreItem]:
    """Return the items of core memory that repeat the text of a memory, in full or its beginning."""
    whole = text_key(text)
    found = []
    for block in core.blocks:
        for item in block.items:
            key = text_key(item.text)
            beginning = key.rstrip("….").rstrip()
            cut = item.text.rstrip().endswith("…") and len(beginning) >= _LEAST_BEGINNING
            if key and (key == whole or (cut and whole.startswith(beginning))):
                found.append(item)
    return found


def _scored(every: Iterable[LocatedMemory]) -> tuple[list[LocatedMemory], list[str]]:
    memories, warnings = [], []
    for memory in every:
        if memory.id.store == "file":
            warnings.append(f"{memory.id} is free text, which has no score; edit {memory.path} instead.")
        else:
            memories.append(memory)
    if warnings and not memories:
        raise InvalidInput(
            "Free text has no score and cannot be archived.",
            remedy="Edit the file, or delete the lines for good with `workbench forget --hard`.",
        )
    return memories, warnings


def _remove_items(draft: Draft, core: CoreMemory, along: dict[str, str], now: datetime) -> None:
    """Remove items from core memory and record their texts and blocks."""
    taken = [
        ArchivedItem(item.id, block.name, item.text, item.pinned, along[item.id])
        for block in core.blocks
        for item in block.items
        if item.id in along
    ]
    if not taken:
        return
    after = core
    # From the end, because the ids of equal items depend on their order.
    for item in reversed(taken):
        after = after.remove_item(item.id)
    names = ", ".join(f"“{clip(item.text, 60)}” from {item.block}" for item in taken)
    draft.write(core.path, after.render(), Action.EDIT, f"removed {names}")
    note_items(draft, taken, now)
    release_ids(draft, after, now)


def _restore_item(draft: Draft, item: ArchivedItem, now: datetime, settings: Settings) -> LocatedMemory:
    """Put an archived item back into its block; return it at its new location."""
    core = read_core(draft)
    block = item.block if core.block(item.block) is not None else "Active Context"
    edit, added = add_item(core, block, item.text, settings, pinned=item.pinned)
    move_entry(draft, item.id, added.id, now)
    draft.write(core.path, edit.core.render(), Action.RESTORE, f"restored “{clip(item.text, 60)}” to {block}")
    memory = locate_memory(draft, added.id, now.tzinfo or settings.zone)
    _decide(draft, Decision.RESTORE, [memory], now, settings, {})
    return memory


def _decide(
    draft: Draft,
    decision: Decision,
    memories: Iterable[LocatedMemory],
    now: datetime,
    settings: Settings,
    first_seen: Mapping[str, datetime],
) -> tuple[str, ...]:
    facts = [memory.facts(first_seen.get(memory.id_text)) for memory in memories]
    return decide(draft, decision, facts, DecayContext.at(now, settings))


def _plan(
    draft: Draft,
    action: Action,
    verb: str,
    memories: list[LocatedMemory],
    ids: tuple[str, ...],
    warnings: list[str],
) -> Plan[Changed]:
    paths = {memory.path for memory in memories}
    file = memories[0].path if len(paths) == 1 else "memory/*"
    titles = [memory.title for memory in memories if memory.id_text in ids]
    more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
    summary = f"{verb} “{clip(titles[0], 60)}”{more}" if titles else f"nothing was {verb}"
    return draft.plan(action, file, summary, Changed(None, ids=ids, warnings=tuple(warnings)))


@dataclass(frozen=True)
class Erased:
    """The result of a deletion.

    Args:
        ids: The deleted memories, and items of core memory with the same text.
        texts: Their texts, for a purge of history.
        derived: Items of reflections that were based on them alone.
        paths: Files deleted because the memories are all of their content, or were merged from them.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    warnings: tuple[str, ...]
    derived: tuple[str, ...]
    paths: tuple[str, ...]


def plan_erase(
    view: FileView,
    memory_ids: Sequence[str],
    lookup: MemoryLookup,
    now: datetime,
    settings: Settings,
    *,
    kept: Mapping[str, Sequence[str]] | None = None,
) -> Plan[Erased]:
    """Plan to delete memories for good: from files, core memory, scores, the graph, pending items and conflicts.

    Args:
        memory_ids: The memories; archived items of core memory by their former ids.
        kept: Texts to delete that only conflicts between devices keep, by the id of the conflict.

    Raises:
        InvalidInput: An id is malformed, or names a critical file.
        NotFound: One does not exist.
    """
    draft = Draft(view)
    zone = now.tzinfo or settings.zone
    archived = archived_items(draft)
    wanted = tuple(dict.fromkeys(memory_ids))
    memories = [locate_memory(draft, each, zone) for each in wanted if each not in archived]
    texts = [
        *(memory.text for memory in memories),
        *(archived[each].text for each in wanted if each in archived),
        *(text for said in (kept or {}).values() for text in said),
    ]
    gone = [*(memory.id_text for memory in memories), *(each for each in wanted if each in archived)]
    derived: list[str] = []
    # From the end of each file, so that line numbers and the numbers of equal items stay valid.
    for memory in sorted(memories, key=lambda memory: (memory.path, -memory.span.start)):
        gone.extend(_erase_in_core(draft, memory))
        _erase(draft, memory)
        derived.extend(_erase_derived(draft, memory))
        _erase_mentions(draft, memory, lookup)
    gone.extend(item.id for item in archived.values() if item.along in gone or _same(item.text, texts))
    drop_entries(draft, gone, now)
    settle_contradictions(draft, gone)
    closed = _erase_in_conflicts(draft, gone, texts)
    changed = {change.path for change in draft.changes()}
    warnings = (*_still_named(draft, memories, gone, lookup), *closed)
    gone.extend(kept or ())
    file = memories[0].path if len(changed) == 1 and memories else "memory/*"
    # The summary stays in the history, so it may not repeat deleted content.
    summary = f"{_DELETED}: {len(set(gone))} memor{'y' if len(set(gone)) == 1 else 'ies'}"
    outcome = Erased(
        tuple(dict.fromkeys(gone)),
        tuple(dict.fromkeys(texts)),
        warnings,
        tuple(dict.fromkeys(derived)),
        tuple(each.path for each in draft.changes() if each.content is None and _is_one_memory(each.path)),
    )
    return draft.plan(Action.DELETE, file, summary, outcome)


def _erase_in_conflicts(draft: Draft, ids: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Remove texts from the conflicts between devices; return a sentence about each that this closes."""
    content = draft.read(layout.CONFLICTS)
    if content is None:
        return ()
    left, removed = erase_from_content(erasure_of(ids, texts), layout.CONFLICTS, content)
    if not removed or left is None:
        return ()
    draft.write(layout.CONFLICTS, left, Action.DELETE, _DELETED)
    before, after = (json.loads(each.decode("utf-8-sig")).get("conflicts", {}) for each in (content, left))
    return tuple(
        f"{name} no longer waits in the Inbox: a version of {layout.shown(row['path'])} was deleted with it."
        for name, row in before.items()
        if name not in after and row.get("decision") is None
    )


def _is_one_memory(path: str) -> bool:
    """Return True for a file that is a single memory and is deleted as such."""
    return layout.store_of(path) not in ("episodic", "meta")


def _still_named(
    draft: Draft, memories: Sequence[LocatedMemory], gone: Sequence[str], lookup: MemoryLookup
) -> tuple[str, ...]:
    ids = {*gone, *(each.partition("#^")[0] for each in gone)}
    naming = set()
    for memory in memories:
        for other in lookup.mentions(memory.id_text):
            known = lookup.memory(other.partition("#^")[0])
            content = draft.read(known.path) if known is not None else None
            # Links were looked up in the current files; this plan may have removed the last one.
            forms = (
                (memory.id.name, stem_of(memory.path)) if memory.id.kind == "entity" else (memory.id.name,)
            )
            said = content.decode("utf-8", "surrogateescape") if content is not None else ""
            if other not in ids and any(form in said for form in forms):
                naming.add(other)
    more = " and others" if len(naming) > _MOST_NAMED else ""
    return (f"Still named by {', '.join(sorted(naming)[:_MOST_NAMED])}{more}.",) if naming else ()


def _erase(draft: Draft, memory: LocatedMemory) -> None:
    path = memory.path
    if layout.is_critical(path):
        raise Refused("A critical file is not deleted as a memory.", where=path, remedy="Delete it by hand.")
    content = draft.read(path)
    if content is None:
        return
    match memory.id.kind:
        case "core":
            core = read_core(draft)
            if core.item(memory.id_text) is not None:
                draft.write(path, core.remove_item(memory.id_text).render(), Action.DELETE, _DELETED)
        case "episode":
            _erase_entry(draft, memory, content)
        case "entity" if memory.id.block is not None:
            _erase_block(draft, memory, content)
        case "file" if "#" in memory.id.name:
            source = SourceText.from_bytes(content)
            draft.write(path, source.replace(memory.span, ()).render(), Action.DELETE, _DELETED)
        case "file" if layout.store_of(path) == "core" or path == layout.DECAY_SCORES:
            raise InvalidInput(
                "This file is not deleted as a whole.",
                where=path,
                remedy="Name the memories in it by their ids.",
            )
        case _:
            draft.delete(path, _DELETED)


def _erase_entry(draft: Draft, memory: LocatedMemory, content: bytes) -> None:
    left = EpisodeLog.parse(content, memory.path).remove_entry(memory.id_text)
    only_title = not left.entries and len([line for line in left.source.lines if line.strip()]) <= 1
    if only_title:
        draft.delete(memory.path, _DELETED)
    else:
        draft.write(memory.path, left.render(), Action.DELETE, _DELETED)


def _erase_block(draft: Draft, memory: LocatedMemory, content: bytes) -> None:
    file = EntityFile.parse(content, memory.path)
    block = memory.id.block or ""
    for other in (*file.facts, *file.retired):
        if other.provenance.successor_block == block and other.block_id:
            file = file.set_provenance(
                other.block_id, dataclasses.replace(other.provenance, successor_block=None)
            )
    draft.write(memory.path, file.remove_block(block).render(), Action.DELETE, _DELETED)


def _erase_in_core(draft: Draft, memory: LocatedMemory) -> list[str]:
    """Remove the items of core memory that repeat a memory; return their ids."""
    if memory.id.kind == "core":
        return []
    core = read_core(draft)
    items = items_saying(core, memory.text)
    after = core
    for item in reversed(items):
        after = after.remove_item(item.id)
    if items:
        draft.write(core.path, after.render(), Action.DELETE, _DELETED)
    return [item.id for item in items]


def _erase_mentions(draft: Draft, memory: LocatedMemory, lookup: MemoryLookup) -> None:
    """Remove relations and stubs that lead to an entity, and pending items about a memory."""
    if memory.id.kind == "entity":
        for path in lookup.mentioning_files(
            memory.id_text if memory.id.block is None else str(memory.id.whole)
        ):
            if path.startswith(layout.ENTITIES + "/"):
                _erase_in_entity(draft, path, memory)
    for path in _META_FILES:
        _erase_items(draft, path, lambda said: _repeats(said, memory))
    content = draft.read(layout.PENDING_MEMORIES)
    if content is not None:
        pending = PendingMemories.parse(content, layout.PENDING_MEMORIES)
        same = [p.number for p in pending.proposals if _same(p.content, [memory.text])]
        if same:
            draft.write(layout.PENDING_MEMORIES, pending.remove(same).render(), Action.DELETE, _DELETED)


def _erase_in_entity(draft: Draft, path: str, memory: LocatedMemory) -> None:
    content = draft.read(path)
    if content is None or path == memory.path:
        return
    file = EntityFile.parse(content, path)
    target = memory.id.name
    if merged_into(file) == target:
        if memory.id.block is None:
            draft.delete(path, _DELETED)
        else:
            # The stub holds the file as it was before the merge, including this line.
            lines = content.split(b"\n")
            kept = [line for line in lines if memory.text.encode() not in line]
            draft.write(path, b"\n".join(kept), Action.DELETE, _DELETED)
        return
    if memory.id.block is not None:
        return
    for relation in file.relations:
        if target in relation.targets:
            file = file.remove_relation(relation.name, target)
    for question in reversed(file.questions):
        if target in linked_in(question.text):
            file = file.remove_item(question.span)
    draft.write(path, file.render(), Action.DELETE, _DELETED)


def _erase_derived(draft: Draft, memory: LocatedMemory) -> list[str]:
    """Remove what was proposed or rejected on the basis of a memory alone, since it paraphrases the memory.

    Returns:
        The ids of these items.
    """
    pending = PendingReflection.parse(draft.read(layout.PENDING_REFLECTION) or b"")
    open_items = [item.id for item in pending.items if _is_based_on(item, memory)]
    if open_items:
        draft.write(layout.PENDING_REFLECTION, pending.remove(open_items).render(), Action.DELETE, _DELETED)
    rejected = RejectedClaims.parse(draft.read(layout.REJECTED) or b"")
    claims = [claim.id for claim in rejected.claims if _is_based_on(claim.item, memory)]
    if claims:
        draft.write(layout.REJECTED, rejected.remove(claims).render(), Action.DELETE, _DELETED)
        _erase_items(draft, layout.REFLECTION_LOG, lambda said: any(f"`{each}`" in said for each in claims))
    return [*open_items, *claims]


def _is_based_on(item: ReviewItem, memory: LocatedMemory) -> bool:
    """Return True if an item is about a memory, or has no other evidence."""
    whole = memory.id.block is None
    about = item.target.removeprefix("entity:").partition("#^")[0]
    if memory.id.kind == "entity" and whole and about == memory.id.name:
        return True
    speaking = {proof.id.partition("#^")[0] if whole else proof.id for proof in item.evidence}
    return item.target == memory.id_text or speaking == {memory.id_text}


def _erase_items(draft: Draft, path: str, goes: Callable[[str], bool]) -> None:
    """Remove matching list items of a file, with their nested content."""
    content = draft.read(path)
    if content is None:
        return
    source = SourceText.from_bytes(content)
    lines: set[int] = set()
    for item in read_outline(source).items:
        if goes(item.own):
            lines.update(range(item.span.start, item.span.end + 1))
    for number in sorted(lines, reverse=True):
        source = source.splice(number, number, ())
    draft.write(path, source.render(), Action.DELETE, _DELETED)


def _repeats(said: str, memory: LocatedMemory) -> bool:
    """Return True if a text names or repeats a memory."""
    text = text_key(memory.text)
    return (
        _names(said, memory.id_text)
        or _names(said, cited_id(memory.id_text))
        or (len(text) >= _LEAST_TEXT and text in text_key(said))
    )


def _names(text: str, memory_id: str) -> bool:
    """Return True if a text contains exactly this id, not a longer one."""
    at = text.find(memory_id)
    while at >= 0:
        after = text[at + len(memory_id) : at + len(memory_id) + 1]
        if not (after.isalnum() or after in ("-", "#")):
            return True
        at = text.find(memory_id, at + 1)
    return False


def _same(text: str, texts: Sequence[str]) -> bool:
    return text_key(text) in {text_key(other) for other in texts}
