"""Carrying out changes: the action each belongs to, what is derived from it, and the upkeep of the day."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, TypeVar

from workbench.engine import layout, results
from workbench.engine.errors import (
    DocumentError,
    InvalidInput,
    RoleRefused,
    Stale,
    StorageError,
    WorkbenchError,
)
from workbench.engine.history.commits import CONTINUES, DECIDED, SETTLED_BY_ITSELF, UNDOES, parse_message
from workbench.engine.history.plan import Action, Attribution, FileChange, FileView, Plan, Planner, Receipt
from workbench.engine.history.work_files import read_work_file
from workbench.engine.markdown.audit_log import parse_audit_line
from workbench.engine.markdown.decay_scores import DecayScores, ScoreEntry
from workbench.engine.memory.decay import decay_record, is_archived
from workbench.engine.memory.scores_file import (
    FoldedAccesses,
    check_is_due,
    fold_is_due,
    folded_of,
    mark_checked,
    plan_transitions,
    read_scores,
    rescored,
)
from workbench.engine.patterns import lazy_pattern
from workbench.engine.roles import Capability, require
from workbench.engine.secrets.detection import find_secrets, masked
from workbench.engine.services import kept_brief
from workbench.engine.services.secret_guard import guarded, refuse_secrets
from workbench.engine.settings.layers import check_settings, write_setting

if TYPE_CHECKING:
    from workbench.engine.history.history import History
    from workbench.engine.history.projections import Projection
    from workbench.engine.services.context import WorkspaceContext


T = TypeVar("T")
C = TypeVar("C", bound="results.memories.Changed")
_ACTOR = lazy_pattern(r"[a-z]+(?::[\w.-]+)*")
# All other actors may stand for a person's own hand, a person's approval or the engine itself.
_FOR_AGENTS = ("bot:", "skill:")


class CommitGroup(threading.local):
    """The action that a thread's changes belong to; by itself, each change is one of its own."""

    def __init__(self) -> None:
        self._is_open = False
        self._first: str | None = None
        self._base: str | None = None
        self._decided: tuple[tuple[str, str], ...] = ()
        self._told = ""
        self.let_in: tuple[str, ...] = ()
        """Digests of secrets that the next change lets in, in its own commit; see `letting_in`."""

    @contextmanager
    def resting_on(self, history: History | None) -> Iterator[None]:
        """Let changes of a block rest on memory as it is now: they are refused once a purge took something out of it.

        What was read before a purge would bring back what is purged.

        Args:
            history: Whose newest commit they rest on; None where there is no history yet.
        """
        before, self._base = self._base, history.head() if history is not None else None
        try:
            yield
        finally:
            self._base = before

    def refuse_purged(self, history: History) -> None:
        """Refuse a change that rests on memory from before a purge. Needs the writer's lock.

        Raises:
            Stale: What it rests on is no longer in the history.
        """
        if self._base is not None and not history.holds(self._base):
            raise Stale(
                "Something was purged from memory while this ran; nothing was written, since it may say that again.",
                where=str(history.root),
                remedy="Do it again; what was purged is not read any more.",
            )

    @property
    def is_open(self) -> bool:
        """Return whether this thread's changes go on with a first one."""
        return self._is_open

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Let every change that this thread makes meanwhile go on with the first one, or with the action it is in."""
        if self._is_open:
            yield
            return
        self._is_open, self._first = True, None
        try:
            yield
        finally:
            self._is_open, self._first = False, None

    @contextmanager
    def letting_in(self, digests: Iterable[str]) -> Iterator[None]:
        """Let secrets be stored by the next change of a block, which allows them in the same commit.

        Where that change is refused, nothing is allowed.

        Args:
            digests: Of the secrets.
        """
        before, self.let_in = self.let_in, tuple(digests)
        try:
            yield
        finally:
            self.let_in = before

    @contextmanager
    def deciding(self, name: str) -> Iterator[None]:
        """Let the changes of a block say that they carry out what a person approved in the Inbox, by its name there."""
        before, self._decided = self._decided, ((DECIDED, f"{name} approved"),)
        try:
            yield
        finally:
            self._decided = before

    @contextmanager
    def telling(self, summary: str) -> Iterator[None]:
        """Let the history say this of the changes of a block, and none of their words."""
        before, self._told = self._told, summary
        try:
            yield
        finally:
            self._told = before

    def going_on(self, planner: Planner[T]) -> Planner[T]:
        """Return a planner whose commit names the first one of its action, and what is decided and told by it."""
        trailers, told = self.trailers, self._told
        if not trailers and not told:
            return planner

        def plan(view: FileView) -> Plan[T]:
            planned = planner(view)
            if told:
                # A line that another actor is answerable for says its own.
                changes = tuple(
                    each if each.by_actor else replace(each, summary=told) for each in planned.changes
                )
                planned = replace(planned, summary=told, changes=changes)
            return replace(planned, trailers=(*planned.trailers, *trailers))

        return plan

    @property
    def trailers(self) -> tuple[tuple[str, str], ...]:
        """Return the trailers of a commit that continues an action or carries out a decision; none for any other."""
        return (*self._decided, *(() if self._first is None else ((CONTINUES, self._first),)))

    def note(self, commit: str | None) -> None:
        """Take the first commit since the action began for its first."""
        if self._is_open and self._first is None:
            self._first = commit


# The log is pruned a week at a time, so that not every day has its pruning commit.
_PRUNING_STEP = timedelta(days=7)


def shortened(text: str, most: int = 80) -> str:
    """Return a text as one line of so many characters at most, as triggers and lists of matches show it."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def plan_setting(view: FileView, key: str, value: object, summary: str) -> Plan[results.memories.Changed]:
    """Plan to write one setting of the workspace.

    Raises:
        InvalidSetting: The value does not fit the key, or `workbench.toml` cannot be read.
    """
    before = view.read(layout.SETTINGS)
    after = write_setting(before or b"", key, value)
    check_settings(after)
    action = Action.CREATE if before is None else Action.EDIT
    change = FileChange(layout.SETTINGS, after, action, summary)
    outcome = results.memories.Changed(None, ids=(f"file:{layout.SETTINGS}",))
    return Plan(action, layout.SETTINGS, summary, (change,) if after != before else (), outcome=outcome)


