"""Stores proposals as memories, one after the other, each seeing what those before it left."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, RoleRefused
from workbench.engine.history.plan import Action
from workbench.engine.proposals.linking import ask_which_holds, naming
from workbench.engine.proposals.opposed import check_may_replace, standing_against
from workbench.engine.proposals.replacing import archive_opposed, retire_facts
from workbench.engine.proposals.storing import entities_of, request_of, store_of
from workbench.engine.stores.entities import EntityFiles
from workbench.engine.stores.remember import plan_remember

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.documents.memory_proposal import MemoryProposal
    from workbench.engine.proposals.opposed import Opposed
    from workbench.engine.proposals.verdicts import Means, Prepared, Verdicts
    from workbench.engine.results.memories import Remembered
    from workbench.engine.stores.drafting import Draft
    from workbench.engine.stores.intent import RememberRequest

_BLOCK: Final = "Active Context"
_LONGEST_FACT: Final = 240
"""In characters."""


class Committing:
    """Stores proposals in one draft, and keeps what is to be told of it.

    Args:
        draft: The files; changed.
        verdicts: What was decided.
        means: What it takes.
        sides: Ids of the memories that contradict each other, where both are kept.
    """

    def __init__(self, draft: Draft, verdicts: Verdicts, means: Means, sides: Iterable[str] = ()) -> None:
        self._draft = draft
        self._verdicts = verdicts
        self._means = means
        self._sides = list(dict.fromkeys(sides))
        self._warnings: dict[str, None] = {}
        self.stored: dict[int, Remembered] = {}
        self.retired: list[str] = []

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what a person should know, one sentence each."""
        return tuple(self._warnings)

    def store(self, proposal: MemoryProposal) -> None:
        """Store one proposal; where that was decided, in place of what it contradicts.

        Raises:
            InvalidInput: Something of it cannot be kept.
            Refused: It takes a person, or their word about one memory, to let go what it contradicts.
        """
        means, verdicts = self._means, self._verdicts
        prepared = means.prepared[proposal.number]
        entities, left_out = entities_of(proposal, self._draft)
        store = store_of(proposal, verdicts.wishes) or prepared.routing.store
        if prepared.rejected and not means.trusting:
            # As when it notices something itself: that it was said may be noted, it is not believed for that.
            store, proposal = "episodic", replace(proposal, core_worthy=False)
        block = prepared.routing.core_block or _BLOCK
        request = request_of(proposal, entities, wishes=verdicts.wishes, store=store, block=block)
        files = EntityFiles(self._draft, means.lookup, means.now, scope=request.scope)
        opposed = standing_against(files, proposal, means.settings.zone)
        giving_way = self._giving_way(proposal, opposed, request)
        told = f"accepted proposal #{proposal.number}"
        self.retired += archive_opposed(
            self._draft, giving_way, told, now=means.now, settings=means.settings, first_seen=means.first_seen
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
        """Link what was kept though it contradicts each other."""
        means = self._means
        ask_which_holds(
            self._draft, list(dict.fromkeys(self._sides)), means.now, means.settings.zone, means.lookup
        )

    def _giving_way(
        self, proposal: MemoryProposal, opposed: Sequence[Opposed], request: RememberRequest
    ) -> tuple[Opposed, ...]:
        """Return what a proposal takes the place of: what it contradicts by its words, for a mark is no proof.

        What says more stays whoever names it: the rest of a conversation would be lost with one sentence of it.
        """
        means, verdicts = self._means, self._verdicts
        if not verdicts.replacing:
            return ()
        found = tuple(
            each
            for each in opposed
            if (not verdicts.named or each.id in verdicts.named)
            and not each.says_more
            and any(means.compare(proposal.content, said) == "contradicts" for said in each.said)
        )
        if found and means.prepared[proposal.number].rejected and not means.trusting:
            raise RoleRefused(
                f"The person has rejected what proposal #{proposal.number} says.",
                where=layout.PENDING_MEMORIES,
                remedy="Store it beside what it contradicts, or ask the person.",
            )
        check_may_replace(
            proposal.number, found, request.scope, named=verdicts.named, is_person=means.trusting
        )
        return found

    def _worded(self, request: RememberRequest, giving_way: Sequence[Opposed]) -> RememberRequest:
        """Return a request that says what was decided of it, and goes where what it replaces stood."""
        if self._verdicts.both:
            # A fact reads as a sentence; its entity asks instead. Other people are not told what else there is.
            silent = request.scope is not None or request.store == "semantic"
            sides = [] if silent else list(dict.fromkeys(self._sides))
            return replace(request, text=naming(request.text, sides), confidence="low")
        if request.scope is not None:
            return request
        block = next((each.block for each in giving_way if each.block), request.block)
        about = tuple(dict.fromkeys(each.entity for each in giving_way if each.entity))
        alone = request.store == "semantic" and not request.entities
        return replace(request, block=block, entities=about if alone else request.entities)

    def _remember(
        self, proposal: MemoryProposal, request: RememberRequest, prepared: Prepared, told: str
    ) -> Remembered:
        means = self._means
        try:
            plan = plan_remember(
                self._draft,
                request,
                prepared.routing,
                now=means.now,
                settings=means.settings,
                lookup=means.lookup,
                standing=means.standing,
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
    """Return what a fact says instead of one that is retired; of a long text, its summary."""
    return text if len(text) <= _LONGEST_FACT else remembered.summary
