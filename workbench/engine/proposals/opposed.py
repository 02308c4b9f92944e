"""The memories that a proposal is marked as contradicting, as they stand now, and by whose word they may go.

What somebody protects, or keeps from those whom the proposal is for, goes by a person’s word alone, who names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.decay.records import is_archived
from workbench.engine.decay.scores_file import read_scores
from workbench.engine.documents.episodes import EpisodeLog
from workbench.engine.errors import InvalidInput, NotFound, OutsideWorkspace, Refused, RoleRefused
from workbench.engine.proposals.comparing import ways_to_say
from workbench.engine.stores.locate import locate_memory

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from workbench.engine.documents.decay_scores import ScoreEntry
    from workbench.engine.documents.memory_proposal import MemoryProposal
    from workbench.engine.stores.drafting import Draft
    from workbench.engine.stores.entities import EntityFiles


@dataclass(frozen=True)
class Opposed:
    """A memory that a proposal is marked as contradicting, as it stands now.

    Args:
        id: As the proposal names it.
        text: What it says.
        said: The ways to say it that are compared.
        entity: `type--slug` of the entity that it is a fact of, whose id it goes by where it has none of its own; empty
            for what is no fact.
        block: The block of core memory that it stands in; empty elsewhere.
        scope: Whom it is for besides the owner.
        guarded: Why a person alone lets it go, to complete “it is …”; empty where the main agent may.
        says_more: Whether other things stand in it as well, as in a conversation, which would be lost with it.
    """

    id: str
    text: str
    said: tuple[str, ...]
    entity: str = ""
    block: str = ""
    scope: str | None = None
    guarded: str = ""
    says_more: bool = False


def standing_against(files: EntityFiles, proposal: MemoryProposal, zone: tzinfo) -> tuple[Opposed, ...]:
    """Return the memories that a proposal is marked as contradicting, without those that are gone, retired or archived.

    Args:
        files: The entity files of what is drafted.
        proposal: As it stands in the file.
        zone: The workspace's.
    """
    entries = read_scores(files.draft).entries if proposal.against else {}
    return tuple(each for memory in proposal.against for each in _standing(files, memory, entries, zone))


def check_may_replace(
    number: int,
    opposed: Sequence[Opposed],
    scope: str | None,
    *,
    named: Collection[str],
    is_person: bool,
) -> None:
    """Let pass what may go by whoever decides.

    Args:
        number: The proposal's.
        opposed: What would go.
        scope: Whom the proposal is for; None for the owner alone.
        named: Ids of the memories that were named one by one.
        is_person: Whether a person decides.

    Raises:
        RoleRefused: Something takes a person, and none decides.
        Refused: It takes that it is named.
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


def _guarded(each: Opposed, scope: str | None) -> str:
    if each.guarded:
        return each.guarded
    if scope is not None and scope != each.scope:
        return f"not what {scope} was told" if each.scope else "the owner’s own"
    return ""


def _standing(
    files: EntityFiles, memory: str, entries: Mapping[str, ScoreEntry], zone: tzinfo
) -> Iterator[Opposed]:
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
        # It went meanwhile, or the mark names nothing: then there is nothing that it contradicts.
        return


def _facts(files: EntityFiles, memory: str, *, pinned: bool) -> Iterator[Opposed]:
    entity, _, block = memory.removeprefix("entity:").partition("#^")
    file = files.require(entity)
    for fact in file.facts:
        if (fact.block_id or "") == block:
            yield Opposed(
                memory,
                fact.text,
                ways_to_say(fact.text, file.label),
                entity=file.id,
                scope=fact.provenance.scope,
                guarded="pinned" if pinned or file.pinned else "",
            )


def _no_fact(draft: Draft, memory: str, zone: tzinfo, *, pinned: bool) -> Iterator[Opposed]:
    placed = locate_memory(draft, memory, zone)
    store, scope = placed.id.store, None
    if store not in ("core", "episodic", "procedural", "vault"):
        return
    if store == "episodic":
        entry = EpisodeLog.parse(draft.read(placed.path) or b"", placed.path).entry(memory)
        scope = entry.scope if entry is not None else None
    guarded = {"core": "part of core memory", "vault": "a note of the vault"}.get(store, "")
    yield Opposed(
        memory,
        placed.text,
        (placed.text,),
        block=placed.type if store == "core" else "",
        scope=scope,
        guarded=guarded or ("pinned" if pinned or placed.pinned else ""),
        says_more=store == "episodic" and "\n" in placed.text.strip(),
    )
