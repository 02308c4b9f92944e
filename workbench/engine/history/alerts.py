"""Alerts that a person has to see: changes of critical files, and tampering with history (design document §12.5)."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.engine import layout, results
from workbench.engine.errors import HistoryDamaged
from workbench.engine.file_access import read_state, write_state
from workbench.engine.history.commits import AuditTrailer, CommitMessage, parse_message
from workbench.engine.history.differences import diff_text
from workbench.engine.history.git_objects import SHORT, Commit
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.plan import Action
from workbench.engine.values import dataclass

ALERT = "Alert"
ALERT_KIND = "Alert-Kind"
ACKNOWLEDGES = "Acknowledges"
CRITICAL_MARK = "⚠️ CRITICAL: "
CRITICAL_CHANGED = " ⚠️ CRITICAL FILE CHANGED"
"""The rest of the trigger of a commit that changes a critical file."""

PENDING = " Pending user acknowledgment."
"""The end of an alert's summary."""
_STATE = "alerts.json"
_TELLING = ("[ALERT]", "[ACK]")
_HISTORY = "history"
_HIGH = "high"

_FILE = "seen.json"
_MOST_MEMORY = 32


@dataclass(frozen=True)
class RaisedAlert:
    """An alert as recorded in history.

    Args:
        id: For example `a-3f9c01d2`.
        commit: The commit that raised it.
        acknowledgement: The commit that acknowledged it, or None.
    """

    id: str
    commit: str
    acknowledgement: str | None = None


def is_authorised(actor: str, approval: str) -> bool:
    """Return True if a person made or approved a change of a critical file (§12.5)."""
    return actor == "manual" or (actor.startswith("reflection:") and approval == "approved")


def critical_alert(file: str, action: str, actor: str, approval: str, transaction: str) -> CommitMessage:
    """Return the commit message of the alert that follows a change of a critical file."""
    if is_authorised(actor, approval):
        kind, summary = "critical", f"Critical file change detected.{PENDING}"
    else:
        kind = "integrity"
        summary = f"Integrity: {actor} changed a critical file unasked.{PENDING}"
    return _alert(file, kind, summary, f"{action} by {actor}", transaction)


def sensitive_alert(file: str, action: str, actor: str, transaction: str) -> CommitMessage:
    """Return the commit message of the alert that follows an outside edit of a file of high sensitivity (§12.1)."""
    return _alert(
        file, _HIGH, f"Sensitive file change detected.{PENDING}", f"{action} by {actor}", transaction
    )


def history_alert(detail: str, transaction: str) -> CommitMessage:
    """Return the commit message of an alert about tampering with history."""
    return _alert(layout.HISTORY, _HISTORY, detail, "history differs from what was last seen", transaction)


def _alert(file: str, kind: str, summary: str, trigger: str, transaction: str) -> CommitMessage:
    name = "a-" + hashlib.sha256(f"{transaction}\0{file}".encode("utf-8", "replace")).hexdigest()[:8]
    return CommitMessage(
        action=Action.ALERT,
        file=file,
        summary=summary,
        actor="system:audit",
        approval="—",
        trigger=trigger,
        transaction=transaction,
        entries=(AuditTrailer(Action.ALERT, file, "—", summary),),
        trailers=((ALERT, name), (ALERT_KIND, kind)),
    )


def raised_alerts(store: GitStore, state: Path | None = None) -> list[RaisedAlert]:
    """Return every alert of the history, newest first.

    Args:
        state: Folder of derived state, where the answer is cached.
    """
    head = store.head()
    if head is None:
        return []
    known_head, known = _load(state)
    if known_head is None or not store.is_ancestor(known_head, head):
        known_head, known = None, []
    new = [commit for commit in store.walk(head, stop=known_head) if commit.message.startswith(_TELLING)]
    found = _fold(known, reversed(new))
    if head != known_head and state is not None:
        _save(state, head, found)
    return found


def open_history_alerts(commits: Iterable[Commit]) -> list[tuple[str, Commit]]:
    """Return the unacknowledged alerts about history itself: id and commit, newest first.

    Args:
        commits: All of the history, newest first.
    """
    telling = [commit for commit in commits if commit.message.startswith(_TELLING)]
    by_id = {commit.id: commit for commit in telling}
    waiting = [
        (raised.id, by_id[raised.commit])
        for raised in _fold((), reversed(telling))
        if not raised.acknowledgement
    ]
    return [
        (name, commit) for name, commit in waiting if parse_message(commit).trailer(ALERT_KIND) == _HISTORY
    ]


