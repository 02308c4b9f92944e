"""Reverts a commit or one item of a reflection; rolls back a file, a reflection, or all memory to a commit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound, Stale
from workbench.engine.history.commits import (
    CONTINUES,
    REDOES,
    RESTORES,
    REVERTS,
    REVERTS_ITEM,
    UNDOES,
    parse_message,
    read_commit_index,
)
from workbench.engine.history.json_revert import drop_entries, merge_scores, scores_of_file, withdraw_accesses
from workbench.engine.history.permissions import owner_in_words, owner_of
from workbench.engine.history.plan import Action, Event, FileChange, Plan, common_pattern
from workbench.engine.history.structural_revert import changed_units, conflict_error, is_scaffold, try_revert
from workbench.engine.history.work_files import files_of_memory, memory_exists
from workbench.engine.markdown.audit_log import parse_audit_fields, render_audit_fields
from workbench.engine.markdown.decay_scores import DecayScores
from workbench.engine.markdown.review import PendingReflection
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import TypeAlias

    from workbench.engine.history.git_objects import Commit
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.history import History
    from workbench.engine.history.plan import Attribution, FileView, Planner, Receipt
    from workbench.engine.history.structural_revert import Conflict

    CommitsBy: TypeAlias = Callable[[str], tuple[str, ...]]


ITEM = "Item"
ITEM_UNIT = "Item-Unit"
_ITEM_NAME = lazy_pattern(r"^r-[A-Za-z0-9]+\.\d+$")
_LASTING = frozenset({Action.PRUNE, Action.PURGE})

# Records of decisions and of changes stay, whatever memory is rolled back to.
EXEMPT = frozenset({layout.AUDIT_ARCHIVE, layout.REFLECTION_LOG, layout.REJECTED})


@dataclass(frozen=True)
class Reversal:
    """The result of a revert, rollback, undo or redo.

    Args:
        commits: The reverted commits, newest first; for a rollback to a commit, that commit.
        files: The paths that changed.
        warnings: What a person should know, one sentence each.
        since: For a rollback of everything, the commit it returned to.
    """

    commits: tuple[str, ...]
    files: tuple[str, ...]
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
        planned = any(path in self._planned for path in files_of_memory(memory_id))
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
    action: Collection[str] = (),
    units: Mapping[str, Collection[str]] | None = None,
    exempt: Collection[str] = (),
) -> None:
    """Plan every file that a commit changed without that change.

    Args:
        overlay: The plan so far; extended.
        commit: Full hash; its change is relative to its first parent.
        action: Commits that are taken back with it; full hashes.
        units: If given, revert only these units by path (see `changed_units`).
        exempt: Paths to leave alone.

    Raises:
        Stale: A unit was changed again since; names the later action that did so.
    """
    for change in store.changes(commit):
        origin = change.old_path or change.path
        if change.path in exempt or origin in exempt:
            continue
        if units is not None and change.path not in units:
            continue
        before, after = store.contents(change)
        only = None if units is None else units[change.path]
        content, conflicts = try_revert(change.path, before, after, overlay.read(change.path), only=only)
        if conflicts:
            raise _refusal(store, commit, change.path, conflicts, action)
        if origin != change.path:
            overlay.write(change.path, None)
        overlay.write(origin, content)


def _may_touch(commit: Commit, path: str) -> bool:
    """Return False for a commit that accounts for every file it changed and does not name this one."""
    message = parse_message(commit)
    return not message.transaction or any(
        entry.file in (path, layout.shown(path), "*") for entry in message.entries
    )


def _refusal(
    store: GitStore, commit: str, path: str, conflicts: Sequence[Conflict], action: Collection[str]
) -> Stale:
    """Return the refusal to take back a commit, with the newest later action that rests on it."""
    refusal = conflict_error(path, conflicts)
    names = set(conflicts[0].names)
    newest = later = None
    for each in store.walk(stop=commit):
        if each.id in action or not _may_touch(each, path):
            continue
        if any(path in (one.path, one.old_path) for one in store.changes(each.id)):
            newest = newest or each
            if names.intersection(_units(store, each.id, path)):
                later = each
                break
    later = later or newest
    if later is None:
        return refusal
    message = parse_message(later)
    by = owner_in_words(owner_of(message), message.actor)
    told = f"A later action rests on it: {message.summary} (by {by}, {later.moment:%Y-%m-%d %H:%M}, {later.short})."
    return Stale(
        f"{refusal.message} {told}",
        where=path,
        remedy=f"Take that back first: workbench revert {later.short}",
    )


def _units(store: GitStore, commit: str, path: str) -> Iterator[str]:
    for change in store.changes(commit):
        if change.path == path:
            yield from changed_units(change.path, *store.contents(change))


def take_back_accesses(
    overlay: Overlay, store: GitStore, commits: Iterable[str], *, item: str | None = None
) -> None:
    """Plan the scores without the accesses recorded by some commits, and without entries of removed memories.

    Args:
        overlay: The plan so far, with the commits reverted.
        commits: Full hashes, newest first.
        item: If given, only this item of a reflection is reverted.
    """
    taken = [store.commit(commit) for commit in commits]
    parent = taken[-1].parent if taken else None
    known = DecayScores.parse(store.file_at(parent, layout.DECAY_SCORES) or b"").entries
    transactions = {parse_message(commit).transaction for commit in taken}
    scores = withdraw_accesses(overlay.read(layout.DECAY_SCORES), transactions, item=item)
    overlay.write(
        layout.DECAY_SCORES, drop_entries(scores, lambda name: name not in known and overlay.removes(name))
    )


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


def is_item(text: str) -> bool:
    """Return True for the id of a reflection item, such as `r-012.3`, rather than a commit."""
    return bool(_ITEM_NAME.match(text.strip()))


def item_trailers(
    item: str, decision: str, changes: Mapping[str, tuple[bytes | None, bytes | None]]
) -> tuple[tuple[str, str], ...]:
    """Return the trailers by which one applied item can be found and reverted alone.

    Contract: a commit that applies items of a reflection carries `Item: r-012.3 approved` for each item, and
    `Item-Unit: r-012.3 | PATH | UNIT` for each unit that the item changed, its fields escaped as in an audit
    line. Units are named as in `changed_units`.

    Args:
        item: The item's id, `r-012.3`.
        decision: approved, rejected or deferred.
        changes: The changes of this item alone: content before and after by path.
    """
    units = tuple(
        (ITEM_UNIT, render_audit_fields((item, path, unit)))
        for path, (before, after) in changes.items()
        for unit in changed_units(path, before, after)
    )
    return ((ITEM, f"{item} {decision}"), *units)


def revert(history: History, name: str, attribution: Attribution) -> Receipt[Reversal]:
    """Revert one commit, or one item of a reflection, keeping everything done since.

    Args:
        name: A commit's hash or its first digits, or an item's id such as `r-012.3`.

    Returns:
        A receipt; without a commit if nothing is left to revert. If other items need every line of an item, the
        commit changes no file: those lines go with the last of the others.

    Raises:
        NotFound: No commit or applied item matches.
        InvalidInput: The commit changed no file, begins the history, or is permanent (pruning, purging).
        Stale: The same content was changed again since.
        RoleRefused: It changed a critical file without the right to.
    """
    return history.mutate(plan_any_revert(history, name), attribution)


def plan_any_revert(history: History, name: str) -> Planner[Reversal]:
    """Return the planner that reverts a commit or an item of a reflection; see `revert`."""
    return plan_item_revert(history, name.strip()) if is_item(name) else plan_revert(history, name)


def plan_revert(history: History, name: str) -> Planner[Reversal]:
    """Return the planner that reverts one commit; see `revert`."""

    def plan(files: FileView) -> Plan[Reversal]:
        store = history.store
        commit = store.resolve(name)
        _require_revertible(store, commit)
        message = parse_message(store.commit(commit))
        overlay = Overlay(files)
        take_back(overlay, store, commit)
        take_back_accesses(overlay, store, (commit,))
        summary = f"reverted {message.action} {commit[:10]}: {message.summary}"
        return reverting_plan(overlay, (commit,), summary, ((REVERTS, commit),))

    return plan


def plan_item_revert(history: History, item: str) -> Planner[Reversal]:
    """Return the planner that reverts one item of a reflection; see `revert` and `item_trailers`."""

    def plan(files: FileView) -> Plan[Reversal]:
        store = history.store
        commit, units, again = _applied_item(store, item)
        overlay = Overlay(files)
        take_back(overlay, store, commit, units=units)
        take_back_accesses(overlay, store, (commit,), item=item if units is not None else None)
        summary = f"reverted item {item} of {commit[:10]}"
        plan = reverting_plan(overlay, (commit,), summary, ((REVERTS_ITEM, item), (REVERTS, commit)))
        if plan.changes or again or not units:
            return plan
        # Content that other items need stays until they go; this records that this item no longer needs it.
        file = next(iter(units))
        kept = f"{summary}; what others need of it stays"
        return replace(plan, file=file, summary=kept, events=(Event(Action.REVERT, file, kept),))

    return plan


def revert_action(history: History, commit: str, attribution: Attribution) -> Receipt[Reversal]:
    """Revert all commits of a commit's action, newest first, in one commit.

    Args:
        commit: A hash or its first digits.

    Raises:
        NotFound: There is no such commit.
        InvalidInput: One of them cannot be reverted.
        Stale: The same content was changed again since.
        RoleRefused: It changed a critical file without the right to.
    """
    return history.mutate(plan_action_revert(history, commit), attribution)


def plan_action_revert(
    history: History, commit: str, going_on_from: CommitsBy | None = None
) -> Planner[Reversal]:
    """Return the planner that reverts all commits of an action; see `revert_action`.

    Args:
        going_on_from: Returns the commits of an action by its first one, newest first, where they are known; else
            history is read down to it.
    """

    def plan(files: FileView) -> Plan[Reversal]:
        store = history.store
        named = store.resolve(commit)
        first = parse_message(store.commit(named)).trailer(CONTINUES) or named
        commits = going_on_from(first) if going_on_from else commits_since(first, store.walk())
        for each in commits:
            _require_revertible(store, each)
        overlay = Overlay(files)
        for each in commits:
            take_back(overlay, store, each, action=commits)
        take_back_accesses(overlay, store, commits)
        more = f" and {len(commits) - 1} that go on with it" if commits[1:] else ""
        summary = f"reverted {first[:10]}{more}: {parse_message(store.commit(first)).summary}"
        return reverting_plan(overlay, commits, summary, tuple((REVERTS, each) for each in commits))

    return plan


def reverting_plan(
    overlay: Overlay, commits: tuple[str, ...], summary: str, trailers: tuple[tuple[str, str], ...]
) -> Plan[Reversal]:
    """Return the plan that writes an overlay's content as a REVERT."""
    changes = overlay.changes(Action.REVERT, summary)
    paths = tuple(change.path for change in changes)
    return Plan(
        Action.REVERT,
        common_pattern(list(paths)) if paths else "*",
        summary,
        changes=changes,
        trailers=trailers,
        outcome=Reversal(commits, paths),
    )


