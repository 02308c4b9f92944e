"""Purges memories from files and history, so that their text is in no object, message, log or leftover of either.

Everything that can fail comes first: the plan, the rewritten history, which is packed beside the old one and flushed.
Then a marker says so, files and history change over, and what the old history was made of goes. A crash before the
marker leaves everything as it was; after it, the next writer finishes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

from workbench.engine import layout
from workbench.engine.errors import HistoryError, NotFound, StorageError
from workbench.engine.history.adoption import Adopted
from workbench.engine.history.commit_message import AuditEntry, CommitMessage, author_of, render_message
from workbench.engine.history.erasure import Erasure, erase_from_content
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.history import History
from workbench.engine.history.journal import FileStep, sync_folder
from workbench.engine.history.plan import Action, Attribution, Plan, Planner
from workbench.engine.history.recovery import checkpoint, flush_objects
from workbench.engine.history.retired import retiring
from workbench.engine.history.rewriting import Rewriting, as_it_was
from workbench.engine.history.screening import refuse_left_out
from workbench.engine.history.transaction import Writing
from workbench.engine.history.unfinished_purge import (
    Marker,
    Purging,
    asked_digest,
    purge_is_unfinished,
    write_marker,
)
from workbench.engine.history.upkeep import no_repacking
from workbench.engine.history.views import CommitFiles, WorkFiles

T = TypeVar("T")

_SUMMARY = "history was purged"


@dataclass(frozen=True)
class Purged(Generic[T]):
    """What a purge did.

    Args:
        outcome: The plan's answer.
        commit: The PURGE commit, which says that it happened and not what was purged.
        deleted: The commit that the plan became, None where it changed nothing.
        commits: The new commit of each old one.
        files: Paths of work files that were changed or removed.
        told: What a person should know, one sentence each.
    """

    outcome: T
    commit: str
    deleted: str | None
    commits: Mapping[str, str]
    files: tuple[str, ...]
    told: tuple[str, ...]


def purge(
    history: History,
    planner: Planner[T],
    going: Callable[[T], Purging],
    attribution: Attribution,
    *,
    asked: Sequence[str] = (),
    step: Callable[[str], None] = lambda _: None,
) -> Purged[T]:
    """Delete memories from the files, and remove them from the whole history of a workspace: whole, or not at all.

    Every commit stays, with its author, date, trailers and place; where it wrote or removed what has to go, it no
    longer says what. References from one commit to another follow. The audit log is written again. Git's other
    branches, tags and reflogs in the history go.

    Args:
        history: Of the workspace.
        planner: Plans what is deleted, given the files of the newest commit.
        going: Returns what has to go, given the plan's answer.
        attribution: Who purges; that this is a person is the caller's to check.
        asked: Words and ids that it was asked for by; asked for by one of them again, an interrupted purge is known.
        step: Told what comes next, by name.

    Raises:
        Locked: Another writer, or the background repacking, is at work; nothing was changed.
        StorageError: Something cannot be written. Where a purge is unfinished then, it happens; else nothing did.
        SecretFound: A file that says it is kept out of history until a person decides; nothing was changed.
        OutsideWorkspace: A link stands where one of the files was; nothing was changed.
        HistoryDamaged: The history cannot be read; nothing was changed.
    """
    if history.exists:
        # Waited for before the writer's lock is taken: others write meanwhile.
        with no_repacking(history.path, history.lock_timeout):
            pass
    with (
        history.writing(attribution.actor) as turn,
        no_repacking(turn.store.path, history.lock_timeout),
    ):
        step("plan")
        store = turn.store
        adopted = turn.adopt("manual")
        head = turn.head()
        plan = _planned(planner, store, head, adopted)
        purging = as_it_was(store, head, going(plan.outcome))
        erasure = purging.erasure
        _refuse_held_back(history.root, erasure, adopted)
        deleted = _written(turn, plan, attribution, history.new_id())
        step("rewrite")
        rewriting = Rewriting(store, erasure)
        rewritten = rewriting.rewrite(deleted[-1] if deleted else head)
        steps = _file_steps(store, head, rewritten)
        newest = _purge_commit(history, store, (head, rewritten), steps, attribution)
        refuse_left_out(adopted.left_out, {each.path for each in steps})
        _refuse_unwritable(history.root, steps)
        step("pack")
        packs = _packed(store, rewriting.reachable(newest))
        step("checkpoint")
        note = store.write_blob(replace(purging, files=steps).as_bytes())
        flush_objects(store, {note: None})
        checkpoint(store, history.journal)
        step("mark")
        salt = history.new_id()
        marker = Marker(newest, packs, note, salt, tuple(asked_digest(salt, each) for each in asked))
        try:
            write_marker(store.path, marker)
        except OSError as error:
            raise _cannot_mark(store.path, error) from error
        told = history.finish_purge(turn, step=step)
        history.told_of_purges(now=True)
    first = rewriting.commits[deleted[0]] if deleted else None
    files = tuple(each.path for each in steps)
    return Purged(plan.outcome, newest, first, rewriting.commits, files, told)


def _planned(planner: Planner[T], store: GitStore, head: str | None, adopted: Adopted) -> Plan[T]:
    try:
        return planner(CommitFiles(store, head))
    except NotFound:
        # What is in no commit may be in a file that is kept out of history.
        refuse_left_out(adopted.left_out, adopted.left_out.keys())
        raise


def _refuse_held_back(root: Path, erasure: Erasure, adopted: Adopted) -> None:
    """Refuse where a file says what has to go and is neither in history nor ours to write."""
    files = WorkFiles(root)
    for path in sorted(adopted.left_out):
        content = files.read(path)
        if content is not None and erase_from_content(erasure, path, content)[1]:
            refuse_left_out(adopted.left_out, {path})


def _refuse_unwritable(root: Path, steps: Sequence[FileStep]) -> None:
    """Refuse where a file that has to change cannot be read, or its folder cannot be written."""
    files = WorkFiles(root)
    for step in steps:
        if files.read(step.path) is not None and not os.access((root / step.path).parent, os.W_OK | os.X_OK):
            raise StorageError(
                "The file cannot be written; nothing was purged.",
                where=step.path,
                remedy="Make its folder writable; then purge again.",
            )


def _written(turn: Writing, plan: Plan[T], attribution: Attribution, transaction: str) -> list[str]:
    """Write the commits of a plan, which nothing leads to yet; none where it changes nothing."""
    head = turn.head()
    files = CommitFiles(turn.store, head)
    changing = {layout.normalise(each.path): each.content for each in plan.changes}
    changing = {path: content for path, content in changing.items() if files.read(path) != content}
    if not changing:
        return []
    drafts = turn.drafts_of_plan(plan, changing, attribution, transaction)
    commits, _ = turn.write_commits(drafts, head)
    return [commit for commit, _, _ in commits]


def _file_steps(store: GitStore, before: str | None, after: str | None) -> tuple[FileStep, ...]:
    older, newer = (store.commit(each).tree if each else None for each in (before, after))
    changes = store.changed_paths(older, newer)
    return tuple(FileStep(each.path, each.old_blob, each.new_blob) for each in changes)


def _purge_commit(
    history: History,
    store: GitStore,
    heads: tuple[str | None, str | None],
    steps: Sequence[FileStep],
    attribution: Attribution,
) -> str:
    """Write the commit that says that something was purged, after the second of two heads, the rewritten one."""
    before, parent = heads
    message = CommitMessage(
        Action.PURGE,
        "*",
        _SUMMARY,
        attribution.actor,
        attribution.approval,
        "purge",
        history.new_id(),
        (AuditEntry(Action.PURGE, "*", attribution.approval, _SUMMARY),),
    )
    # Other memories may have said the same, and gone with what was meant.
    older = store.commit(before).tree if before else None
    changes = {each.path: store.read_blob(each.after) if each.after else None for each in steps}
    message = retiring(store, older, message, changes)
    author, email = author_of(attribution.actor)
    tree = store.commit(parent).tree if parent else store.write_tree(None, {})
    moment = history.clock.now().astimezone(history.zone)
    parents = [parent] if parent else []
    return store.write_commit(
        tree, parents, render_message(message), author=author, email=email, moment=moment
    )


def _packed(store: GitStore, objects: set[str]) -> tuple[str, ...]:
    """Pack the rewritten history, flush it, and return the names of the files."""
    files = store.pack(sorted(objects))
    if not files:
        raise HistoryError(
            "The rewritten history could not be packed.",
            where=str(store.path),
            remedy="Purge again; nothing was purged.",
        )
    try:
        for file in files:
            handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        sync_folder(files[0].parent)
    except OSError as error:
        raise _cannot_write(store.path, error) from error
    return tuple(file.name for file in files)


def _cannot_mark(folder: Path, error: OSError) -> StorageError:
    if not purge_is_unfinished(folder):
        return _cannot_write(folder, error)
    # The marker is in place and only its flush failed: the next writer goes on from it.
    return StorageError(
        f"The purge is begun and cannot go on: {error.strerror or error}.",
        where=str(error.filename or folder),
        remedy="Free some space, or make the folder writable.",
    )


def _cannot_write(folder: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The history cannot be purged, and nothing was: {error.strerror or error}.",
        where=str(error.filename or folder),
        remedy="Free some space, or make the folder writable; then purge again.",
    )
