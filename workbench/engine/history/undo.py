"""Undo and redo: which action is next, and the files without a commit's changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from workbench.engine import layout
from workbench.engine.errors import ConfirmationNeeded, NotFound, Refused, Stale
from workbench.engine.history.commits import CONTINUES, REDOES, REVERTS, REVERTS_ITEM, UNDOES, parse_message
from workbench.engine.history.json_revert import drop_entries, memory_exists, places_of, withdraw_accesses
from workbench.engine.history.outside_edits import common_pattern
from workbench.engine.history.permissions import is_upkeep, owner_in_words, owner_of
from workbench.engine.history.plan import Action, Event, FileChange, Plan
from workbench.engine.history.structural_revert import changed_units, revert_content
from workbench.engine.markdown.decay_scores import DecayScores

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from datetime import datetime

    from workbench.engine.history.git_store import Commit, GitStore
    from workbench.engine.history.history import History
    from workbench.engine.history.plan import Attribution, FileView, Receipt

T = TypeVar("T")


@dataclass(frozen=True)
class Reversal:
    """The result of a revert, rollback, undo or redo.

    Args:
        commits: The reverted commits, newest first; for a rollback to a commit, that commit.
        files: The paths that changed.
        summary: One line for people.
        warnings: What a person should know, one sentence each.
        since: For a rollback of everything, the commit it returned to.
    """

    commits: tuple[str, ...]
    files: tuple[str, ...]
    summary: str
    warnings: tuple[str, ...] = ()
    since: str | None = None


class Overlay:
    """A planned state of the files over the current one.

    Args:
        files: The current files.
    """

    def __init__(self, files: FileView) -> None:
        self._files = files
        self._planned: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes | None:
        """Return a file's planned or else current content."""
        return self._planned[path] if path in self._planned else self._files.read(path)

    def write(self, path: str, content: bytes | None) -> None:
        """Plan a file's content; None deletes it."""
        self._planned[path] = content

    def removes(self, memory_id: str) -> bool:
        """Return True if a memory is in its file now and will not be."""
        planned = any(path in self._planned for path in places_of(memory_id))
        return (
            planned and memory_exists(memory_id, self._files.read) and not memory_exists(memory_id, self.read)
        )

    def changes(self, action: Action, summary: str) -> tuple[FileChange, ...]:
        """Return the planned changes, by path."""
        return tuple(
            FileChange(path, content, action, summary)
            for path, content in sorted(self._planned.items())
            if content != self._files.read(path)
        )


def take_back(
    overlay: Overlay,
    store: GitStore,
    commit: str,
    *,
    units: Mapping[str, Collection[str]] | None = None,
    exempt: Collection[str] = (),
) -> None:
    """Plan every file that a commit changed without that change.

    Args:
        overlay: The plan so far; extended.
        store: The history.
        commit: Full hash; its change is relative to its first parent.
        units: If given, revert only these units by path (see `changed_units`).
        exempt: Paths to leave alone.

    Raises:
        Stale: A unit was changed again since.
    """
    for change in store.changes(commit):
        origin = change.old_path or change.path
        if change.path in exempt or origin in exempt:
            continue
        if units is not None and change.path not in units:
            continue
        before = store.read_blob(change.old_blob) if change.old_blob else None
        after = store.read_blob(change.new_blob) if change.new_blob else None
        only = None if units is None else units[change.path]
        content = revert_content(change.path, before, after, overlay.read(change.path), only=only)
        if origin != change.path:
            overlay.write(change.path, None)
        overlay.write(origin, content)


def take_back_accesses(
    overlay: Overlay, store: GitStore, commits: Iterable[str], *, item: str | None = None
) -> None:
    """Plan the scores without the accesses recorded by some commits, and without entries of removed memories.

    Args:
        overlay: The plan so far, with the commits reverted.
        store: The history.
        commits: Full hashes, newest first.
        item: If given, only this item of a reflection is reverted.
    """
    taken = [store.commit(commit) for commit in commits]
    parent = taken[-1].parent if taken else None
    known = DecayScores.parse((store.file_at(parent, layout.DECAY_SCORES) if parent else None) or b"").entries
    transactions = {parse_message(commit).transaction for commit in taken}
    scores = withdraw_accesses(overlay.read(layout.DECAY_SCORES), transactions, item=item)
    overlay.write(
        layout.DECAY_SCORES, drop_entries(scores, lambda name: name not in known and overlay.removes(name))
    )


