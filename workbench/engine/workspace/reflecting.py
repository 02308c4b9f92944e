"""The reflecting part of the door: a cycle that proposes what to learn, and whether one is due."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from workbench.engine import layout, results
from workbench.engine.agents.roles import Capability, require
from workbench.engine.errors import HistoryError, InvalidInput, Locked, Refused
from workbench.engine.workspace.dueness import reflection_due, waiting_proposal
from workbench.engine.workspace.reviewing import Reviewing
from workbench.engine.workspace.snapshot import TRACES, backlog_place

if TYPE_CHECKING:
    from workbench.engine.documents import PendingReflection, ReflectionLog, ReviewItem
    from workbench.engine.history import FileView, Plan
    from workbench.engine.reflection.cycle import Proposal
    from workbench.engine.reflection.model import Mind, Snapshot
    from workbench.engine.reflection.work import Work
    from workbench.engine.results import Progress
    from workbench.engine.workspace.ground import Ground
    from workbench.engine.workspace.snapshot import Unread

_ACTOR = "bot:reflection"
_OCCASIONS = ("manual", "session-end", "schedule")


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
    ) -> results.Reflected:
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
        from workbench.engine.reflection.work import Work

        if trigger not in _OCCASIONS:
            raise InvalidInput(f"“{trigger}” sets off no reflection.", remedy=f"Say {', '.join(_OCCASIONS)}.")
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
                    return results.Reflected(None, (), (), "", due.reason, self.review())
            elif waiting and not renew:
                raise Refused(
                    f"{waiting} waits for decisions.",
                    where=layout.PENDING_REFLECTION,
                    remedy="Decide in the bench or with `workbench review`, or reflect anew with --renew.",
                )
            work = Work(cap=ground.settings.reflection.token_budget, report=progress, cancelled=cancelled)
            return self._cycle(work, trigger)

    def reflection_due(self, *, trigger: str = "schedule") -> results.ReflectionDue:
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
        place = self._ground.derived / TRACES / f"{_checked(id)}.json"
        try:
            return tuple(json.loads(place.read_text("utf-8")))
        except FileNotFoundError:
            return ()

    def _cycle(self, work: Work, trigger: str) -> results.Reflected:
        from workbench.engine.documents import RejectedClaims
        from workbench.engine.reflection.cycle import run_cycle
        from workbench.engine.reflection.review.staleness import check
        from workbench.engine.workspace.snapshot import find_unread, read_log, read_pending, take_snapshot

        ground = self._ground
        head = ground.history.head() or ""
        view = ground.history.at(head)
        unread = find_unread(ground, view, head)
        before = read_pending(view)
        reflection = _next_id(read_log(view), before)
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
                rejected=RejectedClaims.parse(view.read(layout.REJECTED) or b""),
                reflection=reflection,
                most=ground.settings.reflection.items,
                carried=before.items,
                backlog=[item for item in unread.backlog.items if not check(item, view, ground.zone).stale],
            )
        left = len(proposal.left) + len(unread.backlog.later)
        _keep_trace(ground, reflection, work)
        _keep_backlog(ground, reflection, proposal.left, unread.backlog.later)
        mark = unread.mark_after(work.unread, left_over=left > 0)
        by = replace(
            ground.attribution(_told(trigger, unread.entries), actor=_ACTOR),
            approval="pending" if proposal.fresh else "auto",
        )

        meta = _meta(ground, snapshot, proposal, unread, left, work, mark.render())

        def plan(files: FileView) -> Plan[results.Changed]:
            if (files.read(layout.PENDING_REFLECTION) or b"") != (
                view.read(layout.PENDING_REFLECTION) or b""
            ):
                raise Locked(
                    "The proposal was changed while the reflection ran.",
                    where=layout.PENDING_REFLECTION,
                    remedy="Reflect again.",
                )
            from workbench.engine.reflection.writing import plan_nothing, plan_proposal

            if not proposal.items:
                return plan_nothing(reflection, ground.now(), unread.entries, meta)
            return plan_proposal(files, proposal, reflection, ground.now(), meta, ground.zone)

        if not proposal.fresh and not unread.passages:
            return results.Reflected(None, (), (), "", "There is nothing new to learn.", self.review())
        receipt = ground.mutate(plan, by, Capability.WRITE_MEMORY, doing="reflect")
        review = replace(self.review(), phases=_phases(work))
        if not proposal.fresh:
            reason = f"{unread.entries:,} entries were read; nothing in them is worth proposing."
            return results.Reflected(receipt.commit, receipt.files, (), "", reason, review)
        told = f"{proposal.fresh:,} changes are proposed."
        ids = tuple(item.id for item in proposal.items)
        return results.Reflected(receipt.commit, receipt.files, ids, reflection, told, review)


def _next_id(log: ReflectionLog, pending: PendingReflection) -> str:
    names = [record.id for record in log.records] + [item.id.partition(".")[0] for item in pending.items]
    names.append(pending.reflection)
    numbers = [int(name[2:]) for name in names if name.startswith("r-") and name[2:].isdigit()]
    return f"r-{max(numbers, default=0) + 1:03}"


@contextlib.contextmanager
def _mind(ground: Ground) -> Iterator[Mind]:
    """Give what thinks in a cycle, and let go of its model afterwards."""
    from workbench.engine.reflection.rules import RulesMind

    rules = RulesMind()
    if not ground.settings.reflection.model:
        yield rules
        return
    from workbench.engine.providers import chat_model

    model = ground.settings.model
    chat = chat_model(ground.settings, timeout_s=model.reflection_timeout)
    if chat is None:
        yield rules
        return
    from workbench.engine.reflection.model_mind import ModelMind

    with contextlib.closing(chat):
        yield ModelMind(chat, rules, context_tokens=model.context)


def _meta(
    ground: Ground, snapshot: Snapshot, proposal: Proposal, unread: Unread, left: int, work: Work, mark: str
) -> list[tuple[str, str]]:
    from workbench.engine.reflection.due import next_planned

    minds = tuple(dict.fromkeys(account.mind for account in work.accounts))
    fallback = next((account.fallback for account in work.accounts if account.fallback), None)
    about = {item.target for item in proposal.items if "--" in item.target}
    meta = [
        ("Reflection #", str(snapshot.number)),
        ("Token budget used", f"{work.spent:,} / {work.cap:,}"),
        (
            "Memories processed",
            f"{unread.entries:,} entries, {len(about):,} entities, {len(snapshot.procedures):,} procedures",
        ),
        ("Reflections reviewed", str(len(snapshot.records))),
        ("Thought by", ", ".join(minds) + (f" ({fallback})" if fallback else "")),
        ("Dropped", str(proposal.dropped)),
        ("Held back", str(proposal.held_back)),
        ("Left for the next", str(left)),
    ]
    if "daily" in ground.settings.reflection.frequency:
        planned = next_planned(ground.now(), ground.settings.reflection)
        meta.append(("Next scheduled reflection", f"{planned:%Y-%m-%d %H:%M}"))
    return [*meta, ("Read", mark)]


def _phases(work: Work) -> tuple[results.PhaseUse, ...]:
    return tuple(
        results.PhaseUse(str(one.phase), one.mind, one.tokens, round(one.seconds, 3), one.fallback)
        for one in work.accounts
    )


def _keep_trace(ground: Ground, reflection: str, work: Work) -> None:
    """Keep what a model was asked and answered, so that people can look at it; it is no part of memory."""
    if not work.exchanges:
        return
    from workbench.engine.history.state_files import write_state

    content = json.dumps([asdict(exchange) for exchange in work.exchanges], ensure_ascii=False, indent=1)
    write_state(ground.derived / TRACES / f"{reflection}.json", content.encode("utf-8", "replace"))


def _keep_backlog(
    ground: Ground, reflection: str, left: Sequence[ReviewItem], later: Sequence[bytes]
) -> None:
    """Keep what found no room until the next reflection; what cannot be kept is found again by reading again."""
    from workbench.engine.history.state_files import write_state
    from workbench.engine.reflection.backlog import render_backlog

    place = backlog_place(ground)
    if left or later:
        write_state(place, render_backlog(reflection, left, later))
    else:
        place.unlink(missing_ok=True)


def forget_traces(ground: Ground) -> None:
    """Delete what models were asked in reflections; it may quote what is to be gone."""
    import shutil

    shutil.rmtree(ground.derived / TRACES, ignore_errors=True)


@contextlib.contextmanager
def _alone(ground: Ground) -> Iterator[None]:
    """Be the only one who reflects on this workspace.

    Raises:
        Locked: Another process is.
    """
    from workbench.engine.process_lock import process_lock

    ground.state.mkdir(parents=True, exist_ok=True)
    with process_lock(ground.state / "reflection.lock", 0.0) as mine:
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
