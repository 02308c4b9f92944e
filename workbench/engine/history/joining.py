"""Joins the history of another device into this one: one commit with two parents, or a step forward."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.errors import HistoryError, Stale, WorkbenchError
from workbench.engine.history.commits import AuditTrailer, CommitMessage
from workbench.engine.history.git_objects import FILE_MODE, FOLDER_MODE, tree_rows
from workbench.engine.history.outside_edits import PlannedCommit
from workbench.engine.history.plan import Action, Attribution, Receipt
from workbench.engine.history.spent_ids import digests_of, kept_digests, spent_digest
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.history.git_objects import Commit
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.history import History
    from workbench.engine.history.transaction import Replacement, Transaction

JOINS: Final = "Joins"
"""Names the device whose history a commit joins."""

# Attempts at files that are edited meanwhile.
_ROUNDS: Final = 5


class CommitTree(Mapping[str, bytes]):
    """The tracked files of a commit by path, each read when it is asked for.

    Args:
        commit: Full hash; None for the state before the first commit.
    """

    def __init__(self, store: GitStore, commit: str | None) -> None:
        self._store = store
        self._tree = store.tree_of(commit)
        self._files: dict[str, str] | None = None

    def __getitem__(self, path: str) -> bytes:
        blob = self._store.tree_blob(self._tree, path)
        if blob is None:
            raise KeyError(path)
        return self._store.read_blob(blob)

    def __iter__(self) -> Iterator[str]:
        if self._files is None:
            self._files = self._store.tree_files(self._tree) if self._tree else {}
        return iter(self._files)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True)
class Apart:
    """Two histories that went separate ways.

    Args:
        base: The newest commit of both; None if they have nothing in common.
        ours: The newest commit here.
        theirs: The newest commit of the other one.
    """

    store: GitStore
    base: str | None
    ours: str
    theirs: str
    _changes: dict[str, dict[str, Commit]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def trees(self) -> tuple[CommitTree, CommitTree, CommitTree]:
        """Return the files of base, ours and theirs."""
        return (
            CommitTree(self.store, self.base),
            CommitTree(self.store, self.ours),
            CommitTree(self.store, self.theirs),
        )

    def changed(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the paths that ours and theirs changed since base."""
        base = self.store.tree_of(self.base)
        ours, theirs = (
            frozenset(change.path for change in self.store.changed_paths(base, self.store.tree_of(side)))
            for side in (self.ours, self.theirs)
        )
        return ours, theirs

    def last_change(self, side: str, path: str) -> Commit:
        """Return the newest commit of a side that changed a file, or the side's newest where none did."""
        if side not in self._changes:
            found: dict[str, Commit] = {}
            for oid in self.store.beside((side,), self.base):
                commit = self.store.commit(oid)
                for change in self.store.own_changes(commit):
                    found.setdefault(change.path, commit)
            self._changes[side] = found
        return self._changes[side].get(path) or self.store.commit(side)

    def is_spent(self, memory_id: str) -> bool:
        """Return True if an id was given before on either side, and is gone."""
        return spent_digest(memory_id) in self._spent

    @cached_property
    def _spent(self) -> frozenset[str]:
        theirs = map(self.store.commit, self.store.beside((self.theirs,), self.ours))
        return frozenset({*kept_digests(self.store), *digests_of(theirs)})


@dataclass(frozen=True)
class JoinPlan:
    """What joining comes to.

    Args:
        files: New contents by path where they differ from ours; None deletes the file.
        summary: Of the commit, one line.
        trailers: Further trailers of the commit.
        outcome: What the caller wants to know of it.
    """

    files: Mapping[str, bytes | None]
    summary: str
    trailers: tuple[tuple[str, str], ...] = ()
    outcome: object = None


class How(StrEnum):
    """How two histories came together."""

    NOTHING_NEW = "nothing new"
    FORWARD = "forward"
    JOINED = "joined"


@dataclass(frozen=True)
class Joining:
    """What became of the two histories.

    Args:
        how: Whether ours had everything already, moved forward to theirs, or was joined with it.
        before: The newest commit here before; None if there was none.
        plan: What was planned where they were joined.
    """

    how: How
    before: str | None
    plan: JoinPlan | None = None


