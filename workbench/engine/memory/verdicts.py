"""Verdicts on proposals: stored, also in place of what they contradict, rejected, or left to the reflection (§13.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Final, TypeVar

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound, Refused, RoleRefused, Stale, WorkbenchError
from workbench.engine.history.plan import Action, Event, FileView, Plan
from workbench.engine.identifiers import MEMORY_STORES, entity_type
from workbench.engine.markdown.proposals import MemoryProposal, PendingMemories
from workbench.engine.memory import proposals
from workbench.engine.memory.contradictions import OpposedMemory, opposed_memories, text_of_memory
from workbench.engine.memory.core import mark_contradicted, read_core
from workbench.engine.memory.draft import Draft, EntityLookup, RelevanceLookup
from workbench.engine.memory.entities import EntityFiles, entity_path, parse_entity
from workbench.engine.memory.forget import items_saying, plan_archive
from workbench.engine.memory.graph import Origin, add_fact, find_fact, retire
from workbench.engine.memory.lookup import locate_memory
from workbench.engine.memory.proposals import (
    ORIGINS,
    REPEATS,
    SCOPE,
    TAGS,
    TYPE,
    Compare,
    listed,
    read_proposals,
    without,
)
from workbench.engine.memory.remember import plan_remember
from workbench.engine.memory.wording import CONFIDENCES, EPISODE_TYPES, clip, one_line
from workbench.engine.requests import RememberRequest
from workbench.engine.results.memories import Remembered
from workbench.engine.results.reviews import Settled
from workbench.engine.roles import AGENT_NAME, written_scope
from workbench.engine.settings.sections import Settings
from workbench.engine.triggers.model import Routing
from workbench.engine.values import dataclass

T = TypeVar("T")

_NOBODY: Final = "unknown"

_MOST_NAMED: Final = 4

_BLOCK: Final = "Active Context"
_LONGEST_FACT: Final = 240
"""In characters."""

_MOST_TOLD: Final = 10


def _sender_tag(sender: str) -> str:
    """Return a sender's name for an actor tag; `unknown` if it is not an agent's name."""
    name = sender.strip().lower()
    return name if AGENT_NAME.fullmatch(name) else _NOBODY


def entities_of(proposal: MemoryProposal, view: FileView) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the entities for remembering, and a warning for each invalid name.

    An unused id, such as `preference--source-quality`, names a new entity of that type by its words.
    """
    kept: dict[str, None] = {}
    warnings = []
    for entity in proposal.entities:
        try:
            kept[_named(entity, view)] = None
        except InvalidInput:
            warnings.append(f"“{clip(entity, 40)}” names no entity and was left out.")
    return tuple(kept), tuple(warnings)


