"""Turns edits made from outside into commits that say what they were (design document §12.3 to §12.5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from workbench.engine import layout
from workbench.engine.history.alerts import CRITICAL_CHANGED, CRITICAL_MARK, critical_alert
from workbench.engine.history.commit_message import AuditEntry, CommitMessage
from workbench.engine.history.git_store import GitStore, TreeChange, line_counts
from workbench.engine.history.plan import Action

_INIT, _BEGINS = "system:init", "history begins"
# What the first commit names where every file that was found waits for a decision.
_NOTHING_YET = "workspace"


@dataclass(frozen=True)
class Adopted:
    """What was taken in from outside.

    Args:
        commits: Their commits, oldest first.
        files: The changed paths.
        alerts: Ids of the alerts raised.
        warnings: One line for each file that could not be read, or of which something was held back.
        left_out: What was told, by path, of files that stay out of history until a person decides.
    """

    commits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Draft:
    """One commit to be made: what it says, and the new content of files (None: gone) by path."""

    message: CommitMessage
    changes: Mapping[str, bytes | None]


def drafts_of_edits(
    store: GitStore,
    tree: str | None,
    edits: Mapping[str, bytes | None],
    actor: str,
    transaction: str,
    *,
    critical: frozenset[str],
    alerting: frozenset[str],
    cut: Collection[str] = (),
) -> list[Draft]:
    """Return the commits that take edits in: each critical file with its alert, then the rest together.

    Args:
        store: The history.
        tree: The root tree the edits were made to.
        edits: New content by path, None for a file that is gone.
        actor: Whose edits they are.
        transaction: Its id.
        critical: Paths of the critical files.
        alerting: Those whose changes raise alerts.
        cut: Paths of files of which something was held back.
    """
    drafts = []
    for path in sorted(critical & edits.keys()):
        entry = _entry(_change(store, tree, path, edits), edits, store, actor, cut)
        marked = AuditEntry(entry.action, path, "—", CRITICAL_MARK + entry.summary)
        message = CommitMessage(
            entry.action,
            path,
            entry.summary,
            actor,
            "—",
            _trigger(actor, critical=True),
            transaction,
            (marked,),
        )
        drafts.append(Draft(message, {path: edits[path]}))
        if path in alerting:
            drafts.append(Draft(critical_alert(path, entry.action, actor, "—", transaction), {}))
    rest = {path: content for path, content in edits.items() if path not in critical}
    if rest:
        drafts.append(Draft(_message_of_many(store, tree, rest, actor, transaction, cut), rest))
    return drafts


def first_commit(files: Mapping[str, bytes | None], transaction: str) -> Draft:
    """Return the commit that history begins with: every file as it was found."""
    entries = tuple(AuditEntry(Action.CREATE, path, "auto", _BEGINS) for path in files or (_NOTHING_YET,))
    count = "1 file" if len(files) == 1 else f"{len(files)} files"
    summary = f"{_BEGINS} with {count}"
    message = CommitMessage(
        Action.CREATE,
        common_pattern(list(files or (_NOTHING_YET,))),
        summary,
        _INIT,
        "auto",
        "init",
        transaction,
        entries,
    )
    return Draft(message, files)


def common_pattern(paths: list[str]) -> str:
    """Return the path of one file, or a pattern for the folder that several share."""
    if len(paths) == 1:
        return paths[0]
    shared: list[str] = []
    for parts in zip(*(path.split("/")[:-1] for path in paths), strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "/".join([*shared, "*"])


def _message_of_many(
    store: GitStore,
    tree: str | None,
    edits: Mapping[str, bytes | None],
    actor: str,
    transaction: str,
    cut: Collection[str],
) -> CommitMessage:
    blobs = {path: store.write_blob(new) if new is not None else None for path, new in edits.items()}
    changes = store.tree_changes(tree, store.write_tree(tree, blobs))
    entries = tuple(_entry(change, edits, store, actor, cut) for change in changes)
    actions = {entry.action for entry in entries}
    if len(entries) == 1:
        file, summary = entries[0].file, entries[0].summary
    else:
        file = common_pattern(sorted(edits))
        summary = f"{len(entries)} files changed {_by(actor)}"
    action = actions.pop() if len(actions) == 1 else Action.EDIT
    return CommitMessage(
        action, file, summary, actor, "—", _trigger(actor, critical=False), transaction, entries
    )


def _change(store: GitStore, tree: str | None, path: str, edits: Mapping[str, bytes | None]) -> TreeChange:
    before = store.tree_blob(tree, path) if tree else None
    content = edits[path]
    return TreeChange(path, before, store.write_blob(content) if content is not None else None)


def _entry(
    change: TreeChange,
    edits: Mapping[str, bytes | None],
    store: GitStore,
    actor: str,
    cut: Collection[str],
) -> AuditEntry:
    before = store.read_blob(change.old_blob) if change.old_blob else None
    after = edits[change.path]
    added, removed = line_counts(before, after)
    counts = f" (+{added} −{removed} lines)" if added or removed else ""
    counts += ", part of it held back" if change.path in cut else ""
    if change.old_path:
        return AuditEntry(
            Action.RENAME, change.path, "—", f"renamed from {change.old_path} {_by(actor)}{counts}"
        )
    if before is None:
        told = _BEGINS if actor == _INIT else f"created {_by(actor)}{counts}"
        return AuditEntry(Action.CREATE, change.path, "—", told)
    if after is None:
        return AuditEntry(Action.DELETE, change.path, "—", f"deleted {_by(actor)}{counts}")
    appended = layout.store_of(change.path) == "episodic" and after.startswith(before)
    action, verb = (Action.APPEND, "appended to") if appended else (Action.EDIT, "edited")
    return AuditEntry(action, change.path, "—", f"{verb} {_by(actor)}{counts}")


def _by(actor: str) -> str:
    return "outside the engine" if actor == "manual" else f"on disk by {actor}"


def _trigger(actor: str, *, critical: bool) -> str:
    declared = "init" if actor == _INIT else f"edit found on disk, declared as {actor}"
    trigger = "direct human edit" if actor == "manual" else declared
    return trigger + CRITICAL_CHANGED if critical else trigger