def join_commit(
    history: History, theirs: str, planner: Callable[[Apart], JoinPlan], attribution: Attribution
) -> Receipt[Joining]:
    """Bring another history into this one, completely or not at all: files, commit, audit line.

    Outside edits are adopted first. Where ours rests on theirs there is nothing to do; where theirs rests on ours, the
    branch moves forward to it, and no commit is made; else one commit joins the two, with ours as its first parent.

    Args:
        theirs: The other history's newest commit, full hash, with all its objects in the store and flushed to disk.
        planner: Joins the files; may be called several times, and only where neither rests on the other.
        attribution: Who does it, usually `system:sync`.

    Returns:
        A receipt; its commit is the newest one where anything changed.

    Raises:
        HistoryError: The other history has files that are none of a memory's.
        SecretFound: A file stays out of history until a person decides, and would be written.
        StorageError: Something cannot be written; nothing was changed.
        Stale: The files keep changing.
        Locked: Another writer did not release the lock in time.
    """
    with history.writing(attribution.actor) as turn:
        store = turn.store
        _require_plain(store, turn.head(), theirs)
        adopted: list[str] = []
        for _ in range(_ROUNDS):
            adopted += turn.adopt("manual").commits
            ours = turn.head()
            if ours is not None and store.is_ancestor(theirs, ours):
                return Receipt(None, (), Joining(How.NOTHING_NEW, ours), tuple(adopted))
            files: Mapping[str, bytes | None]
            if ours is None or store.is_ancestor(ours, theirs):
                joining, files = Joining(How.FORWARD, ours), _difference(store, ours, theirs)
            else:
                plan = planner(Apart(store, store.common_base((ours, theirs)), ours, theirs))
                joining, files = Joining(How.JOINED, ours, plan), plan.files
            replacements = turn.settled(files)
            if replacements is None:
                continue
            if joining.plan is None:
                turn.forward(theirs, replacements)
                commit = theirs
            else:
                commit = _commit(history, turn, theirs, joining.plan, replacements, attribution)
            paths = tuple(map(layout.shown, sorted(files)))
            return Receipt(commit, paths, joining, tuple(adopted))
    raise Stale(
        "The files concerned keep changing while they are being joined with those of another device.",
        remedy="Let the other program finish, then do it again.",
    )


def _commit(
    history: History,
    turn: Transaction,
    theirs: str,
    plan: JoinPlan,
    replacements: Sequence[Replacement],
    attribution: Attribution,
) -> str:
    store, transaction = turn.store, history.new_id()
    there = store.tree_of(theirs)
    # What is as on either side is told by the commits of that side.
    made = [
        step.path
        for step in replacements
        if (None if step.after is None else store.write_blob(step.after)) != store.tree_blob(there, step.path)
    ]
    entries = (
        AuditTrailer(Action.SYNC, "*", attribution.approval, plan.summary),
        *(AuditTrailer(Action.SYNC, path, attribution.approval, "joined") for path in sorted(made)),
    )
    message = CommitMessage(
        Action.SYNC,
        "*",
        plan.summary,
        attribution.actor,
        attribution.approval,
        attribution.trigger,
        transaction,
        entries,
        plan.trailers,
    )
    changes = {step.path: step.after for step in replacements}
    return turn.commit([PlannedCommit(message, changes, theirs)], transaction, replacements)[0]


def _difference(store: GitStore, ours: str | None, theirs: str) -> dict[str, bytes | None]:
    changes = store.changed_paths(store.tree_of(ours), store.tree_of(theirs))
    return {change.path: store.read_blob(change.new_blob) if change.new_blob else None for change in changes}


def _require_plain(store: GitStore, ours: str | None, theirs: str) -> None:
    """Refuse a history whose newest files are not what a memory consists of; files that are ours too are.

    Raises:
        HistoryError: One has a path or a kind that history never keeps.
    """
    for mode, path in _new_rows(store, store.tree_of(ours), store.commit(theirs).tree, ""):
        try:
            is_plain = mode == FILE_MODE and layout.normalise(path) == path and layout.is_tracked(path)
        except WorkbenchError:
            is_plain = False
        if not is_plain:
            raise HistoryError(
                "The other history holds something that is no file of a memory; nothing was taken from it.",
                where=layout.shown(path)[:200],
                remedy="Find out who else writes to it, or name another remote.",
            )


def _new_rows(store: GitStore, ours: str | None, theirs: str, prefix: str) -> Iterator[tuple[bytes, str]]:
    """Yield mode and path of every file of a tree that another has not, or has otherwise."""
    known = tree_rows(store.raw_object(ours)) if ours else set()
    folders = {name: oid.hex() for mode, name, oid in known if mode == FOLDER_MODE}
    for mode, name, oid in tree_rows(store.raw_object(theirs)) - known:
        path = prefix + os.fsdecode(name)
        if mode == FOLDER_MODE:
            yield from _new_rows(store, folders.get(name), oid.hex(), f"{path}/")
        else:
            yield mode, path