def standing_changes(store: GitStore, commit: str, since: str | None = None) -> dict[str, bool]:
    """Return which changes of memory a commit makes ineffective, and which effective again.

    Args:
        store: The history.
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


def commits_since(first: str, commits: Iterable[Commit]) -> tuple[str, ...]:
    """Return the commits of an action, newest first.

    Args:
        first: The full hash of its first commit.
        commits: Along first parents, newest first; read lazily up to the first commit.
    """
    action = []
    for commit in commits:
        if first in (commit.id, parse_message(commit).trailer(CONTINUES)):
            action.append(commit.id)
        if commit.id == first:
            break
    return tuple(action)


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
    """

    action: tuple[str, ...]
    carried_out: tuple[str, ...]
    owner: str
    actor: str
    moment: datetime
    summary: str

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
        action = redone or commits_since(message.trailer(CONTINUES) or commit.id, onwards(place))
        settled.update(action)
        yield _step_of(store, action, (commit.id,) if redone else action)


def next_undo(store: GitStore, owner: str | None = None) -> UndoStep | None:
    """Return the action to undo: the newest, or the newest of one owner."""
    return next((step for step in undoable(store) if owner in (None, step.owner)), None)


def continued_plan(plan: Plan[T], history: History, actor: str) -> Plan[T]:
    """Return a plan as part of an actor's begun action that is not undone, so that one undo reverts all of it.

    Args:
        plan: The next part.
        history: The workspace's history.
        actor: The actor, such as a reflection whose items are applied one by one.
    """
    begun = next((step for step in undoable(history.store) if step.actor == actor), None)
    if begun is None or not plan.changes:
        return plan
    return replace(plan, trailers=(*plan.trailers, (CONTINUES, begun.action[-1])))


def _step_of(store: GitStore, action: tuple[str, ...], carried_out: tuple[str, ...]) -> UndoStep:
    first = store.commit(action[-1])
    message = parse_message(first)
    return UndoStep(action, carried_out, owner_of(message), message.actor, first.moment, message.summary)


