"""Hard deletion: a memory's file or lines removed wherever they stand, with everything that points at them.

What other memories say in their own words stays, even where they name the deleted one; a warning lists them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from workbench.engine import layout
from workbench.engine.documents.entity import EntityFile
from workbench.engine.documents.episodes import EpisodeLog
from workbench.engine.documents.outline import read_outline
from workbench.engine.documents.pending_memories import PendingMemories
from workbench.engine.documents.pending_reflection import PendingReflection
from workbench.engine.documents.rejected import RejectedClaims
from workbench.engine.documents.review_item import ReviewItem, cited_id
from workbench.engine.documents.source import SourceText
from workbench.engine.errors import InvalidInput, Refused
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.history.views import stem_of
from workbench.engine.identifiers import linked_in
from workbench.engine.settings.sections import Settings
from workbench.engine.stores import scores
from workbench.engine.stores.core import read_core
from workbench.engine.stores.core_archive import archived_items
from workbench.engine.stores.drafting import Draft
from workbench.engine.stores.entities import merged_into
from workbench.engine.stores.forget import items_saying
from workbench.engine.stores.locate import Placed, locate_memory
from workbench.engine.stores.lookups import MemoryLookup
from workbench.engine.stores.wording import text_key

_META_FILES = (
    layout.PENDING_REFLECTION,
    layout.REFLECTION_LOG,
    layout.EVOLUTION,
    layout.REJECTED,
)
_DELETED = "deleted for good"
_LEAST_TEXT = 3
_MOST_NAMED = 5


@dataclass(frozen=True)
class Erased:
    """What was deleted.

    Args:
        ids: The memories that are gone, and items of core memory that said the same.
        texts: What they said, for whoever has to purge it from the history too.
        warnings: What a person should know, one sentence each.
        derived: Items of reflections that rested on them alone.
        paths: Files that went because the memories are the whole of them, or were merged from them.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


def plan_erase(
    view: FileView, memory_ids: Sequence[str], lookup: MemoryLookup, now: datetime, settings: Settings
) -> Plan[Erased]:
    """Plan that memories are gone for good: from files, core memory, scores, the graph and what is pending.

    Args:
        view: The files.
        memory_ids: Which; archived items of core memory by the ids they had.
        lookup: Finds the files that name them.
        now: Aware, in the workspace's zone.
        settings: The workspace's zone and constants.

    Raises:
        InvalidInput: One is no id, or names a critical file.
        NotFound: One does not exist.
    """
    draft = Draft(view)
    zone = now.tzinfo or settings.zone
    archived = archived_items(draft)
    wanted = tuple(dict.fromkeys(memory_ids))
    placed = [locate_memory(draft, each, zone) for each in wanted if each not in archived]
    texts = [memory.text for memory in placed] + [archived[each].text for each in wanted if each in archived]
    gone = [*(memory.id_text for memory in placed), *(each for each in wanted if each in archived)]
    derived: list[str] = []
    # From the end of each file, so that lines and the numbers of alike items stay what the ids say.
    for memory in sorted(placed, key=lambda memory: (memory.path, -memory.span.start)):
        gone.extend(_erase_in_core(draft, memory))
        _erase(draft, memory)
        derived.extend(_erase_derived(draft, memory))
        _erase_mentions(draft, memory, lookup)
    gone.extend(item.id for item in archived.values() if item.along in gone or _same(item.text, texts))
    scores.drop(draft, gone, scores.reckoning_at(now, settings))
    changed = {change.path for change in draft.changes()}
    warnings = _still_named(draft, placed, gone, lookup)
    file = placed[0].path if len(changed) == 1 and placed else "memory/*"
    # The summary stays in the history, so it must not say what was deleted.
    summary = f"{_DELETED}: {len(set(gone))} memor{'y' if len(set(gone)) == 1 else 'ies'}"
    outcome = Erased(
        tuple(dict.fromkeys(gone)),
        tuple(dict.fromkeys(texts)),
        warnings,
        tuple(dict.fromkeys(derived)),
        tuple(each.path for each in draft.changes() if each.content is None and _is_one_memory(each.path)),
    )
    return draft.plan(Action.DELETE, file, summary, outcome)


def _is_one_memory(path: str) -> bool:
    """Return True for a file that goes as a whole, and not because its last entry did."""
    return layout.store_of(path) not in ("episodic", "meta")


def _still_named(
    draft: Draft, placed: Sequence[Placed], gone: Sequence[str], lookup: MemoryLookup
) -> tuple[str, ...]:
    ids = {*gone, *(each.partition("#^")[0] for each in gone)}
    naming = set()
    for memory in placed:
        for other in lookup.mentions(memory.id_text):
            known = lookup.memory(other.partition("#^")[0])
            content = draft.read(known.path) if known is not None else None
            # Links were found in the files as they were; this plan may have taken the last one out.
            forms = (
                (memory.id.name, stem_of(memory.path)) if memory.id.kind == "entity" else (memory.id.name,)
            )
            said = content.decode("utf-8", "surrogateescape") if content is not None else ""
            if other not in ids and any(form in said for form in forms):
                naming.add(other)
    more = " and others" if len(naming) > _MOST_NAMED else ""
    return (f"Still named by {', '.join(sorted(naming)[:_MOST_NAMED])}{more}.",) if naming else ()


