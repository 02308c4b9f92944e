"""The reflecting part of the door: a cycle that proposes what to learn, and whether one is due."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.agents.roles import Capability, require
from workbench.engine.errors import HistoryError, InvalidInput, Locked, Refused, Stale, StorageError
from workbench.engine.results.memories import Changed
from workbench.engine.results.reflection import PhaseUse, Reflected, ReflectionDue
from workbench.engine.workspace import leftovers
from workbench.engine.workspace.dueness import reflection_due, waiting_proposal
from workbench.engine.workspace.reviewing import Reviewing

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView, Plan
    from workbench.engine.reflection.model import Mind
    from workbench.engine.reflection.work import Work
    from workbench.engine.results.reflection import Progress
    from workbench.engine.workspace.ground import Ground

_ACTOR = "bot:reflection"
_NOTHING_NEW = "There is nothing new to learn."


class Reflecting(Reviewing):
    """Runs cycles of reflection; what they propose is decided on elsewhere, by a person."""

    def reflect(
        self,
        *,
        if_due: bool = False,
        trigger: str = "manual",
        renew: bool = False,
        progress: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Reflected:
        """Reflect on what is new, and write what should be learned of it as a proposal; nothing is ever applied.

        Args:
            if_due: Do nothing unless a reflection is due.
            trigger: `manual`, `session-end` or `schedule`.
            renew: Reflect although a proposal waits; what is undecided in it comes again with the new one.
            progress: Told how far the cycle has come, on the calling thread.
            cancelled: Asked often; a cycle that is called off writes nothing.

        Raises:
            Refused: A proposal waits for decisions, or the cycle was called off.
            Locked: Another process is reflecting.
            RoleRefused: This door may not write.
        """
        from workbench.engine.reflection.due import OCCASIONS
        from workbench.engine.reflection.work import Work
        from workbench.engine.workspace.unread import files_waiting

        if trigger not in OCCASIONS:
            raise InvalidInput(f"“{trigger}” sets off no reflection.", remedy=f"Say {', '.join(OCCASIONS)}.")
        ground = self._ground
        require(ground.role, Capability.WRITE_MEMORY, doing="reflect")
        with _alone(ground):
            ground.prepare_writing()
            ground.adopt()
            ground.refresh()
            waiting = waiting_proposal(ground)
            if if_due:
                due = reflection_due(ground, trigger)
                if not due.due:
                    return Reflected(None, (), (), "", due.reason, self.review())
            elif waiting and not renew:
                raise Refused(
                    f"{waiting} waits for decisions.",
                    where=layout.PENDING_REFLECTION,
                    remedy="Decide in the bench or with `workbench review`, or run it again with --renew.",
                )
            work = Work(cap=ground.settings.reflection.token_budget, report=progress, cancelled=cancelled)
            if ground.history.head() is None and files_waiting(ground):
                # How far was read is told by a commit.
                ground.history.begin()
            with ground.action.resting_on(ground.history):
                return self._cycle(work, trigger)

    def reflection_due(self, *, trigger: str = "schedule") -> ReflectionDue:
        """Tell whether a reflection should run, and why.

        Args:
            trigger: The occasion: `schedule` or `session-end`.
        """
        # Without its history memory can still be asked.
        with contextlib.suppress(HistoryError):
            self._ground.adopt_for_reading()
        self._ground.refresh_for_reading()
        return reflection_due(self._ground, trigger)

    def reflection_trace(self, id: str) -> tuple[dict[str, object], ...]:  # noqa: A002 - the field's word
        """Return what a model was asked and what it answered in one cycle that ran here, in order.

        Rules ask no model; what is kept lies in the cache, and goes with it.

        Args:
            id: `r-012`.

        Raises:
            InvalidInput: It is no reflection's id.
        """
        require(self._ground.role, Capability.READ, doing="read memory")
        return leftovers.read_trace(self._ground, _checked(id))

    def _cycle(self, work: Work, trigger: str) -> Reflected:
        from workbench.engine.proposals.file import read_proposals
        from workbench.engine.reflection.cycle import run_cycle
        from workbench.engine.reflection.deferred_proposals import items_of
        from workbench.engine.reflection.due import next_scheduled
        from workbench.engine.reflection.files import next_reflection, read_log, read_pending, read_rejected
        from workbench.engine.reflection.review.staleness import check
        from workbench.engine.reflection.writing import account_lines, plan_nothing, plan_proposal
        from workbench.engine.workspace.snapshot import take_snapshot
        from workbench.engine.workspace.unread import WithWaiting, files_waiting, find_unread

        ground = self._ground
        outside = files_waiting(ground)
        head = ground.history.head()
        if head is None:
            return Reflected(None, (), (), "", _NOTHING_NEW, self.review())
        view = WithWaiting(ground.history.at(head), outside)
        unread = find_unread(ground, view, head, outside=outside, check=work.check)
        before = read_pending(view)
        reflection = next_reflection(read_log(view), before, ground.raw_files.read(layout.RETIRED))
        snapshot = take_snapshot(
            ground,
            view,
            unread,
            lambda text, limit: (
                self.search(text, max_results=limit, min_score=0.0, include_dormant=True).results
            ),
            int(reflection.partition("-")[2]),
        )
        with _mind(ground) as mind:
            proposal = run_cycle(
                snapshot,
                mind,
                work,
                rejected=read_rejected(view),
                reflection=reflection,
                most=ground.settings.reflection.items,
                carried=before.items,
                backlog=[
                    *(item for item in unread.backlog.items if not check(item, view, ground.zone).stale),
                    *items_of(read_proposals(view).proposals, snapshot.owner),
                ],
            )
        _leave(ground, lambda: leftovers.keep_trace(ground, reflection, work.exchanges))
        if not (proposal.fresh or unread.passages or unread.backlog.items):
            return Reflected(None, (), (), "", _NOTHING_NEW, self.review(), left_out=unread.left_out)
        left = len(proposal.left) + len(unread.backlog.later)
        mark = unread.mark_after(work.unread, left_over=left > 0)
        account = account_lines(
            snapshot,
            proposal,
            work,
            entries=unread.entries,
            left=left,
            planned=next_scheduled(ground.now(), ground.settings.reflection),
            mark=mark.render(),
        )

        def plan(files: FileView) -> Plan[Changed]:
            if files.read(layout.PENDING_REFLECTION) != view.read(layout.PENDING_REFLECTION):
                raise Locked(
                    "The proposal was changed while the reflection ran.",
                    where=layout.PENDING_REFLECTION,
                    remedy="Reflect again.",
                )
            if not proposal.items:
                return plan_nothing(reflection, ground.now(), unread.entries, account)
            return plan_proposal(files, proposal, reflection, ground.now(), account, ground.zone)

        by = replace(
            ground.attribution(_told(trigger, unread.entries), actor=_ACTOR),
            approval="pending" if proposal.fresh else "auto",
        )
        receipt = ground.mutate(plan, by, Capability.WRITE_MEMORY, doing="reflect")
        # The one of the reflection before stays good for as long as this one is not written.
        _leave(
            ground,
            lambda: leftovers.keep_backlog(ground, reflection, proposal.left, unread.backlog.later),
            lambda: leftovers.keep_read_while_waiting(ground, mark, head, outside),
        )
        review = replace(self.review(), phases=_phases(work))
        if not proposal.fresh:
            reason = f"{unread.entries:,} entries were read; nothing in them is worth proposing."
            return Reflected(receipt.commit, receipt.files, (), "", reason, review, left_out=unread.left_out)
        told = f"{proposal.fresh:,} changes are proposed."
        ids = tuple(item.id for item in proposal.items)
        return Reflected(
            receipt.commit, receipt.files, ids, reflection, told, review, left_out=unread.left_out
        )


def _leave(ground: Ground, *writing: Callable[[], None]) -> None:
    """Leave something beside memory that may quote it, with purges kept off; after one, nothing is left."""
    with contextlib.suppress(Stale, Locked), ground.without_purges(_ACTOR):
        for write in writing:
            write()


@contextlib.contextmanager
def _mind(ground: Ground) -> Iterator[Mind]:
    """Give what thinks in a cycle, and let go of its model afterwards."""
    from workbench.engine.reflection.rules import RulesMind

    rules = RulesMind()
    if not ground.settings.reflection.model:
        yield rules
        return
    from workbench.engine.providers.choosing import chat_model

    model = ground.settings.model
    chat = chat_model(ground.settings, timeout_s=model.reflection_timeout)
    if chat is None:
        yield rules
        return
    from workbench.engine.reflection.model_mind import ModelMind

    with contextlib.closing(chat):
        yield ModelMind(chat, rules, context_tokens=model.context)


def _phases(work: Work) -> tuple[PhaseUse, ...]:
    return tuple(
        PhaseUse(str(one.phase), one.mind, one.tokens, round(one.seconds, 3), one.fallback)
        for one in work.accounts
    )


@contextlib.contextmanager
def _alone(ground: Ground) -> Iterator[None]:
    """Be the only one who reflects on this workspace, where the state folder takes a lock.

    Raises:
        Locked: Another process is.
    """
    from workbench.engine.process_lock import process_lock

    with contextlib.ExitStack() as stack:
        mine = True
        with contextlib.suppress(OSError, StorageError):
            ground.state.mkdir(parents=True, exist_ok=True)
            mine = stack.enter_context(process_lock(ground.state / "reflection.lock", 0.0))
        if not mine:
            raise Locked(
                "Another process is reflecting on this memory.",
                where=str(ground.root),
                remedy="Wait until it is done; it writes one proposal.",
            )
        yield


def _told(trigger: str, entries: int) -> str:
    return f"reflection ({trigger}) over {entries:,} new entries"


def _checked(reflection: str) -> str:
    if not reflection.replace("-", "").isalnum():
        raise InvalidInput(f"“{reflection[:40]}” is no reflection.", remedy="Name one like r-012.")
    return reflection