def _request_of(
    proposal: MemoryProposal, text: str, entities: tuple[str, ...], store: str, block: str
) -> RememberRequest:
    """Return the request to remember a proposal; `block` is of core memory, for a proposal that belongs there."""
    kind = proposal.field(TYPE).lower()
    tag = _sender_tag(proposal.sender)
    scope = written_scope(proposal.field(SCOPE))
    if scope is not None and store == "core":
        store = "episodic"
    return RememberRequest(
        text=text,
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
    if dashes and slug.strip() and entity_type(kind):
        if entity_type(kind) == kind and view.read(entity_path(bare, view)) is not None:
            return bare
        bare = f"{kind}:{slug.replace('-', ' ').strip()}"
    named = parse_entity(bare)
    return f"{named.type}:{named.name}"


@dataclass(frozen=True)
class Verdicts:
    """Decisions on proposals.

    Args:
        store: The store of stored proposals; None for the suggested one.
        text: The text of a stored proposal; None for the proposed one.
        both: Whether contradictory proposals are stored and linked.
        replacing: Whether stored proposals replace the memories that they contradict.
        named: Ids of those memories if only some are meant; empty for all.
        expected: The texts of proposals as shown to the decider, by number.
    """

    commit: tuple[int, ...] = ()
    reject: tuple[int, ...] = ()
    defer: tuple[int, ...] = ()
    reason: str = ""
    store: str | None = None
    text: str | None = None
    both: bool = False
    replacing: bool = False
    named: frozenset[str] = frozenset()
    expected: Mapping[int, str] = field(default_factory=dict)

    @property
    def numbers(self) -> tuple[int, ...]:
        return (*self.commit, *self.reject, *self.defer)

    def store_of(self, proposal: MemoryProposal) -> str | None:
        """Return the store for a proposal; None if the one in the file is invalid."""
        if self.store is not None:
            return self.store
        return proposal.store if proposal.store in MEMORY_STORES else None

    def text_of(self, proposal: MemoryProposal) -> str:
        """Return the text to store for a proposal."""
        return proposal.content if self.text is None else self.text

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
        rejected: Its parts that a person has rejected, one sentence each.
    """

    text: str
    routing: Routing
    rejected: tuple[str, ...]


@dataclass(frozen=True)
class VerdictContext:
    """Inputs of verdicts beside the files.

    Args:
        prepared: The routing of proposals to store, by number.
        given: The highest number in history.
        remember_rejections: Returns the file of rejections with some added; None if no person decides.
        refusing: The actor that refuses and asks; with it, what is stored names each agent that proposed it. Empty
            where everything is done in one name.
        trusting: Whether a person decides, who may store what was rejected before.
    """

    now: datetime
    settings: Settings
    lookup: EntityLookup
    scores: RelevanceLookup | None
    prepared: Mapping[int, PreparedRouting]
    given: Callable[[], int]
    compare: Compare
    first_seen: Mapping[str, datetime]
    remember_rejections: Callable[[FileView, Sequence[MemoryProposal]], bytes] | None
    trusting: bool
    refusing: str = ""

    def actor_for(self, proposal: MemoryProposal) -> str:
        """Return the actor of the audit lines about storing a proposal; empty for that of the commit."""
        return actor_of([proposal.sender]) if self.refusing else ""


def actor_of(senders: Iterable[str]) -> str:
    """Return the main agent's actor tag for storing others' proposals, `bot:commit-from:NAME`, with every sender."""
    names = list(dict.fromkeys(map(_sender_tag, senders)))
    more = ["more"] if len(names) > _MOST_NAMED else []
    return ":".join(["bot:commit-from", *names[:_MOST_NAMED], *more])


class ProposalWriter:
    """Stores proposals in one draft, and collects the messages about it.

    Args:
        sides: Ids of contradictory memories that are both kept.
    """

    def __init__(
        self, draft: Draft, verdicts: Verdicts, context: VerdictContext, sides: Iterable[str]
    ) -> None:
        self._draft = draft
        self._verdicts = verdicts
        self._context = context
        self._sides = list(dict.fromkeys(sides))
        self._warnings: dict[str, None] = {}
        self.stored: dict[int, Remembered] = {}
        self.retired_for: dict[int, list[str]] = {}

    @property
    def retired(self) -> list[str]:
        """Return the ids of the memories that no longer hold."""
        return [memory for each in self.retired_for.values() for memory in each]

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
        store = verdicts.store_of(proposal) or prepared.routing.store
        if prepared.rejected and not context.trusting:
            # As for an agent's own observations: the statement may be recorded, but is not therefore believed.
            store, proposal = "episodic", replace(proposal, core_worthy=False)
        block = prepared.routing.core_block or _BLOCK
        request = _request_of(proposal, verdicts.text_of(proposal), entities, store, block)
        files = EntityFiles(self._draft, context.lookup, context.now, scope=request.scope)
        opposed = opposed_memories(files, proposal, context.settings.zone)
        giving_way = self._giving_way(proposal, opposed, request)
        told = f"accepted proposal #{proposal.number}"
        archived = [each.id for each in giving_way if not each.entity]
        self._archive(archived, told)
        retired = self.retired_for.setdefault(proposal.number, archived)
        remembered = self._remember(proposal, self._worded(request, giving_way), prepared, told)
        fact = request.text if len(request.text) <= _LONGEST_FACT else remembered.summary
        for each in giving_way:
            if each.entity:
                retired += self._retire_fact(files, each, remembered, fact)
        self.stored[proposal.number] = remembered
        if verdicts.both:
            self._sides.append(remembered.id)
            opposed = ()
        standing = (
            f"It contradicts {each.id}, which {'says more and ' * each.says_more}still holds."
            for each in opposed
            if each not in giving_way
        )
        for warning in (*left_out, *remembered.warnings, *prepared.rejected, *standing):
            self._warnings[f"#{proposal.number}: {warning}"] = None

    def warn_of_rivals(self, proposal: MemoryProposal, pending: PendingMemories) -> None:
        """Say what becomes of the proposals that contradict a stored one and have no verdict with it."""
        decided = self._verdicts.numbers
        for rival in pending.proposals:
            marked = rival.number in proposal.conflicts or proposal.number in rival.conflicts
            if marked and rival.number not in decided:
                self._warnings[
                    f"#{rival.number} still waits, and contradicts {self.stored[proposal.number].id}, which "
                    f"#{proposal.number} became; decide on it as well."
                ] = None

    def ask_which_holds(self) -> None:
        """Add the question, once, to each entity with a fact of a contradiction kept on both sides.

        The confidence of these facts is lowered, and what stands in core memory as well is marked there.
        """
        files = EntityFiles(self._draft, self._context.lookup, self._context.now)
        zone = self._context.settings.zone
        sides = dict.fromkeys(self._sides)
        said = {memory: text for memory in sides if (text := text_of_memory(self._draft, memory, zone))}
        for number, stored in list(self.stored.items()):
            others = [memory for memory in said if memory != stored.id]
            ids = tuple(
                mark_contradicted(self._draft, each, others, self._context.settings)
                if others and each.startswith("core:") and each != stored.id
                else each
                for each in stored.ids
            )
            self.stored[number] = replace(stored, ids=ids)
        asked = set()
        for memory in said:
            if "#^" not in memory:
                continue
            file, fact = find_fact(files, memory)
            if fact.provenance.confidence != "low" and fact.block_id:
                file = file.set_provenance(fact.block_id, replace(fact.provenance, confidence="low"))
            others = [f"“{clip(text)}” ({other})" for other, text in said.items() if other != memory]
            question = f"Which holds: “{clip(fact.text)}” (^{fact.block_id}) or {' or '.join(others)}?"
            if others and file.id not in asked:
                file = file.add_question(question)
                asked.add(file.id)
            files.save(file, f"asked which holds: {clip(question)}")

    def _archive(self, ids: Sequence[str], told: str) -> None:
        """Archive contradicted memories other than facts; no item of core memory may go along unnamed."""
        if not ids:
            return
        draft, context = self._draft, self._context
        core, zone = read_core(draft), context.now.tzinfo or context.settings.zone
        for memory in ids:
            repeated = (
                ()
                if memory.startswith("core:")
                else items_saying(core, locate_memory(draft, memory, zone).text)
            )
            for item in repeated:
                if item.id not in ids:
                    raise Refused(
                        f"{item.id} says what {memory} does, and would leave core memory with it.",
                        where=core.path,
                        remedy=f"Take it out first with: workbench core remove {item.id}",
                    )
        draft.lay(plan_archive(draft, ids, context.now, context.settings, context.first_seen), note=told)

    def _retire_fact(
        self, files: EntityFiles, opposed: OpposedMemory, remembered: Remembered, text: str
    ) -> list[str]:
        """Retire a fact as of today, referring to the new fact of its entity; return its id, if it is found.

        If the stored memory is not such a fact, and is the owner's, one with the text is added.
        """
        entity, _, block = remembered.id.removeprefix("entity:").partition("#^")
        if entity != opposed.entity:
            origin = Origin((remembered.id,), remembered.confidence)
            added = add_fact(files, opposed.entity, text, origin).id if files.scope is None else ""
            block = added.partition("#^")[2]
        file = files.require(opposed.entity)
        wanted = (opposed.text, opposed.scope)
        fact = next((one for one in file.facts if (one.text, one.provenance.scope) == wanted), None)
        if fact is None or (fact.block_id or "") == block:
            return []
        return [retire(files, file, fact, by=block or None).id]

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
        self._check_may_replace(proposal.number, found, request.scope)
        return found

    def _check_may_replace(self, number: int, opposed: Sequence[OpposedMemory], scope: str | None) -> None:
        guarded = {each.id: reason for each in opposed if (reason := each.guarded_from(scope))}
        if self._context.trusting:
            guarded = {memory: why for memory, why in guarded.items() if memory not in self._verdicts.named}
        if not guarded:
            return
        told = "; ".join(f"{memory} ({reason})" for memory, reason in guarded.items())
        if self._context.trusting:
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

    def _worded(self, request: RememberRequest, giving_way: Sequence[OpposedMemory]) -> RememberRequest:
        """Return a request with the decided text, at the location of what it replaces."""
        if self._verdicts.both:
            # A fact reads as a sentence; its entity holds the question. Other audiences learn nothing.
            silent = request.scope is not None or request.store == "semantic"
            sides = "" if silent else ", ".join(dict.fromkeys(self._sides))
            text = f"{request.text.rstrip()} (contradicts {sides})" if sides else request.text
            return replace(request, text=text, confidence="low")
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
                scores=context.scores,
            )
        except InvalidInput as error:
            raise InvalidInput(
                f"Proposal #{proposal.number} cannot be stored: {error.message}",
                where=error.where or layout.PENDING_MEMORIES,
                remedy=f"{error.remedy or ''} Or give other words or another store, or reject it.".strip(),
            ) from error
        return self._draft.lay(plan, action=Action.COMMIT, summary=told)


def plan_verdicts(view: FileView, verdicts: Verdicts, context: VerdictContext) -> Plan[Settled]:
    """Plan to carry out verdicts, all or none.

    Raises:
        NotFound: No proposal with a number waits; someone else may have decided it.
        InvalidInput: Part of a proposal cannot be kept; a number has two verdicts; a named memory is not marked as
            contradicted by any of the proposals.
        Stale: A proposal has changed since it was shown.
        Refused: Two of what is stored contradict each other, and it was not said what becomes of that; or replacing
            a memory takes a person, or naming it.
    """
    pending = read_proposals(view)
    chosen = {number: _chosen(pending, number, verdicts, context) for number in verdicts.numbers}
    if len(chosen) != len(verdicts.numbers):
        raise InvalidInput("A proposal was named twice.", remedy="Name each one once.")
    kept = [chosen[number] for number in verdicts.commit]
    _check_named(verdicts, kept)
    _check_settled(verdicts, kept)
    draft = Draft(view)
    sides = [memory for proposal in kept for memory in proposal.against] if verdicts.both else []
    committing = ProposalWriter(draft, verdicts, context, sides)
    for proposal in kept:
        draft.acting(context.actor_for(proposal))
        committing.store(proposal)
    draft.acting(context.refusing)
    for proposal in kept:
        committing.warn_of_rivals(proposal, pending)
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
    (first, told), *more = _told_by(verdicts, kept, committing.retired_for, context) or [("", summary)]
    draft.acting(first)
    draft.write(layout.PENDING_MEMORIES, after.render(), action, told)
    for actor, told in more:
        draft.acting(actor)
        draft.tell(layout.PENDING_MEMORIES, told)
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
    decisions = (
        *(proposals.Decision.on(chosen[number], became=became[number]) for number in verdicts.commit),
        *(proposals.Decision.on(chosen[number], reason=verdicts.reason) for number in verdicts.reject),
    )
    trailers = (*proposals.number_trailers(highest), *(each.trailer() for each in decisions))
    return replace(plan, events=_refusals(verdicts, context.refusing), trailers=trailers)


@dataclass(frozen=True)
class DecidedTogether:
    """What several verdicts came to, each whole or absent.

    Args:
        settled: What was carried out.
        refused: Why the others were not, by number of proposal.
    """

    settled: Settled
    refused: Mapping[int, str]


def plan_all_verdicts(
    view: FileView, wanted: Sequence[tuple[Verdicts, VerdictContext]]
) -> Plan[DecidedTogether]:
    """Plan to carry out several verdicts of a person, each seeing what those before it changed.

    One that cannot be carried out is left out, with the reason.
    """
    draft = Draft(view)
    plans: list[Plan[Settled]] = []
    refused: dict[int, str] = {}
    for verdicts, context in wanted:
        attempt = Draft(draft)
        try:
            plan = plan_verdicts(attempt, verdicts, context)
        except WorkbenchError as error:
            refused.update(dict.fromkeys(verdicts.numbers, error.message))
            continue
        draft.lay(plan)
        plans.append(plan)
    done = [plan.outcome for plan in plans]

    def every(field_of: Callable[[Settled], tuple[T, ...]]) -> tuple[T, ...]:
        return tuple(dict.fromkeys(each for settled in done for each in field_of(settled)))

    settled = Settled(
        None,
        ids=every(lambda each: each.ids),
        warnings=every(lambda each: each.warnings),
        committed=every(lambda each: each.committed),
        rejected=every(lambda each: each.rejected),
        deferred=every(lambda each: each.deferred),
        retired=every(lambda each: each.retired),
    )
    together = Verdicts(settled.committed, settled.rejected, settled.deferred)
    action = Action.COMMIT if together.commit else Action.REJECT if together.reject else Action.EDIT
    path = plans[0].file if plans else layout.PENDING_MEMORIES
    whole = draft.plan(
        action, path, _told(together, list(settled.retired)), DecidedTogether(settled, refused)
    )
    events = tuple(event for each in plans for event in each.events)
    trailers = tuple(dict.fromkeys(trailer for each in plans for trailer in each.trailers))
    return replace(whole, events=events, trailers=trailers)


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
        changed = changed or prepared.text != verdicts.text_of(proposal)
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


def _check_settled(verdicts: Verdicts, kept: Sequence[MemoryProposal]) -> None:
    """Refuse to store both sides of a contradiction as if each were true (design document §13.6)."""
    if verdicts.both:
        return
    marked = {proposal.number: proposal.conflicts for proposal in kept}
    for number, others in marked.items():
        # A mark that somebody wrote on one side alone counts as well.
        other = next((each for each in marked if each in others or number in marked[each]), None)
        if other is None or other == number:
            continue
        raise Refused(
            f"Proposals #{number} and #{other} contradict each other; stored together, neither would say so.",
            where=layout.PENDING_MEMORIES,
            remedy=f"Say which holds, with: workbench proposals settle {number} {other} (the first is stored, the "
            f"other refused); or keep both, less sure and linked, with: workbench proposals keep-both {number} {other}",
        )


def _told_by(
    verdicts: Verdicts,
    kept: Sequence[MemoryProposal],
    retired: Mapping[int, list[str]],
    context: VerdictContext,
) -> list[tuple[str, str]]:
    """Return actor and summary of each line about the file of proposals; none where one line says it all."""
    if not (context.refusing and kept):
        return []
    by_actor: dict[str, list[int]] = {}
    for proposal in kept:
        by_actor.setdefault(context.actor_for(proposal), []).append(proposal.number)
    lines = []
    for actor, numbers in by_actor.items():
        gone = [memory for number in numbers for memory in retired.get(number, ())]
        lines.append((actor, _told(Verdicts(commit=tuple(numbers), both=verdicts.both), gone)))
    if verdicts.defer:
        lines.append((context.refusing, _told(Verdicts(defer=verdicts.defer), [])))
    return lines


def _refusals(verdicts: Verdicts, actor: str) -> tuple[Event, ...]:
    """Return an audit line for each rejection beside something stored; alone, the file’s own line says it."""
    if not verdicts.commit:
        return ()
    return tuple(
        Event(
            Action.REJECT, layout.PENDING_MEMORIES, f"rejected proposal #{number}{_reason(verdicts)}", actor
        )
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
