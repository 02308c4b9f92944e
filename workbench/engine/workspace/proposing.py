"""The part of the door for proposals: agents make them, the main agent and the person decide on them (§13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout, results
from workbench.engine.agents.roles import Capability, require
from workbench.engine.errors import InvalidInput, RoleRefused
from workbench.engine.scopes import parse_scope
from workbench.engine.workspace.held_back import held_back
from workbench.engine.workspace.recalling import Recalling

if TYPE_CHECKING:
    from workbench.engine.documents import MemoryProposal
    from workbench.engine.history import Attribution, FileView, Plan, Receipt
    from workbench.engine.proposals.appending import Draught
    from workbench.engine.proposals.comparing import Compared
    from workbench.engine.proposals.verdicts import Means, Verdicts
    from workbench.engine.triggers import Routing

_DOING: Final = "decide on proposals"
_TRIGGER: Final = "proposals reviewed"
_NEAREST: Final = 8
_SURENESS: Final = {"low": 0, "medium": 1, "high": 2}
# What steers an agent, stands in its mind always, or never fades is looked at by somebody.
_STORED_AT_ONCE: Final = frozenset({"episodic", "semantic"})


class Proposing(Recalling):
    """Proposals: all but readers make them; who proposes is what the door was opened as, whatever the words say."""

    def propose(
        self,
        content: str,
        *,
        store: str | None = None,
        entities: Iterable[str] = (),
        confidence: str = "medium",
        trigger: str = "",
        core_worthy: bool = False,
        type: str | None = None,  # noqa: A002 - the word of the contract
        tags: Iterable[str] = (),
        origins: Iterable[str] = (),
        scope: str | None = None,
    ) -> results.Proposed:
        """Ask for something to be remembered; it waits in `memory/meta/pending-memories.md` for a verdict.

        It is compared with what waits and with memory: what it contradicts is marked on both sides, and what says
        the same already is named. The very same words as those of a proposal that waits are not written again.
        In the mode `auto` what a trusted agent is sure enough of is stored at once.

        Args:
            content: What to remember; any language, kept as it is.
            store: core, episodic, semantic, procedural or vault; found by its wording if left out.
            entities: What it is about: `TYPE:NAME`, or ids.
            confidence: high, medium or low.
            trigger: What set it off.
            core_worthy: Whether it should stand in core memory as well.
            type: decision, fact, preference, task, event, emotion or correction.
            tags: Topical tags.
            origins: Ids of memories or sources that it was learned from.
            scope: Whom it would be for besides the owner: `person:NAME`, `group:NAME` or `shared`. It then waits
                for a verdict in every mode.

        Raises:
            InvalidInput: The text cannot be kept, or an option makes no sense.
            RoleRefused: This door may only read.
        """
        from workbench.engine.proposals.appending import ProposeRequest, draw_up, plan_propose
        from workbench.engine.workspace.comparing import comparison
        from workbench.engine.workspace.reviewing import warnings_of_rejected
        from workbench.engine.workspace.routing import answers_by_rules

        ground = self._ground
        require(ground.role, Capability.PROPOSE)
        by = self._proposer(trigger)
        scope = parse_scope(scope) if scope is not None else None
        tags, entities, origins = tuple(tags), tuple(entities), tuple(origins)
        wishes = {
            "content": content, "store": store, "type": type, "tags": tags, "entities": entities,
            "confidence": confidence, "trigger": trigger, "core_worthy": core_worthy, "origins": origins,
            "scope": scope,
        }  # fmt: skip
        if held := held_back(ground, "propose", content, wishes):
            return results.Proposed(None, held_back=held)
        request = ProposeRequest(
            sender=ground.role.name or ground.role.kind,
            content=content,
            store=store or "episodic",
            entities=entities,
            confidence=confidence,
            trigger=trigger,
            core_worthy=core_worthy,
            type=type or "",
            tags=tags,
            origins=origins,
            scope=scope,
        )
        draught = draw_up(request, ground.now())
        ground.prepare_writing()
        ground.refresh_for_reading()
        if store is None:
            routed = answers_by_rules(ground)(draught.proposal.content).store
            draught = replace(draught, proposal=replace(draught.proposal, store=routed))
        against = self._against_memory(draught.proposal)
        compare = comparison(ground)

        def plan(view: FileView) -> Plan[results.Proposed]:
            return plan_propose(view, draught, against, compare=compare, given=self._highest_number)

        receipt = ground.mutate(plan, by, Capability.PROPOSE, doing="propose memories")
        rejected = warnings_of_rejected(ground, draught.proposal.content)
        proposed = replace(
            receipt.outcome,
            commit=receipt.commit,
            files=receipt.files,
            warnings=(*receipt.outcome.warnings, *rejected),
        )
        if (
            receipt.commit is None
            or rejected
            or scope is not None
            or not self._is_stored_at_once(draught, proposed)
        ):
            return proposed
        return self._store_at_once(draught.proposal, proposed)

    def proposals(self) -> results.Proposals:
        """Return every proposal that has no verdict, with what it contradicts or repeats."""
        from workbench.engine.proposals.file import overview, read_proposals

        require(self._ground.role, Capability.READ)
        return overview(read_proposals(self._ground.files))

    def proposal_commit(
        self,
        numbers: Sequence[int],
        *,
        store: str | None = None,
        text: str | None = None,
        expected: Mapping[int, str] | None = None,
    ) -> results.Settled:
        """Store proposals, in one commit, as `remember` stores.

        What a person has rejected before is noted as an episode alone where the main agent decides.

        Args:
            numbers: Of one or more.
            store: Where, instead of where they were suggested.
            text: What, instead of the words of the one that is named.
            expected: Texts that they had when somebody looked at them, by number.

        Raises:
            RoleRefused: This door may not decide; in the mode `manual` a person alone may.
            NotFound: One of them does not wait, or no longer.
            Stale: One says something else than expected, or than a moment ago.
            InvalidInput: Something cannot be stored as it is.
        """
        from workbench.engine.proposals.storing import Wishes
        from workbench.engine.proposals.verdicts import Verdicts

        if text is not None and len(numbers) != 1:
            raise InvalidInput("Other words are of one proposal.", remedy="Name one proposal.")
        wishes = Wishes(store=store, text=text)
        return self._settle(Verdicts(commit=tuple(numbers), wishes=wishes, expected=expected or {}))

    def proposal_reject(
        self, numbers: Sequence[int], *, reason: str = "", expected: Mapping[int, str] | None = None
    ) -> results.Settled:
        """Refuse proposals, in one commit; what a person refuses is remembered, and warned of when it comes again.

        Args:
            numbers: Of one or more.
            reason: Why, for the audit log.
            expected: As for `proposal_commit`.

        Raises:
            As `proposal_commit`.
        """
        from workbench.engine.proposals.verdicts import Verdicts

        return self._settle(Verdicts(reject=tuple(numbers), reason=reason, expected=expected or {}))

    def proposal_defer(
        self, numbers: Sequence[int], *, expected: Mapping[int, str] | None = None
    ) -> results.Settled:
        """Leave proposals to the next reflection, which puts them before the person; nothing is approved by that.

        Args:
            numbers: Of one or more.
            expected: As for `proposal_commit`.

        Raises:
            As `proposal_commit`.
        """
        from workbench.engine.proposals.verdicts import Verdicts

        return self._settle(Verdicts(defer=tuple(numbers), expected=expected or {}))

    def proposal_keep_both(
        self, numbers: Sequence[int], *, expected: Mapping[int, str] | None = None
    ) -> results.Settled:
        """Store proposals though they contradict each other or memory: with low confidence, and linked (§13.6).

        Args:
            numbers: Of one or more; one alone stands for itself and the proposals that it contradicts.
            expected: As for `proposal_commit`.

        Raises:
            InvalidInput: There is nothing that the only one contradicts.
            As `proposal_commit`.
        """
        from workbench.engine.proposals.verdicts import Verdicts

        if len(numbers) == 1:
            named = next((each for each in self.proposals().proposals if each.number == numbers[0]), None)
            if named is not None and not named.conflicts_with:
                raise InvalidInput(
                    f"Proposal #{named.number} contradicts nothing.",
                    where=layout.PENDING_MEMORIES,
                    remedy=f"Store it with: workbench proposals commit {named.number}",
                )
            others = [int(each[1:]) for each in named.conflicts_with if each[0] == "#"] if named else []
            numbers = (*numbers, *others)
        return self._settle(Verdicts(commit=tuple(numbers), both=True, expected=expected or {}))

    def proposal_settle(
        self,
        keep: Sequence[int],
        reject: Sequence[int],
        *,
        reason: str = "",
        expected: Mapping[int, str] | None = None,
    ) -> results.Settled:
        """Store some proposals and refuse others, in one commit.

        Args:
            keep: Numbers of what is stored.
            reject: Numbers of what is refused.
            reason: Why the others are not.
            expected: As for `proposal_commit`.

        Raises:
            As `proposal_commit`.
        """
        from workbench.engine.proposals.verdicts import Verdicts

        told = reason or f"decided against, for {', '.join(f'#{number}' for number in keep)}"
        verdicts = Verdicts(tuple(keep), tuple(reject), reason=told, expected=expected or {})
        return self._settle(verdicts)

    # Inner parts

    def _proposer(self, trigger: str) -> Attribution:
        """Return who proposes: an agent under its own name, whatever actor the door was opened for."""
        from workbench.engine.history import Attribution
        from workbench.engine.stores.wording import clip

        ground = self._ground
        said = clip(trigger, 80) if trigger.strip() else "proposed"
        if ground.role.kind == "agent":
            return Attribution(f"subagent:{ground.role.name}", "pending", said)
        return replace(ground.attribution(said), approval="pending")

    def _settle(self, verdicts: Verdicts) -> results.Settled:
        from workbench.engine.proposals.file import read_proposals
        from workbench.engine.proposals.verdicts import plan_verdicts

        ground = self._ground
        self._require_verdict()
        if not verdicts.numbers:
            raise InvalidInput("No proposal was named.", remedy="Name one by its number.")
        by = ground.attribution(_TRIGGER)
        ground.prepare_writing()
        ground.refresh_for_reading()
        pending = read_proposals(ground.files)
        chosen = [one for number in verdicts.commit if (one := pending.proposal(number)) is not None]
        means = self._means(verdicts, chosen)
        if ground.role.kind == "person":
            by = replace(by, approval="approved")
        elif chosen and ground.actor is None:
            from workbench.engine.proposals.verdicts import actor_of

            by = replace(by, actor=actor_of(one.sender for one in chosen))
        receipt: Receipt[results.Settled] = ground.mutate(
            lambda view: plan_verdicts(view, verdicts, means), by, Capability.DECIDE_PROPOSALS, doing=_DOING
        )
        return replace(receipt.outcome, commit=receipt.commit, files=receipt.files)

    def _require_verdict(self) -> None:
        ground = self._ground
        require(ground.role, Capability.DECIDE_PROPOSALS, doing=_DOING)
        if ground.settings.proposals.mode == "manual" and ground.role.kind != "person":
            raise RoleRefused(
                "The main agent may not decide on proposals here: the setting proposals.mode is “manual”.",
                where=str(ground.role),
                remedy="Ask the person to do it, in the bench or with `workbench proposals`.",
            )

    def _means(self, verdicts: Verdicts, chosen: Sequence[MemoryProposal]) -> Means:
        from workbench.engine.proposals.storing import text_of
        from workbench.engine.proposals.verdicts import Means, Prepared
        from workbench.engine.workspace.proposal_rejections import remembering
        from workbench.engine.workspace.reviewing import warnings_of_rejected

        ground = self._ground
        prepared = {}
        for proposal in chosen:
            text = text_of(proposal, verdicts.wishes)
            routing = self._routed(proposal, text, verdicts)
            prepared[proposal.number] = Prepared(text, routing, warnings_of_rejected(ground, text))
        person = ground.role.may(Capability.DECIDE_REVIEW)
        return Means(
            now=ground.now(),
            settings=ground.settings,
            lookup=ground.lookups,
            standing=ground.scores(),
            prepared=prepared,
            given=self._highest_number,
            remember_rejections=remembering(ground) if person else None,
            trusting=person,
        )

    def _routed(self, proposal: MemoryProposal, text: str, verdicts: Verdicts) -> Routing:
        from workbench.engine.proposals.storing import entities_of, store_of
        from workbench.engine.workspace.routing import route

        ground = self._ground
        entities, _ = entities_of(proposal, ground.files)
        store = store_of(proposal, verdicts.wishes)
        return route(ground, text, explicit=False, pinned=False, store=store, entities=entities)

    def _highest_number(self) -> int:
        """Return the highest number that history knows of; read under the writer's lock."""
        from workbench.engine.proposals.numbering import highest_given

        history = self._ground.history
        if not history.exists:
            return 0
        return highest_given(commit.message for commit in history.store.walk())

    def _against_memory(self, proposal: MemoryProposal) -> Compared:
        from workbench.engine.workspace.comparing import compared_with_memory

        found = self.search(proposal.content[:1000], max_results=_NEAREST, min_score=0.0)
        return compared_with_memory(self._ground, proposal.content, proposal.entities, found)

    def _is_stored_at_once(self, draught: Draught, proposed: results.Proposed) -> bool:
        """Tell whether somebody's verdict is not needed (design document §13.4)."""
        wanted = self._ground.settings.proposals
        proposal = draught.proposal
        return (
            wanted.mode == "auto"
            and proposal.sender in wanted.trusted
            and self._ground.role.kind == "agent"
            and _SURENESS[proposal.confidence] >= _SURENESS[wanted.auto_confidence]
            and proposal.store in _STORED_AT_ONCE
            and not proposal.core_worthy
            and proposed.status == "pending"
            and proposed.duplicate_of is None
        )

    def _store_at_once(self, proposal: MemoryProposal, proposed: results.Proposed) -> results.Proposed:
        from workbench.engine.history import Attribution
        from workbench.engine.proposals.verdicts import Verdicts, actor_of, plan_verdicts

        ground = self._ground
        verdicts = Verdicts(commit=(proposed.number,), expected={proposed.number: proposal.content})
        means = replace(self._means(verdicts, [replace(proposal, number=proposed.number)]), trusting=False)
        by = Attribution(actor_of([proposal.sender]), "auto", "stored at once: the agent is trusted")
        receipt = ground.mutate(
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