def _require_revertible(store: GitStore, commit: str) -> None:
    found = store.commit(commit)
    message = parse_message(found)
    if found.parent is None:
        raise InvalidInput(
            "The first commit has nothing before it to go back to.",
            where=found.short,
            remedy="Delete what you do not want with: workbench forget",
        )
    if len(found.parents) > 1:
        raise InvalidInput(
            "This commit only joined what two devices did; it has no change of its own to revert.",
            where=found.short,
            remedy="Revert what came with it, each by its own commit: workbench audit log",
        )
    if message.action in _LASTING:
        raise InvalidInput(
            f"A {message.action} cannot be reverted.", where=found.short, remedy="Choose another commit."
        )
    if not store.changes(commit):
        raise InvalidInput(
            "This commit changed no file, so there is nothing to revert.",
            where=found.short,
            remedy="List commits with their files: workbench audit log",
        )


def _applied_item(store: GitStore, item: str) -> tuple[str, Mapping[str, Collection[str]] | None, bool]:
    """Find the newest commit that applied an item.

    Returns:
        The commit; the item's units by path, None for the whole commit; whether it was reverted before.
    """
    reverted = _RevertedItems()
    for commit in store.walk():
        if f"{ITEM}: {item} " not in commit.message:
            reverted.look_at(commit)
            continue
        trailers = parse_message(commit).trailers
        items = [value.split() for key, value in trailers if key == ITEM]
        if [item, "approved"] not in items:
            continue
        units: dict[str, list[str]] = {}
        for path, unit in _units_of(item, trailers):
            units.setdefault(path, []).append(unit)
        if units:
            # A heading kept for this item when another was reverted goes with this one.
            for other in reverted.items:
                for path, unit in _units_of(other, trailers):
                    if path in units and is_scaffold(path, unit):
                        units[path].append(unit)
            return commit.id, units, item in reverted.items
        if sum(words[1:] == ["approved"] for words in items) == 1:
            return commit.id, None, item in reverted.items
        raise InvalidInput(
            "Its commit does not say which lines this item changed.",
            where=item,
            remedy=f"Revert the whole commit: workbench revert {commit.short}",
        )
    raise NotFound(
        "No applied item of a reflection has this id.",
        where=item,
        remedy="See what was applied: workbench audit log --actor 'reflection:*'",
    )


