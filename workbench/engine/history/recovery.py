"""Finishes what a crashed writer had begun: a transaction from the journal, or a purge from its marker."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

from workbench.engine.errors import (
    HistoryDamaged,
    Locked,
    OutsideWorkspace,
    Stale,
    StorageError,
    WorkbenchError,
)
from workbench.engine.file_access import flush_to_disk, read_state, write_all, write_state
from workbench.engine.history.alerts import keep_seen
from workbench.engine.history.erasure import Erasure, erase_from_content, erasure_of
from workbench.engine.history.git_folder import BRANCH
from workbench.engine.history.git_objects import blob_hash
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.journal import FileStep, Journal, JournalState, Record
from workbench.engine.history.projections import rewrite_audit_log
from workbench.engine.history.work_files import Staging, read_work_file, remove_temporary_files
from workbench.engine.values import dataclass

# More new objects than this are put into a pack, which is flushed as one file.
_MANY_OBJECTS = 400
# Bytes; git's own limit.
_SMALL_OBJECT = 16_384

PURGE_MARKER = "workbench.purge"
# Files that git itself leaves beside the objects; each may hold purged text, or refer to purged objects.
_LEAVINGS = (
    "logs",
    "worktrees",
    "packed-refs",
    "index",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "MERGE_HEAD",
    "MERGE_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "COMMIT_EDITMSG",
    "description.lock",
    "objects/info/commit-graph",
    "objects/info/commit-graphs",
    "objects/info/packs",
    "info/refs",
    # What was being fetched.
    "workbench.carrying",
)
# Files of derived state that name commits which no longer exist.
_STALE_STATE = ("alerts.json", "stamps", "seen.json", "projections.json")
# The request for the last purge, so that repeating it is recognised.
_LAST = "purged.json"
# Notices of a purge that nobody has seen yet, and the obstacle to finishing one.
_TOLD = "purge-told.json"
_STOPPED = "purge-stopped.json"
# Attempts at a file that somebody keeps saving.
_ROUNDS = 5
Step = Callable[[str], None]


def recover(
    store: GitStore, journal: Journal, root: Path, *, predecessor_died: bool
) -> tuple[str, ...] | None:
    """Bring history and files to the state the journal describes. Needs the writer's lock.

    A transaction that is complete in the journal is carried out; an incomplete one never happened. A work file is
    written only if it is unchanged since the transaction read it; anything else stays.

    Args:
        predecessor_died: Whether the last holder died without releasing the lock.

    Returns:
        The paths of the finished transaction, for the files derived from them; None if there was nothing to do.

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
    """Flush every object in the journal, then start it over. Needs the writer's lock."""
    records = (state or journal.read()).records
    flush_objects(store, dict.fromkeys(oid for record in records for oid in record.objects))
    branch = store.path / BRANCH
    with suppress(FileNotFoundError):
        flush_to_disk(branch)
        flush_to_disk(branch.parent)
    journal.clear()


def flush_objects(store: GitStore, oids: dict[str, None]) -> None:
    """Flush objects to disk, packing many small ones first.

    Large ones stay loose: packing searches them for common parts, which takes longer than everything else.

    Raises:
        StorageError: The disk refuses.
    """
    loose = {oid: place for oid in oids if (place := store.loose_path(oid)).exists()}
    try:
        small = [oid for oid, place in loose.items() if place.stat().st_size <= _SMALL_OBJECT]
        if len(small) > _MANY_OBJECTS:
            for place in store.pack(small):
                flush_to_disk(place)
            flush_to_disk(store.path / "objects" / "pack")
            for oid in small:
                loose.pop(oid).unlink(missing_ok=True)
        for place in loose.values():
            with suppress(FileNotFoundError):
                flush_to_disk(place)
        for folder in {place.parent for place in loose.values()}:
            flush_to_disk(folder)
        flush_to_disk(store.path / "objects")
    except OSError as error:
        raise StorageError(
            f"The history cannot be flushed to disk: {error.strerror or error}.",
            where=str(store.path),
            remedy="Free some space, or check the disk.",
        ) from error