def describe_alert(store: GitStore, raised: RaisedAlert) -> results.audit.Alert:
    """Return an alert with the change that raised it."""
    commit = store.commit(raised.commit)
    message = parse_message(commit)
    # Tampering with history is in no commit, and the commit before it is unrelated.
    kind = message.trailer(ALERT_KIND)
    change = None if kind == _HISTORY else _change_before(store, commit)
    diff, actor = "", message.actor
    if change is not None:
        before = store.file_at(change.parent, message.file)
        diff = diff_text(message.file, before, store.file_at(change.id, message.file))
        actor = parse_message(change).actor
    return results.audit.Alert(
        id=raised.id,
        file=message.file,
        timestamp=commit.moment,
        actor=actor,
        summary=message.summary,
        diff=diff,
        acknowledged=raised.acknowledgement is not None,
        commit=change.id if change is not None else commit.id,
        level="high" if kind == _HIGH else "critical",
    )


def _change_before(store: GitStore, alert: Commit) -> Commit | None:
    """Return the newest commit before an alert that is not itself an alert."""
    for commit in store.walk(alert.parent) if alert.parent else ():
        if not commit.message.startswith("[ALERT]"):
            return commit
    return None


def _fold(known: Iterable[RaisedAlert], commits: Iterable[Commit]) -> list[RaisedAlert]:
    """Add commits, oldest first, to the known alerts, newest first."""
    found = {raised.id: raised for raised in reversed(list(known))}
    for commit in commits:
        message = parse_message(commit)
        alert, acknowledged = message.trailer(ALERT), message.trailer(ACKNOWLEDGES)
        if message.action == Action.ALERT and alert:
            found[alert] = RaisedAlert(alert, commit.id)
        elif message.action == Action.ACK and acknowledged in found:
            raised = found[acknowledged]
            found[acknowledged] = RaisedAlert(raised.id, raised.commit, raised.acknowledgement or commit.id)
    return list(reversed(found.values()))


def _load(state: Path | None) -> tuple[str | None, list[RaisedAlert]]:
    stored: Any = read_state(state / _STATE) if state else None
    with contextlib.suppress(KeyError, TypeError, ValueError):
        return str(stored["head"]), [RaisedAlert(*_row(row)) for row in stored["alerts"]]
    return None, []


def _row(row: Any) -> tuple[str, str, str | None]:
    """Validate a stored row.

    Raises:
        ValueError: It is malformed.
    """
    match row:
        case [str(alert), str(commit), None | str() as acknowledgement]:
            return alert, commit, acknowledgement
    raise ValueError(row)


def _save(state: Path, head: str, alerts: list[RaisedAlert]) -> None:
    rows = [[raised.id, raised.commit, raised.acknowledgement] for raised in alerts]
    write_state(state / _STATE, json.dumps({"head": head, "alerts": rows}).encode())


@dataclass(frozen=True)
class Seen:
    """A head, its critical files, and a sample of its memory files.

    Args:
        head: The commit.
        critical: Blob and SHA-256 checksum by path.
        memory: Blob by path of a few memory files that identify this history; None if none were recorded.
    """

    head: str
    critical: Mapping[str, tuple[str, str]]
    memory: Mapping[str, str] | None = None


def load_seen(state: Path) -> Seen | None:
    """Return what was last seen, or None if nothing was recorded."""
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
    """Record the head, the checksums of its critical files and a sample of its memory files."""
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
    seen = Seen(head, critical, _sample_of_memory(store, tree, before))
    write_state(state / _FILE, json.dumps(asdict(seen)).encode())
    return seen


def _sample_of_memory(store: GitStore, tree: str, before: Seen | None) -> dict[str, str]:
    """Return the blobs of a few memory files: the same files as before while they exist, else the first by path."""
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
    """Return the error for a history that has disappeared."""
    return HistoryDamaged(
        f"The history is gone: it was last seen at commit {seen.head[:SHORT]}.",
        where=layout.HISTORY,
        remedy=f"Put {layout.HISTORY} back from a backup, or begin a new history with: workbench init. "
        "That raises an alert for a person to acknowledge.",
    )


def tampering(store: GitStore, seen: Seen) -> str | None:
    """Return how history differs from what was last seen, or None if it does not.

    Args:
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
    tree = store.tree_of(head)
    differing = []
    for path, (_, checksum) in seen.critical.items():
        blob = store.tree_blob(tree, path)
        if blob is None or hashlib.sha256(store.read_blob(blob)).hexdigest() != checksum:
            differing.append(path)
    if differing and head is not None:
        detail += f" Differing from what was last seen: {', '.join(differing)}."
    return detail + PENDING