def allowed_words(count: int) -> str:
    """Say in the history that secrets were let in."""
    return f"allowed {'a secret' if count == 1 else f'{count} secrets'} to be stored"


def _allowing(planner: Planner[T], known: Sequence[str], new: Sequence[str], by: str) -> Planner[T]:
    """Return a planner whose commit also allows secrets.

    Args:
        known: Digests of those that are allowed already.
        new: Of those that it allows.
        by: Actor of the person who decides.
    """

    def plan(view: FileView) -> Plan[T]:
        planned = planner(view)
        said = allowed_words(len(new))
        setting = plan_setting(view, "secrets.allow", [*known, *new], said).changes
        own = (replace(each, by_actor=((by, said),)) for each in setting)
        return replace(planned, changes=(*planned.changes, *own))

    return plan


def settle(context: WorkspaceContext) -> results.memories.Changed:
    """Fold journalled accesses into the scores file, and log the memories whose status changed."""
    page = context.accesses()

    def plan(view: FileView) -> Plan[FoldedAccesses]:
        scores = context.scores()
        scores.first_seen.everything()
        memories = {record.id: scores.facts(record) for record in context.lookups.memories()}
        return plan_transitions(view, page, memories, scores.reckoning)

    receipt = context.history.mutate(plan, Attribution("system:decay", "auto", "scores settled"))
    if receipt.outcome.journal:
        # The scores file says how far it holds the journal: what cannot be dropped counts once all the same.
        with contextlib.suppress(StorageError):
            context.journal.drop_until(receipt.outcome.journal, receipt.outcome.offset)
    mark_checked(context.state, context.clock.now())
    return results.memories.Changed(receipt.commit, receipt.files, receipt.outcome.ids)


def begin_day(context: WorkspaceContext, cancelled: Callable[[], bool]) -> tuple[str, ...]:
    """Settle scores and prune the audit log, once a calendar day and where there is something to do.

    A broken scores file is left for a person to mend, since changes of other files need not wait for it.

    Args:
        cancelled: Asked before and while the log is pruned, which is then left to another day.

    Returns:
        What could not be done, a sentence for a person with the file and the remedy.
    """
    if not check_is_due(context.state, context.clock.now(), context.zone):
        return ()
    undone: tuple[str, ...] = ()
    try:
        settle(context)
    except DocumentError as error:
        undone = (f"Scores were not settled. {error}",)
    if not cancelled() and _log_is_long(context):
        from workbench.engine.history.audit import prune

        prune(context.history, context.settings.audit.retention_days, cancelled=cancelled)
    return undone


