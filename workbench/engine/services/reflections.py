"""Reflections: one is run and leaves a proposal, or says that nothing is new; it never decides on it.

A cycle looks at a snapshot of memory with what is new. An agent's own model may think instead: the next question is
handed out, and its answer taken in.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from workbench.engine import layout, results
from workbench.engine.errors import InvalidInput, Locked, NotFound, Refused, Stale, StorageError
from workbench.engine.file_access import read_state, write_state
from workbench.engine.history.plan import FileView, Plan
from workbench.engine.markdown.pages import Procedure
from workbench.engine.memory.core import view_core
from workbench.engine.memory.lookup import locate_memory
from workbench.engine.memory.proposals import read_proposals
from workbench.engine.process import process_lock
from workbench.engine.reflection.cycle import account_lines, plan_nothing, plan_proposal, run_cycle
from workbench.engine.reflection.due import OCCASIONS, next_scheduled
from workbench.engine.reflection.files import (
    next_reflection,
    read_evolution,
    read_log,
    read_pending,
    read_rejected,
)
from workbench.engine.reflection.handing_out import AgentMind, AgentModel, Answers, Unanswered, answer_of
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.model import Passage, Snapshot, Work
from workbench.engine.reflection.model_mind import ModelMind
from workbench.engine.reflection.passages import holds_passages, passages_of
from workbench.engine.reflection.review.record import read_verdicts
from workbench.engine.reflection.review.staleness import check
from workbench.engine.reflection.rules import RulesMind
from workbench.engine.reflection.submissions import items_of
from workbench.engine.roles import Capability, require
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import Mutator
from workbench.engine.services.retrieval import Retrieval
from workbench.engine.services.reviews import REFLECTING, Reviews
from workbench.engine.services.routing import own_relations, owner_of
from workbench.engine.services.unread import (
    Unread,
    WithWaiting,
    files_waiting,
    handed_out,
    keep_backlog,
    keep_read_while_waiting,
    keep_trace,
    read_trace,
    reflection_due,
    unread_passages,
    waiting_proposal,
)
from workbench.engine.triggers.model_routing import RELATIONS

if TYPE_CHECKING:
    from workbench.engine.markdown.reflection_records import ReflectionLog
    from workbench.engine.reflection.handing_out import Task
    from workbench.engine.reflection.model import Mind
    from workbench.engine.results.decay import DecayEntry, DecayView
    from workbench.engine.results.recall import Hit
    from workbench.engine.results.reviews import CycleProgress

_NOTHING_NEW = "There is nothing new to learn."
_MOST_SCORED = 400
_ACTOR = "bot:reflection"


class Reflections:
    """Cycles of reflection; nothing of what they propose is ever applied by themselves."""

    def __init__(
        self, context: WorkspaceContext, mutator: Mutator, retrieval: Retrieval, reviews: Reviews
    ) -> None:
        self._context = context
        self._mutator = mutator
        self._retrieval = retrieval
        self._reviews = reviews

    def reflect(
        self,
        *,
        if_due: bool = False,
        trigger: str = "manual",
        renew: bool = False,
        mind: Callable[[Work], Mind] | None = None,
        progress: Callable[[CycleProgress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> results.reviews.Reflected:
        """Reflect on what is new, and write what should be learned of it as a proposal; nothing is ever applied.

        Args:
            if_due: Do nothing unless a reflection is due.
            trigger: `manual`, `session-end` or `schedule`.
            renew: Reflect although a proposal waits; what is undecided in it comes again with the new one.
            mind: Makes what thinks; the model of the settings, else rules, where None.
            progress: Told how far the cycle has come, on the calling thread.
            cancelled: Asked often; a cycle that is called off writes nothing.

        Raises:
            Refused: A proposal waits for decisions, or the cycle was called off.
            Locked: Another process is reflecting.
            RoleRefused: This door may not write.
        """
        if trigger not in OCCASIONS:
            raise InvalidInput(f"“{trigger}” sets off no reflection.", remedy=f"Say {', '.join(OCCASIONS)}.")
        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="reflect")
        if if_due and not context.has_history() and not (due := reflection_due(context, trigger)).due:
            # A schedule that runs in a folder without memory begins no history there.
            return results.reviews.Reflected(None, (), (), "", due.reason, self._reviews.review())
        with _alone(context):
            self._mutator.prepare_writing()
            context.adopt()
            context.refresh()
            waiting = waiting_proposal(context)
            if if_due:
                due = reflection_due(context, trigger)
                if not due.due:
                    return results.reviews.Reflected(None, (), (), "", due.reason, self._reviews.review())
            elif waiting and not renew:
                raise Refused(
                    f"{waiting} waits for decisions.",
                    where=layout.PENDING_REFLECTION,
                    remedy=(
                        "Decide in the bench or with `workbench review`, or run it again with --renew."
                        if self._reviews.review().items
                        else "Move the file away to keep it, or run it again with --renew to replace it."
                    ),
                )
            work = Work(cap=context.settings.reflection.token_budget, report=progress, cancelled=cancelled)
            if context.history.head() is None and files_waiting(context):
                # How far was read is told by a commit.
                context.history.begin()
            with self._mutator.group.resting_on(context.history):
                return self._cycle(work, trigger, mind)

    def reflect_or_present(self) -> results.reviews.Reflected:
        """Reflect because somebody asks for it in words; while a proposal waits, present that (design document §14).

        Raises:
            Locked: Another process is reflecting.
            RoleRefused: This door may not write.
        """
        require(self._context.role, Capability.WRITE_MEMORY, doing="reflect")
        review = self._reviews.review()
        waiting = waiting_proposal(self._context)
        if not waiting:
            return self.reflect()
        undecided = sum(item.decision == "undecided" for item in review.items)
        told = (
            f"{undecided} of {len(review.items)} items are undecided"
            if undecided
            else "all is decided, not applied"
        )
        return results.reviews.Reflected(
            None, (), (), review.id, f"{waiting} waits for decisions: {told}.", review, waits=True
        )

    def trace(self, id: str) -> tuple[dict[str, object], ...]:
        """Return what a model was asked and what it answered in one cycle that ran here, in order.

        Rules ask no model; what is kept lies in the cache, and goes with it.

        Args:
            id: `r-012`.

        Raises:
            InvalidInput: It is no reflection's id.
        """
        require(self._context.role, Capability.READ, doing="read memory")
        return read_trace(self._context, _checked(id))

    def _cycle(
        self, work: Work, trigger: str, mind_of: Callable[[Work], Mind] | None
    ) -> results.reviews.Reflected:
        context = self._context
        outside = files_waiting(context)
        head = context.history.head()
        if head is None:
            return results.reviews.Reflected(None, (), (), "", _NOTHING_NEW, self._reviews.review())
        view = WithWaiting(context.history.at(head), outside)
        unread = unread_passages(context, view, head, outside=outside, check=work.check)
        before = read_pending(view)
        reflection = next_reflection(read_log(view), before, context.raw_files.read(layout.SPENT_IDS))
        snapshot = take_snapshot(
            context,
            view,
            unread,
            lambda text, limit: (
                self._retrieval.search(text, max_results=limit, min_score=0.0, include_dormant=True).results
            ),
            int(reflection.partition("-")[2]),
        )
        with _mind(context) if mind_of is None else contextlib.nullcontext(mind_of(work)) as mind:
            proposal = run_cycle(
                snapshot,
                mind,
                work,
                rejected=read_rejected(view),
                reflection=reflection,
                most=context.settings.reflection.items,
                carried=before.items,
                backlog=[
                    *(item for item in unread.backlog.items if not check(item, view, context.zone).stale),
                    *items_of(read_proposals(view).proposals, snapshot.owner),
                ],
            )
        _leave(self._mutator, lambda: keep_trace(context, reflection, work.exchanges))
        forget_answers(context)
        if not (proposal.fresh or unread.passages or unread.backlog.items):
            return results.reviews.Reflected(
                None, (), (), "", _NOTHING_NEW, self._reviews.review(), left_out=unread.left_out
            )
        left = len(proposal.left) + len(unread.backlog.later)
        mark = unread.mark_after(work.unread, left_over=left > 0)
        account = account_lines(
            snapshot,
            proposal,
            work,
            entries=unread.entries,
            left=left,
            planned=next_scheduled(context.now(), context.settings.reflection),
            mark=mark.render(),
        )

        def plan(files: FileView) -> Plan[results.memories.Changed]:
            if files.read(layout.PENDING_REFLECTION) != view.read(layout.PENDING_REFLECTION):
                raise Locked(
                    "The proposal was changed while the reflection ran.",
                    where=layout.PENDING_REFLECTION,
                    remedy="Reflect again.",
                )
            if not proposal.items:
                return plan_nothing(reflection, context.now(), unread.entries, account)
            return plan_proposal(files, proposal, reflection, context.now(), account, context.zone)

        by = replace(
            self._mutator.attribution(_told(trigger, unread.entries), actor=REFLECTING),
            approval="pending" if proposal.fresh else "auto",
        )
        receipt = self._mutator.mutate(plan, by, Capability.WRITE_MEMORY, doing="reflect")
        # The one of the reflection before stays good for as long as this one is not written.
        _leave(
            self._mutator,
            lambda: keep_backlog(context, reflection, proposal.left, unread.backlog.later),
            lambda: keep_read_while_waiting(context, mark, head, outside),
        )
        review = replace(self._reviews.review(), phases=_phases(work))
        if not proposal.fresh:
            reason = f"{unread.entries:,} entries were read; nothing in them is worth proposing."
            return results.reviews.Reflected(
                receipt.commit, receipt.files, (), "", reason, review, left_out=unread.left_out
            )
        told = f"{proposal.fresh:,} changes are proposed."
        ids = tuple(item.id for item in proposal.items)
        return results.reviews.Reflected(
            receipt.commit, receipt.files, ids, reflection, told, review, left_out=unread.left_out
        )


def _leave(mutator: Mutator, *writing: Callable[[], None]) -> None:
    """Leave something beside memory that may quote it, with purges kept off; after one, nothing is left."""
    with contextlib.suppress(Stale, Locked), mutator.without_purges(REFLECTING):
        for write in writing:
            write()


@contextlib.contextmanager
def _mind(context: WorkspaceContext) -> Iterator[Mind]:
    """Yield what thinks in a cycle, and let go of its model afterwards."""
    rules = RulesMind()
    given = read_answers(context).given
    if given:
        # An agent stopped midway: what it did not answer is left to rules.
        yield AgentMind(AgentModel(given, str, hands_out=False), rules)
        return
    if not context.settings.reflection.model:
        yield rules
        return
    model = context.settings.model
    with context.chat_model(model.reflection_timeout) as chat:
        if chat is None:
            yield rules
            return
        yield ModelMind(chat, rules, context_tokens=model.context)


def _phases(work: Work) -> tuple[results.reviews.PhaseUse, ...]:
    return tuple(
        results.reviews.PhaseUse(str(one.phase), one.mind, one.tokens, round(one.seconds, 3), one.fallback)
        for one in work.accounts
    )


@contextlib.contextmanager
def _alone(context: WorkspaceContext) -> Iterator[None]:
    """Be the only one who reflects on this workspace, where the state folder takes a lock.

    Raises:
        Locked: Another process is.
    """
    with contextlib.ExitStack() as stack:
        mine = True
        with contextlib.suppress(OSError, StorageError):
            context.state.mkdir(parents=True, exist_ok=True)
            mine = stack.enter_context(process_lock(context.state / "reflection.lock", 0.0))
        if not mine:
            raise Locked(
                "Another process is reflecting on this memory.",
                where=str(context.root),
                remedy="Wait until it is done; it writes one proposal.",
            )
        yield


def _told(trigger: str, entries: int) -> str:
    return f"reflection ({trigger}) over {entries:,} new entries"


def _checked(reflection: str) -> str:
    if not reflection.replace("-", "").isalnum():
        raise InvalidInput(f"“{reflection[:40]}” is no reflection.", remedy="Name one like r-012.")
    return reflection


def take_snapshot(
    context: WorkspaceContext,
    view: FileView,
    unread: Unread,
    search: Callable[[str, int], Sequence[Hit]],
    number: int,
) -> Snapshot:
    """Return everything that a cycle may look at.

    Args:
        view: The files as of the commit.
        unread: What is to be read.
        search: Finds memories near a text.
        number: Of the reflection.
    """
    log = read_log(view)
    scores = context.scores()
    standing = scores.view(forecast=(), lambda_=None)
    graph = context.visible(scores)
    by_id = {passage.id: passage for passage in unread.passages}
    owner = owner_of(context)
    return Snapshot(
        now=context.now(),
        owner="" if owner == "User" else owner,
        passages=unread.passages,
        earlier=_earlier(context, view, unread, search),
        graph=graph,
        core=view_core(view, context.settings),
        procedures=tuple(_procedures(view)),
        fading=_fading(standing),
        often=_often(standing),
        archived=_archived(standing, log),
        titles=_titles(context),
        text_of=lambda memory_id: (
            by_id[memory_id].text if memory_id in by_id else _text_of(context, view, memory_id)
        ),
        records=log.records,
        insights=read_evolution(view).insights,
        relations=(*RELATIONS, *own_relations(context)),
        number=number,
    )


def _procedures(view: FileView) -> Iterator[Procedure]:
    for path in view.list(layout.PROCEDURES):
        if path.endswith(".md"):
            yield Procedure.parse(view.read(path) or b"", path)


def _fading(standing: DecayView) -> tuple[DecayEntry, ...]:
    # What somebody archived has score 0.
    low = [entry for entry in standing.entries if entry.status in ("dormant", "archived") and entry.score > 0]
    return tuple(sorted(low, key=lambda entry: (entry.score, entry.id))[:_MOST_SCORED])


def _often(standing: DecayView) -> tuple[DecayEntry, ...]:
    used = [entry for entry in standing.entries if entry.access_count > 1 and entry.status != "archived"]
    return tuple(sorted(used, key=lambda entry: (-entry.access_count, -entry.score, entry.id))[:_MOST_SCORED])


def _archived(standing: DecayView, log: ReflectionLog) -> tuple[DecayEntry, ...]:
    """Return what reflections archived; what a person forgot by name is never offered again."""
    verdicts = (verdict for record in log.records for verdict in read_verdicts(record.body))
    ids = {each.target for each in verdicts if each.kind is Kind.ARCHIVE and each.decision == "approved"}
    away = [entry for entry in standing.entries if entry.id in ids and entry.status == "archived"]
    return tuple(sorted(away, key=lambda entry: entry.last_accessed, reverse=True)[:_MOST_SCORED])


def _titles(context: WorkspaceContext) -> Callable[[str], str]:
    def title(memory_id: str) -> str:
        record = context.lookups.memory(memory_id)
        return record.title if record else memory_id

    return title


def _text_of(context: WorkspaceContext, view: FileView, memory_id: str) -> str | None:
    try:
        return locate_memory(view, memory_id, context.zone).text
    except (NotFound, InvalidInput):
        return None


def _earlier(
    context: WorkspaceContext, view: FileView, unread: Unread, search: Callable[[str, int], Sequence[Hit]]
) -> Callable[[str, int], Sequence[Passage]]:
    if not unread.mark.base and not unread.mark.head:
        return lambda _text, _limit: ()
    new = {passage.id for passage in unread.passages}

    @lru_cache(maxsize=64)
    def passages(path: str) -> list[Passage]:
        return passages_of(path, view.read(path) or b"", context.zone) if holds_passages(path) else []

    def find(text: str, limit: int) -> list[Passage]:
        found: dict[str, Passage] = {}
        for hit in search(text, limit):
            for passage in passages(hit.path):
                if (
                    passage.id not in new
                    and passage.start_line <= hit.end_line
                    and passage.end_line >= hit.start_line
                ):
                    found.setdefault(passage.id, passage)
        return list(found.values())[:limit]

    return find


def read_answers(context: WorkspaceContext) -> Answers:
    """Return what an agent answered of a reflection that it has not finished."""
    return Answers.parse(read_state(handed_out(context)))


def keep_answers(context: WorkspaceContext, answers: Answers) -> None:
    """Keep what an agent answered; what cannot be kept is asked again."""
    write_state(handed_out(context), answers.render())


def forget_answers(context: WorkspaceContext) -> None:
    """Delete what an agent answered: the reflection that it belongs to is written."""
    with contextlib.suppress(OSError):
        handed_out(context).unlink(missing_ok=True)


class HandedReflection:
    """A reflection that an agent thinks, task by task; what it answers is checked as any model's answer is."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator, reflections: Reflections) -> None:
        self._context = context
        self._mutator = mutator
        self._reflections = reflections

    def hand_out(self) -> results.reviews.HandedOut | results.reviews.Reflected:
        """Return the next task for the agent's own model; where nothing is left to ask, write the proposal.

        Asking again without an answer gives the same task.

        Raises:
            Refused: A proposal waits for decisions.
            Locked: Another process is reflecting.
            RoleRefused: This door may not write.
        """
        return self._go_on(read_answers(self._context))

    def take_in(
        self, answer: Mapping[str, Any] | str
    ) -> results.reviews.HandedOut | results.reviews.Reflected:
        """Take in the answer to the task that was handed out, and go on to the next.

        Args:
            answer: `{"task", "model", "answer"}`, or the object in `answer` alone; as JSON or read already.

        Returns:
            The next task; after the last one, what was proposed.

        Raises:
            InvalidInput: It is for another task, or not in the form that was asked for; the task stays open.
            Refused: A proposal waits for decisions.
            Locked: Another process is reflecting.
            RoleRefused: This door may not write.
        """
        require(self._context.role, Capability.WRITE_MEMORY, doing="reflect")
        answers = read_answers(self._context)
        if answers.open is None:
            going_on = self._go_on(answers)
            if isinstance(going_on, results.reviews.Reflected):
                return going_on
            answers = read_answers(self._context)
        if answers.open is not None:
            answers.given[answers.open.id] = answer_of(answer, answers.open)
            answers.open = None
            self._keep(answers)
        return self._go_on(answers)

    def _go_on(self, answers: Answers) -> results.reviews.HandedOut | results.reviews.Reflected:
        """Run the cycle with what was answered so far, up to the first question without an answer."""
        self._mutator.attribution("reflection", actor=_ACTOR)
        mind: list[AgentMind] = []

        def think(work: Work) -> AgentMind:
            mind.append(AgentMind(AgentModel(answers.given, lambda: str(work.phase))))
            return mind[0]

        try:
            return self._reflections.reflect(mind=think)
        except Unanswered as waiting:
            answers.open = waiting.task
            self._keep(answers)
            return _handed_out(waiting.task, mind[0].tasks - len(mind[0].chat.asked))

    def _keep(self, answers: Answers) -> None:
        """Keep what was answered, with purges kept off: it may quote what one of them takes away."""
        with contextlib.suppress(Stale, Locked), self._mutator.without_purges(_ACTOR):
            keep_answers(self._context, answers)


def _handed_out(task: Task, remaining: int) -> results.reviews.HandedOut:
    material = tuple(results.reviews.Material(id_, text) for id_, text in task.material)
    return results.reviews.HandedOut(
        task.id, task.phase, task.instructions, material, task.schema, max(0, remaining)
    )
