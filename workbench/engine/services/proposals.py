"""Proposals of agents (design document §13): made, compared with memory, decided on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from workbench.engine import layout, results
from workbench.engine.catalog.terms import STOP_WORDS, fold
from workbench.engine.errors import InvalidInput, RoleRefused
from workbench.engine.history.commits import DECIDED
from workbench.engine.history.plan import Attribution, FileView, Plan
from workbench.engine.memory.core import view_core
from workbench.engine.memory.proposals import (
    Compare,
    Compared,
    NewProposal,
    Relation,
    check_request,
    compare_all,
    contradict,
    highest_given,
    overview,
    plan_propose,
    read_proposals,
    telling_words,
    ways_to_say,
)
from workbench.engine.memory.verdicts import (
    DecidedTogether,
    PreparedRouting,
    VerdictContext,
    Verdicts,
    actor_of,
    entities_of,
    plan_all_verdicts,
    plan_verdicts,
)
from workbench.engine.memory.wording import clip, text_key
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claim_keys import same, statement
from workbench.engine.reflection.items import fact
from workbench.engine.reflection.rejections import remember
from workbench.engine.requests import ProposeRequest, RememberRequest
from workbench.engine.roles import Capability, require
from workbench.engine.services.mutator import Mutator
from workbench.engine.services.retrieval import Retrieval
from workbench.engine.services.routing import answers_by_rules, owner_of, route, warnings_of_rejected
from workbench.engine.services.secret_guard import held_back

if TYPE_CHECKING:
    from workbench.engine.markdown.proposals import MemoryProposal
    from workbench.engine.results.recall import Found
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.triggers.model import Routing


_DOING: Final = "decide on proposals"
_TRIGGER: Final = "proposals reviewed"


def remembering(context: WorkspaceContext) -> Callable[[FileView, Sequence[MemoryProposal]], bytes]:
    """Return what gives `rejected.md` with some refused proposals in it, as claims `proposal-7`."""

    def remembered(view: FileView, refused: Sequence[MemoryProposal]) -> bytes:
        claims = [
            replace(fact(_entity(each), _line(each.content), (), reason=""), id=f"proposal-{each.number}")
            for each in refused
        ]
        time = context.now().isoformat(timespec="seconds")
        return remember(view.read(layout.REJECTED), claims, "", time)

    return remembered


def _entity(proposal: MemoryProposal) -> str:
    """Return the entity that a refused statement is about, where it names just one by its id."""
    ids = [entity for entity in proposal.entities if "--" in entity and ":" not in entity]
    return ids[0] if len(proposal.entities) == len(ids) == 1 else ""


def _line(text: str) -> str:
    return clip(text, 2000)


_LOOKED_AT: Final = 2000
_MOST_COMPARED: Final = 60
_NAME: Final = lazy_pattern(r"\b[^\W\d_][\w+#-]{2,}")


def comparison(context: WorkspaceContext) -> Compare:
    """Return what compares a new text with an older one."""
    owner = owner_of(context)
    return lambda new, old: _relation(new[:_LOOKED_AT], old[:_LOOKED_AT], owner)


def compared_with_memory(
    context: WorkspaceContext, text: str, entities: Sequence[str], found: Found
) -> Compared:
    """Tell what in memory a text repeats or contradicts.

    Compared are the facts of the entities that it names, core memory, and what a search for it finds.

    Args:
        text: What is proposed.
        entities: What it is about, as `type--slug` or `TYPE:NAME`.
        found: What a search for the text found, explained.
    """
    near: dict[tuple[str, str], None] = {}
    for memory, said in _near(context, text, entities, found):
        near[memory, said] = None
        if len(near) == _MOST_COMPARED:
            break
    return compare_all(text, near, comparison(context))


def _near(
    context: WorkspaceContext, text: str, entities: Sequence[str], found: Found
) -> Iterator[tuple[str, str]]:
    lookups = context.lookups
    words = telling_words(text)
    # What a search leaves out for saying the same as another result can be contradicted as well.
    alike = (cut.id for cut in found.cuts if cut.reason == "near-duplicate")
    ids = (*(hit.id for hit in found.results), *alike)
    # A fact that has an end is found by itself; its entity is looked at.
    hits = tuple(
        dict.fromkeys(each.partition("#^")[0] if each.startswith("entity:") else each for each in ids)
    )
    today = context.now().date().isoformat()
    for entity in dict.fromkeys((*_ids(context, text, entities), *hits)):
        known = lookups.entity(entity) if entity.startswith("entity:") else None
        if known is None:
            continue
        for known_fact in lookups.facts_of(entity):
            if known_fact.holds(today) and words & telling_words(known_fact.text):
                *shorter, full = ways_to_say(known_fact.text, known.label)
                # To compare takes long; what the words alone tell costs next to nothing.
                yield from ((known_fact.id, said) for said in shorter if contradict(text[:_LOOKED_AT], said))
                yield known_fact.id, full
    for block in view_core(context.files, context.settings).blocks:
        for item in block.items:
            if words & telling_words(item.text):
                yield item.id, item.text
    for hit in hits:
        record = None if hit.startswith("entity:") else lookups.memory(hit)
        if record is not None and record.store in ("episodic", "vault", "procedural"):
            yield record.id, record.text


def _ids(context: WorkspaceContext, text: str, entities: Sequence[str]) -> Iterator[str]:
    lookups = context.lookups
    for entity in entities:
        kind, dashes, _ = entity.removeprefix("entity:").partition("--")
        if dashes and kind:
            yield f"entity:{entity.removeprefix('entity:')}"
        elif known := lookups.named(entity.partition(":")[2]):
            yield known.id
    for name in dict.fromkeys(_NAME.findall(text[:_LOOKED_AT])):
        if name[:1].isupper() and (known := lookups.named(name)):
            yield known.id


@lru_cache(maxsize=4096)
def _same_statement(one: str, other: str) -> bool:
    return same(statement(one), statement(other))


def _relation(new: str, old: str, owner: str) -> Relation:
    from workbench.engine.reflection.claims.finder import cannot_both_hold

    if text_key(new) == text_key(old) or _same_statement(new, old):
        return "repeats"
    if contradict(new, old) or (not _of_different_people(new, old) and cannot_both_hold(old, new, owner)):
        return "contradicts"
    return ""


def _of_different_people(new: str, old: str) -> bool:
    """Return whether two statements begin with different names: what is said of two people is no contradiction."""
    first, second = new.split()[:1], old.split()[:1]
    if not first or not second or first == second:
        return False
    return all(_is_name(word[0]) for word in (first, second))


def _is_name(word: str) -> bool:
    plain = word.strip("“”\"'.,:;")
    return plain[:1].isupper() and fold(plain) not in STOP_WORDS | {"user", "the", "i"}


_NEAREST: Final = 8
_SURENESS: Final = {"low": 0, "medium": 1, "high": 2}
# What steers an agent, is always in its mind, or never fades is looked at by somebody.
_STORED_AT_ONCE: Final = frozenset({"episodic", "semantic"})


class Proposals:
    """Proposals and verdicts on them; who proposes is what the door was opened as, whatever the words say."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator, retrieval: Retrieval) -> None:
        self._context = context
        self._mutator = mutator
        self._retrieval = retrieval

    def waiting(self) -> results.reviews.Proposals:
        """Return every proposal that has no verdict, with what it contradicts or repeats."""
        require(self._context.role, Capability.READ)
        return overview(read_proposals(self._context.files))

    def commit(
        self,
        numbers: Sequence[int],
        *,
        store: str | None = None,
        text: str | None = None,
        replacing: bool | Collection[str] = False,
        expected: Mapping[int, str] | None = None,
    ) -> results.reviews.Settled:
        """Store proposals, in one commit, as `remember` stores.

        What a person has rejected before is noted as an episode alone where the main agent decides.

        With `replacing`, memories that they are marked as contradicting, and do contradict by their words, hold no
        longer: a fact is retired and points to the one that holds, anything else is archived, and an item of core
        memory makes room for them. What is pinned, in core memory or in the vault, or is not for those whom a
        proposal is for, goes only where a person names it.

        Args:
            store: Where, instead of where they were suggested.
            text: What, instead of the words of the one that is named.
            replacing: Whether they take the place of what they contradict; or the ids of what they do so of.
            expected: Texts that they had when somebody looked at them, by number.

        Raises:
            RoleRefused: This door may not decide; in the mode `manual` a person alone may. Or it takes a person to
                let go what they contradict.
            Refused: Two of them contradict each other: `settle` or `keep_both` says what becomes of that. Or it takes
                that what they contradict is named.
            NotFound: One of them does not wait, or no longer.
            Stale: One says something else than expected, or than a moment ago.
            InvalidInput: Something cannot be stored as it is, or contradicts nothing that was named.
        """
        if text is not None and len(numbers) != 1:
            raise InvalidInput("Other words are of one proposal.", remedy="Name one proposal.")
        verdicts = Verdicts(commit=tuple(numbers), store=store, text=text, expected=expected or {})
        return self._settle(verdicts.in_place_of(replacing))

    def reject(
        self, numbers: Sequence[int], *, reason: str = "", expected: Mapping[int, str] | None = None
    ) -> results.reviews.Settled:
        """Refuse proposals, in one commit; what a person refuses is remembered, and warned of when it comes again.

        Args:
            reason: Why, for the audit log.

        Raises:
            As `commit`.
        """
        return self._settle(Verdicts(reject=tuple(numbers), reason=reason, expected=expected or {}))

    def defer(
        self, numbers: Sequence[int], *, expected: Mapping[int, str] | None = None
    ) -> results.reviews.Settled:
        """Leave proposals to the next reflection, which puts them before the person; nothing is approved by that.

        Raises:
            As `commit`.
        """
        return self._settle(Verdicts(defer=tuple(numbers), expected=expected or {}))

    def keep_both(
        self, numbers: Sequence[int], *, expected: Mapping[int, str] | None = None
    ) -> results.reviews.Settled:
        """Store proposals though they contradict each other or memory: with low confidence, and linked (§13.6).

        Args:
            numbers: Of one or more; one alone means itself and the proposals that it contradicts.

        Raises:
            InvalidInput: There is nothing that the only one contradicts.
            As `commit`.
        """
        if len(numbers) == 1:
            named = next((each for each in self.waiting().proposals if each.number == numbers[0]), None)
            if named is not None and not named.conflicts_with:
                raise InvalidInput(
                    f"Proposal #{named.number} contradicts nothing.",
                    where=layout.PENDING_MEMORIES,
                    remedy=f"Store it with: workbench proposals commit {named.number}",
                )
            others = [int(each[1:]) for each in named.conflicts_with if each[0] == "#"] if named else []
            numbers = (*numbers, *others)
        return self._settle(Verdicts(commit=tuple(numbers), both=True, expected=expected or {}))

    def settle(
        self,
        keep: Sequence[int],
        reject: Sequence[int],
        *,
        reason: str = "",
        replacing: bool | Collection[str] = False,
        expected: Mapping[int, str] | None = None,
    ) -> results.reviews.Settled:
        """Store some proposals and refuse others, in one commit.

        Args:
            keep: Numbers of what is stored.
            reject: Numbers of what is refused.
            reason: Why the others are not.

        Raises:
            As `commit`.
        """
        told = reason or f"decided against, for {', '.join(f'#{number}' for number in keep)}"
        verdicts = Verdicts(tuple(keep), tuple(reject), reason=told, expected=expected or {})
        return self._settle(verdicts.in_place_of(replacing))

    def draft_all(self, view: FileView, wanted: Sequence[Verdicts]) -> Plan[DecidedTogether]:
        """Return the plan of several verdicts over some files, which nothing is written by."""
        return plan_all_verdicts(view, self._prepared(wanted))

    def settle_all(
        self, wanted: Sequence[Verdicts], decisions: Callable[[results.reviews.Settled], Mapping[str, str]]
    ) -> DecidedTogether:
        """Carry out several verdicts of a person in one commit, each whole or absent.

        Args:
            decisions: Returns what was decided by what was carried out, by name: approved, rejected or deferred.

        Raises:
            RoleRefused: This door is no person's.
        """
        require(self._context.role, Capability.DECIDE_REVIEW, doing=_DOING)
        self._mutator.prepare_writing()
        self._context.refresh_for_reading()
        prepared = self._prepared(wanted)

        def plan(view: FileView) -> Plan[DecidedTogether]:
            planned = plan_all_verdicts(view, prepared)
            named = decisions(planned.outcome.settled).items()
            trailers = tuple((DECIDED, f"{name} {decision}") for name, decision in named)
            return replace(planned, trailers=(*planned.trailers, *trailers))

        receipt = self._mutator.mutate(
            plan,
            replace(self._mutator.attribution(_TRIGGER), approval="approved"),
            Capability.DECIDE_PROPOSALS,
            doing=_DOING,
        )
        settled = replace(receipt.outcome.settled, commit=receipt.commit, files=receipt.files)
        return replace(receipt.outcome, settled=settled)

    # Inner parts

    def _prepared(self, wanted: Sequence[Verdicts]) -> list[tuple[Verdicts, VerdictContext]]:
        pending = read_proposals(self._context.files)
        return [
            (each, self._means(each, [one for number in each.commit if (one := pending.proposal(number))]))
            for each in wanted
        ]

    def _settle(self, verdicts: Verdicts) -> results.reviews.Settled:
        context = self._context
        self._require_verdict()
        if not verdicts.numbers:
            raise InvalidInput("No proposal was named.", remedy="Name one by its number.")
        by = self._mutator.attribution(_TRIGGER)
        self._mutator.prepare_writing()
        context.refresh_for_reading()
        pending = read_proposals(context.files)
        chosen = [one for number in verdicts.commit if (one := pending.proposal(number)) is not None]
        means = self._means(verdicts, chosen)
        if context.role.kind == "person":
            by = replace(by, approval="approved")
        elif chosen and context.actor is None:
            means = replace(means, refusing=by.actor)
            by = replace(by, actor=actor_of(one.sender for one in chosen))
        return self._mutator.change(
            lambda view: plan_verdicts(view, verdicts, means), by, Capability.DECIDE_PROPOSALS, doing=_DOING
        )

    def _require_verdict(self) -> None:
        context = self._context
        require(context.role, Capability.DECIDE_PROPOSALS, doing=_DOING)
        if context.settings.proposals.mode == "manual" and context.role.kind != "person":
            raise RoleRefused(
                "The main agent may not decide on proposals here: the setting proposals.mode is “manual”.",
                where=str(context.role),
                remedy="Ask the person to do it, in the bench or with `workbench proposals`.",
            )

    def _means(self, verdicts: Verdicts, chosen: Sequence[MemoryProposal]) -> VerdictContext:
        context = self._context
        prepared = {}
        for proposal in chosen:
            text = verdicts.text_of(proposal)
            routing = self._routed(proposal, text, verdicts)
            prepared[proposal.number] = PreparedRouting(text, routing, warnings_of_rejected(context, text))
        person = context.role.may(Capability.DECIDE_REVIEW)
        scores = context.scores()
        return VerdictContext(
            now=context.now(),
            settings=context.settings,
            lookup=context.lookups,
            scores=scores,
            prepared=prepared,
            given=self._highest_number,
            compare=comparison(context),
            first_seen=scores.first_seen,
            remember_rejections=remembering(context) if person else None,
            trusting=person,
        )

    def _routed(self, proposal: MemoryProposal, text: str, verdicts: Verdicts) -> Routing:
        context = self._context
        entities, _ = entities_of(proposal, context.files)
        store = verdicts.store_of(proposal)
        return route(context, RememberRequest(text, store=store, entities=entities, source="conversation"))

    def _highest_number(self) -> int:
        """Return the highest number that history knows of; read under the writer's lock."""
        history = self._context.history
        if not history.exists:
            return 0
        return highest_given(commit.message for commit in history.store.walk())

    def propose(
        self,
        content: str,
        *,
        store: str | None = None,
        entities: Iterable[str] = (),
        confidence: str = "medium",
        trigger: str = "",
        core_worthy: bool = False,
        type: str | None = None,
        tags: Iterable[str] = (),
        origins: Iterable[str] = (),
        scope: str | None = None,
    ) -> results.reviews.Proposed:
        """Ask for something to be remembered; `propose_request` with the fields of the request as arguments.

        Raises:
            InvalidInput: The text cannot be kept, or an option makes no sense.
            RoleRefused: This door may only read.
        """
        return self.propose_request(
            ProposeRequest(
                content,
                store=store,
                entities=tuple(entities),
                confidence=confidence,
                trigger=trigger,
                core_worthy=core_worthy,
                type=type,
                tags=tuple(tags),
                origins=tuple(origins),
                scope=scope,
            )
        )

    def propose_request(self, request: ProposeRequest) -> results.reviews.Proposed:
        """Ask for something to be remembered; it waits in `memory/meta/pending-memories.md` for a verdict.

        It is compared with what waits and with memory: what it contradicts is marked on both sides, and what says
        the same already is named. The very same words as those of a proposal that waits are not written again.
        In the mode `auto` what a trusted agent is sure enough of is stored at once.

        Args:
            request: What to remember.

        Raises:
            InvalidInput: The text cannot be kept, or an option makes no sense.
            RoleRefused: This door may only read.
        """
        context = self._context
        require(context.role, Capability.PROPOSE)
        by = self.proposer(request.trigger)
        draught = check_request(request, context.role.name or context.role.kind, context.now())
        if held := held_back(context, "propose", request.content, request.as_arguments()):
            return results.reviews.Proposed(None, held_back=held)
        self._mutator.prepare_writing()
        context.refresh_for_reading()
        if request.store is None:
            routed = answers_by_rules(context)(draught.proposal.content).store
            draught = replace(draught, proposal=replace(draught.proposal, store=routed))
        against = self._against_memory(draught.proposal)
        compare = comparison(context)

        def plan(view: FileView) -> Plan[results.reviews.Proposed]:
            return plan_propose(view, draught, against, compare=compare, given=self._highest_number)

        proposed = self._mutator.change(plan, by, Capability.PROPOSE, doing="propose memories")
        rejected = warnings_of_rejected(context, draught.proposal.content)
        proposed = replace(proposed, warnings=(*proposed.warnings, *rejected))
        if (
            proposed.commit is None
            or rejected
            or request.scope is not None
            or not self._is_stored_at_once(draught, proposed)
        ):
            return proposed
        return self._store_at_once(draught.proposal, proposed)

    # Inner parts

    def proposer(self, trigger: str) -> Attribution:
        """Return who proposes: an agent under its own name, whatever actor the door was opened for."""
        context = self._context
        said = clip(trigger, 80) if trigger.strip() else "proposed"
        if context.role.kind == "agent":
            return Attribution(f"subagent:{context.role.name}", "pending", said, self._mutator.asker())
        return replace(self._mutator.attribution(said), approval="pending")

    def _against_memory(self, proposal: MemoryProposal) -> Compared:

        found = self._retrieval.search(
            proposal.content[:1000], max_results=_NEAREST, min_score=0.0, explain=True
        )
        return compared_with_memory(self._context, proposal.content, proposal.entities, found)

    def _is_stored_at_once(self, draught: NewProposal, proposed: results.reviews.Proposed) -> bool:
        """Return whether no verdict is needed (design document §13.4)."""
        wanted = self._context.settings.proposals
        proposal = draught.proposal
        return (
            wanted.mode == "auto"
            and proposal.sender in wanted.trusted
            and self._context.role.kind == "agent"
            and _SURENESS[proposal.confidence] >= _SURENESS[wanted.auto_confidence]
            and proposal.store in _STORED_AT_ONCE
            and not proposal.core_worthy
            and proposed.status == "pending"
            and proposed.duplicate_of is None
        )

    def _store_at_once(
        self, proposal: MemoryProposal, proposed: results.reviews.Proposed
    ) -> results.reviews.Proposed:
        verdicts = Verdicts(commit=(proposed.number,), expected={proposed.number: proposal.content})
        means = replace(self._means(verdicts, [replace(proposal, number=proposed.number)]), trusting=False)
        by = Attribution(
            actor_of([proposal.sender]), "auto", "stored at once: the agent is trusted", self._mutator.asker()
        )
        receipt = self._mutator.mutate(
            lambda view: plan_verdicts(view, verdicts, means),
            by,
            Capability.PROPOSE,
            doing="propose memories",
        )
        return replace(
            proposed,
            commit=receipt.commit,
            files=tuple(dict.fromkeys((*proposed.files, *receipt.files))),
            ids=receipt.outcome.ids,
            warnings=tuple(dict.fromkeys((*proposed.warnings, *receipt.outcome.warnings))),
            status="committed",
            committed=receipt.outcome.ids,
        )
