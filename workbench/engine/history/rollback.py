"""Rolls back one file, one reflection, or the whole memory to a moment."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.documents.pending_reflection import PendingReflection
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.history.commit_message import parse_message
from workbench.engine.history.moments import commit_at, history_begins_later
from workbench.engine.history.revert import reverting_plan
from workbench.engine.history.scores_rollback import merge_scores, scores_of_file
from workbench.engine.history.structural_revert import try_revert
from workbench.engine.history.taking_back import Overlay, TakenBack, take_back, take_back_accesses
from workbench.engine.history.trailers import RESTORES, REVERTS

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.history import History
    from workbench.engine.history.plan import Attribution, FileView, Plan, Receipt

# What was decided and accounted for stays so, whatever the memory goes back to.
EXEMPT = frozenset({layout.AUDIT_ARCHIVE, layout.REFLECTION_LOG, layout.REJECTED})


def rollback_file(
    history: History, path: str, commit: str, attribution: Attribution, *, may_touch_critical: bool = False
) -> Receipt[TakenBack]:
    """Restore one file as it was at a commit, with the scores of the memories in it.

    Args:
        history: Of the workspace.
        path: Workspace-relative.
        commit: A hash or the beginning of one.
        attribution: Who rolls back.
        may_touch_critical: Whether it may be a critical file (a person's right).

    Raises:
        NotFound: There is no such commit, or the file did not exist then.
        InvalidInput: History does not keep this file.
        RoleRefused: The file is critical, and that right is missing.
    """
    path = layout.normalise(path)
    if not layout.is_tracked(path):
        raise InvalidInput(
            "History does not keep this file.", where=path, remedy="Name a memory file, such as MEMORY.md."
        )

    def plan(files: FileView) -> Plan[TakenBack]:
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
        summary = f"restored {path} as of {then[:10]}"
        return reverting_plan(overlay, (then,), summary, ((RESTORES, then),))

    return history.mutate(plan, attribution, may_touch_critical=may_touch_critical)


def rollback_reflection(
    history: History, reflection: str, attribution: Attribution, *, may_touch_critical: bool = False
) -> Receipt[TakenBack]:
    """Take back everything that one reflection changed, newest commit first; what was decided stays recorded.

    Its items stand in the proposal again, as they were decided, so that a person can decide otherwise; unless
    another proposal stands there by now.

    Args:
        history: Of the workspace.
        reflection: Its id, `r-012`; its commits are those of the actor `reflection:r-012`.
        attribution: Who rolls back.
        may_touch_critical: Whether it may have changed a critical file (a person's right).

    Raises:
        NotFound: No commit is by that reflection.
        Stale: What it did was changed again since.
        RoleRefused: It changed a critical file, and that right is missing.
    """
    actor = f"reflection:{reflection.removeprefix('reflection:')}"

    def plan(files: FileView) -> Plan[TakenBack]:
        store = history.store
        commits = tuple(
            commit.id
            for commit in store.walk()
            if f"Actor: {actor}\n" in commit.message and parse_message(commit).actor == actor
        )
        if not commits:
            raise NotFound(
                "No commit is by this reflection.",
                where=actor,
                remedy="See the reflections with: workbench audit log --actor 'reflection:*'",
            )
        overlay = Overlay(files)
        for commit in commits:
            take_back(overlay, store, commit, exempt=EXEMPT | {layout.PENDING_REFLECTION})
            _give_items_back(overlay, store, commit)
        take_back_accesses(overlay, store, commits)
        summary = f"rolled back {actor} ({len(commits)} commits)" if commits[1:] else f"rolled back {actor}"
        return reverting_plan(overlay, commits, summary, tuple((REVERTS, commit) for commit in commits))

    return history.mutate(plan, attribution, may_touch_critical=may_touch_critical)


def _give_items_back(overlay: Overlay, store: GitStore, commit: str) -> None:
    """Plan the proposal with the items that a commit applied or rejected; that it was written is not taken back."""
    for change in store.changes(commit):
        if change.path != layout.PENDING_REFLECTION or not change.old_blob:
            continue
        before = store.read_blob(change.old_blob)
        after = store.read_blob(change.new_blob) if change.new_blob else None
        now = overlay.read(change.path)
        if now is not None and (after is None or _reflection_of(now) != _reflection_of(before)):
            continue
        content, conflicts = try_revert(change.path, before, after, now)
        if not conflicts:
            overlay.write(change.path, content)


def _reflection_of(content: bytes) -> str:
    return PendingReflection.parse(content).reflection


def rollback_to(
    history: History, moment: datetime, attribution: Attribution, *, may_touch_critical: bool = False
) -> Receipt[TakenBack]:
    """Restore every file as the newest commit not later than a time held it (see `commit_at`).

    What stays, further arguments and errors as for `rollback_to_commit`.

    Args:
        moment: Aware.

    Raises:
        NotFound: The history begins later.
    """
    history.adopt()
    then = commit_at(history.store, moment)
    if then is None:
        raise history_begins_later(moment)
    return rollback_to_commit(
        history, then, attribution, moment=moment, may_touch_critical=may_touch_critical
    )


def rollback_to_commit(
    history: History,
    commit: str,
    attribution: Attribution,
    *,
    moment: datetime | None = None,
    may_touch_critical: bool = False,
) -> Receipt[TakenBack]:
    """Restore every file as a commit held it.

    The audit archive, the record of reflections and that of rejections stay. Scores go back too, except for
    memories that still exist and had none then.

    Args:
        history: Of the workspace.
        commit: A hash or the beginning of one.
        attribution: Who rolls back.
        moment: The time that was asked for, where the commit was found by one.
        may_touch_critical: Whether critical files may differ (a person's right).

    Raises:
        NotFound: There is no such commit.
        RoleRefused: A critical file differs, and that right is missing.
    """
    # Otherwise an edit that nobody has seen yet, of a file that history has as it was, would outlive this.
    history.adopt()

    def plan(files: FileView) -> Plan[TakenBack]:
        store = history.store
        then, head = store.resolve(commit), store.resolve("HEAD")
        overlay = Overlay(files)
        for change in store.changed_paths(store.commit(head).tree, store.commit(then).tree):
            if change.path not in EXEMPT and change.path != layout.DECAY_SCORES:
                overlay.write(change.path, store.read_blob(change.new_blob) if change.new_blob else None)
        scores = merge_scores(
            store.file_at(then, layout.DECAY_SCORES),
            files.read(layout.DECAY_SCORES),
            overlay.read,
            {parse_message(each).transaction for each in store.walk(head, stop=then)},
        )
        overlay.write(layout.DECAY_SCORES, scores)
        goal = f"{moment.isoformat()} ({then[:10]})" if moment else then[:10]
        plan = reverting_plan(overlay, (then,), f"rolled back to {goal}", ((RESTORES, then),))
        return plan.answering(dataclasses.replace(plan.outcome, since=then))

    return history.mutate(plan, attribution, may_touch_critical=may_touch_critical)
