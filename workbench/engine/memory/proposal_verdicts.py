"""Verdicts on proposals: stored, rejected or left to the reflection (design document §13.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound, RoleRefused, Stale
from workbench.engine.history.plan import Action, Event, Plan
from workbench.engine.identifiers import ENTITY_TYPES, MEMORY_STORES, NOTE
from workbench.engine.memory import proposals
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.entities import EntityFiles, entity_path, parse_entity
from workbench.engine.memory.proposal_conflicts import (
    archive_opposed,
    ask_which_holds,
    check_may_replace,
    opposed_memories,
    retire_facts,
    with_contradicted_names,
)
from workbench.engine.memory.proposals import (
    ORIGINS,
    REPEATS,
    SCOPE,
    TAGS,
    TYPE,
    listed,
    read_proposals,
    without,
)
from workbench.engine.memory.remember import plan_remember
from workbench.engine.memory.wording import CONFIDENCES, EPISODE_TYPES, clip, one_line
from workbench.engine.requests import RememberRequest
from workbench.engine.results.reviews import Settled
from workbench.engine.scopes import written_scope

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.history.plan import FileView
    from workbench.engine.markdown.proposals import MemoryProposal, PendingMemories
    from workbench.engine.memory.draft import EntityLookup, StandingLookup
    from workbench.engine.memory.proposal_comparison import Compare
    from workbench.engine.memory.proposal_conflicts import OpposedMemory
    from workbench.engine.results.memories import Remembered
    from workbench.engine.settings.sections import Settings
    from workbench.engine.triggers.model import Routing


_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)
_NOBODY: Final = "unknown"
_OTHER_TYPE: Final = "concept"

_MOST_NAMED: Final = 4

_BLOCK: Final = "Active Context"
_LONGEST_FACT: Final = 240
"""In characters."""

_MOST_TOLD: Final = 10


@dataclass(frozen=True)
class VerdictOptions:
    """The decider's departures from a proposal.

    Args:
        store: The store, None for the suggested one.
        text: The text, None for the proposed one.
    """

    store: str | None = None
    text: str | None = None


def sender_tag(sender: str) -> str:
    """Return a sender's name for an actor tag; `unknown` if it is not an agent's name."""
    name = sender.strip().lower()
    return name if _NAME.fullmatch(name) else _NOBODY


def store_of(proposal: MemoryProposal, options: VerdictOptions) -> str | None:
    """Return the requested store; None if the one in the file is invalid."""
    wanted = options.store if options.store is not None else proposal.store
    return wanted if options.store is not None or wanted in MEMORY_STORES else None


def text_of(proposal: MemoryProposal, options: VerdictOptions) -> str:
    return options.text if options.text is not None else proposal.content


def entities_of(proposal: MemoryProposal, view: FileView) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the entities for remembering, and a warning for each invalid name.

    An unused id, such as `preference--source-quality`, names a new entity by its words.
    """
    kept: dict[str, None] = {}
    warnings = []
    for entity in proposal.entities:
        try:
            kept[_named(entity, view)] = None
        except InvalidInput:
            warnings.append(f"“{clip(entity, 40)}” names no entity and was left out.")
    return tuple(kept), tuple(warnings)


def request_of(
    proposal: MemoryProposal, entities: tuple[str, ...], *, options: VerdictOptions, store: str, block: str
) -> RememberRequest:
    """Return the request to remember a proposal.

    Args:
        proposal: As written in the file.
        entities: From `entities_of`.
        options: The decider's options.
        store: The store.
        block: The block of core memory, if it belongs there.
    """
    kind = proposal.field(TYPE).lower()
    tag = sender_tag(proposal.sender)
    scope = written_scope(proposal.field(SCOPE))
    if scope is not None and store == "core":
        store = "episodic"
    return RememberRequest(
        text=text_of(proposal, options),
        store=store,
        type=kind if kind in EPISODE_TYPES else None,
        tags=listed(proposal.field(TAGS)),
        entities=entities,
        confidence=proposal.confidence if proposal.confidence in CONFIDENCES else "medium",
        source=f"subagent:{tag}" if tag not in ("main", "person") else "conversation",
        block=block if proposal.core_worthy and store != "core" and scope is None else None,
        origins=listed(proposal.field(ORIGINS)),
        scope=scope,
    )


def _named(entity: str, view: FileView) -> str:
    bare = entity.strip().removeprefix("entity:")
    kind, dashes, slug = bare.partition("--")
    if dashes and slug.strip():
        if kind in (*ENTITY_TYPES, NOTE) and view.read(entity_path(bare, view)) is not None:
            return bare
        bare = f"{kind if kind in ENTITY_TYPES else _OTHER_TYPE}:{slug.replace('-', ' ').strip()}"
    named = parse_entity(bare)
    return f"{named.type}:{named.name}"