class _RevertedItems:
    """The items of reflections that are reverted, derived from commits, newest first."""

    def __init__(self) -> None:
        self.items: set[str] = set()
        self._stands: dict[str, bool] = {}

    def look_at(self, commit: Commit) -> None:
        """Process the next older commit."""
        message = parse_message(commit)
        if (redone := message.trailer(REDOES)) is not None:
            self._stands.setdefault(redone, True)
        if (undone := message.trailer(UNDOES)) is not None:
            self._stands.setdefault(undone, False)
        item = message.trailer(REVERTS_ITEM)
        if item is None:
            for key, value in message.trailers:
                if key == REVERTS:
                    self._stands.setdefault(value, False)
        elif self._stands.get(commit.id, True):
            self.items.add(item)


def _units_of(item: str, trailers: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, str]]:
    for key, value in trailers:
        fields = parse_audit_fields(value) if key == ITEM_UNIT else ()
        if len(fields) == 3 and fields[0] == item:
            yield fields[1], fields[2]


def rollback_file(history: History, path: str, commit: str, attribution: Attribution) -> Receipt[Reversal]:
    """Restore one file as it was in a commit, with the scores of its memories.

    Args:
        commit: A hash or its first digits.

    Raises:
        NotFound: There is no such commit, or the file did not exist then.
        InvalidInput: History does not track this file.
        RoleRefused: The file is critical, and that right is missing.
    """
    path = layout.normalise(path)
    if not layout.is_tracked(path):
        raise InvalidInput(
            "History does not keep this file.", where=path, remedy="Name a memory file, such as MEMORY.md."
        )

    def plan(files: FileView) -> Plan[Reversal]:
        store = history.store
        then = store.resolve(commit)
        content = store.file_at(then, path)
        if content is None:
            raise NotFound(
                f"This file did not exist at {then[:10]}.",
                where=path,
                remedy=f"See its commits with: workbench audit log --file {path}",
            )
        overlay = Overlay(files)
        overlay.write(path, content)
        if path != layout.DECAY_SCORES:
            scores = scores_of_file(
                path, store.file_at(then, layout.DECAY_SCORES), files.read(layout.DECAY_SCORES), content
            )
            overlay.write(layout.DECAY_SCORES, scores)
        moment = store.commit(then).moment.astimezone(history.zone)
        summary = f"restored {path} as of {then[:10]} ({moment:%Y-%m-%d %H:%M})"
        return reverting_plan(overlay, (then,), summary, ((RESTORES, then),))

    return history.mutate(plan, attribution)


