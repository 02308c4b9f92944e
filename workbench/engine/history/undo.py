"""Undo and redo: which action is next is read from the trailers of the commits alone.

An action is one commit, or several that go on with the first of them; those are taken back together.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from workbench.engine.errors import NotFound, Refused
from workbench.engine.history.adoption import common_pattern
from workbench.engine.history.commit_message import parse_message
from workbench.engine.history.plan import Action, Event, Plan
from workbench.engine.history.taking_back import Overlay, TakenBack, take_back
from workbench.engine.history.trailers import CONTINUES, REDOES, UNDOES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from workbench.engine.history.commit_message import CommitMessage
    from workbench.engine.history.git_store import Commit
    from workbench.engine.history.history import History
    from workbench.engine.history.plan import Attribution, FileView, Receipt

_UPKEEP_ACTIONS = frozenset({Action.ALERT, Action.ACK, Action.PRUNE, Action.PURGE})


def is_upkeep(message: CommitMessage) -> bool:
    """Tell whether a commit is the system's own housekeeping, which undo passes over."""
    return message.actor.startswith("system:") or message.action in _UPKEEP_ACTIONS


def commits_since(first: str, commits: Iterable[Commit]) -> tuple[str, ...]:
    """Return the commits of an action, newest first.

    Args:
        first: The full hash of its first commit.
        commits: Along first parents, newest first; read no further than to that one.
    """
    action = []
    for commit in commits:
        if first in (commit.id, parse_message(commit).trailer(CONTINUES)):
            action.append(commit.id)
        if commit.id == first:
            break
    return tuple(action)


def next_undo(commits: Iterable[Commit]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Find what undo takes back: the newest action that is neither upkeep nor already undone.

    Args:
        commits: Along first parents, newest first; read only as far as needed.

    Returns:
        The action's commits, and the commits that last carried it out: the same, or the latest redo of it. Both are
        newest first.

    Raises:
        Refused: Memories were purged since.
    """
    settled: set[str] = set()
    remaining = iter(commits)
    for commit in remaining:
        message = parse_message(commit)
        if message.action == Action.PURGE:
            # To pass over it would take back something else than was done last.
            raise Refused(
                "What was purged cannot be brought back, and undo goes no further back than that.",
                where=commit.short,
                remedy="Take back an earlier action by its commit: workbench revert COMMIT",
            )
        if is_upkeep(message):
            continue
        undone, redone = message.values(UNDOES), message.values(REDOES)
        settled.update(undone)
        if undone or settled.intersection(redone or (commit.id,)):
            continue
        if redone:
            return redone, (commit.id,)
        action = commits_since(message.trailer(CONTINUES) or commit.id, chain([commit], remaining))
        return action, action
    return None


def next_redo(commits: Iterable[Commit]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Find what redo brings back: the action undone last, unless something new was done since.

    Args:
        commits: Along first parents, newest first; read only as far as needed.

    Returns:
        The action's commits, newest first, and the commit that undid it.
    """
    redone = 0
    for commit in commits:
        message = parse_message(commit)
        if is_upkeep(message):
            continue
        undone = message.values(UNDOES)
        if message.trailer(REDOES):
            redone += 1
        elif not undone:
            return None
        elif redone:
            redone -= 1
        else:
            return undone, (commit.id,)
    return None


def undo(
    history: History, attribution: Attribution, *, may_touch_critical: bool = False
) -> Receipt[TakenBack]:
    """Take back the newest action that is neither upkeep nor already undone; again walks further back.

    Args:
        history: Of the workspace.
        attribution: Who undoes.
        may_touch_critical: Whether the action may have been on a critical file (a person's right).

    Raises:
        NotFound: There is nothing to undo.
        Refused: The newest action is a purge.
        Stale: What the action did was changed again since.
        RoleRefused: It was on a critical file, and that right is missing.
    """
    return _step(history, attribution, may_touch_critical, next_undo, UNDOES, "undo", "undid")


def redo(
    history: History, attribution: Attribution, *, may_touch_critical: bool = False
) -> Receipt[TakenBack]:
    """Do again what was undone last, provided that nothing new was done since.

    Args and raises as for `undo`.
    """
    return _step(history, attribution, may_touch_critical, next_redo, REDOES, "redo", "redid")


def _step(
    history: History,
    attribution: Attribution,
    may_touch_critical: bool,
    find: Callable[[Iterable[Commit]], tuple[tuple[str, ...], tuple[str, ...]] | None],
    trailer: str,
    verb: str,
    past: str,
) -> Receipt[TakenBack]:
    # An edit from outside that nobody has taken in yet is the newest action, whichever file it is in.
    history.adopt()

    def plan(files: FileView) -> Plan[TakenBack]:
        store = history.store
        found = find(store.walk())
        if found is None:
            raise NotFound(
                f"There is nothing to {verb}.", remedy="See what was done with: workbench audit log"
            )
        action, carried_out = found
        original = parse_message(store.commit(action[-1]))
        overlay = Overlay(files)
        for commit in carried_out:
            take_back(overlay, store, commit)
        more = f" and {len(action) - 1} that go on with it" if action[1:] else ""
        summary = f"{past} {original.action} {action[-1][:10]}{more}: {original.summary}"
        changes = overlay.changes(Action.REVERT, summary)
        paths = tuple(change.path for change in changes)
        # A step with nothing left to change is a step all the same: the next one must go further.
        events = () if changes else (Event(Action.REVERT, original.file, summary),)
        return Plan(
            Action.REVERT,
            common_pattern(list(paths)) if paths else original.file,
            summary,
            changes=changes,
            events=events,
            trailers=tuple((trailer, commit) for commit in action),
            outcome=TakenBack(action, paths, summary),
        )

    return history.mutate(plan, attribution, may_touch_critical=may_touch_critical)
