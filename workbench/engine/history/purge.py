"""Purges memories from history, so that their text is in no object, message, log or leftover of it.

The rewritten history is packed beside the old one and flushed; then a marker says so, and what the old history
was made of goes. A crash before the marker leaves everything as it was; after it, the next writer finishes.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from workbench.engine import layout
from workbench.engine.errors import HistoryError, Locked, StorageError
from workbench.engine.history.commit_message import AuditEntry, CommitMessage, author_of, render_message
from workbench.engine.history.erasure import Erasure, erase_from_content
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.history import History
from workbench.engine.history.journal import sync_folder
from workbench.engine.history.plan import Action, Attribution, FileChange, FileView, Plan
from workbench.engine.history.recovery import checkpoint
from workbench.engine.history.rewriting import Rewriting
from workbench.engine.history.unfinished_purge import Marker, finish_purge, write_marker
from workbench.engine.history.upkeep import REPACK_LOCK

_SUMMARY = "history was purged"
_REMOVED = "removed what is to be purged from history"


@dataclass(frozen=True)
class Purged:
    """What a purge did.

    Args:
        commit: The PURGE commit, which says that it happened and not what was purged.
        commits: The new commit of each old one.
        files: Paths of work files that were changed or removed.
        kept: Folders that may still hold what was purged, for a person to delete: histories set aside before.
    """

    commit: str
    commits: Mapping[str, str]
    files: tuple[str, ...]
    kept: tuple[str, ...]


def purge(
    history: History,
    erasure: Erasure,
    attribution: Attribution,
    *,
    step: Callable[[str], None] = lambda _: None,
) -> Purged:
    """Remove memories from the files and from the whole history of a workspace.

    Every commit stays, with its author, date, trailers and place; where it wrote or removed what has to go, it no
    longer says what. References from one commit to another follow. The audit log is written anew. Git's other
    branches, tags and reflogs in the history go.

    Args:
        history: Of the workspace.
        erasure: What has to go; see `erasure_of`.
        attribution: Who purges; that this is a person is the caller's to check.
        step: Told what comes next, by name.

    Raises:
        Locked: Another writer, or the background repacking, is at work.
        StorageError: The history cannot be written; nothing is lost.
        HistoryDamaged: The history cannot be read.
    """
    with history.writing(attribution.actor) as turn, _no_repacking(turn.store.path):
        step("files")
        removed = turn.carry_out(_plan_for_files(erasure), attribution, may_touch_critical=True)
        store = turn.store
        step("rewrite")
        rewriting = Rewriting(store, erasure)
        newest = rewriting.rewrite(leave_out=removed.commit)
        head = _purge_commit(history, store, newest, attribution)
        step("pack")
        packs = _packed(store, rewriting.reachable(head))
        step("checkpoint")
        checkpoint(store, history.journal)
        step("mark")
        try:
            write_marker(store.path, Marker(head, packs))
        except OSError as error:
            raise _cannot_write(store.path, error) from error
        finish_purge(
            store, history.journal, history.root, history.state, critical=history.critical, step=step
        )
    return Purged(head, rewriting.commits, removed.files, _histories_set_aside(history.root))


def _plan_for_files(erasure: Erasure) -> Callable[[FileView], Plan[None]]:
    def plan(files: FileView) -> Plan[None]:
        changes = []
        for path in files.list(""):
            content = files.read(path)
            left, removed = erase_from_content(erasure, path, content) if content is not None else (None, ())
            if removed:
                action = Action.EDIT if left is not None else Action.DELETE
                changes.append(FileChange(path, left, action, _REMOVED))
        return Plan(Action.DELETE, "*", _REMOVED, changes=tuple(changes))

    return plan


def _purge_commit(history: History, store: GitStore, parent: str | None, attribution: Attribution) -> str:
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
            remedy="Purge again; nothing was changed.",
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


@contextmanager
def _no_repacking(folder: Path) -> Iterator[None]:
    """Keep the background from packing the old history anew meanwhile."""
    try:
        handle = os.open(folder / REPACK_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise _cannot_write(folder, error) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Locked(
                "The history is just being repacked in the background.",
                where=str(folder),
                remedy="Try again in a minute.",
            ) from error
        yield
    finally:
        os.close(handle)


def _histories_set_aside(root: Path) -> tuple[str, ...]:
    return tuple(sorted(place.name for place in root.glob(f"{layout.HISTORY}.*") if place.is_dir()))


def _cannot_write(folder: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The history cannot be purged: {error.strerror or error}.",
        where=str(error.filename or folder),
        remedy="Free some space, or make the folder writable; then purge again.",
    )
