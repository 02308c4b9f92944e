"""Undo and redo: which action is next, and whose it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from workbench.engine.errors import ConfirmationNeeded, NotFound, Refused, Stale
from workbench.engine.history.actions import told_of
from workbench.engine.history.commits import (
    CONTINUES,
    REDOES,
    REVERTS,
    REVERTS_ITEM,
    TICKING,
    UNDOES,
    parse_message,
)
from workbench.engine.history.permissions import is_upkeep, owner_in_words, owner_of
from workbench.engine.history.plan import Action, Event, Plan
from workbench.engine.history.revert import (
    Overlay,
    Reversal,
    commits_since,
    reverting_plan,
    take_back,
    take_back_accesses,
)
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from workbench.engine.history.git_objects import Commit
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.history import History
    from workbench.engine.history.plan import Attribution, FileView, Receipt

T = TypeVar("T")

_NEWEST, _UNDONE_LAST = "newest action", "action undone last"
_SEE_LOG = "See what was done with: workbench audit log"


def standing_changes(store: GitStore, commit: str, since: str | None) -> dict[str, bool]:
    """Return which changes of memory a commit makes ineffective, and which effective again.

    Args:
        commit: The reverting or redoing commit; full hash.
        since: For a rollback of everything, the commit it returned to.

    Returns:
        Whether a change is effective now, by its transaction, followed by the item if only one item is meant.
    """
    found: dict[str, bool] = {}

    def note(one: str, stands: bool) -> None:
        message = parse_message(store.commit(one))
        found[message.transaction] = stands
        items = message.values(REVERTS_ITEM)
        for key, target in message.trailers:
            if key == REVERTS and items:
                whole = parse_message(store.commit(target)).transaction
                found.update({f"{whole} {item}": not stands for item in items})
            elif key in (UNDOES, REVERTS):
                note(target, not stands)
            elif key == REDOES:
                note(target, stands)

    note(commit, True)
    if since is not None:
        for each in store.walk(store.commit(commit).parent, stop=since):
            note(each.id, False)
    return found


@dataclass(frozen=True)
class UndoStep:
    """An action to undo or redo.

    Args:
        action: Its commits, newest first.
        carried_out: The commits that last carried it out, or undid it: the same, or the latest redo.
        owner: Its owner according to `owner_of`.
        actor: The first commit's actor.
        moment: Its time.
        summary: The first commit's summary.
        file: The first commit's file.
    """

    action: tuple[str, ...]
    carried_out: tuple[str, ...]
    owner: str
    actor: str
    moment: datetime
    summary: str
    file: str

    @property
    def told(self) -> str:
        """Return its summary, and the number of further commits."""
        more = len(self.action) - 1
        if not more:
            return self.summary
        return f"{self.summary}, and {more:,} more {'commit' if more == 1 else 'commits'} of the same action"


def undoable(store: GitStore) -> Iterator[UndoStep]:
    """Yield the undoable actions, newest first: no upkeep, nothing already undone, nothing before a purge."""
    settled: set[str] = set()
    walk = store.walk()
    known: list[Commit] = []

    def onwards(place: int) -> Iterator[Commit]:
        while place < len(known) or (following := next(walk, None)):
            if place == len(known) and following:
                known.append(following)
            yield known[place]
            place += 1

    for place, commit in enumerate(onwards(0)):
        message = parse_message(commit)
        if message.action == Action.PURGE:
            # Skipping it would undo something other than the newest action.
            return
        if is_upkeep(message):
            continue
        undone, redone = message.values(UNDOES), message.values(REDOES)
        settled.update(undone)
        if undone or settled.intersection(redone or (commit.id,)):
            continue
        # A tick is taken back by itself, whatever was ticked before it.
        first = commit.id if message.trigger == TICKING else message.trailer(CONTINUES) or commit.id
        action = redone or commits_since(first, onwards(place))
        settled.update(action)
        yield _step_of(store, action, (commit.id,) if redone else action)


def next_undo(store: GitStore, owner: str | None = None) -> UndoStep | None:
    """Return the action to undo: the newest, or the newest of one owner."""
    return next((step for step in undoable(store) if owner in (None, step.owner)), None)


def continued_plan(plan: Plan[T], history: History, actor: str) -> Plan[T]:
    """Return a plan as part of an actor's begun action that is not undone, so that one undo reverts all of it.

    Args:
        plan: The next part.
        actor: The actor, such as a reflection whose items are applied one by one.
    """
    begun = next((step for step in undoable(history.store) if step.actor == actor), None)
    if begun is None or not plan.changes:
        return plan
    return replace(plan, trailers=(*plan.trailers, (CONTINUES, begun.action[-1])))


def going_on_plan(plan: Plan[T], history: History, by: Attribution) -> Plan[T]:
    """Return a plan as part of the newest action, if that has the same actor and trigger and nothing came after it.

    Args:
        plan: The next part.
        by: Who does it, and why.
    """
    newest = next_undo(history.store)
    if newest is None or newest.action[0] != history.head() or not plan.changes:
        return plan
    first = parse_message(history.store.commit(newest.action[-1]))
    if (first.actor, first.trigger) != (by.actor, by.trigger):
        return plan
    begun = first.trailer(CONTINUES) or newest.action[-1]
    return replace(plan, trailers=(*plan.trailers, (CONTINUES, begun)))


def _step_of(store: GitStore, action: tuple[str, ...], carried_out: tuple[str, ...]) -> UndoStep:
    first = store.commit(action[-1])
    message = parse_message(first)
    owner = owner_of(message)
    return UndoStep(action, carried_out, owner, message.actor, first.moment, message.summary, message.file)


def next_redo(store: GitStore, asker: str | None) -> UndoStep | None:
    """Return the action to redo: the one undone last, unless something new was done since.

    With an asker, only an action that they both did and undid.
    """
    redone = 0
    for commit in store.walk():
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
            step, by = _step_of(store, undone, (commit.id,)), owner_of(message)
            return replace(step, owner=by) if step.owner == asker else step
    return None


def undone_by(store: GitStore, asker: str) -> Commit | None:
    """Return the commit in which an asker last undid an action of their own that was not restored since.

    Reverting it restores the action when redo no longer can.
    """
    settled: set[str] = set()
    for commit in store.walk():
        message = parse_message(commit)
        if message.action == Action.PURGE:
            return None
        undone = message.values(UNDOES)
        is_own = (
            bool(undone) and owner_of(message) == owner_of(parse_message(store.commit(undone[-1]))) == asker
        )
        if is_own and not settled.intersection((commit.id, *undone)):
            return commit
        settled.update((*message.values(REDOES), *message.values(REVERTS)))
    return None


def undo(
    history: History,
    attribution: Attribution,
    *,
    mine: bool = False,
    asks: bool = False,
    expected: str | None = None,
) -> Receipt[Reversal]:
    """Undo the newest action that is neither upkeep nor already undone; repeating it goes further back.

    Args:
        mine: Undo the newest action of the asker instead.
        asks: Refuse an action of someone else, because nobody has confirmed it.
        expected: A commit of the confirmed action.

    Raises:
        NotFound: There is nothing to undo.
        Refused: There is nothing to undo since the newest purge.
        ConfirmationNeeded: The action belongs to someone else.
        Stale: The same content was changed again since, or another action is now the newest.
        RoleRefused: It changed a critical file, or belongs to someone else, and that right is missing.
    """

    def find(store: GitStore) -> UndoStep:
        step = next_undo(store, attribution.asker if mine else None)
        if step is None:
            _refuse_purge(store)
            raise NotFound(
                "There is no own action to undo." if mine else "There is nothing to undo.", remedy=_SEE_LOG
            )
        _require_expected(step, _NEWEST, expected)
        if asks and step.owner != attribution.asker:
            raise _not_yours(step, _NEWEST, "undo", ", or take back your own newest action with --mine.")
        return step

    return _carry_out(history, attribution, find, UNDOES, "undid")


def redo(
    history: History, attribution: Attribution, *, asks: bool = False, expected: str | None = None
) -> Receipt[Reversal]:
    """Redo the action undone last, provided that nothing new was done since.

    Args and raises as for `undo`.
    """
    asker = attribution.asker

    def find(store: GitStore) -> UndoStep:
        step = next_redo(store, asker)
        if step is None:
            if own := undone_by(store, asker):
                raise NotFound(
                    "There is nothing to redo: something else was done since the last undo.",
                    remedy=f"Bring back what you undid with: {_bringing_back(own)}",
                )
            raise NotFound("There is nothing to redo.", remedy=_SEE_LOG)
        _require_expected(step, _UNDONE_LAST, expected)
        if asks and step.owner != asker:
            own = undone_by(store, asker)
            instead = f", or bring back what you undid with: {_bringing_back(own)}" if own else "."
            raise _not_yours(step, _UNDONE_LAST, "redo", instead)
        return step

    return _carry_out(history, attribution, find, REDOES, "redid")


def _carry_out(
    history: History,
    attribution: Attribution,
    find: Callable[[GitStore], UndoStep],
    trailer: str,
    past: str,
) -> Receipt[Reversal]:
    # An outside edit not yet adopted is the newest action, whichever file it is in.
    history.adopt()

    def plan(files: FileView) -> Plan[Reversal]:
        store = history.store
        step = find(store)
        action = step.action
        original = parse_message(store.commit(action[-1]))
        overlay = Overlay(files)
        for commit in step.carried_out:
            take_back(overlay, store, commit, action=step.carried_out)
        take_back_accesses(overlay, store, step.carried_out)
        more = f" and {len(action) - 1} that go on with it" if action[1:] else ""
        told = told_of([parse_message(store.commit(each)) for each in action])
        summary = f"{past} {original.action} {action[-1][:10]}{more}: {told}"
        plan = reverting_plan(overlay, action, summary, tuple((trailer, commit) for commit in action))
        if plan.changes:
            return plan
        # A step with nothing left to change still counts: the next one must go further.
        events = (Event(Action.REVERT, original.file, summary),)
        return replace(plan, file=original.file, events=events)

    return history.mutate(plan, attribution)


def _refuse_purge(store: GitStore) -> None:
    """Refuse to undo beyond the newest purge."""
    for commit in store.walk():
        if parse_message(commit).action == Action.PURGE:
            raise Refused(
                "What was purged cannot be brought back, and undo goes no further back than that.",
                where=commit.short,
                remedy="Take back an earlier action by its commit: workbench revert COMMIT",
            )


def _bringing_back(undone: Commit) -> str:
    return f"workbench revert {undone.short}"


def _require_expected(step: UndoStep, newest: str, expected: str | None) -> None:
    if expected is not None and expected not in step.action:
        raise Stale(
            f"Another action is the {newest} now: {step.told}",
            where=step.action[-1][:10],
            remedy="Look at it, then say it again.",
        )


def _not_yours(step: UndoStep, newest: str, verb: str, instead: str) -> ConfirmationNeeded:
    by = f"by {owner_in_words(step.owner, step.actor)}, {step.moment:%Y-%m-%d %H:%M}"
    return ConfirmationNeeded(
        f"The {newest} is not yours: {step.told} ({by})",
        where=step.action[-1][:10],
        remedy=f"Add --yes to {verb} it anyway{instead}",
    )
