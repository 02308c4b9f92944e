"""Finds the work files that differ from history, reading only those whose file-system stamp is new."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.engine import layout
from workbench.engine.errors import HistoryDamaged, OutsideWorkspace, StorageError
from workbench.engine.history.git_store import GitStore, blob_hash
from workbench.engine.history.state_files import write_state
from workbench.engine.history.views import read_work_file

# A file changed twice within one tick of the file system's clock keeps its stamp; the coarsest tick in 2 s.
COARSEST_TICK = 2_000_000_000

_FILE = "stamps"
_HEADER = "workbench-stamps-1"


@dataclass(frozen=True)
class Edits:
    """How the files on disk differ from a tree.

    Args:
        files: New content by path, None for a file that is gone.
        unreadable: Why, by path, for files that cannot be read; they are taken as unchanged.
    """

    files: Mapping[str, bytes | None]
    unreadable: Mapping[str, str]


@dataclass(frozen=True)
class _Known:
    """Files known to be as in a tree: their stamps by path, and how many files the tree has."""

    tree: str | None
    total: int
    stamps: dict[str, str]


def find_edits(
    root: Path, store: GitStore, tree: str | None, state: Path, *, tick: int = COARSEST_TICK
) -> Edits:
    """Compare every tracked file on disk with a tree.

    Args:
        root: The workspace folder, absolute.
        store: The history.
        tree: The root tree to compare with; None for nothing.
        state: Folder of derived state, where stamps are kept.
        tick: Nanoseconds within which two changes of a file may bear the same stamp.

    Raises:
        StorageError: A folder cannot be listed.
    """
    known = _load(state, store, tree)
    now = _file_system_time(state)
    try:
        found = layout.tracked_files(root)
    except OSError as error:
        raise StorageError(
            f"The workspace cannot be listed: {error.strerror or error}.",
            where=str(error.filename or root),
            remedy="Give yourself the right to read that folder.",
        ) from error
    stamps = {
        path: f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
        for path, status in found.items()
    }
    recorded = known.stamps.get
    doubtful = [path for path, stamp in stamps.items() if recorded(path) != stamp]
    if not doubtful and len(found) == known.total and known.tree == tree:
        return Edits({}, {})
    expected = store.tree_files(tree) if tree else {}
    files: dict[str, bytes | None] = {}
    unreadable: dict[str, str] = {}
    unsure: set[str] = set()
    for path in doubtful:
        try:
            content = read_work_file(root, path)
        except (StorageError, OutsideWorkspace) as error:
            unreadable[path] = error.message
            unsure.add(path)
            continue
        if content is None or expected.get(path) != blob_hash(content):
            files[path] = content
            unsure.add(path)
        elif found[path].st_ctime_ns > now - tick:
            unsure.add(path)
    files.update((path, None) for path in expected if path not in found and layout.is_tracked(path))
    kept = {path: stamp for path, stamp in stamps.items() if path not in unsure}
    if kept != known.stamps or known.tree != tree:
        _save(state, _Known(tree, len(expected), kept))
    return Edits({path: files[path] for path in sorted(files)}, unreadable)


def _file_system_time(state: Path) -> int:
    """Return nanoseconds by the clock that stamps files; 0, which trusts no stamp, where there is none."""
    probe = state / f"{_FILE}.probe"
    try:
        state.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        return probe.stat().st_ctime_ns
    except OSError:
        return 0


def _load(state: Path, store: GitStore, tree: str | None) -> _Known:
    nothing = _Known(None, -1, {})
    try:
        rows = os.fsdecode((state / _FILE).read_bytes()).split("\0")
        header, known_tree, total = rows[0].split(" ")
        stamps = {path: stamp for stamp, _, path in (row.partition("\t") for row in rows[1:])}
        known = _Known(known_tree, int(total), stamps)
    except (OSError, ValueError):
        return nothing
    if header != _HEADER or tree is None:
        return nothing
    if known_tree != tree:
        try:
            changed = store.changed_paths(known_tree, tree)
        except HistoryDamaged:
            return nothing
        for path in {change.path for change in changed}:
            stamps.pop(path, None)
    return known


def _save(state: Path, known: _Known) -> None:
    if known.tree is None:
        return
    rows: Iterable[str] = (f"{stamp}\t{path}" for path, stamp in known.stamps.items())
    write_state(state / _FILE, os.fsencode("\0".join([f"{_HEADER} {known.tree} {known.total}", *rows])))