def end_session(context: WorkspaceContext) -> None:
    """Fold accesses that are due, and repack the history in the background where much lies loose."""
    from workbench.engine.history.maintenance import repack_if_due

    waiting = context.accesses().after(folded_of(read_scores(context.files)))
    if fold_is_due(waiting, context.clock.now(), context.settings.decay):
        settle(context)
    repack_if_due(context.history)


def _log_is_long(context: WorkspaceContext) -> bool:
    """Return whether the audit log begins more than the retention and a week ago."""
    try:
        with (context.root / layout.AUDIT_LOG).open("rb") as log:
            first = parse_audit_line(log.readline(65_536).decode("utf-8", "replace"))
    except OSError:
        return False
    kept = timedelta(days=context.settings.audit.retention_days) + _PRUNING_STEP
    return first is not None and first.timestamp < context.clock.now() - kept


_KEPT_UP = (layout.DECAY_SCORES, layout.AUDIT_ARCHIVE)


class Mutator:
    """Carries out changes of memory through the one transaction, and the upkeep that comes with them."""

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context
        self.group = CommitGroup()
        self.edits_told: tuple[str, ...] = ()
        self._prepared: date | None = None
        self._undone: tuple[str, ...] = ()
        self._lock = threading.RLock()

    def mutate(
        self, planner: Planner[T], attribution: Attribution, capability: Capability, *, doing: str
    ) -> Receipt[T]:
        """Carry out a plan through the one transaction, and bring the catalog along.

        Args:
            planner: Run under the writer's lock, again where a file it read changed meanwhile.
            attribution: Who, on whose approval, and why.
            capability: What this door has to be allowed.
            doing: What is being done, for the refusal.

        Raises:
            RoleRefused: This door's role may not do it.
            SecretFound: Something that looks like a secret would be stored.
        """
        require(self._context.role, capability, doing=doing)
        self._context.follow_settings()
        let_in = self.group.let_in
        if let_in:
            known = self._context.settings.secrets.allow
            by = self.attribution("a secret was allowed").actor
            planner = _allowing(planner, known, let_in, by)
        if self._context.settings.secrets.hold_back:
            planner = guarded(planner, self._context, let_in)
        with self._lock:
            self.prepare_writing()
            going_on = self.group.going_on(planner)

            def plan(view: FileView) -> Plan[T]:
                self.group.refuse_purged(self._context.history)
                return going_on(view)

            receipt = self._context.history.mutate(plan, self._with_rights(attribution))
        if receipt.commit is not None:
            self.group.let_in = ()
        self.group.note(receipt.commit)
        self.answer_alerts(receipt)
        return self._telling_what_is_behind(receipt) if receipt.commit else receipt

    def change(
        self,
        planner: Planner[C],
        by: str | Attribution,
        capability: Capability = Capability.WRITE_MEMORY,
        *,
        doing: str = "write memory",
    ) -> C:
        """Carry out a plan as `mutate` does, and return what it comes to with its commit and files.

        Args:
            by: Who does it; or what set it off, if it is the one this workspace was opened for.
            capability: What this door has to be allowed.
            doing: What is being done, for the refusal.
        """
        attribution = self.attribution(by) if isinstance(by, str) else by
        receipt = self.mutate(planner, attribution, capability, doing=doing)
        return replace(receipt.outcome, commit=receipt.commit, files=receipt.files)

    @contextmanager
    def without_purges(self, actor: str) -> Iterator[None]:
        """Let no purge happen meanwhile, to write beside memory what was read of it; see `CommitGroup.resting_on`.

        Args:
            actor: Shown to those who wait.

        Raises:
            Stale: One happened since.
            Locked: Another writer is at work.
        """
        with contextlib.ExitStack() as stack:
            if self._context.has_history():
                # Where nothing can be written, nothing is purged either.
                with contextlib.suppress(StorageError):
                    stack.enter_context(self._context.history.writing(actor))
                self.group.refuse_purged(self._context.history)
            yield

    def _telling_what_is_behind(self, receipt: Receipt[T]) -> Receipt[T]:
        """Add to the answer of a change what is derived from memory and could not follow it."""
        told = (*(one.told for one in self._context.history.behind()), *self._undone)
        outcome = receipt.outcome
        if not told or not is_dataclass(outcome) or isinstance(outcome, type):
            return receipt
        known = getattr(outcome, "warnings", None)
        if not isinstance(known, tuple):
            return receipt
        return replace(receipt, outcome=replace(outcome, warnings=tuple(dict.fromkeys((*known, *told)))))

    def answer_alerts(self, receipt: Receipt[object], taken_back: Sequence[str] = ()) -> None:
        """Acknowledge for a person the alerts of what they changed, or took back, by their own hand just now.

        Args:
            receipt: Of the change.
            taken_back: Commits that it took back, or did again after they had been undone.
        """
        own = {receipt.commit, *taken_back}
        by_hand = self._context.role.may(Capability.ACKNOWLEDGE) and self._context.actor in (None, "manual")
        if not by_hand or self._context.history.critical.isdisjoint(receipt.files):
            return
        store = self._context.history.store
        for alert in self._context.history.alerts(waiting=True):
            undid = parse_message(store.commit(alert.commit)).values(UNDOES) if alert.commit else ()
            if alert.commit in own or not own.isdisjoint(undid):
                self._context.history.acknowledge(alert.id, self.attribution(SETTLED_BY_ITSELF))

    def attribution(self, trigger: str, *, actor: str | None = None, named: str | None = None) -> Attribution:
        """Return who does something through this door.

        Args:
            trigger: What set it off.
            actor: The actor this kind of action has, where the door was not opened for another.
            named: The actor that the call itself names.

        Raises:
            InvalidInput: The name is no actor tag.
            RoleRefused: An agent names an actor that speaks for a person or the system.
            SecretFound: The name looks like a secret; every commit would say it.
        """
        usual = "manual" if self._context.role.kind == "person" else "bot:main"
        who = named or self._context.actor or actor or usual
        if not _ACTOR.fullmatch(who):
            raise InvalidInput(
                f"“{who[:80]}” is no actor.", remedy="Name one like bot:main, skill:NAME or manual."
            )
        if self._context.settings.secrets.hold_back:
            allowed = self._context.settings.secrets.allow
            refuse_secrets(
                [each for each in find_secrets(who) if each.digest not in allowed], "the name of who does it"
            )
        if self._context.role.kind != "person" and not who.startswith(_FOR_AGENTS):
            raise RoleRefused(
                f"An agent cannot act as {who}.",
                where=str(self._context.role),
                remedy="Name a bot: or skill: actor.",
            )
        approval = "—" if who == "manual" else "approved" if who.startswith("reflection:") else "auto"
        return self._with_rights(Attribution(who, approval, masked(trigger), self.asker(named)))

    def _with_rights(self, attribution: Attribution) -> Attribution:
        return replace(
            attribution,
            may_touch_critical=self._context.role.may(Capability.TOUCH_CRITICAL),
            may_write_vault=self.may_write_vault,
        )

    @property
    def may_write_vault(self) -> bool:
        """Return whether this door may change notes of the vault: a person may, others as the setting says."""
        return self._context.role.kind == "person" or self._context.settings.vault.main_writes

    def asker(self, named: str | None = None) -> str:
        """Return whose an action is that is asked for at this door, for those who take it back.

        Args:
            named: The actor that the call itself names.
        """
        from workbench.engine.history.permissions import requester_of

        return requester_of(
            str(self._context.role), named if named not in (None, "manual") else self._context.actor
        )

    def prepare_writing(self, *, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Make ready for the first mutation: a history, a fresh catalog, outside edits taken in, scores settled.

        Args:
            cancelled: Asked now and then; what is left is done the next time.
        """
        with self._lock:
            today = self._context.now().date()
            if self._prepared == today and self._context.has_history():
                return
            if not self._context.has_history():
                # Another workspace may have taken the place since this door was opened.
                self._context.arrange_state()
                with self._context.leaving_the_graph_index():
                    self._context.history.init()
            self._context.claim_state()
            self._context.look_at_state()
            if (adopted := self._context.adopt()) is not None:
                # A file of which something was held back reads otherwise now: the change at hand tells of it.
                left_out = frozenset(adopted.left_out.values())
                self.edits_told = tuple(line for line in adopted.warnings if line not in left_out)
            self._context.refresh(cancelled=cancelled)
            if cancelled():
                return
            self._prepared = today
            self._undone = begin_day(self._context, cancelled)

    def count_accesses_with(self, commit: str, memories: Mapping[str, Sequence[str]]) -> None:
        """Note accesses that came with a change of memory, so that taking it back takes them back.

        Args:
            commit: The change, by its full hash.
            memories: The ids of the memories, each with the items of the change that count for it, if it has any.
        """
        if not memories:
            return
        transaction = parse_message(self._context.history.store.commit(commit)).transaction
        changes = {memory: " ".join((transaction, *items)) for memory, items in memories.items()}
        with contextlib.suppress(StorageError):
            self._context.journal.record_accesses(tuple(memories), self._context.clock.now(), changes)

    def upkeep(self, *, cancelled: Callable[[], bool] = lambda: False) -> results.memories.Changed:
        """Settle scores and prune the audit log where a day has begun, fold accesses and repack where that is due.

        Nothing of it is applied from a reflection, and nothing that is not due is done; every change of memory does
        the same on its way.

        Args:
            cancelled: Asked now and then; what is left is due again the next time.

        Returns:
            The files that changed: the scores, the digests of the audit log.

        Raises:
            RoleRefused: This door may not write.
        """

        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="look after memory")
        before = [_content(context.files.read(path)) for path in _KEPT_UP]
        self.prepare_writing(cancelled=cancelled)
        context.refresh(cancelled=cancelled)
        if not cancelled():
            self._undone = begin_day(context, cancelled)
            if not self._undone:
                end_session(context)
        files = tuple(
            path
            for path, content in zip(_KEPT_UP, before, strict=True)
            if _content(context.files.read(path)) != content
        )
        return results.memories.Changed(
            context.history.head() if files else None, files, warnings=self._undone
        )

    def close(self) -> None:
        """Do the upkeep of a door that wrote."""
        if self._prepared:
            # What was asked for is done; upkeep that cannot be done now is due again the next time.
            with contextlib.suppress(WorkbenchError):
                end_session(self._context)
            self._prepared = None


def _content(content: bytes | None) -> bytes:
    return content or b""


def rescoring(context: WorkspaceContext) -> Callable[[bytes], bytes]:
    """Return what a history asks for the scores that a revert leaves.

    A memory that it restores has the score of an archived one, 0, where an access since keeps the earlier entry from
    coming back whole.
    """

    def rescore(content: bytes) -> bytes:
        planned = DecayScores.parse(content)
        restored = [
            (name, entry)
            for name, entry in planned.entries.items()
            if entry.current_score == 0 and not is_archived(entry) and planned.is_complete(name)
        ]
        if not restored:
            return content
        scores, changes = context.scores(), dict[str, ScoreEntry | None]()
        for name, entry in restored:
            memory = context.lookups.memory(name)
            if memory is not None and is_archived(scores.entries.get(name, entry)):
                record = decay_record(scores.facts(memory), entry, None, scores.reckoning)
                changes[name] = rescored(entry, record, scores.reckoning)
        return planned.update(changes).render() if changes else content

    return rescore


_ROW = lazy_pattern(rb"^\| ([^|\s]+--[^|\s]+) \|.*\| ([^|]*) \|$", re.MULTILINE)


def projections(context: WorkspaceContext) -> tuple[Projection, ...]:
    """Return what a history runs after each change, under the writer's lock."""
    from workbench.engine.history.projections import Projection

    def catalog(changed: Sequence[str], _view: FileView) -> Mapping[str, bytes]:
        kept_brief.forget(context.derived)
        context.catalog.update(changed)
        return {}

    def graph_index(changed: Sequence[str], view: FileView) -> Mapping[str, bytes]:
        relevant = [path for path in changed if path.startswith(layout.GRAPH + "/")]
        if not context.writes_graph_index or (not relevant and layout.DECAY_SCORES not in changed):
            return {}
        from workbench.engine.memory.graph import project_changes

        index = read_work_file(context.root, layout.GRAPH_INDEX)
        if index is None and not relevant:
            # Building all of it is for a change of what it shows; scores come by the way.
            return {}
        rescored = _rescored(context, index) if index and layout.DECAY_SCORES in changed else ()
        return project_changes(relevant, index, view, context.lookups, context.scores(), rescored)

    return (
        Projection("the catalog of memories", catalog),
        Projection(f"the graph index ({layout.GRAPH_INDEX})", graph_index),
    )


def _rescored(context: WorkspaceContext, index: bytes) -> list[str]:
    """Return the entities whose row in the index, or lack of one, no longer fits the scores file."""
    registry = index.split(b"## Edges")[0]
    shown = {match[1].decode("utf-8", "replace"): b"pinned" in match[2] for match in _ROW.finditer(registry)}
    entries = context.scores().entries
    found = []
    for entity in context.lookups.entities():
        entry, name = entries.get(entity.id), entity.id.removeprefix("entity:")
        visible = not is_archived(entry)
        if visible != (name in shown) or (visible and shown[name] != (entry is not None and entry.pinned)):
            found.append(entity.id)
    # The rows of relations do not say whether they were archived and restored, or never were.
    found.extend(memory_id.partition("#^")[0] for memory_id in entries if "#^" in memory_id)
    return found
