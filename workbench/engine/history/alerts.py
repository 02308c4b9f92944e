"""Alerts: changes of critical files, and of history, that a person has to see (design document §12.5)."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.engine import layout
from workbench.engine.history.commit_message import AuditEntry, CommitMessage, parse_message
from workbench.engine.history.git_store import Commit, GitStore, diff_text
from workbench.engine.history.plan import Action
from workbench.engine.history.state_files import read_state, write_state
from workbench.engine.results.audit import Alert

ALERT = "Alert"
ALERT_KIND = "Alert-Kind"
ACKNOWLEDGES = "Acknowledges"
CRITICAL_MARK = "⚠️ CRITICAL: "
CRITICAL_CHANGED = " ⚠️ CRITICAL FILE CHANGED"
"""What stands behind the trigger of a commit that changes a critical file."""

PENDING = " Pending user acknowledgment."
"""What the summary of an alert ends with."""
_STATE = "alerts.json"
_TELLING = ("[ALERT]", "[ACK]")
_HISTORY = "history"


@dataclass(frozen=True)
class RaisedAlert:
    """An alert as history has it.

    Args:
        id: For example `a-3f9c01d2`.
        commit: The commit that raised it.
        acknowledgement: The commit that acknowledged it, or None.
    """

    id: str
    commit: str
    acknowledgement: str | None = None


def is_authorised(actor: str, approval: str) -> bool:
    """Tell whether a change of a critical file is a person's own or one they approved (§12.5)."""
    return actor == "manual" or (actor.startswith("reflection:") and approval == "approved")


def critical_alert(file: str, action: str, actor: str, approval: str, transaction: str) -> CommitMessage:
    """Return the message of the alert that follows a change of a critical file."""
    if is_authorised(actor, approval):
        kind, summary = "critical", f"Critical file change detected.{PENDING}"
    else:
        kind = "integrity"
        summary = f"Integrity: {actor} changed a critical file unasked.{PENDING}"
    return _alert(file, kind, summary, f"{action} by {actor}", transaction)


def history_alert(detail: str, transaction: str) -> CommitMessage:
    """Return the message of the alert that says that somebody tampered with history."""
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
        entries=(AuditEntry(Action.ALERT, file, "—", summary),),
        trailers=((ALERT, name), (ALERT_KIND, kind)),
    )


def raised_alerts(store: GitStore, state: Path | None = None) -> list[RaisedAlert]:
    """Return every alert of the history, newest first.

    Args:
        store: The history.
        state: Folder of derived state, where the answer is kept so that the next one is quick.
    """
    head = store.head()
    if head is None:
        return []
    known_head, known = _load(state)
    new: list[Commit] = []
    for commit in store.walk(head):
        if commit.id == known_head:
            break
        if commit.message.startswith(_TELLING):
            new.append(commit)
    else:
        known = []
    found = _fold(known, reversed(new))
    if head != known_head and state is not None:
        _save(state, head, found)
    return found


def open_history_alerts(commits: Iterable[Commit]) -> list[tuple[str, Commit]]:
    """Return the alerts about history itself that nobody has acknowledged: id and commit, newest first.

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


def describe(store: GitStore, raised: RaisedAlert) -> Alert:
    """Return an alert with the change it is about."""
    commit = store.commit(raised.commit)
    message = parse_message(commit)
    # What was done to history itself is in no commit; the one before has nothing to do with it.
    change = None if message.trailer(ALERT_KIND) == _HISTORY else _change_before(store, commit)
    diff, actor = "", message.actor
    if change is not None:
        before = store.file_at(change.parent, message.file) if change.parent else None
        diff = diff_text(message.file, before, store.file_at(change.id, message.file))
        actor = parse_message(change).actor
    return Alert(
        id=raised.id,
        file=message.file,
        timestamp=commit.moment,
        actor=actor,
        summary=message.summary,
        diff=diff,
        acknowledged=raised.acknowledgement is not None,
        commit=change.id if change is not None else commit.id,
    )


def _change_before(store: GitStore, alert: Commit) -> Commit | None:
    """Return the commit an alert is about: the newest before it that is no alert itself."""
    for commit in store.walk(alert.parent) if alert.parent else ():
        if not commit.message.startswith("[ALERT]"):
            return commit
    return None


def _fold(known: Iterable[RaisedAlert], commits: Iterable[Commit]) -> list[RaisedAlert]:
    """Add commits, oldest first, to what is known, newest first."""
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
    """Return a stored row as what it has to be.

    Raises:
        ValueError: It is something else.
    """
    match row:
        case [str(alert), str(commit), None | str() as acknowledgement]:
            return alert, commit, acknowledgement
    raise ValueError(row)


def _save(state: Path, head: str, alerts: list[RaisedAlert]) -> None:
    rows = [[raised.id, raised.commit, raised.acknowledgement] for raised in alerts]
    write_state(state / _STATE, json.dumps({"head": head, "alerts": rows}).encode())
