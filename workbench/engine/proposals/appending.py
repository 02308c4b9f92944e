"""Plans to append a proposal: its number, its form, what it repeats or contradicts (design document §13.2, §13.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.clock import render_time
from workbench.engine.documents.memory_proposal import Mark, MemoryProposal
from workbench.engine.documents.pending_memories import PendingMemories, append_to, written_numbers
from workbench.engine.errors import InvalidInput
from workbench.engine.history.plan import Action, FileChange, Plan
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.proposals import numbering
from workbench.engine.proposals.comparing import Compare, Compared, compare_all
from workbench.engine.proposals.file import ORIGINS, REPEATS, SCOPE, TAGS, TYPE
from workbench.engine.proposals.near import Waiting, glance, nearest
from workbench.engine.results.proposals import Proposed
from workbench.engine.stores.entities import parse_entity
from workbench.engine.stores.wording import (
    CONFIDENCES,
    EPISODE_TYPES,
    checked_word,
    clean_line,
    clean_memory,
    clean_tags,
    clip,
    text_key,
)

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.history.plan import FileView

_TRIGGER_CHARACTERS: Final = 300
_MOST_ENTITIES: Final = 20
_MOST_ORIGINS: Final = 20


@dataclass(frozen=True)
class ProposeRequest:
    """What an agent asks to be remembered.

    Args:
        sender: Who, as its door says.
        content: Any text.
        store: core, episodic, semantic, procedural or vault.
        entities: `TYPE:NAME` or ids.
        confidence: high, medium or low.
        trigger: What set it off.
        core_worthy: Whether it should stand in core memory as well.
        type: What kind of episode it would be; empty to leave that open.
        tags: Topical tags.
        origins: Ids of memories or sources it was learned from.
        scope: Whom it would be for; None for the owner alone.
    """

    sender: str
    content: str
    store: str
    entities: tuple[str, ...] = ()
    confidence: str = "medium"
    trigger: str = ""
    core_worthy: bool = False
    type: str = ""
    tags: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    scope: str | None = None


@dataclass(frozen=True)
class Draught:
    """A proposal that is fit to be written, still without a number.

    Args:
        warnings: What was left out of it.
    """

    proposal: MemoryProposal
    warnings: tuple[str, ...] = ()


def draw_up(request: ProposeRequest, now: datetime) -> Draught:
    """Check a request.

    Raises:
        InvalidInput: The text cannot be kept, or a word of the request is none of its vocabulary.
    """
    wording = clean_memory(request.content, what="A proposal")
    trigger = clean_line(request.trigger, what="A trigger").text if request.trigger.strip() else ""
    entities = dict.fromkeys(_entity(entity) for entity in request.entities)
    if len(entities) > _MOST_ENTITIES:
        raise InvalidInput(
            f"A proposal names {_MOST_ENTITIES} entities at most; this one has {len(entities)}.",
            remedy="Propose its parts one by one.",
        )
    origins = dict.fromkeys(_origin(origin) for origin in request.origins)
    kind = checked_word(request.type, EPISODE_TYPES, "type of memory") if request.type else ""
    fields = (
        (TYPE, kind),
        (TAGS, ", ".join(clean_tags(request.tags))),
        (ORIGINS, ", ".join(list(origins)[:_MOST_ORIGINS])),
        (SCOPE, request.scope or ""),
    )
    return Draught(
        MemoryProposal(
            sender=request.sender,
            content=wording.text,
            timestamp=render_time(now),
            trigger=clip(trigger, _TRIGGER_CHARACTERS),
            store=checked_word(request.store, MEMORY_STORES, "store"),
            entities=tuple(entities),
            confidence=checked_word(request.confidence, CONFIDENCES, "confidence"),
            core_worthy=request.core_worthy,
            fields=tuple((name, value) for name, value in fields if value),
        ),
        wording.warnings,
    )


def plan_propose(
    view: FileView, draught: Draught, against: Compared, *, compare: Compare, given: Callable[[], int]
) -> Plan[Proposed]:
    """Plan to append a proposal, marked on both sides where it contradicts another.

    What waits already in the very same words is not written a second time; the answer says where it waits.

    Args:
        view: The files.
        draught: The proposal.
        against: How it stands to memory.
        compare: Tells how it stands to what waits.
        given: The highest number that history knows of.
    """
    content = view.read(layout.PENDING_MEMORIES) or b""
    waiting = list(glance(content))
    proposal = draught.proposal
    key = text_key(proposal.content)
    same = [each for each in waiting if each.key == key]
    known = _for_the_same(content, same, proposal.field(SCOPE)) if same else None
    if known is not None:
        return _waits_already(content, known, draught)
    near = nearest(proposal.content, waiting)
    found = compare_all(proposal.content, ((f"#{each.number}", each.text) for each in near), compare)
    others = tuple(sorted(int(name[1:]) for name in found.contradicts))
    repeats = found.repeats or against.repeats
    highest = given()
    content = _with_own_numbers(content, highest)
    number = next(numbering.free_numbers(content, highest))
    conflicts = (*found.contradicts, *against.contradicts)
    marked = replace(
        proposal,
        conflicts=others,
        against=against.contradicts,
        status=f"conflict — see {', '.join(conflicts)}" if conflicts else "pending",
        fields=((REPEATS, repeats), *proposal.fields) if repeats else proposal.fields,
    )
    content = append_to(content, marked, number)
    if conflicts:
        content = _marked(content, number, others, against.contradicts)
    told = f"#{number} “{clip(proposal.content)}”"
    change = FileChange(layout.PENDING_MEMORIES, content, Action.PROPOSE, told)
    outcome = Proposed(
        None,
        warnings=draught.warnings,
        number=number,
        status="conflict" if conflicts else "pending",
        conflicts_with=conflicts,
        duplicate_of=repeats,
    )
    trailers = numbering.trailers(max(number, numbering.highest_in(content, highest)))
    return Plan(Action.PROPOSE, layout.PENDING_MEMORIES, told, (change,), trailers=trailers, outcome=outcome)


def _for_the_same(content: bytes, same: Sequence[Waiting], scope: str) -> Waiting | None:
    """Return the first of those that say the same which is for the same people."""
    pending = PendingMemories.parse(content, layout.PENDING_MEMORIES)
    scopes = {each.number: each.field(SCOPE) for each in pending.proposals}
    return next((each for each in same if scopes.get(each.number, "") == scope), None)


def _waits_already(content: bytes, known: Waiting, draught: Draught) -> Plan[Proposed]:
    pending = PendingMemories.parse(content, layout.PENDING_MEMORIES)
    proposal = pending.proposal(known.number)
    conflicts = tuple(f"#{other}" for other in proposal.conflicts) + proposal.against if proposal else ()
    outcome = Proposed(
        None,
        warnings=(
            *draught.warnings,
            f"The same waits already, as proposal #{known.number}; it was not written again.",
        ),
        number=known.number,
        status="deferred" if known.deferred else "conflict" if conflicts else "pending",
        conflicts_with=conflicts,
        duplicate_of=f"#{known.number}",
    )
    return Plan(Action.PROPOSE, layout.PENDING_MEMORIES, f"#{known.number} waits already", outcome=outcome)


def _with_own_numbers(content: bytes, given: int) -> bytes:
    """Return the file with a number of its own for each proposal, where a hand has doubled one."""
    if not numbering.is_doubled(content):
        return content
    pending = PendingMemories.parse(content, layout.PENDING_MEMORIES)
    written = set(written_numbers(content))
    free = numbering.free_numbers(content, given)
    taken = {each.number: next(free) for each in pending.proposals if each.number not in written}
    return pending.renumber(taken).render() if taken else content


def _marked(content: bytes, number: int, others: tuple[int, ...], memories: tuple[str, ...]) -> bytes:
    """Return the file with the other sides of a conflict marked as well."""
    pending = PendingMemories.parse(content, layout.PENDING_MEMORIES)
    marks = {
        other: Mark(tuple(sorted({*proposal.conflicts, number})), proposal.against)
        for other in others
        if (proposal := pending.proposal(other)) is not None
    }
    # What was only taken for a proposal, such as one within a fence, is no side of a conflict.
    if pending.proposal(number) is not None:
        marks[number] = Mark(tuple(sorted(marks)), memories)
    return pending.mark(marks).render()


def _entity(text: str) -> str:
    """Return an entity as the file names it: a known form of id, or `TYPE:NAME`."""
    bare = text.strip().removeprefix("[[").removesuffix("]]").strip()
    kind, dashes, slug = bare.removeprefix("entity:").partition("--")
    if dashes and kind.replace("-", "").isalnum() and slug and not set(slug) & set(",[] :/\\"):
        return clip(f"{kind}--{slug}", 200)
    named = parse_entity(bare)
    return f"{named.type}:{named.name.replace(',', ' ')}"


def _origin(text: str) -> str:
    word = clean_line(text, what="An origin").text
    if "," in word or len(word) > _TRIGGER_CHARACTERS:
        raise InvalidInput(
            f"“{clip(word)}” cannot be where a memory comes from.",
            remedy="Give an id such as episode:2026-02-02:14:30, or a file with its lines.",
        )
    return word