def _finish(store: GitStore, root: Path, record: Record) -> None:
    _restore_objects(store, record)
    head = store.head()
    # The branch moves last: if it has moved, the files were written. If someone moved it elsewhere, the files on
    # disk are adopted as an edit.
    if head == record.parent:
        redo_files(store, root, record.files, record.transaction)
        store.move_head(record.head, expected=head)


def redo_files(store: GitStore, root: Path, steps: tuple[FileStep, ...], transaction: str) -> None:
    """Write each file that is still as it was before; leave the others.

    Raises:
        StorageError: One cannot be written.
    """
    with Staging(root, transaction) as staging:
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
            with suppress(FileNotFoundError):
                flush_to_disk((root / step.path).parent)


def _restore_objects(store: GitStore, record: Record) -> None:
    for content in record.blobs.values():
        store.write_blob(content)
    tree = store.tree_of(record.parent)
    for _, raw, changes in record.commits:
        tree = store.write_tree(tree, changes)
        store.write_raw_commit(raw)


def _restore_branch(store: GitStore, state: JournalState) -> None:
    """Move the branch to the last finished transaction, if a power cut lost that."""
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
            # libgit2 has the empty tree built in and would not notice that its file is broken.
            if len(oid) == 40 and (place.stat().st_size == 0 or not store.has_object(oid)):
                place.unlink(missing_ok=True)


def _remove_stale_locks(folder: Path) -> None:
    (folder / f"{BRANCH}.lock").unlink(missing_ok=True)
    (folder / "packed-refs.lock").unlink(missing_ok=True)


