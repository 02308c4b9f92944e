"""What was last seen of history, kept outside the workspace, so that tampering between runs is noticed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.engine import layout
from workbench.engine.errors import HistoryDamaged
from workbench.engine.history.alerts import PENDING
from workbench.engine.history.git_store import SHORT, GitStore
from workbench.engine.history.state_files import read_state, write_state

_FILE = "seen.json"
_MOST_MEMORY = 32


@dataclass(frozen=True)
class Seen:
    """A head, the critical files it held, and some of its memory.

    Args:
        head: The commit.
        critical: Blob and SHA-256 checksum by path.
        memory: Blob by path of a few files of memory, by which it is known again; None where nobody noted them.
    """

    head: str
    critical: Mapping[str, tuple[str, str]]
    memory: Mapping[str, str] | None = None


def load_seen(state: Path) -> Seen | None:
    """Return what was last seen, or None where nothing was kept."""
    stored: Any = read_state(state / _FILE)
    match stored:
        case {"head": str(head), "critical": dict(critical)}:
            rows = {
                str(path): (str(row[0]), str(row[1]))
                for path, row in critical.items()
                if isinstance(row, list) and len(row) == 2
            }
            memory = stored.get("memory")
            known = (
                {str(path): str(blob) for path, blob in memory.items()} if isinstance(memory, dict) else None
            )
            return Seen(head, rows, known)
    return None


def keep_seen(
    store: GitStore, state: Path, before: Seen | None, critical_files: frozenset[str]
) -> Seen | None:
    """Keep the present head, the checksums of the critical files in it, and what some of its memory is."""
    head = store.head()
    if head is None or (before and before.head == head):
        return before
    tree = store.commit(head).tree
    critical: dict[str, tuple[str, str]] = {}
    for path in sorted(critical_files):
        blob = store.tree_blob(tree, path)
        known = before.critical.get(path) if before else None
        if blob and known and known[0] == blob:
            critical[path] = known
        elif blob:
            critical[path] = (blob, hashlib.sha256(store.read_blob(blob)).hexdigest())
    seen = Seen(head, critical, _some_memory(store, tree, before))
    write_state(state / _FILE, json.dumps(asdict(seen)).encode())
    return seen


def _some_memory(store: GitStore, tree: str, before: Seen | None) -> dict[str, str]:
    """Return the blobs of a few files of memory: those of before while they stay, else the first by path."""
    known = (before.memory if before else None) or {}
    kept = {path: blob for path, blob in known.items() if store.tree_blob(tree, path) == blob}
    if len(kept) > _MOST_MEMORY // 2:
        return kept
    files = store.tree_files(tree)
    memory = (path for path in sorted(files) if _is_memory(path))
    return {path: files[path] for path in islice(memory, _MOST_MEMORY)}


def _is_memory(path: str) -> bool:
    return path == layout.CORE or (path.startswith("memory/") and not path.startswith(f"{layout.META}/"))


def history_is_gone(seen: Seen) -> HistoryDamaged:
    """Return the error that says that a history was here, and what to do."""
    return HistoryDamaged(
        f"The history is gone: it was last seen at commit {seen.head[:SHORT]}.",
        where=layout.HISTORY,
        remedy=f"Put {layout.HISTORY} back from a backup, or begin a new history with: workbench init. "
        "That raises an alert for a person to acknowledge.",
    )


def tampering(store: GitStore, seen: Seen) -> str | None:
    """Return what is wrong with history by what was last seen of it, or None.

    Args:
        store: The history as it is.
        seen: What was last seen.
    """
    head = store.head()
    if head == seen.head:
        return None
    if head is not None and store.is_ancestor(seen.head, head):
        return None
    detail = f"History was rewritten by someone else: commit {seen.head[:SHORT]} is no longer part of it."
    if head is None:
        detail = f"History was deleted by someone else: its newest commit was {seen.head[:SHORT]}."
    tree = store.commit(head).tree if head else None
    differing = []
    for path, (_, checksum) in seen.critical.items():
        blob = store.tree_blob(tree, path) if tree else None
        if blob is None or hashlib.sha256(store.read_blob(blob)).hexdigest() != checksum:
            differing.append(path)
    if differing and head is not None:
        detail += f" Differing from what was last seen: {', '.join(differing)}."
    return detail + PENDING
