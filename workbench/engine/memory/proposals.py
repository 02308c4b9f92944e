"""Proposals: reading the file, unique numbers, and plans to append or clear (§13.2, §13.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

from workbench.engine import layout
from workbench.engine.clock import render_time, time_or_none
from workbench.engine.errors import InvalidInput
from workbench.engine.history.plan import Action, FileChange, FileView, Plan
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.markdown.proposals import (
    Mark,
    MemoryProposal,
    PendingMemories,
    append_to,
    written_numbers,
)
from workbench.engine.memory.entities import parse_entity
from workbench.engine.memory.proposal_comparison import (
    Compare,
    Compared,
    WaitingProposal,
    compare_all,
    nearest_proposals,
    scan_waiting,
)
from workbench.engine.memory.wording import (
    CONFIDENCES,
    EPISODE_TYPES,
    checked_word,
    clean_line,
    clean_memory,
    clean_tags,
    clip,
    text_key,
)
from workbench.engine.requests import ProposeRequest
from workbench.engine.results.reviews import Proposal, Proposals, Proposed
from workbench.engine.scopes import written_scope

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from datetime import datetime

    from workbench.engine.results.reviews import ProposalStatus


REPEATS: Final = "Repeats"
TYPE: Final = "Type"
TAGS: Final = "Tags"
ORIGINS: Final = "Origins"
SCOPE: Final = "For"
"""Fields beside those of design document §13.2; lists are separated by commas."""

HIGHEST: Final = "Highest-Proposal"
_TRAILER: Final = f"\n{HIGHEST}: "
# Larger numbers, written by hand, are skipped, so that they cannot exhaust all numbers.
_BEYOND: Final = 100_000_000

T = TypeVar("T")

_TRIGGER_CHARACTERS: Final = 300
_MOST_ENTITIES: Final = 20
_MOST_ORIGINS: Final = 20


def read_proposals(view: FileView) -> PendingMemories:
    """Return the waiting proposals; none if there is no file."""
    return PendingMemories.parse(view.read(layout.PENDING_MEMORIES) or b"", layout.PENDING_MEMORIES)


def overview(pending: PendingMemories) -> Proposals:
    """Return the waiting proposals as a result value."""
    known = {proposal.number for proposal in pending.proposals}
    return Proposals(
        tuple(_answer(proposal, known) for proposal in pending.proposals),
        tuple(f"{problem.line}: {problem.message} {problem.remedy}" for problem in pending.problems),
    )


def conflicts_of(proposal: MemoryProposal, known: set[int]) -> tuple[str, ...]:
    """Return what a proposal contradicts: waiting proposals, as `#4`, and memories by id."""
    return (*(f"#{other}" for other in proposal.conflicts if other in known), *proposal.against)


def without(
    pending: PendingMemories,
    numbers: Iterable[int],
    became: Mapping[int, str] = MappingProxyType({}),
    retired: Collection[str] = (),
) -> PendingMemories:
    """Return the file without some proposals, with other proposals' references to them updated.

    Args:
        pending: The file.
        numbers: The proposals to remove.
        became: For stored proposals, the memory that each became, which others now contradict.
        retired: Ids of memories that are no longer current.
    """
    gone = {*numbers, *became}
    marks = {}
    for proposal in pending.proposals:
        others = tuple(other for other in proposal.conflicts if other not in gone)
        stored = (became[other] for other in proposal.conflicts if other in became)
        holding = (memory for memory in (*proposal.against, *stored) if memory not in retired)
        mark = Mark(others, tuple(dict.fromkeys(holding)))
        if proposal.number not in gone and mark != Mark(proposal.conflicts, proposal.against):
            marks[proposal.number] = mark
    return (pending.mark(marks) if marks else pending).remove(gone)


def listed(text: str) -> tuple[str, ...]:
    """Return the parts of a list field."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _answer(proposal: MemoryProposal, known: set[int]) -> Proposal:
    conflicts = conflicts_of(proposal, known)
    status: ProposalStatus = "deferred" if proposal.is_deferred else "conflict" if conflicts else "pending"
    return Proposal(
        number=proposal.number,
        from_=proposal.sender,
        timestamp=time_or_none(proposal.timestamp),
        trigger=proposal.trigger,
        store=proposal.store,
        content=proposal.content,
        entities=proposal.entities,
        confidence=proposal.confidence,
        core_worthy=proposal.core_worthy,
        status=status,
        conflicts_with=conflicts,
        repeats=proposal.field(REPEATS) or None,
        type=proposal.field(TYPE),
        tags=listed(proposal.field(TAGS)),
        origins=listed(proposal.field(ORIGINS)),
        line=proposal.span.start if proposal.span else 0,
        scope=written_scope(proposal.field(SCOPE)),
    )


