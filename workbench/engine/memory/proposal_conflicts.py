"""The memories that a proposal contradicts: replaced by it, or kept and linked to it (§13.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound, OutsideWorkspace, Refused, RoleRefused
from workbench.engine.markdown.episodes import EpisodeLog
from workbench.engine.memory.core import read_core
from workbench.engine.memory.decay import is_archived
from workbench.engine.memory.entities import EntityFiles
from workbench.engine.memory.forget import items_saying, plan_archive
from workbench.engine.memory.graph import Origin, add_fact, find_fact, retire_it
from workbench.engine.memory.lookup import locate_memory
from workbench.engine.memory.proposal_comparison import ways_to_say
from workbench.engine.memory.scores_file import read_scores
from workbench.engine.memory.wording import clip

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo

    from workbench.engine.markdown.decay_scores import ScoreEntry
    from workbench.engine.markdown.proposals import MemoryProposal
    from workbench.engine.memory.draft import Draft, EntityLookup
    from workbench.engine.results.memories import Remembered
    from workbench.engine.settings.sections import Settings


@dataclass(frozen=True)
class OpposedMemory:
    """A memory that a proposal is marked as contradicting, in its current state.

    Args:
        id: As the proposal names it.
        text: Its text.
        said: The phrasings to compare.
        entity: `type--slug` of the entity of a fact, which also serves as id for facts without one; empty for others.
        block: Its block of core memory; empty elsewhere.
        scope: Its audience besides the owner.
        guarded: Why only a person may replace it, to complete “it is …”; empty if the main agent may.
        says_more: Whether it contains more, as a conversation does, which replacing would lose.
    """

    id: str
    text: str
    said: tuple[str, ...]
    entity: str = ""
    block: str = ""
    scope: str | None = None
    guarded: str = ""
    says_more: bool = False


def opposed_memories(files: EntityFiles, proposal: MemoryProposal, zone: tzinfo) -> tuple[OpposedMemory, ...]:
    """Return the memories that a proposal is marked as contradicting, except gone, retired or archived ones.

    Args:
        files: The entity files of the draft.
        proposal: As written in the file.
        zone: The workspace's.
    """
    entries = read_scores(files.draft).entries if proposal.against else {}
    return tuple(each for memory in proposal.against for each in _standing(files, memory, entries, zone))


def check_may_replace(
    number: int,
    opposed: Sequence[OpposedMemory],
    scope: str | None,
    *,
    named: Collection[str],
    is_person: bool,
) -> None:
    """Check that the decider may replace memories.

    Args:
        number: The proposal's.
        opposed: The memories to replace.
        scope: The proposal's audience; None for the owner alone.
        named: Ids of the memories that were named individually.
        is_person: Whether a person decides.

    Raises:
        RoleRefused: Only a person may decide this.
        Refused: A memory has to be named.
    """
    guarded = {each.id: reason for each in opposed if (reason := _guarded(each, scope))}
    if is_person:
        guarded = {memory: reason for memory, reason in guarded.items() if memory not in named}
    if not guarded:
        return
    told = "; ".join(f"{memory} ({reason})" for memory, reason in guarded.items())
    if is_person:
        raise Refused(
            f"Proposal #{number} contradicts what goes only where you name it: {told}.",
            where=layout.PENDING_MEMORIES,
            remedy="Look at it, and name it by its id, or store the proposal beside it.",
        )
    raise RoleRefused(
        f"The main agent may not retire what proposal #{number} contradicts: {told}.",
        where=layout.PENDING_MEMORIES,
        remedy="Ask the person to do it, in the bench or with `workbench proposals`.",
    )


def _guarded(each: OpposedMemory, scope: str | None) -> str:
    if each.guarded:
        return each.guarded
    if scope is not None and scope != each.scope:
        return f"not what {scope} was told" if each.scope else "the owner’s own"
    return ""


def _standing(
    files: EntityFiles, memory: str, entries: Mapping[str, ScoreEntry], zone: tzinfo
) -> Iterator[OpposedMemory]:
    entry, whole = entries.get(memory), entries.get(memory.partition("#^")[0])
    if any(each is not None and is_archived(each) for each in (entry, whole)):
        return
    pinned = any(each is not None and each.pinned for each in (entry, whole))
    try:
        if memory.startswith("entity:"):
            yield from _facts(files, memory, pinned=pinned)
        else:
            yield from _no_fact(files.draft, memory, zone, pinned=pinned)
    except (NotFound, InvalidInput, OutsideWorkspace):
        # It is gone, or the mark names nothing: then there is no contradiction.
        return


def _facts(files: EntityFiles, memory: str, *, pinned: bool) -> Iterator[OpposedMemory]:
    entity, _, block = memory.removeprefix("entity:").partition("#^")
    file = files.require(entity)
    for fact in file.facts:
        if (fact.block_id or "") == block:
            yield OpposedMemory(
                memory,
                fact.text,
                ways_to_say(fact.text, file.label),
                entity=file.id,
                scope=fact.provenance.scope,
                guarded="pinned" if pinned or file.pinned else "",
            )


def _no_fact(draft: Draft, memory: str, zone: tzinfo, *, pinned: bool) -> Iterator[OpposedMemory]:
    located = locate_memory(draft, memory, zone)
    store, scope = located.id.store, None
    if store not in ("core", "episodic", "procedural", "vault"):
        return
    if store == "episodic":
        entry = EpisodeLog.parse(draft.read(located.path) or b"", located.path).entry(memory)
        scope = entry.scope if entry is not None else None
    guarded = {"core": "part of core memory", "vault": "a note of the vault"}.get(store, "")
    yield OpposedMemory(
        memory,
        located.text,
        (located.text,),
        block=located.type if store == "core" else "",
        scope=scope,
        guarded=guarded or ("pinned" if pinned or located.pinned else ""),
        says_more=store == "episodic" and "\n" in located.text.strip(),
    )


def archive_opposed(
    draft: Draft,
    opposed: Sequence[OpposedMemory],
    told: str,
    *,
    now: datetime,
    settings: Settings,
    first_seen: Mapping[str, datetime],
) -> list[str]:
    """Archive contradicted memories other than facts, and return their ids; items leave core memory.

    Args:
        draft: The draft; changed.
        opposed: The memories; facts are left to `retire_facts`.
        told: The reason, for the audit log.
        now: Aware, in the workspace's zone.
        settings: The constants of decay.
        first_seen: When memories entered the history, by id.

    Raises:
        Refused: An item of core memory that nobody named has the same text and would be archived too.
    """
    ids = [each.id for each in opposed if not each.entity]
    if not ids:
        return []
    core, zone = read_core(draft), now.tzinfo or settings.zone
    along = {
        item.id: memory
        for memory in ids
        if not memory.startswith("core:")
        for item in items_saying(core, locate_memory(draft, memory, zone))
        if item.id not in ids
    }
    for item, memory in along.items():
        raise Refused(
            f"{item} says what {memory} does, and would leave core memory with it.",
            where=core.path,
            remedy=f"Take it out first with: workbench core remove {item}",
        )
    for change in plan_archive(draft, ids, now, settings, first_seen).changes:
        if change.content is not None:
            draft.write(change.path, change.content, change.action, f"{change.summary}; {told}")
    return ids


def retire_facts(
    files: EntityFiles, opposed: Sequence[OpposedMemory], remembered: Remembered, text: str
) -> list[str]:
    """Retire facts as of today; each refers to the new fact of its entity.

    If the stored memory is not such a fact, and is the owner's, a fact derived from it is added.

    Args:
        files: The entity files of the draft; changed.
        opposed: The memories; others than facts are left to `archive_opposed`.
        remembered: The new memory.
        text: The text for an added fact.

    Returns:
        The ids of the retired facts.
    """
    retired = []
    for each in opposed:
        if not each.entity:
            continue
        entity, _, block = remembered.id.removeprefix("entity:").partition("#^")
        if entity != each.entity:
            origin = Origin((remembered.id,), remembered.confidence)
            added = add_fact(files, each.entity, text, origin).id if files.scope is None else ""
            block = added.partition("#^")[2]
        file = files.require(each.entity)
        fact = next(
            (one for one in file.facts if (one.text, one.provenance.scope) == (each.text, each.scope)), None
        )
        if fact is not None and retire_it(files, file, fact, by=block or None) is not None:
            own = fact.block_id or next(iter(files.require(each.entity).block_ids - file.block_ids), "")
            retired.append(f"entity:{file.id}#^{own}")
    return retired


def with_contradicted_names(text: str, memories: Sequence[str]) -> str:
    """Return a text with the names of the memories it contradicts; unchanged without any."""
    return f"{text.rstrip()} (contradicts {', '.join(memories)})" if memories else text


def ask_which_holds(
    draft: Draft, memories: Sequence[str], now: datetime, zone: tzinfo, lookup: EntityLookup
) -> None:
    """Add the question to each entity with one of the facts, and lower the confidence of these facts.

    Args:
        draft: The draft; changed.
        memories: Ids of all sides.
        now: Aware, in the workspace's zone.
        zone: The workspace's.
        lookup: Finds entities by name.
    """
    files = EntityFiles(draft, lookup, now)
    said = {memory: text for memory in memories if (text := _text(draft, memory, zone))}
    for memory in said:
        if "#^" not in memory:
            continue
        file, fact = find_fact(files, memory)
        if fact.provenance.confidence != "low" and fact.block_id:
            file = file.set_provenance(fact.block_id, replace(fact.provenance, confidence="low"))
        others = [f"“{clip(text)}” ({other})" for other, text in said.items() if other != memory]
        question = f"Which holds: “{clip(fact.text)}” (^{fact.block_id}) or {' or '.join(others)}?"
        if others:
            file = file.add_question(question)
        files.save(file, f"asked which holds: {clip(question)}")


def _text(draft: Draft, memory: str, zone: tzinfo) -> str | None:
    try:
        return locate_memory(draft, memory, zone).text
    except (NotFound, InvalidInput, OutsideWorkspace):
        # It is gone: there is nothing to link to.
        return None