@dataclass(frozen=True)
class Verdicts:
    """Decisions on proposals.

    Args:
        commit: Numbers of proposals to store.
        reject: Numbers of proposals to reject.
        defer: Numbers of proposals left to the reflection.
        reason: Why proposals are rejected; may be empty.
        wishes: The decider's options.
        both: Whether contradictory proposals are stored and linked.
        replacing: Whether stored proposals replace the memories that they contradict.
        named: Ids of those memories if only some are meant; empty for all.
        expected: The texts of proposals as shown to the decider, by number.
    """

    commit: tuple[int, ...] = ()
    reject: tuple[int, ...] = ()
    defer: tuple[int, ...] = ()
    reason: str = ""
    wishes: VerdictOptions = field(default_factory=VerdictOptions)
    both: bool = False
    replacing: bool = False
    named: frozenset[str] = frozenset()
    expected: Mapping[int, str] = field(default_factory=dict)

    @property
    def numbers(self) -> tuple[int, ...]:
        return (*self.commit, *self.reject, *self.defer)

    def in_place_of(self, replacing: bool | Collection[str]) -> Verdicts:
        """Return these verdicts with stored proposals replacing what they contradict.

        Args:
            replacing: Whether to replace all of it; or the ids to replace.
        """
        if isinstance(replacing, bool):
            return replace(self, replacing=replacing)
        named = frozenset([replacing] if isinstance(replacing, str) else replacing)
        return replace(self, replacing=bool(named), named=named)


@dataclass(frozen=True)
class PreparedRouting:
    """The routing of a text, determined before anything is locked.

    Args:
        text: The text.
        routing: Its routing.
        rejected: Its parts that a person has rejected, one sentence each.
    """

    text: str
    routing: Routing
    rejected: tuple[str, ...] = ()


@dataclass(frozen=True)
class VerdictContext:
    """Inputs of verdicts beside the files.

    Args:
        now: Aware, in the workspace's zone.
        settings: The workspace's.
        lookup: Finds entities by name.
        standing: Looks up the relevance of core items.
        prepared: The routing of proposals to store, by number.
        given: The highest number in history.
        compare: Returns the relation of two texts.
        first_seen: When memories entered the history, by id.
        remember_rejections: Returns the file of rejections with some added; None if no person decides.
        trusting: Whether a person decides, who may store what was rejected before.
    """

    now: datetime
    settings: Settings
    lookup: EntityLookup
    standing: StandingLookup | None
    prepared: Mapping[int, PreparedRouting]
    given: Callable[[], int]
    compare: Compare
    first_seen: Mapping[str, datetime]
    remember_rejections: Callable[[FileView, Sequence[MemoryProposal]], bytes] | None = None
    trusting: bool = False


def actor_of(senders: Iterable[str]) -> str:
    """Return the main agent's actor tag for storing others' proposals, `bot:commit-from:NAME`, with every sender."""
    names = list(dict.fromkeys(map(sender_tag, senders)))
    more = ["more"] if len(names) > _MOST_NAMED else []
    return ":".join(["bot:commit-from", *names[:_MOST_NAMED], *more])


