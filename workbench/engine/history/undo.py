"""Undo and redo: which action is next is read from the trailers of the commits alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.errors import NotFound
from workbench.engine.history.adoption import common_pattern
from workbench.engine.history.commit_message import parse_message
from workbench.engine.history.plan import Action, Event, Plan
from workbench.engine.history.taking_back import Overlay, TakenBack, take_back
from workbench.engine.history.trailers import REDOES, UNDOES

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


def next_undo(commits: Iterable[Commit]) -> tuple[str, str] | None:
    """Find what undo takes back: the newest action that is neither upkeep nor already undone.

    Args:
        commits: Along first parents, newest first; read only as far as needed.

    Returns:
        The action's commit, and the commit that last carried it out: itself, or the latest redo of it.
    """
    settled: set[str] = set()
    for commit in commits:
        message = parse_message(commit)
        if is_upkeep(message):
            continue
        undone, redone = message.trailer(UNDOES), message.trailer(REDOES)
        action = redone or commit.id
        if undone:
            settled.add(undone)
        elif action not in settled:
            return action, commit.id
    return None


def next_redo(commits: Iterable[Commit]) -> tuple[str, str] | None:
    """Find what redo brings back: the action undone last, unless something new was done since.

    Args:
        commits: Along first parents, newest first; read only as far as needed.

    Returns:
        The action's commit, and the commit that undid it.
    """
    redone = 0
    for commit in commits:
        message = parse_message(commit)
        if is_upkeep(message):
            continue
        undone = message.trailer(UNDOES)
        if message.trailer(REDOES):
            redone += 1
        elif not undone:
            return None
        elif redone:
            redone -= 1
        else:
            return undone, commit.id
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
    find: Callable[[Iterable[Commit]], tuple[str, str] | None],
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
        original = parse_message(store.commit(action))
        overlay = Overlay(files)
        take_back(overlay, store, carried_out)
        summary = f"{past} {original.action} {action[:10]}: {original.summary}"
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
            trailers=((trailer, action),),
            outcome=TakenBack((action,), paths, summary),
        )

    return history.mutate(plan, attribution, may_touch_critical=may_touch_critical)