def highest_given(messages: Iterable[str]) -> int:
    """Return the highest number in history, 0 if there is none.

    Args:
        messages: Commit messages, newest first; read up to the first with a number.
    """
    for message in messages:
        _, trailer, rest = message.rpartition(_TRAILER)
        word = rest.partition("\n")[0].strip()
        if trailer and word.isdecimal():
            return int(word)
    return 0


def highest_in(content: bytes, given: int) -> int:
    """Return the highest valid number in the file and in history.

    Args:
        content: The file.
        given: From `highest_given`.
    """
    return max([given, *(number for number in written_numbers(content) if number < _BEYOND)])


def free_numbers(content: bytes, given: int) -> Iterator[int]:
    """Yield unused numbers, lowest first."""
    taken = set(written_numbers(content))
    number = highest_in(content, given)
    while True:
        number += 1
        if number not in taken:
            yield number


def is_doubled(content: bytes) -> bool:
    """Return True if two proposals have the same number."""
    numbers = written_numbers(content)
    return len(numbers) != len(set(numbers))


def number_trailers(highest: int) -> tuple[tuple[str, str], ...]:
    """Return the trailers of a commit that changes proposals."""
    return ((HIGHEST, str(highest)),)


def without_proposals(plan: Plan[T], view: FileView, numbers: Iterable[int]) -> Plan[T]:
    """Extend a plan to remove some proposals from the file; missing ones are ignored.

    Args:
        plan: Carries out a person's decisions.
        view: The files.
        numbers: The proposals decided by it.
    """
    pending = read_proposals(view)
    gone = [number for number in numbers if pending.proposal(number) is not None]
    if not gone or any(change.path == layout.PENDING_MEMORIES for change in plan.changes):
        return plan
    told = f"decided in a reflection: {', '.join(f'proposal #{number}' for number in gone)}"
    change = FileChange(layout.PENDING_MEMORIES, without(pending, gone).render(), Action.EDIT, told)
    return replace(plan, changes=(*plan.changes, change))


@dataclass(frozen=True)
class NewProposal:
    """A valid proposal, still without a number.

    Args:
        warnings: What was left out.
    """

    proposal: MemoryProposal
    warnings: tuple[str, ...] = ()


