"""Finishes what a writer that died had begun, and flushes what writers left to be flushed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from workbench.engine.errors import HistoryDamaged, OutsideWorkspace, StorageError
from workbench.engine.history.git_store import BRANCH, GitStore, blob_hash
from workbench.engine.history.journal import FileStep, Journal, JournalState, Record, sync_folder
from workbench.engine.history.views import read_work_file
from workbench.engine.history.work_files import Staging, remove_temporary_files

# More new objects than this are put into a pack, which is flushed as one file.
_MANY_OBJECTS = 400
# Bytes, as git keeps it by itself.
_SMALL_OBJECT = 16_384


def recover(
    store: GitStore, journal: Journal, root: Path, *, predecessor_died: bool
) -> tuple[str, ...] | None:
    """Bring history and files to where the journal says they were going. Needs the writer's lock.

    A transaction that is whole in the journal is carried out to its end; one that is not never happened.
    A work file is written only where it still is as the transaction found it; anything else stays.

    Args:
        store: The history.
        journal: Its journal.
        root: The workspace folder, absolute.
        predecessor_died: Whether the last holder of the lock went without letting go.

    Returns:
        The paths of the transaction that was finished, for the files derived from them; None where there was
        nothing to do.

    Raises:
        StorageError: Something cannot be written; the next writer tries again.
    """
    settled = journal.is_settled()
    if settled and not predecessor_died:
        return None
    remove_temporary_files(root)
    _remove_stale_locks(store.path)
    if settled:
        return ()
    state = journal.read()
    journal.cut(state.whole)
    if not state.same_boot:
        _remove_broken_objects(store)
        for record in state.records:
            _restore_objects(store, record)
        _restore_branch(store, state)
    if state.unfinished:
        _finish(store, root, state.unfinished)
        journal.finish(state.unfinished.transaction)
    if not state.same_boot:
        checkpoint(store, journal, state)
    commits = state.unfinished.commits if state.unfinished else ()
    return tuple(path for _, _, changes in commits for path in changes)


def checkpoint(store: GitStore, journal: Journal, state: JournalState | None = None) -> None:
    """Flush every object the journal vouches for, then start it over. Needs the writer's lock."""
    records = (state or journal.read()).records
    flush_objects(store, dict.fromkeys(oid for record in records for oid in record.objects))
    branch = store.path / BRANCH
    with contextlib.suppress(FileNotFoundError):
        _sync_file(branch)
        sync_folder(branch.parent)
    journal.clear()


def flush_objects(store: GitStore, oids: dict[str, None]) -> None:
    """Flush objects to disk; many small ones are put into a pack first.

    Large ones stay apart: a pack looks for what they have in common, which takes longer than all else.

    Raises:
        StorageError: The disk refuses.
    """
    loose = {oid: place for oid in oids if (place := store.loose_path(oid)).exists()}
    try:
        small = [oid for oid, place in loose.items() if place.stat().st_size <= _SMALL_OBJECT]
        if len(small) > _MANY_OBJECTS:
            for place in store.pack(small):
                _sync_file(place)
            sync_folder(store.path / "objects" / "pack")
            for oid in small:
                loose.pop(oid).unlink(missing_ok=True)
        for place in loose.values():
            with contextlib.suppress(FileNotFoundError):
                _sync_file(place)
        for folder in {place.parent for place in loose.values()}:
            sync_folder(folder)
        sync_folder(store.path / "objects")
    except OSError as error:
        raise StorageError(
            f"The history cannot be flushed to disk: {error.strerror or error}.",
            where=str(store.path),
            remedy="Free some space, or check the disk.",
        ) from error


def _finish(store: GitStore, root: Path, record: Record) -> None:
    _restore_objects(store, record)
    head = store.head()
    # The branch moves last: where it has, the files were written. Where someone moved it elsewhere, what
    # stands on disk is taken in as an edit.
    if head == record.parent:
        redo_files(store, root, record.files, record.transaction)
        store.move_head(record.head, expected=head)


def redo_files(store: GitStore, root: Path, steps: tuple[FileStep, ...], transaction: str) -> None:
    """Write each file that is still as it was before; leave every other.

    Raises:
        StorageError: One cannot be written.
    """
    staging = Staging(root, transaction)
    try:
        for step in steps:
            try:
                current = read_work_file(root, step.path)
            except OutsideWorkspace:
                continue
            if (blob_hash(current) if current is not None else None) != step.before:
                continue
            if step.after is None:
                (root / step.path).unlink(missing_ok=True)
            else:
                staging.lay(step.path, store.read_blob(step.after))
                staging.place(step.path)
            with contextlib.suppress(FileNotFoundError):
                sync_folder((root / step.path).parent)
    finally:
        staging.discard()


def _restore_objects(store: GitStore, record: Record) -> None:
    for content in record.blobs.values():
        store.write_blob(content)
    tree = store.commit(record.parent).tree if record.parent else None
    for _, raw, changes in record.commits:
        tree = store.write_tree(tree, changes)
        store.write_raw_commit(raw)


def _restore_branch(store: GitStore, state: JournalState) -> None:
    """Put the branch where the last finished transaction left it, if the machine forgot that."""
    if not state.records:
        return
    known = {record.parent for record in state.records}
    last = state.records[-1]
    goal = last.parent if state.unfinished else last.head
    try:
        head = store.head()
    except HistoryDamaged:
        (store.path / BRANCH).unlink(missing_ok=True)
        head = None
    if head != goal and (head is None or head in known) and goal is not None:
        store.move_head(goal, expected=head)


def _remove_broken_objects(store: GitStore) -> None:
    """Remove object files that a power cut left empty or torn, so that they can be written again."""
    for folder in (store.path / "objects").iterdir():
        if len(folder.name) != 2:
            continue
        for place in folder.iterdir():
            oid = folder.name + place.name
            # libgit2 knows the empty tree by heart and would not notice that its file is broken.
            if len(oid) == 40 and (place.stat().st_size == 0 or not store.has_object(oid)):
                place.unlink(missing_ok=True)


def _remove_stale_locks(folder: Path) -> None:
    (folder / f"{BRANCH}.lock").unlink(missing_ok=True)
    (folder / "packed-refs.lock").unlink(missing_ok=True)


def _sync_file(place: Path) -> None:
    handle = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
