"""The part of the door by which the main agent and the person decide on proposals (design document §13.3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.agents.roles import Capability, require
from workbench.engine.errors import InvalidInput, RoleRefused
from workbench.engine.results.proposals import Proposals, Settled
from workbench.engine.workspace.recalling import Recalling

if TYPE_CHECKING:
    from workbench.engine.documents.memory_proposal import MemoryProposal
    from workbench.engine.history.plan import Receipt
    from workbench.engine.proposals.verdicts import Means, Verdicts
    from workbench.engine.triggers.model import Routing

_DOING: Final = "decide on proposals"
_TRIGGER: Final = "proposals reviewed"


class Deciding(Recalling):
    """Verdicts on proposals; each call is one commit, all of it or nothing."""

    def proposals(self) -> Proposals:
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
        replacing: bool | Collection[str] = False,
        expected: Mapping[int, str] | None = None,
    ) -> Settled:
        """Store proposals, in one commit, as `remember` stores.

        What a person has rejected before is noted as an episode alone where the main agent decides.

        With `replacing`, memories that they are marked as contradicting, and do contradict by their words, hold no
        longer: a fact is retired and points to the one that holds, anything else is archived, and an item of core
        memory makes room for them. What is pinned, stands in core memory or the vault, or is not for those whom a
        proposal is for, goes only where a person names it.

        Args:
            numbers: Of one or more.
            store: Where, instead of where they were suggested.
            text: What, instead of the words of the one that is named.
            replacing: Whether they take the place of what they contradict; or the ids of what they do so of.
            expected: Texts that they had when somebody looked at them, by number.

        Raises:
            RoleRefused: This door may not decide; in the mode `manual` a person alone may. Or it takes a person to
                let go what they contradict.
            Refused: It takes that what they contradict is named.
            NotFound: One of them does not wait, or no longer.
            Stale: One says something else than expected, or than a moment ago.
            InvalidInput: Something cannot be stored as it is, or contradicts nothing that was named.
        """
        from workbench.engine.proposals.storing import Wishes
        from workbench.engine.proposals.verdicts import Verdicts

        if text is not None and len(numbers) != 1:
            raise InvalidInput("Other words are of one proposal.", remedy="Name one proposal.")
        verdicts = Verdicts(
            commit=tuple(numbers), wishes=Wishes(store=store, text=text), expected=expected or {}
        )
        return self._settle(verdicts.in_place_of(replacing))

    def proposal_reject(
        self, numbers: Sequence[int], *, reason: str = "", expected: Mapping[int, str] | None = None
    ) -> Settled:
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

    def proposal_defer(self, numbers: Sequence[int], *, expected: Mapping[int, str] | None = None) -> Settled:
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
    ) -> Settled:
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
        replacing: bool | Collection[str] = False,
        expected: Mapping[int, str] | None = None,
    ) -> Settled:
        """Store some proposals and refuse others, in one commit.

        Args:
            keep: Numbers of what is stored.
            reject: Numbers of what is refused.
            reason: Why the others are not.
            replacing: As for `proposal_commit`, of what is stored.
            expected: As for `proposal_commit`.

        Raises:
            As `proposal_commit`.
        """
        from workbench.engine.proposals.verdicts import Verdicts

        told = reason or f"decided against, for {', '.join(f'#{number}' for number in keep)}"
        verdicts = Verdicts(tuple(keep), tuple(reject), reason=told, expected=expected or {})
        return self._settle(verdicts.in_place_of(replacing))

    # Inner parts

    def _settle(self, verdicts: Verdicts) -> Settled:
        from workbench.engine.proposals.deciding import plan_verdicts
        from workbench.engine.proposals.file import read_proposals

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
        receipt: Receipt[Settled] = ground.mutate(
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
        from workbench.engine.workspace.comparing import comparison
        from workbench.engine.workspace.proposal_rejections import remembering
        from workbench.engine.workspace.reviewing import warnings_of_rejected

        ground = self._ground
        prepared = {}
        for proposal in chosen:
            text = text_of(proposal, verdicts.wishes)
            routing = self._routed(proposal, text, verdicts)
            prepared[proposal.number] = Prepared(text, routing, warnings_of_rejected(ground, text))
        person = ground.role.may(Capability.DECIDE_REVIEW)
        scores = ground.scores()
        return Means(
            now=ground.now(),
            settings=ground.settings,
            lookup=ground.lookups,
            standing=scores,
            prepared=prepared,
            given=self._highest_number,
            compare=comparison(ground),
            first_seen=scores.first_seen,
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
