"""What was done to memory, one row for each action, and what one of them did."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import Cancelled, HistoryError, NotFound, WorkbenchError
from workbench.engine.history.actions import REFLECTION, ActionWalk
from workbench.engine.history.alerts import describe_alert
from workbench.engine.history.revert import plan_action_revert, plan_reflection_rollback
from workbench.engine.history.work_files import files_of_memory
from workbench.engine.identifiers import parse_memory_id
from workbench.engine.results.audit import Action, ActionDone, Actions
from workbench.engine.services.past import read_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from workbench.engine.results.audit import Comparison, MemoryChange
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.mutator import Mutator
    from workbench.engine.services.past import PastReader

# An action of more commits is not tried beforehand: that would take longer than saying no when it is asked for.
_MOST_TRIED = 30


class ActionLog:
    """The actions of one workspace; what was walked of its history once is kept until it grows."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator, past: PastReader) -> None:
        self._context = context
        self._mutator = mutator
        self._past = past
        self._lock = threading.Lock()
        self._walk: ActionWalk | None = None

    def actions(
        self,
        limit: int = 100,
        offset: int = 0,
        *,
        actor: str | None = None,
        file: str | None = None,
        memory: str | None = None,
        standing: bool = False,
        since: str | None = None,
        until: str | None = None,
        text: str | None = None,
        upkeep: bool = True,
        passing: bool = True,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Actions:
        """Return what was done, newest first; history is read no further than that takes.

        Args:
            limit: Most actions.
            offset: Actions to pass over.
            actor: An actor tag or pattern, `reflection:*`.
            file: A path or pattern, `memory/graph/*`.
            memory: Id of a memory: only what changed what it says.
            standing: Of a memory leave out what was taken back, and what took it back.
            since: Earliest time or day, also `3d` (ago), `today` or `yesterday`.
            until: Latest time or day, that day included.
            text: Part of the summary, a file or the actor.
            upkeep: Whether the system's own housekeeping is among them.
            passing: Whether what nothing came of is among them: ticks that were taken back.
            cancelled: Asked at every action.

        Raises:
            InvalidInput: A time cannot be read, or the memory's id.
            Cancelled: It was called off.
            HistoryDamaged: There was a history here, and it is gone.
        """
        self._context.adopt_for_reading()
        self._context.history.refuse_gone()
        if not self._context.has_history():
            return Actions(())
        begin, end = (
            read_time(each, name, self._context.now(), end=name == "until") if each else None
            for each, name in ((since, "since"), (until, "until"))
        )
        wanted = text.casefold() if text else ""
        passed_over: set[str] = set()
        of_memory: dict[str, Action] | None = None

        def takes(action: Action) -> bool:
            if cancelled():
                raise Cancelled("The reading of history was called off; it changes nothing.")
            if (action.upkeep and not upkeep) or (end and action.timestamp > end):
                return False
            if action.passing and not passing:
                passed_over.add(action.id)
                return False
            if of_memory is not None and action.id not in of_memory:
                return False
            if actor and not fnmatchcase(action.actor, actor):
                return False
            if file and not any(
                path == layout.shown(file) or fnmatchcase(path, file) for path in action.files
            ):
                return False
            return not wanted or wanted in "\n".join((action.summary, action.actor, *action.files)).casefold()

        walk = self._newest_walk()
        if memory is not None:
            of_memory = {
                action.id: action
                for action in map(walk.of, self._changes_of(memory, standing=standing))
                if action
            }
        found: Iterable[Action] = walk if of_memory is None else of_memory.values()
        if begin is not None:
            found = takewhile(lambda action: action.timestamp >= begin, found)
        page = tuple(
            islice(filter(takes, found), min(offset, sys.maxsize), min(offset + limit + 1, sys.maxsize))
        )
        return Actions(page[:limit], len(page) > limit, walk.damaged, len(passed_over))

    def count(self) -> int:
        """Return how many actions there are, the system's own housekeeping left out; quick once it was asked.

        Raises:
            HistoryDamaged: A commit that has to be read is missing or broken.
        """
        if not self._context.has_history():
            return 0
        line = self._past.line()
        upkeep = [name.startswith("system:") for name in line.names]
        settling = frozenset(line.settling)
        return len({
            first for place, first in enumerate(line.actions())
            if not upkeep[line.actors[place]] and place not in settling
        })  # fmt: skip

    def action(self, commit: str) -> ActionDone:
        """Return what an action did, memory by memory.

        Args:
            commit: One of its commits, or the beginning of its hash.

        Raises:
            NotFound: There is no such commit.
            HistoryDamaged: What it did cannot be read any more.
        """
        store = self._past.store
        walk = self._newest_walk()
        action = walk.of(store.resolve(commit))
        undone = walk.of(action.undone_by) if action is not None and action.undone_by else None
        if action is None:
            raise NotFound("This commit is not on the way to the newest.", where=commit[:40])
        comparison = self._compared(action)
        raised = {one.id: one for one in self._context.history.raised_alerts() if one.id in action.alerts}
        obstacle, back = self._tried(action)
        return ActionDone(
            action,
            tuple(each for each in comparison.memories if not _is_about_memory(each.path)),
            tuple(each for each in comparison.files if _is_about_memory(each.path)),
            tuple(describe_alert(store, one) for one in raised.values()),
            undone,
            obstacle,
            back,
        )

    def _newest_walk(self) -> ActionWalk:
        history = self._context.history
        head = history.store.head()
        if head is None:
            raise NotFound("The history is empty.", remedy="The next change begins it.")
        with self._lock:
            if self._walk is None or self._walk.head != head:
                self._walk = ActionWalk(
                    self._context.root, history.store, head, self._mutator.asker(), history.critical
                )
            return self._walk

    def _changes_of(self, memory: str, *, standing: bool) -> Iterator[str]:
        """Yield the commits that changed what a memory says, newest first."""
        memory_id = parse_memory_id(memory)
        paths = files_of_memory(memory) or (
            (memory_id.name.partition("#")[0],) if memory_id.kind == "file" else ()
        )
        for path in paths:
            with suppress(HistoryError, NotFound):
                history = self._past.history_of(memory_id, path)
                yield from (entry.commit for entry in history if not (standing and entry.undone))

    def _compared(self, action: Action) -> Comparison:
        """Compare memory before an action with memory after it, in the files that the action changed."""
        from workbench.engine.past.past import compare_moments

        store = self._past.store
        parent = store.commit(action.id).parent
        after = self._past.of(action.newest)
        if parent is not None:
            pairs = self._past.of(parent).differing(after)
        else:
            pairs = {path: (None, after.files.read(path)) for path in after.files.blobs}
        if action.commits > 1:
            own = set(action.files)
            pairs = {path: pair for path, pair in pairs.items() if layout.shown(path) in own}
        return compare_moments(pairs, after.unit, self._context.zone, (parent, action.newest))

    def _tried(self, action: Action) -> tuple[str, tuple[MemoryChange, ...]]:
        """Try to take an action back, and return what it would be refused for, or how memories would read then."""
        if not action.reversible:
            return "", ()
        history = self._context.history
        name = action.actor.removeprefix(REFLECTION)
        if name == action.actor:
            commits, plan = (
                action.commits,
                plan_action_revert(history, action.id, self._past.line().going_on_from),
            )
        else:
            # A reflection is taken back whole.
            its = self._past.line().by(action.actor)
            commits, plan = len(its), plan_reflection_rollback(history, name, lambda _: its)
        if commits > _MOST_TRIED:
            return "", ()
        view = history.now()
        try:
            changes = plan(view).changes
        except WorkbenchError as error:
            return error.message, ()
        from workbench.engine.past.past import changes_from_now

        told = [
            each for each in changes if not _is_about_memory(each.path) or each.path == layout.DECAY_SCORES
        ]
        pairs = {each.path: (view.read(each.path), each.content) for each in told}
        return "", changes_from_now(pairs, view, self._context.lookups.memory, self._context.zone)


def _is_about_memory(path: str) -> bool:
    return path.startswith(f"{layout.META}/")