def rollback_reflection(
    history: History, reflection: str, attribution: Attribution, commits_by: CommitsBy | None = None
) -> Receipt[Reversal]:
    """Revert every change of one reflection, newest commit first, keeping the record of decisions.

    Its items return to the proposal with their decisions, so that a person can decide otherwise, unless there is
    another proposal by now.

    Args:
        reflection: Its id, `r-012`; its commits are those of the actor `reflection:r-012`.
        commits_by: Returns the commits of an actor, newest first, where they are known; else all of history is read.

    Raises:
        NotFound: The reflection has no commits.
        Stale: The same content was changed again since.
        RoleRefused: It changed a critical file without the right to.
    """
    return history.mutate(plan_reflection_rollback(history, reflection, commits_by), attribution)


def plan_reflection_rollback(
    history: History, reflection: str, commits_by: CommitsBy | None = None
) -> Planner[Reversal]:
    """Return the planner that reverts a reflection; see `rollback_reflection`."""
    actor = f"reflection:{reflection.removeprefix('reflection:')}"

    def plan(files: FileView) -> Plan[Reversal]:
        store = history.store
        commits = (commits_by or read_commit_index(store).by)(actor)
        if not commits:
            raise NotFound(
                "No commit is by this reflection.",
                where=actor,
                remedy="See the reflections with: workbench audit log --actor 'reflection:*'",
            )
        overlay = Overlay(files)
        for commit in commits:
            take_back(overlay, store, commit, action=commits, exempt=EXEMPT | {layout.PENDING_REFLECTION})
            _give_items_back(overlay, store, commit)
        take_back_accesses(overlay, store, commits)
        summary = f"rolled back {actor} ({len(commits)} commits)" if commits[1:] else f"rolled back {actor}"
        return reverting_plan(overlay, commits, summary, tuple((REVERTS, commit) for commit in commits))

    return plan


