"""What the bench asks about what agents propose to remember."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from workbench.engine.results.reviews import Proposals
    from workbench.tui.bench.answers import Outcome
    from workbench.tui.verdicts import Verdict


class ProposalCalls(Protocol):
    """Proposals of agents, and deciding on them."""

    def proposals(self) -> Proposals:
        """Return every proposal without a verdict, with what it contradicts or repeats."""
        ...

    def settle(self, verdict: Verdict) -> Outcome:
        """Carry out a verdict at once, in one commit; refused as stale where a proposal says something else by now."""
        ...