@dataclass(frozen=True)
class PurgeSteps:
    """The work of a purge besides rewriting history.

    It is stored as an object of the old history, so that the texts disappear with it; the marker only names it.

    Args:
        names: Ids of the purged memories.
        texts: Their texts.
        sources: Their sources.
        paths: Present and former files that are whole memories.
        called: Labels, titles and aliases of these files.
        files: The work files to change, with old and new content.
    """

    names: tuple[str, ...]
    texts: tuple[str, ...]
    sources: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    files: tuple[FileStep, ...] = ()

    @property
    def erasure(self) -> Erasure:
        """Return what to remove."""
        return erasure_of(self.names, self.texts, paths=self.paths, called=self.called)

    def as_bytes(self) -> bytes:
        """Serialise the steps."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> PurgeSteps:
        """Parse the result of `as_bytes`."""
        found = json.loads(content)
        steps = tuple(FileStep(**step) for step in found["files"])
        names, texts, sources, paths, called = (
            tuple(found.get(key, ())) for key in ("names", "texts", "sources", "paths", "called")
        )
        return cls(names, texts, sources, paths, called, steps)


class OtherHolders(Protocol):
    """Holders of memories besides the work files and their history. Both methods may be repeated."""

    def purge(self, purging: PurgeSteps) -> tuple[str, ...]:
        """Remove purged content; return what a person should know, one sentence each."""
        ...

    def forget_derived(self) -> None:
        """Delete everything derived."""
        ...


@dataclass(frozen=True)
class PurgeMarker:
    """The new history that a purge is about to put in place; contains no purged content.

    Args:
        head: The rewritten history's newest commit.
        packs: Names of the files in `objects/pack` that hold all of it.
        purging: The object of the old history with the remaining steps; see `PurgeSteps`.
        salt: Makes this purge's digests differ from those of any other.
        asked: Digests of the words and ids of the request.
    """

    head: str
    packs: tuple[str, ...]
    purging: str
    salt: str
    asked: tuple[str, ...]


def request_digest(salt: str, words: str) -> str:
    """Return the stored digest of a purge request."""
    return hashlib.sha256(f"{salt}\0{words}".encode("utf-8", "surrogateescape")).hexdigest()


def was_asked_by(marker: PurgeMarker, words: Sequence[str]) -> bool:
    """Return True if any of these words or ids requested a purge."""
    return any(request_digest(marker.salt, each) in marker.asked for each in words)


def last_purge_of(state: Path, words: Sequence[str]) -> str:
    """Return an id of the last finished purge, if one of these words or ids requested it; else ""."""
    match read_state(state / _LAST):
        case {"salt": str(salt), "asked": list(asked)} if any(
            request_digest(salt, each) in asked for each in words
        ):
            return salt
    return ""


def purge_notices(state: Path) -> tuple[str, ...]:
    """Return what a person should know about purges finished by others, one sentence each."""
    match read_state(state / _TOLD):
        case [*lines]:
            return tuple(map(str, lines))
    return ()


def save_purge_notices(state: Path, told: Sequence[str]) -> None:
    """Store notices until they are shown; an empty sequence removes them."""
    if told:
        write_state(state / _TOLD, json.dumps(list(told)).encode())
    else:
        with suppress(OSError):
            (state / _TOLD).unlink(missing_ok=True)


def purge_obstacle(state: Path) -> str:
    """Return the last obstacle to finishing a purge; empty if there was none."""
    found = read_state(state / _STOPPED)
    return found if isinstance(found, str) else ""


def purge_is_unfinished(folder: Path) -> bool:
    """Return True if a purge was interrupted after its point of no return."""
    return (folder / PURGE_MARKER).exists()


def write_marker(folder: Path, marker: PurgeMarker) -> None:
    """Write and flush the marker: from here on the purge happens.

    Raises:
        OSError: It cannot be written; nothing has happened.
    """
    _write_whole(folder / PURGE_MARKER, json.dumps(asdict(marker)).encode())


def finish_purge(
    store: GitStore,
    journal: Journal,
    root: Path,
    state: Path,
    *,
    critical: frozenset[str],
    project: Callable[[Sequence[str]], None] = lambda _: None,
    other_holders: OtherHolders | None = None,
    step: Step = lambda _: None,
) -> tuple[str, ...]:
    """Finish a purge. Needs the writer's lock and that of repacking; may be repeated from any point.

    Steps that need the texts come first, because these go with the old history: work files, sessions, held-back
    requests. Branches and tags other than the engine's own are deleted, because they lead to the old history.

    Args:
        project: Writes the files derived from these paths (raises OSError).
        other_holders: Holders of memories beside the files and their history.
        step: Called with the name of each step.

    Returns:
        What a person should know, one sentence each.

    Raises:
        HistoryDamaged: The marker is unreadable, or the rewritten history is incomplete.
        StorageError: Something cannot be written or removed; the next writer continues.
        Stale: A file keeps changing; the next writer continues.
    """
    folder = store.path
    marker = read_marker(folder)
    packs = folder / "objects" / "pack"
    if not all((packs / name).is_file() for name in marker.packs):
        raise HistoryDamaged(
            "A purge of the history has begun, and its replacement is missing.",
            where=str(folder),
            remedy="Set it aside with: workbench doctor --set-aside-history",
        )
    # Notices of an interrupted run are reported by the run that finishes it.
    told = purge_notices(state)
    store.forget_handles()
    purging = read_purge_steps(store, marker)
    try:
        if purging is not None:
            step("files")
            remove_temporary_files(root)
            _purge_files(store, root, purging, marker.head[:16])
            step("project")
            project([each.path for each in purging.files])
            step("elsewhere")
            if other_holders:
                told = tuple(dict.fromkeys((*told, *other_holders.purge(purging))))
            save_purge_notices(state, told)
        step("branch")
        _write_whole(folder / BRANCH, f"{marker.head}\n".encode())
        _write_whole(folder / "HEAD", f"ref: {BRANCH}\n".encode())
        for place in _old_history_files(folder, marker):
            step(f"remove {place.relative_to(folder)}")
            _remove(place)
        flush_to_disk(packs)
        flush_to_disk(folder / "objects")
        step("journal")
        journal.clear()
        step("state")
        for name in _STALE_STATE:
            (state / name).unlink(missing_ok=True)
        write_state(state / _LAST, json.dumps({"salt": marker.salt, "asked": marker.asked}).encode())
        store.forget_handles()
        keep_seen(store, state, None, critical)
        step("log")
        rewrite_audit_log(root, store, state)
        step("derived")
        # Another process may have read the old files and written their content since.
        if other_holders:
            other_holders.forget_derived()
        step("marker")
        (state / _STOPPED).unlink(missing_ok=True)
        (folder / PURGE_MARKER).unlink(missing_ok=True)
        # The purge is complete. If a power cut restores the marker, the next writer removes it again.
        with suppress(OSError):
            flush_to_disk(folder)
    except (OSError, Locked, StorageError) as error:
        raise _record_obstacle(folder, state, error) from error
    return told


def _record_obstacle(folder: Path, state: Path, error: OSError | WorkbenchError) -> StorageError:
    """Record what prevents a purge from finishing, and return the error."""
    if isinstance(error, WorkbenchError):
        reason, where = error.message, error.where or str(folder)
    else:
        reason, where = f"{error.strerror or error}.", str(error.filename or folder)
    write_state(state / _STOPPED, json.dumps(f"{where}: {reason}").encode())
    return StorageError(
        f"A purge cannot be finished yet, and until it is, nothing can be written: {reason}",
        where=where,
        remedy="Free some space, or make this place writable, or delete it yourself where it is no file of memory. "
        "Reading goes on meanwhile.",
    )


def read_purge_steps(store: GitStore, marker: PurgeMarker) -> PurgeSteps | None:
    """Return the remaining steps of a purge; None if all are done and the old history is being deleted."""
    if not marker.purging or not store.has_object(marker.purging):
        return None
    return PurgeSteps.from_bytes(store.read_blob(marker.purging))


def _purge_files(store: GitStore, root: Path, purging: PurgeSteps, transaction: str) -> None:
    """Write each file that is as the purge planned it; from all others remove the purged content."""
    erasure = purging.erasure
    with Staging(root, transaction) as staging:
        for step in purging.files:
            for _ in range(_ROUNDS):
                if _purge_file(store, root, step, erasure, staging):
                    break
            else:
                raise Stale(
                    "The file keeps changing while something is purged from it.",
                    where=step.path,
                    remedy="Let the other program finish; the next change finishes the purge.",
                )


def _purge_file(store: GitStore, root: Path, step: FileStep, erasure: Erasure, staging: Staging) -> bool:
    """Purge one file; return False if somebody saved it meanwhile."""
    try:
        current = read_work_file(root, step.path)
    except OutsideWorkspace:
        return True
    found = None if current is None else blob_hash(current)
    if current is None or found == step.after:
        # If somebody removed it, nothing is left to purge.
        return True
    if found == step.before:
        wanted = None if step.after is None else store.read_blob(step.after)
    else:
        wanted, removed = erase_from_content(erasure, step.path, current)
        if not removed:
            return True
    place = root / step.path
    if wanted is None:
        place.unlink(missing_ok=True)
    else:
        staging.lay(step.path, wanted)
        if not staging.place(step.path, current):
            staging.drop(step.path)
            return False
    flush_to_disk(place.parent)
    return True


def read_marker(folder: Path) -> PurgeMarker:
    """Return the marker of an unfinished purge.

    Raises:
        HistoryDamaged: It is unreadable.
    """
    try:
        match json.loads((folder / PURGE_MARKER).read_bytes()):
            case {"head": str(head), "packs": list(packs), **rest} if packs:
                asked = rest.get("asked")
                return PurgeMarker(
                    head,
                    tuple(map(str, packs)),
                    str(rest.get("purging", "")),
                    str(rest.get("salt", "")),
                    tuple(map(str, asked)) if isinstance(asked, list) else (),
                )
    except (OSError, ValueError):
        pass
    raise HistoryDamaged(
        "The marker of a purge is unreadable.",
        where=str(folder / PURGE_MARKER),
        remedy="Set the history aside with: workbench doctor --set-aside-history",
    )


def _old_history_files(folder: Path, marker: PurgeMarker) -> Iterator[Path]:
    """Yield every file that held the old history."""
    objects = folder / "objects"
    for place in sorted((objects / "pack").iterdir()):
        if place.name not in marker.packs:
            yield place
    for place in sorted(objects.iterdir()):
        if place.name not in ("pack", "info"):
            yield place
    for name in _LEAVINGS:
        if os.path.lexists(folder / name):
            yield folder / name
    for place in sorted((folder / "refs").rglob("*")):
        if not place.is_dir() and place != folder / BRANCH:
            yield place


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _write_whole(place: Path, content: bytes) -> None:
    temporary = place.with_name(f"{place.name}.new")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        write_all(handle, content)
        os.fsync(handle)
    finally:
        os.close(handle)
    temporary.replace(place)
    flush_to_disk(place.parent)
