"""Finishes a purge from its marker on: the rewritten history takes over, and every trace of the old one goes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.engine.errors import HistoryDamaged, StorageError
from workbench.engine.history.audit_projection import rewrite_audit_log
from workbench.engine.history.git_store import BRANCH, GitStore
from workbench.engine.history.journal import Journal, sync_folder, write_all
from workbench.engine.history.seen_head import keep_seen

PURGE_MARKER = "workbench.purge"
# What git itself leaves beside the objects; each may hold text, or point at objects that go.
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
)
# Files of derived state that name commits which are no more.
_STALE_STATE = ("alerts.json", "stamps", "seen.json")

Step = Callable[[str], None]


@dataclass(frozen=True)
class Marker:
    """What a purge was about to put in the old history's place.

    Args:
        head: The rewritten history's newest commit.
        packs: Names of the files in `objects/pack` that hold all of it.
    """

    head: str
    packs: tuple[str, ...]


def purge_is_unfinished(folder: Path) -> bool:
    """Tell whether a purge died after its point of no return."""
    return (folder / PURGE_MARKER).exists()


def write_marker(folder: Path, marker: Marker) -> None:
    """Put the marker in place, flushed: from here on the purge happens.

    Raises:
        OSError: It cannot be written; nothing has happened.
    """
    _write_whole(folder / PURGE_MARKER, json.dumps({"head": marker.head, "packs": marker.packs}).encode())


def finish_purge(
    store: GitStore,
    journal: Journal,
    root: Path,
    state: Path,
    *,
    critical: frozenset[str],
    step: Step = lambda _: None,
) -> None:
    """Bring a purge to its end. Needs the writer's lock; may be done again at any point.

    Branches and tags other than the engine's own go, for they lead to the old history.

    Args:
        store: The history.
        journal: Its journal.
        root: The workspace folder, absolute.
        state: Folder of derived state.
        critical: Paths of the critical files.
        step: Told what comes next.

    Raises:
        HistoryDamaged: The marker is unreadable, or the rewritten history is not all there.
        StorageError: Something cannot be written or removed; the next writer goes on.
    """
    folder = store.path
    marker = _read_marker(folder)
    packs = folder / "objects" / "pack"
    if not all((packs / name).is_file() for name in marker.packs):
        raise HistoryDamaged(
            "A purge of the history was begun, and what should take its place is missing.",
            where=str(folder),
            remedy="Set it aside with: workbench doctor --set-aside-history",
        )
    try:
        step("branch")
        _write_whole(folder / BRANCH, f"{marker.head}\n".encode())
        _write_whole(folder / "HEAD", f"ref: {BRANCH}\n".encode())
        for place in _old(folder, marker):
            step(f"remove {place.relative_to(folder)}")
            _remove(place)
        sync_folder(packs)
        sync_folder(folder / "objects")
        step("journal")
        journal.clear()
        step("state")
        for name in _STALE_STATE:
            (state / name).unlink(missing_ok=True)
        store.forget_handles()
        keep_seen(store, state, None, critical)
        step("log")
        rewrite_audit_log(root, store, state)
        step("marker")
        (folder / PURGE_MARKER).unlink(missing_ok=True)
        sync_folder(folder)
    except OSError as error:
        raise StorageError(
            f"The purge of the history cannot be finished: {error.strerror or error}.",
            where=str(error.filename or folder),
            remedy="Make the folder writable; the next change finishes it.",
        ) from error


def _read_marker(folder: Path) -> Marker:
    try:
        match json.loads((folder / PURGE_MARKER).read_bytes()):
            case {"head": str(head), "packs": list(packs)} if packs:
                return Marker(head, tuple(map(str, packs)))
    except (OSError, ValueError):
        pass
    raise HistoryDamaged(
        "The marker of a purge is unreadable.",
        where=str(folder / PURGE_MARKER),
        remedy="Set the history aside with: workbench doctor --set-aside-history",
    )


def _old(folder: Path, marker: Marker) -> Iterator[Path]:
    """Yield everything that held the old history."""
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
    sync_folder(place.parent)
