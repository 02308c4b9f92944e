"""What surrounds every change: the action it belongs to, what is derived from it, and the upkeep of the day."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from workbench.engine import layout
from workbench.engine.errors import Stale, StorageError
from workbench.engine.results.memories import Changed
from workbench.engine.roles import Capability, require

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.history.history import History
    from workbench.engine.history.plan import Attribution, FileView, Plan, Planner
    from workbench.engine.history.projections import Projection
    from workbench.engine.memory.scores_file import FoldedAccesses
    from workbench.engine.services.context import WorkspaceContext


T = TypeVar("T")


class CommitGroup(threading.local):
    """The action that a thread's changes belong to; by itself, each change is one of its own."""

    def __init__(self) -> None:
        self._is_open = False
        self._first: str | None = None
        self._base: str | None = None

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

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Let every change that this thread makes meanwhile go on with the first one."""
        self._is_open, self._first = True, None
        try:
            yield
        finally:
            self._is_open, self._first = False, None

    def going_on(self, planner: Planner[T]) -> Planner[T]:
        """Return a planner whose commit names the first one of its action, where there is one."""
        trailers = self.trailers
        if not trailers:
            return planner

        def plan(view: FileView) -> Plan[T]:
            planned = planner(view)
            return replace(planned, trailers=(*planned.trailers, *trailers))

        return plan

    @property
    def trailers(self) -> tuple[tuple[str, str], ...]:
        """Return what a commit says that goes on with the first one of its action; nothing where it is none."""
        from workbench.engine.history.commits import CONTINUES

        return () if self._first is None else ((CONTINUES, self._first),)

    def note(self, commit: str | None) -> None:
        """Take the first commit since the action began for its first."""
        if self._is_open and self._first is None:
            self._first = commit


# The log is pruned a week at a time, so that not every day has its pruning commit.
_PRUNING_STEP = timedelta(days=7)


def settle(ground: WorkspaceContext) -> Changed:
    """Fold journalled accesses into the scores file, and log the memories whose status changed."""
    from workbench.engine.history.plan import Attribution
    from workbench.engine.memory.scores_file import mark_checked, plan_transitions

    page = ground.accesses()

    def plan(view: FileView) -> Plan[FoldedAccesses]:
        scores = ground.scores()
        scores.first_seen.everything()
        memories = {record.id: scores.facts(record) for record in ground.lookups.memories()}
        return plan_transitions(view, page, memories, scores.reckoning)

    receipt = ground.history.mutate(plan, Attribution("system:decay", "auto", "scores settled"))
    if receipt.outcome.journal:
        # The scores file says how far it holds the journal: what cannot be dropped counts once all the same.
        with contextlib.suppress(StorageError):
            ground.journal.drop_until(receipt.outcome.journal, receipt.outcome.offset)
    mark_checked(ground.state, ground.clock.now())
    return Changed(receipt.commit, receipt.files, receipt.outcome.ids)


def begin_day(ground: WorkspaceContext, cancelled: Callable[[], bool]) -> None:
    """Settle scores and prune the audit log, once a calendar day and where there is something to do.

    Args:
        ground: The open workspace.
        cancelled: Asked before and while the log is pruned, which is then left to another day.
    """
    from workbench.engine.memory.scores_file import check_is_due

    if not check_is_due(ground.state, ground.clock.now(), ground.zone):
        return
    settle(ground)
    if not cancelled() and _log_is_long(ground):
        from workbench.engine.history.retention import prune

        prune(ground.history, ground.settings.audit.retention_days, cancelled=cancelled)


def end_session(ground: WorkspaceContext) -> None:
    """Fold accesses that are due, and repack the history in the background where much lies loose."""
    from workbench.engine.history.git_maintenance import repack_if_due
    from workbench.engine.memory.scores_file import fold_is_due, folded_of, read_scores

    waiting = ground.accesses().after(folded_of(read_scores(ground.files)))
    if fold_is_due(waiting, ground.clock.now(), ground.settings.decay):
        settle(ground)
    repack_if_due(ground.history)


def _log_is_long(ground: WorkspaceContext) -> bool:
    """Tell whether the audit log begins more than the retention and a week ago."""
    from workbench.engine.markdown.audit_log import parse_audit_line

    try:
        with (ground.root / layout.AUDIT_LOG).open("rb") as log:
            first = parse_audit_line(log.readline(65_536).decode("utf-8", "replace"))
    except OSError:
        return False
    kept = timedelta(days=ground.settings.audit.retention_days) + _PRUNING_STEP
    return first is not None and first.timestamp < ground.clock.now() - kept


_KEPT_UP = (layout.DECAY_SCORES, layout.AUDIT_ARCHIVE)


class Mutator:
    """Carries out changes of memory, and what a workspace needs from time to time although nobody changes anything."""

    def __init__(self, ground: WorkspaceContext) -> None:
        self._ground = ground

    def change(
        self,
        planner: Planner[Changed],
        trigger: str,
        *,
        by: Attribution | None = None,
    ) -> Changed:
        """Carry out a plan that changes memory.

        Args:
            planner: Run under the writer's lock, again where a file it read changed meanwhile.
            trigger: What set it off.
            by: Who does it; whoever this door was opened for by default.

        Raises:
            RoleRefused: This door may not write.
        """
        ground = self._ground
        receipt = ground.mutate(
            planner, by or ground.attribution(trigger), Capability.WRITE_MEMORY, doing="write memory"
        )
        return replace(receipt.outcome, commit=receipt.commit, files=receipt.files)

    def upkeep(self, *, cancelled: Callable[[], bool] = lambda: False) -> Changed:
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

        ground = self._ground
        require(ground.role, Capability.WRITE_MEMORY, doing="look after memory")
        before = [_content(ground.files.read(path)) for path in _KEPT_UP]
        ground.prepare_writing(cancelled=cancelled)
        ground.refresh(cancelled=cancelled)
        if not cancelled():
            begin_day(ground, cancelled)
            end_session(ground)
        files = tuple(
            path
            for path, content in zip(_KEPT_UP, before, strict=True)
            if _content(ground.files.read(path)) != content
        )
        return Changed(ground.history.head() if files else None, files)


def _content(content: bytes | None) -> bytes:
    return content or b""


_ROW = re.compile(rb"^\| ([^|\s]+--[^|\s]+) \|.*\| ([^|]*) \|$", re.MULTILINE)


def projections(ground: WorkspaceContext) -> tuple[Projection, ...]:
    """Return what a history runs after each change, under the writer's lock."""
    from workbench.engine.history.projections import Projection

    def catalog(changed: Sequence[str], _view: FileView) -> Mapping[str, bytes]:
        ground.catalog.update(changed)
        return {}

    def graph_index(changed: Sequence[str], view: FileView) -> Mapping[str, bytes]:
        relevant = [path for path in changed if path.startswith(layout.ENTITIES + "/")]
        if not ground.writes_graph_index or (not relevant and layout.DECAY_SCORES not in changed):
            return {}
        from workbench.engine.history.work_files import read_work_file
        from workbench.engine.memory.graph_index import project_changes

        index = read_work_file(ground.root, layout.GRAPH_INDEX)
        if index is None and not relevant:
            # Building all of it is for a change of what it shows; scores come by the way.
            return {}
        rescored = _rescored(ground, index) if index and layout.DECAY_SCORES in changed else ()
        return project_changes(relevant, index, view, ground.lookups, ground.scores(), rescored)

    return (
        Projection("the catalog of memories", catalog),
        Projection(f"the graph index ({layout.GRAPH_INDEX})", graph_index),
    )


def _rescored(ground: WorkspaceContext, index: bytes) -> list[str]:
    """Return the entities whose row in the index, or lack of one, no longer fits the scores file."""
    from workbench.engine.memory.decay import is_archived

    registry = index.split(b"## Edges")[0]
    shown = {match[1].decode("utf-8", "replace"): b"pinned" in match[2] for match in _ROW.finditer(registry)}
    entries = ground.scores().entries
    found = []
    for entity in ground.lookups.entities():
        entry, name = entries.get(entity.id), entity.id.removeprefix("entity:")
        visible = entry is None or not is_archived(entry)
        if visible != (name in shown) or (visible and shown[name] != (entry is not None and entry.pinned)):
            found.append(entity.id)
    # The rows of relations do not say whether they were archived and restored, or never were.
    found.extend(memory_id.partition("#^")[0] for memory_id in entries if "#^" in memory_id)
    return found