def check_request(request: ProposeRequest, sender: str, now: datetime) -> NewProposal:
    """Check a request; one without a store is an episode until it is known better.

    Args:
        request: What is proposed.
        sender: Who, as its door says.
        now: When.

    Raises:
        InvalidInput: The text cannot be kept, or a word is not in its vocabulary.
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
    return NewProposal(
        MemoryProposal(
            sender=sender,
            content=wording.text,
            timestamp=render_time(now),
            trigger=clip(trigger, _TRIGGER_CHARACTERS),
            store=checked_word(request.store or "episodic", MEMORY_STORES, "store"),
            entities=tuple(entities),
            confidence=checked_word(request.confidence, CONFIDENCES, "confidence"),
            core_worthy=request.core_worthy,
            fields=tuple((name, value) for name, value in fields if value),
        ),
        wording.warnings,
    )


def plan_propose(
    view: FileView, new: NewProposal, against: Compared, *, compare: Compare, given: Callable[[], int]
) -> Plan[Proposed]:
    """Plan to append a proposal; contradictions are marked on both sides.

    A proposal with the same wording is not appended again; the answer names the waiting one.

    Args:
        view: The files.
        new: The proposal.
        against: Its relation to memory.
        compare: Returns its relation to a waiting proposal.
        given: Returns the highest number in history.
    """
    content = view.read(layout.PENDING_MEMORIES) or b""
    waiting = list(scan_waiting(content))
    proposal = new.proposal
    key = text_key(proposal.content)
    same = [each for each in waiting if each.key == key]
    known = _for_the_same(content, same, proposal.field(SCOPE)) if same else None
    if known is not None:
        return _waits_already(content, known, new)
    near = nearest_proposals(proposal.content, waiting)
    found = compare_all(proposal.content, ((f"#{each.number}", each.text) for each in near), compare)
    others = tuple(sorted(int(name[1:]) for name in found.contradicts))
    repeats = found.repeats or against.repeats
    highest = given()
    content = _with_own_numbers(content, highest)
    number = next(free_numbers(content, highest))
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
        warnings=new.warnings,
        number=number,
        status="conflict" if conflicts else "pending",
        conflicts_with=conflicts,
        duplicate_of=repeats,
    )
    trailers = number_trailers(max(number, highest_in(content, highest)))
    return Plan(Action.PROPOSE, layout.PENDING_MEMORIES, told, (change,), trailers=trailers, outcome=outcome)


def _for_the_same(content: bytes, same: Sequence[WaitingProposal], scope: str) -> WaitingProposal | None:
    """Return the first proposal with the same text for the same audience."""
    pending = PendingMemories.parse(content, layout.PENDING_MEMORIES)
    scopes = {each.number: each.field(SCOPE) for each in pending.proposals}
    return next((each for each in same if scopes.get(each.number, "") == scope), None)


def _waits_already(content: bytes, known: WaitingProposal, new: NewProposal) -> Plan[Proposed]:
    pending = PendingMemories.parse(content, layout.PENDING_MEMORIES)
    proposal = pending.proposal(known.number)
    conflicts = tuple(f"#{other}" for other in proposal.conflicts) + proposal.against if proposal else ()
    outcome = Proposed(
        None,
        warnings=(
            *new.warnings,
            f"The same waits already, as proposal #{known.number}; it was not written again.",
        ),
        number=known.number,
        status="deferred" if known.deferred else "conflict" if conflicts else "pending",
        conflicts_with=conflicts,
        duplicate_of=f"#{known.number}",
    )
    return Plan(Action.PROPOSE, layout.PENDING_MEMORIES, f"#{known.number} waits already", outcome=outcome)


def _with_own_numbers(content: bytes, given: int) -> bytes:
    """Return the file with unique proposal numbers, in case an edit by hand duplicated one."""
    if not is_doubled(content):
        return content
    pending = PendingMemories.parse(content, layout.PENDING_MEMORIES)
    written = set(written_numbers(content))
    free = free_numbers(content, given)
    taken = {each.number: next(free) for each in pending.proposals if each.number not in written}
    return pending.renumber(taken).render() if taken else content


def _marked(content: bytes, number: int, others: tuple[int, ...], memories: tuple[str, ...]) -> bytes:
    """Return the file with the other sides of a conflict marked too."""
    pending = PendingMemories.parse(content, layout.PENDING_MEMORIES)
    marks = {
        other: Mark(tuple(sorted({*proposal.conflicts, number})), proposal.against)
        for other in others
        if (proposal := pending.proposal(other)) is not None
    }
    # Text that only looks like a proposal, such as inside a fence, is not a side of a conflict.
    if pending.proposal(number) is not None:
        marks[number] = Mark(tuple(sorted(marks)), memories)
    return pending.mark(marks).render()


def _entity(text: str) -> str:
    """Return an entity as written in the file: a canonical id, or `TYPE:NAME`."""
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