def next_redo(store: GitStore, asker: str | None = None) -> UndoStep | None:
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
    may_touch_critical: bool = False,
    mine: bool = False,
    asks: bool = False,
    expected: str | None = None,
) -> Receipt[Reversal]:
    """Undo the newest action that is neither upkeep nor already undone; repeating it goes further back.

    Args:
        history: The workspace's history.
        attribution: Who undoes.
        may_touch_critical: Whether critical files may change (a person's right).
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

    def find(store: GitStore) -> UndoStep | None:
        return next_undo(store, attribution.asker if mine else None)

    wanted = _Wanted(find, "own " if mine else "", asks, expected)
    return _step(history, attribution, may_touch_critical, wanted, UNDOES, "undo", "undid")


def redo(
    history: History,
    attribution: Attribution,
    *,
    may_touch_critical: bool = False,
    asks: bool = False,
    expected: str | None = None,
) -> Receipt[Reversal]:
    """Redo the action undone last, provided that nothing new was done since.

    Args and raises as for `undo`.
    """
    wanted = _Wanted(lambda store: next_redo(store, attribution.asker), "", asks, expected)
    return _step(history, attribution, may_touch_critical, wanted, REDOES, "redo", "redid")


@dataclass(frozen=True)
class _Wanted:
    find: Callable[[GitStore], UndoStep | None]
    kind: str
    asks: bool
    expected: str | None


def _step(
    history: History,
    attribution: Attribution,
    may_touch_critical: bool,
    wanted: _Wanted,
    trailer: str,
    verb: str,
    past: str,
) -> Receipt[Reversal]:
    # An outside edit not yet adopted is the newest action, whichever file it is in.
    history.adopt()

    def plan(files: FileView) -> Plan[Reversal]:
        store = history.store
        step = wanted.find(store)
        if step is None:
            if trailer == UNDOES:
                _refuse_purge(store)
            elif own := undone_by(store, attribution.asker):
                raise NotFound(
                    "There is nothing to redo: something else was done since the last undo.",
                    remedy=f"Bring back what you undid with: {_bringing_back(own)}",
                )
            raise NotFound(
                f"There is no {wanted.kind}action to {verb}."
                if wanted.kind
                else f"There is nothing to {verb}.",
                remedy="See what was done with: workbench audit log",
            )
        _check(store, step, wanted, attribution.asker, verb)
        action = step.action
        original = parse_message(store.commit(action[-1]))
        overlay = Overlay(files)
        try:
            for commit in step.carried_out:
                take_back(overlay, store, commit)
        except Stale as conflict:
            raise _naming_dependent(conflict, store, step) from conflict
        take_back_accesses(overlay, store, step.carried_out)
        more = f" and {len(action) - 1} that go on with it" if action[1:] else ""
        summary = f"{past} {original.action} {action[-1][:10]}{more}: {original.summary}"
        changes = overlay.changes(Action.REVERT, summary)
        paths = tuple(change.path for change in changes)
        # A step with nothing left to change still counts: the next one must go further.
        events = () if changes else (Event(Action.REVERT, original.file, summary),)
        return Plan(
            Action.REVERT,
            common_pattern(list(paths)) if paths else original.file,
            summary,
            changes=changes,
            events=events,
            trailers=tuple((trailer, commit) for commit in action),
            outcome=Reversal(action, paths, summary),
        )

    return history.mutate(plan, attribution, may_touch_critical=may_touch_critical)


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


def _check(store: GitStore, step: UndoStep, wanted: _Wanted, asker: str, verb: str) -> None:
    newest = "newest action" if verb == "undo" else "action undone last"
    if wanted.expected is not None and wanted.expected not in step.action:
        raise Stale(
            f"Another action is the {newest} now: {step.told}",
            where=step.action[-1][:10],
            remedy="Look at it, then say it again.",
        )
    if wanted.asks and step.owner != asker:
        instead = "."
        if verb == "undo":
            instead = ", or take back your own newest action with --mine."
        elif own := undone_by(store, asker):
            instead = f", or bring back what you undid with: {_bringing_back(own)}"
        by = f"by {owner_in_words(step.owner, step.actor)}, {step.moment:%Y-%m-%d %H:%M}"
        raise ConfirmationNeeded(
            f"The {newest} is not yours: {step.told} ({by})",
            where=step.action[-1][:10],
            remedy=f"Add --yes to {verb} it anyway{instead}",
        )


def _naming_dependent(conflict: Stale, store: GitStore, step: UndoStep) -> Stale:
    """Return the refusal with the later action that depends on the one to revert."""
    path = conflict.where
    units = set(_units(store, step.carried_out[0], path)) if path else set()
    since = list(store.walk(stop=step.carried_out[0]))
    touching = [
        each for each in since if path and any(path == change.path for change in store.changes(each.id))
    ]
    resting = [each for each in touching if units.intersection(_units(store, each.id, path))] or touching
    if not resting:
        return conflict
    message = parse_message(resting[0])
    by = owner_in_words(owner_of(message), message.actor)
    told = f"A later action rests on it: {message.summary} (by {by}, {resting[0].short})."
    return Stale(
        f"{conflict.message} {told}",
        where=path,
        remedy=f"Take that back first: workbench revert {resting[0].short}",
    )


def _units(store: GitStore, commit: str, path: str | None) -> tuple[str, ...]:
    found: list[str] = []
    for change in store.changes(commit):
        if change.path == path:
            before, after = (
                store.read_blob(blob) if blob else None for blob in (change.old_blob, change.new_blob)
            )
            found += changed_units(change.path, before, after)
    return tuple(found)
