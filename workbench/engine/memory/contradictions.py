"""What contradicts a proposal in memory: what its marks name, as it stands now (design document §13.6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo

from workbench.engine.errors import InvalidInput, NotFound, OutsideWorkspace
from workbench.engine.markdown.decay_scores import ScoreEntry
from workbench.engine.markdown.episodes import EpisodeLog
from workbench.engine.markdown.proposals import MemoryProposal
from workbench.engine.memory.decay import is_archived
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.entities import EntityFiles
from workbench.engine.memory.lookup import locate_memory
from workbench.engine.memory.proposals import ways_to_say
from workbench.engine.memory.scores_file import read_scores
from workbench.engine.values import dataclass


@dataclass(frozen=True)
class OpposedMemory:
    """A memory that a proposal is marked as contradicting, in its current state.

    Args:
        id: As the proposal names it.
        entity: `type--slug` of the entity of a fact, which also serves as id for facts without one; empty for others.
        block: Its block of core memory; empty elsewhere.
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

    def guarded_from(self, scope: str | None) -> str:
        """Return why only a person may replace it with a proposal of some audience; empty if others may."""
        if self.guarded:
            return self.guarded
        if scope is not None and scope != self.scope:
            return f"not what {scope} was told" if self.scope else "the owner’s own"
        return ""


def opposed_memories(files: EntityFiles, proposal: MemoryProposal, zone: tzinfo) -> tuple[OpposedMemory, ...]:
    """Return the memories that a proposal is marked as contradicting, except gone, retired or archived ones."""
    entries = read_scores(files.draft).entries if proposal.against else {}
    return tuple(each for memory in proposal.against for each in _standing(files, memory, entries, zone))


def _standing(
    files: EntityFiles, memory: str, entries: Mapping[str, ScoreEntry], zone: tzinfo
) -> Iterator[OpposedMemory]:
    entry, whole = entries.get(memory), entries.get(memory.partition("#^")[0])
    if is_archived(entry) or is_archived(whole):
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
        if (fact.block_id or "") == block and not fact.provenance.has_ended(files.today):
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


def text_of_memory(draft: Draft, memory: str, zone: tzinfo) -> str | None:
    try:
        return locate_memory(draft, memory, zone).text
    except (NotFound, InvalidInput, OutsideWorkspace):
        # It is gone: there is nothing to link to.
        return None