class ProposalWriter:
    """Stores proposals in one draft, and collects the messages about it.

    Args:
        draft: The draft; changed.
        verdicts: The decisions.
        context: Their inputs.
        sides: Ids of contradictory memories that are both kept.
    """

    def __init__(
        self, draft: Draft, verdicts: Verdicts, context: VerdictContext, sides: Iterable[str] = ()
    ) -> None:
        self._draft = draft
        self._verdicts = verdicts
        self._context = context
        self._sides = list(dict.fromkeys(sides))
        self._warnings: dict[str, None] = {}
        self.stored: dict[int, Remembered] = {}
        self.retired: list[str] = []

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what a person should know, one sentence each."""
        return tuple(self._warnings)

    def store(self, proposal: MemoryProposal) -> None:
        """Store one proposal, replacing what it contradicts if that was decided.

        Raises:
            InvalidInput: Part of it cannot be kept.
            Refused: Replacing a memory takes a person, or naming it.
        """
        context, verdicts = self._context, self._verdicts
        prepared = context.prepared[proposal.number]
        entities, left_out = entities_of(proposal, self._draft)
        store = store_of(proposal, verdicts.wishes) or prepared.routing.store
        if prepared.rejected and not context.trusting:
            # As for an agent's own observations: the statement may be recorded, but is not therefore believed.
            store, proposal = "episodic", replace(proposal, core_worthy=False)
        block = prepared.routing.core_block or _BLOCK
        request = request_of(proposal, entities, options=verdicts.wishes, store=store, block=block)
        files = EntityFiles(self._draft, context.lookup, context.now, scope=request.scope)
        opposed = opposed_memories(files, proposal, context.settings.zone)
        giving_way = self._giving_way(proposal, opposed, request)
        told = f"accepted proposal #{proposal.number}"
        self.retired += archive_opposed(
            self._draft,
            giving_way,
            told,
            now=context.now,
            settings=context.settings,
            first_seen=context.first_seen,
        )
        remembered = self._remember(proposal, self._worded(request, giving_way), prepared, told)
        self.retired += retire_facts(files, giving_way, remembered, _as_fact(request.text, remembered))
        self.stored[proposal.number] = remembered
        if verdicts.both:
            self._sides.append(remembered.id)
            opposed = ()
        standing = (
            f"It contradicts {each.id}, which {'says more and ' * each.says_more}still stands."
            for each in opposed
            if each not in giving_way
        )
        for warning in (*left_out, *remembered.warnings, *prepared.rejected, *standing):
            self._warnings[f"#{proposal.number}: {warning}"] = None

    def ask_which_holds(self) -> None:
        """Link contradictory memories that were both kept."""
        context = self._context
        ask_which_holds(
            self._draft, list(dict.fromkeys(self._sides)), context.now, context.settings.zone, context.lookup
        )

    def _giving_way(
        self, proposal: MemoryProposal, opposed: Sequence[OpposedMemory], request: RememberRequest
    ) -> tuple[OpposedMemory, ...]:
        """Return the memories that a proposal replaces: those its text contradicts, since a mark is no proof.

        A memory that says more stays even if named: one sentence may not cost the rest of a conversation.
        """
        context, verdicts = self._context, self._verdicts
        if not verdicts.replacing:
            return ()
        found = tuple(
            each
            for each in opposed
            if (not verdicts.named or each.id in verdicts.named)
            and not each.says_more
            and any(context.compare(proposal.content, said) == "contradicts" for said in each.said)
        )
        if found and context.prepared[proposal.number].rejected and not context.trusting:
            raise RoleRefused(
                f"The person has rejected what proposal #{proposal.number} says.",
                where=layout.PENDING_MEMORIES,
                remedy="Store it beside what it contradicts, or ask the person.",
            )
        check_may_replace(
            proposal.number, found, request.scope, named=verdicts.named, is_person=context.trusting
        )
        return found

    def _worded(self, request: RememberRequest, giving_way: Sequence[OpposedMemory]) -> RememberRequest:
        """Return a request with the decided text, at the location of what it replaces."""
        if self._verdicts.both:
            # A fact reads as a sentence; its entity holds the question. Other audiences learn nothing.
            silent = request.scope is not None or request.store == "semantic"
            sides = [] if silent else list(dict.fromkeys(self._sides))
            return replace(request, text=with_contradicted_names(request.text, sides), confidence="low")
        if request.scope is not None:
            return request
        block = next((each.block for each in giving_way if each.block), request.block)
        about = tuple(dict.fromkeys(each.entity for each in giving_way if each.entity))
        alone = request.store == "semantic" and not request.entities
        return replace(request, block=block, entities=about if alone else request.entities)

    def _remember(
        self, proposal: MemoryProposal, request: RememberRequest, prepared: PreparedRouting, told: str
    ) -> Remembered:
        context = self._context
        try:
            plan = plan_remember(
                self._draft,
                request,
                prepared.routing,
                now=context.now,
                settings=context.settings,
                lookup=context.lookup,
                standing=context.standing,
            )
        except InvalidInput as error:
            raise InvalidInput(
                f"Proposal #{proposal.number} cannot be stored: {error.message}",
                where=error.where or layout.PENDING_MEMORIES,
                remedy=f"{error.remedy or ''} Or give other words or another store, or reject it.".strip(),
            ) from error
        for change in plan.changes:
            if change.content is not None:
                self._draft.write(change.path, change.content, Action.COMMIT, told)
        return plan.outcome


def _as_fact(text: str, remembered: Remembered) -> str:
    """Return the text of a fact that replaces a retired one; for a long text, its summary."""
    return text if len(text) <= _LONGEST_FACT else remembered.summary


def plan_verdicts(view: FileView, verdicts: Verdicts, context: VerdictContext) -> Plan[Settled]:
    """Plan to carry out verdicts, all or none.

    Raises:
        NotFound: No proposal with a number waits; someone else may have decided it.
        InvalidInput: Part of a proposal cannot be kept; a number has two verdicts; a named memory is not marked as
            contradicted by any of the proposals.
        Stale: A proposal has changed since it was shown.
        Refused: Replacing a memory takes a person, or naming it.
    """
    pending = read_proposals(view)
    chosen = {number: _chosen(pending, number, verdicts, context) for number in verdicts.numbers}
    if len(chosen) != len(verdicts.numbers):
        raise InvalidInput("A proposal was named twice.", remedy="Name each one once.")
    kept = [chosen[number] for number in verdicts.commit]
    _check_named(verdicts, kept)
    draft = Draft(view)
    sides = [memory for proposal in kept for memory in proposal.against] if verdicts.both else []
    committing = ProposalWriter(draft, verdicts, context, sides)
    for proposal in kept:
        committing.store(proposal)
    if verdicts.both:
        committing.ask_which_holds()
    lasting = [chosen[number] for number in verdicts.reject if not chosen[number].field(REPEATS)]
    if context.remember_rejections is not None and lasting:
        told = f"remembered the rejection of {_numbered(each.number for each in lasting)}"
        draft.write(layout.REJECTED, context.remember_rejections(view, lasting), Action.EDIT, told)
    became = {number: remembered.id for number, remembered in committing.stored.items()}
    after = without(pending, verdicts.reject, became, committing.retired).defer(verdicts.defer)
    summary = _told(verdicts, committing.retired)
    action = Action.COMMIT if verdicts.commit else Action.REJECT if verdicts.reject else Action.EDIT
    draft.write(layout.PENDING_MEMORIES, after.render(), action, summary)
    stored = committing.stored.values()
    outcome = Settled(
        None,
        ids=tuple(dict.fromkeys(memory for each in stored for memory in each.ids)),
        warnings=committing.warnings,
        committed=verdicts.commit,
        rejected=verdicts.reject,
        deferred=verdicts.defer,
        retired=tuple(committing.retired),
    )
    written = next((each.path for each in stored), layout.PENDING_MEMORIES)
    highest = proposals.highest_in(view.read(layout.PENDING_MEMORIES) or b"", context.given())
    plan = draft.plan(action, written, summary, outcome)
    return replace(plan, events=_refusals(verdicts), trailers=proposals.number_trailers(highest))


def _chosen(
    pending: PendingMemories, number: int, verdicts: Verdicts, context: VerdictContext
) -> MemoryProposal:
    proposal = pending.proposal(number)
    if proposal is None:
        raise NotFound(
            f"No proposal #{number} waits; it may have been decided already.",
            where=pending.path,
            remedy="See what waits with: workbench proposals",
        )
    expected = verdicts.expected.get(number)
    prepared = context.prepared.get(number)
    changed = expected is not None and one_line(expected) != one_line(proposal.content)
    if prepared is not None:
        changed = changed or prepared.text != text_of(proposal, verdicts.wishes)
    if changed:
        line = proposal.span.start if proposal.span else 1
        raise Stale(
            f"Proposal #{number} says something else by now: “{clip(proposal.content)}”.",
            where=f"{pending.path}:{line}",
            remedy="Look at it again with: workbench proposals",
        )
    return proposal


def _check_named(verdicts: Verdicts, kept: Iterable[MemoryProposal]) -> None:
    marked = {memory for proposal in kept for memory in proposal.against}
    for memory in sorted(verdicts.named - marked):
        raise InvalidInput(
            f"No proposal that is stored is marked as contradicting {clip(memory, 120)}.",
            where=layout.PENDING_MEMORIES,
            remedy="Name what `workbench proposals` shows, or archive it with: workbench forget",
        )


def _refusals(verdicts: Verdicts) -> tuple[Event, ...]:
    """Return an audit line for each rejection beside something stored; alone, the file’s own line says it."""
    if not verdicts.commit:
        return ()
    return tuple(
        Event(Action.REJECT, layout.PENDING_MEMORIES, f"rejected proposal #{number}{_reason(verdicts)}")
        for number in verdicts.reject
    )


def _reason(verdicts: Verdicts) -> str:
    return f" — {clip(verdicts.reason, 200)}" if verdicts.reason.strip() else ""


def _told(verdicts: Verdicts, retired: list[str]) -> str:
    kept = ", both of what contradicts itself" if verdicts.both else ""
    if retired:
        more = f" and {len(retired) - _MOST_TOLD} more" if len(retired) > _MOST_TOLD else ""
        kept = f" in place of {', '.join(retired[:_MOST_TOLD])}{more}"
    parts = [
        f"{verb} {_numbered(numbers)}{why}"
        for verb, numbers, why in (
            ("accepted", verdicts.commit, kept),
            ("rejected", verdicts.reject, _reason(verdicts)),
            ("deferred", verdicts.defer, ""),
        )
        if numbers
    ]
    return "; ".join(parts)


def _numbered(numbers: Iterable[int]) -> str:
    listed = list(numbers)
    named = ", ".join(f"#{number}" for number in listed[:_MOST_TOLD])
    more = f" and {len(listed) - _MOST_TOLD} more" if len(listed) > _MOST_TOLD else ""
    return f"proposal{'s' if len(listed) > 1 else ''} {named}{more}"
