"""The reviewing part of the door: what is proposed, and a person's decisions on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.agents.roles import Capability, require
from workbench.engine.errors import InvalidInput, NotFound, OutsideWorkspace
from workbench.engine.results.memories import Changed
from workbench.engine.results.reflection import (
    Applied,
    CoreTokens,
    Rejection,
    Rejections,
    Review,
    ReviewPreview,
)
from workbench.engine.workspace.changing import Changing

if TYPE_CHECKING:
    from workbench.engine.documents.pending_reflection import PendingReflection
    from workbench.engine.documents.rejected import RejectedClaims
    from workbench.engine.history.plan import FileView, Plan
    from workbench.engine.reflection.review.means import Means
    from workbench.engine.reflection.review.overview import Standing
    from workbench.engine.workspace.ground import Ground


class Reviewing(Changing):
    """What a reflection proposed; everybody may read it, and nobody but a person decides."""

    def review(self) -> Review:
        """Return the proposal that waits, item by item; one without items where none does."""
        from workbench.engine.reflection.review.overview import overview

        ground = self._ground
        ground.refresh_for_reading()
        pending = _pending(ground)
        return overview(
            pending, self._standing(pending), ground.now(), ground.settings.reflection.token_budget
        )

    def review_waiting(self) -> int:
        """Return how many items nobody has decided on; quick."""
        return sum(item.decision == "undecided" for item in _pending(self._ground).items)

    def review_decide(self, decisions: Mapping[str, str]) -> Changed:
        """Tick the boxes of items, in one commit; only a person may.

        Args:
            decisions: undecided, approved, rejected or deferred, by item id.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: An id is none of the proposal's, or there is no proposal.
            InvalidInput: A word is no decision.
        """
        from workbench.engine.reflection.review.deciding import plan_decide

        return self._decide(lambda view: plan_decide(view, decisions), "decided on a reflection")

    def review_edit(
        self,
        id: str,  # noqa: A002 - the field's word
        text: str | None = None,
        fields: Mapping[str, str] | None = None,
        decision: str | None = None,
    ) -> Changed:
        """Change what an item proposes, and with it the decision, in one commit; only a person may.

        Args:
            id: The item's.
            text: What it shall propose instead.
            fields: Text by field, for example `answer`, `resolve`, `this`, `steps` or `since`; a blank one
                takes the field out.
            decision: undecided, approved, rejected or deferred; left as it is by default.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: The id is none of the proposal's.
            InvalidInput: There is no such field, or the words make no sense there.
        """
        from workbench.engine.reflection.review.deciding import plan_edit_item

        return self._decide(
            lambda view: plan_edit_item(view, id, text=text, fields=fields, decision=decision),
            f"edited {id[:40]}",
        )

    def review_preview(self) -> ReviewPreview:
        """Return what applying would do now, file by file, which is nothing where no proposal waits.

        Raises:
            DocumentError: The file does not say which reflection it is of.
        """
        from workbench.engine.reflection.review.plan import preview
        from workbench.engine.stores.core import view_core

        ground = self._ground
        ground.refresh_for_reading()
        if not _pending(ground).items:
            core = view_core(ground.files, ground.settings)
            tokens = CoreTokens(core.tokens, core.tokens, core.cap)
            return ReviewPreview((), (), (), (), {}, (), tokens)
        return preview(ground.files, _means(ground))

    def review_apply(self) -> Applied:
        """Apply what is approved and remember what is rejected, in one commit; only a person may.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: There is no proposal.
            DocumentError: The file does not say which reflection it is of.
        """
        from workbench.engine.history.plan import Attribution
        from workbench.engine.history.undo import going_on
        from workbench.engine.proposals.clearing import clearing
        from workbench.engine.reflection.deferred_proposals import numbers_of
        from workbench.engine.reflection.files import read_pending
        from workbench.engine.reflection.review.plan import checked_reflection, plan_apply
        from workbench.engine.reflection.review.reinforcement import still_relevant

        ground = self._ground
        doing = "apply a reflection"
        require(ground.role, Capability.DECIDE_REVIEW, doing=doing)
        ground.prepare_writing()
        ground.adopt()
        ground.refresh()
        pending = _pending(ground)
        name = checked_reflection(pending) if pending.items else "none"
        by = Attribution(f"reflection:{name}", "approved", "review applied", ground.asker())

        def plan(view: FileView) -> Plan[Applied]:
            wanted = plan_apply(view, _means(ground))
            decided = {*wanted.outcome.applied, *wanted.outcome.rejected}
            taken_up = numbers_of(item for item in read_pending(view).items if item.id in decided)
            cleared = clearing(wanted, view, taken_up)
            # Few reflections are applied bit by bit; the others need no walk through all of history.
            has_begun = by.actor in ground.looking_back.line().names
            return going_on(cleared, ground.history, by.actor) if has_begun else cleared

        receipt = ground.mutate(plan, by, Capability.DECIDE_REVIEW, doing=doing)
        applied = set(receipt.outcome.applied)
        if receipt.commit is not None:
            found = still_relevant(item for item in pending.items if item.id in applied)
            ground.count_accesses_with(receipt.commit, found)
        return replace(receipt.outcome, commit=receipt.commit, files=receipt.files)

    def review_rejected(self) -> Rejections:
        """Return what a person rejected, and what therefore is not proposed again without new evidence."""
        found = _rejected(self._ground.files)
        return Rejections(
            tuple(
                Rejection(
                    claim.id,
                    claim.item.kind,
                    claim.item.target,
                    claim.item.text,
                    claim.item.before,
                    tuple(proof.id for proof in claim.item.evidence),
                    claim.reflection,
                    claim.time,
                    claim.item.span.start if claim.item.span else 0,
                )
                for claim in found.claims
            ),
            tuple(f"{problem.line}: {problem.message} {problem.remedy}" for problem in found.problems),
            found.path,
        )

    def review_allow(self, id: str, *more: str) -> Changed:  # noqa: A002 - the field's word
        """Withdraw rejections, so that the same may be proposed again; only a person may.

        Raises:
            RoleRefused: This door is no person's.
            NotFound: Nothing was rejected by that id.
        """
        from workbench.engine.history.plan import Action, FileChange, Plan

        ids = tuple(dict.fromkeys((id, *more)))

        def plan(view: FileView) -> Plan[Changed]:
            before = _rejected(view)
            told = f"withdrew the rejection of {', '.join(ids)}"
            change = FileChange(before.path, before.remove(ids).render(), Action.EDIT, told)
            return Plan(Action.EDIT, before.path, told, (change,), outcome=Changed(None, ids=ids))

        return self._decide(plan, f"withdrew {len(ids)} rejections")

    def _standing(self, pending: PendingReflection) -> Standing:
        from workbench.engine.reflection.review.overview import Standing
        from workbench.engine.reflection.review.rehearsal import rehearse

        ground = self._ground
        rehearsed = rehearse(ground.files, pending.items, _means(ground))
        return Standing(
            rehearsed.core_tokens,
            waits=rehearsed.waiting,
            stale={
                item_id: (found.now, found.reason)
                for item_id, found in rehearsed.stale.items()
                if found.stale
            },
            title=self.title,
            text_of=_texts(ground),
        )

    def _decide(self, planner: Callable[[FileView], Plan[Changed]], trigger: str) -> Changed:
        ground = self._ground
        doing = "decide on a reflection"
        require(ground.role, Capability.DECIDE_REVIEW, doing=doing)
        by = ground.attribution(trigger, named="manual")
        receipt = ground.mutate(planner, by, Capability.DECIDE_REVIEW, doing=doing)
        return replace(receipt.outcome, commit=receipt.commit, files=receipt.files)


def warnings_of_rejected(ground: Ground, text: str) -> tuple[str, ...]:
    """Say which claims of a text a person has rejected before, whoever makes them now.

    Args:
        ground: The open workspace.
        text: What is to be remembered or proposed.
    """
    if ground.files.read(layout.REJECTED) is None:
        return ()
    from workbench.engine.reflection.rejections import rejected_before, warnings_of

    return warnings_of(rejected_before(text, (), _rejected(ground.files)))


def _pending(ground: Ground) -> PendingReflection:
    from workbench.engine.reflection.files import read_pending

    return read_pending(ground.files)


def _rejected(view: FileView) -> RejectedClaims:
    return _claims_in(view.read(layout.REJECTED) or b"")


@lru_cache(maxsize=2)
def _claims_in(content: bytes) -> RejectedClaims:
    from workbench.engine.documents.rejected import RejectedClaims

    return RejectedClaims.parse(content, layout.REJECTED)


def _means(ground: Ground) -> Means:
    from workbench.engine.reflection.review.means import Means
    from workbench.engine.workspace.routing import answers_by_rules

    scores = ground.scores()
    return Means(
        ground.now(),
        ground.settings,
        ground.lookups,
        first_seen=scores.first_seen,
        standing=scores,
        route=answers_by_rules(ground),
    )


def _texts(ground: Ground) -> Callable[[str], str | None]:
    """Return what gives a memory's words by its id; of lines that moved, all words of their file."""
    from workbench.engine.stores.locate import locate_memory

    @lru_cache(maxsize=1024)
    def text_of(memory_id: str) -> str | None:
        lookups = ground.lookups
        known = lookups.fact(memory_id) if "#^" in memory_id else lookups.memory(memory_id)
        if known is not None:
            return known.text
        try:
            return locate_memory(ground.files, memory_id, ground.zone).text
        except (NotFound, InvalidInput, OutsideWorkspace):
            return None

    return text_of