def _give_items_back(overlay: Overlay, store: GitStore, commit: str) -> None:
    """Return a commit's applied or rejected items to the proposal; writing the proposal itself is not reverted."""
    for change in store.changes(commit):
        before, after = store.contents(change)
        if change.path != layout.PENDING_REFLECTION or before is None:
            continue
        now = overlay.read(change.path)
        if now is not None and (after is None or _reflection_of(now) != _reflection_of(before)):
            continue
        content, conflicts = try_revert(change.path, before, after, now)
        if not conflicts:
            overlay.write(change.path, content)


def _reflection_of(content: bytes) -> str:
    return PendingReflection.parse(content).reflection


def rollback_to_commit(
    history: History,
    commit: str,
    attribution: Attribution,
    *,
    moment: datetime | None = None,
) -> Receipt[Reversal]:
    """Restore every file as it was in a commit.

    The audit archive and the records of reflections and rejections stay. Scores are restored too, except for
    memories that still exist and had none then.

    Args:
        commit: A hash or its first digits.
        moment: The time that was asked for, if the commit was found by one.

    Raises:
        NotFound: There is no such commit.
        RoleRefused: A critical file differs, and that right is missing.
    """
    # Otherwise an outside edit not yet adopted, of a file that did not change since, would survive.
    history.adopt()

    def plan(files: FileView) -> Plan[Reversal]:
        store = history.store
        then, head = store.resolve(commit), store.resolve("HEAD")
        overlay = Overlay(files)
        for change in store.changed_paths(store.commit(head).tree, store.commit(then).tree):
            if change.path not in EXEMPT and change.path != layout.DECAY_SCORES:
                overlay.write(change.path, store.contents(change)[1])
        scores = merge_scores(
            store.file_at(then, layout.DECAY_SCORES),
            files.read(layout.DECAY_SCORES),
            overlay.read,
            {parse_message(each).transaction for each in store.walk(head, stop=then)},
        )
        overlay.write(layout.DECAY_SCORES, scores)
        goal = f"{moment.isoformat()} ({then[:10]})" if moment else then[:10]
        plan = reverting_plan(overlay, (then,), f"rolled back to {goal}", ((RESTORES, then),))
        return plan.answering(replace(plan.outcome, since=then))

    return history.mutate(plan, attribution)
