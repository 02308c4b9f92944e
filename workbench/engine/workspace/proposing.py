"""The part of the door by which agents ask for something to be remembered (design document §13)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine.agents.roles import Capability, require
from workbench.engine.results.proposals import Proposed
from workbench.engine.scopes import parse_scope
from workbench.engine.workspace.deciding import Deciding
from workbench.engine.workspace.held_back import held_back

if TYPE_CHECKING:
    from workbench.engine.documents.memory_proposal import MemoryProposal
    from workbench.engine.history.plan import Attribution, FileView, Plan
    from workbench.engine.proposals.appending import Draught
    from workbench.engine.proposals.comparing import Compared

_NEAREST: Final = 8
_SURENESS: Final = {"low": 0, "medium": 1, "high": 2}
# What steers an agent, stands in its mind always, or never fades is looked at by somebody.
_STORED_AT_ONCE: Final = frozenset({"episodic", "semantic"})


class Proposing(Deciding):
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
    ) -> Proposed:
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
            return Proposed(None, held_back=held)
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

        def plan(view: FileView) -> Plan[Proposed]:
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

    # Inner parts

    def _proposer(self, trigger: str) -> Attribution:
        """Return who proposes: an agent under its own name, whatever actor the door was opened for."""
        from workbench.engine.history.plan import Attribution
        from workbench.engine.stores.wording import clip

        ground = self._ground
        said = clip(trigger, 80) if trigger.strip() else "proposed"
        if ground.role.kind == "agent":
            return Attribution(f"subagent:{ground.role.name}", "pending", said, ground.asker())
        return replace(ground.attribution(said), approval="pending")

    def _against_memory(self, proposal: MemoryProposal) -> Compared:
        from workbench.engine.workspace.comparing import compared_with_memory

        found = self.search(proposal.content[:1000], max_results=_NEAREST, min_score=0.0, explain=True)
        return compared_with_memory(self._ground, proposal.content, proposal.entities, found)

    def _is_stored_at_once(self, draught: Draught, proposed: Proposed) -> bool:
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

    def _store_at_once(self, proposal: MemoryProposal, proposed: Proposed) -> Proposed:
        from workbench.engine.history.plan import Attribution
        from workbench.engine.proposals.deciding import plan_verdicts
        from workbench.engine.proposals.verdicts import Verdicts, actor_of

        ground = self._ground
        verdicts = Verdicts(commit=(proposed.number,), expected={proposed.number: proposal.content})
        means = replace(self._means(verdicts, [replace(proposal, number=proposed.number)]), trusting=False)
        by = Attribution(
            actor_of([proposal.sender]), "auto", "stored at once: the agent is trusted", ground.asker()
        )
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
