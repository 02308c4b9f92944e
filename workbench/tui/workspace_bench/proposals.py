"""The bench’s calls about what agents propose, answered by a real workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.workspace_bench.door import Door, counted

if TYPE_CHECKING:
    from workbench.engine.results.reviews import Proposals, Settled
    from workbench.tui import bench
    from workbench.tui.verdicts import Verdict


class WorkspaceProposals(Door):
    """The part of a workspace in which agents ask for something to be remembered."""

    def proposals(self) -> Proposals:
        """Return every proposal without a verdict, with what it contradicts or repeats."""
        return self._workspace.proposals()

    def proposals_waiting(self) -> int:
        """Return how many proposals wait for a person; those that are left to the reflection do not."""
        return sum(each.status != "deferred" for each in self._workspace.proposals().proposals)

    def settle(self, verdict: Verdict) -> bench.Outcome:
        """Carry out a verdict at once, in one commit; refused as stale where a proposal says something else by now."""
        settled = self._settled(verdict)
        told = verdict.done()
        if settled.retired:
            gone = counted(settled.retired, "memory")
            told = f"{told} {gone[0].upper()}{gone[1:]} no longer hold{'s' * (len(settled.retired) == 1)}."
        return self._did(told, settled)

    def _settled(self, verdict: Verdict) -> Settled:
        keep, refuse, defer = (
            tuple(each.number for each in proposals)
            for proposals in (verdict.keep, verdict.refuse, verdict.defer)
        )
        workspace, expected = self._workspace, verdict.expected
        if verdict.both:
            return workspace.proposal_keep_both(keep, expected=expected)
        if keep and refuse:
            return workspace.proposal_settle(
                keep, refuse, reason=verdict.reason, replacing=verdict.replacing, expected=expected
            )
        if keep:
            return workspace.proposal_commit(
                keep, store=verdict.store, text=verdict.text, replacing=verdict.replacing, expected=expected
            )
        if refuse:
            return workspace.proposal_reject(refuse, reason=verdict.reason, expected=expected)
        return workspace.proposal_defer(defer, expected=expected)