def _erase(draft: Draft, memory: Placed) -> None:
    """Remove the file or the lines of a memory."""
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


def _erase_entry(draft: Draft, memory: Placed, content: bytes) -> None:
    left = EpisodeLog.parse(content, memory.path).remove_entry(memory.id_text)
    only_title = not left.entries and len([line for line in left.source.lines if line.strip()]) <= 1
    if only_title:
        draft.delete(memory.path, _DELETED)
    else:
        draft.write(memory.path, left.render(), Action.DELETE, _DELETED)


def _erase_block(draft: Draft, memory: Placed, content: bytes) -> None:
    file = EntityFile.parse(content, memory.path)
    block = memory.id.block or ""
    for other in (*file.facts, *file.retired):
        if other.provenance.superseded_by == block and other.block_id:
            file = file.set_provenance(
                other.block_id, dataclasses.replace(other.provenance, superseded_by=None)
            )
    draft.write(memory.path, file.remove_block(block).render(), Action.DELETE, _DELETED)


def _erase_in_core(draft: Draft, memory: Placed) -> list[str]:
    """Remove the items of core memory that say what a memory says; return their ids."""
    if memory.id.kind == "core":
        return []
    core = read_core(draft)
    items = items_saying(core, memory)
    after = core
    for item in reversed(items):
        after = after.remove_item(item.id)
    if items:
        draft.write(core.path, after.render(), Action.DELETE, _DELETED)
    return [item.id for item in items]


def _erase_mentions(draft: Draft, memory: Placed, lookup: MemoryLookup) -> None:
    """Remove relations and stubs that lead to an entity, and what is pending about a memory."""
    if memory.id.kind == "entity":
        for path in lookup.mentioning_files(
            memory.id_text if memory.id.block is None else str(memory.id.whole)
        ):
            if path.startswith(layout.ENTITIES + "/"):
                _erase_in_entity(draft, path, memory)
    for path in _META_FILES:
        _erase_items(draft, path, lambda said: _says(said, memory))
    content = draft.read(layout.PENDING_MEMORIES)
    if content is not None:
        pending = PendingMemories.parse(content, layout.PENDING_MEMORIES)
        same = [p.number for p in pending.proposals if _same(p.content, [memory.text])]
        if same:
            draft.write(layout.PENDING_MEMORIES, pending.remove(same).render(), Action.DELETE, _DELETED)


def _erase_in_entity(draft: Draft, path: str, memory: Placed) -> None:
    content = draft.read(path)
    if content is None or path == memory.path:
        return
    file = EntityFile.parse(content, path)
    target = memory.id.name
    if merged_into(file) == target:
        if memory.id.block is None:
            draft.delete(path, _DELETED)
        else:
            # The stub holds the file as it was before the merge, this line included.
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


def _erase_derived(draft: Draft, memory: Placed) -> list[str]:
    """Remove what was proposed or rejected on the word of a memory alone: it says the same in other words.

    Returns:
        The ids of these items.
    """
    pending = PendingReflection.parse(draft.read(layout.PENDING_REFLECTION) or b"")
    open_items = [item.id for item in pending.items if _rests_on(item, memory)]
    if open_items:
        draft.write(layout.PENDING_REFLECTION, pending.remove(open_items).render(), Action.DELETE, _DELETED)
    rejected = RejectedClaims.parse(draft.read(layout.REJECTED) or b"")
    claims = [claim.id for claim in rejected.claims if _rests_on(claim.item, memory)]
    if claims:
        draft.write(layout.REJECTED, rejected.remove(claims).render(), Action.DELETE, _DELETED)
        _erase_items(draft, layout.REFLECTION_LOG, lambda said: any(f"`{each}`" in said for each in claims))
    return [*open_items, *claims]


def _rests_on(item: ReviewItem, memory: Placed) -> bool:
    """Tell whether an item is about a memory, or nothing but that memory speaks for it."""
    whole = memory.id.block is None
    about = item.target.removeprefix("entity:").partition("#^")[0]
    if memory.id.kind == "entity" and whole and about == memory.id.name:
        return True
    speaking = {proof.id.partition("#^")[0] if whole else proof.id for proof in item.evidence}
    return item.target == memory.id_text or speaking == {memory.id_text}


def _erase_items(draft: Draft, path: str, goes: Callable[[str], bool]) -> None:
    """Remove the list items of a file whose own text makes them go, with what is nested in them."""
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


def _says(said: str, memory: Placed) -> bool:
    """Tell whether a text names a memory or says what it says."""
    text = text_key(memory.text)
    return (
        _names(said, memory.id_text)
        or _names(said, cited_id(memory.id_text))
        or (len(text) >= _LEAST_TEXT and text in text_key(said))
    )


def _names(text: str, memory_id: str) -> bool:
    """Tell whether a text names this very memory, not another whose id goes on."""
    at = text.find(memory_id)
    while at >= 0:
        after = text[at + len(memory_id) : at + len(memory_id) + 1]
        if not (after.isalnum() or after in ("-", "#")):
            return True
        at = text.find(memory_id, at + 1)
    return False


def _same(text: str, texts: Sequence[str]) -> bool:
    return text_key(text) in {text_key(other) for other in texts}
