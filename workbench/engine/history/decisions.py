"""What only a person decides: it refuses everybody else a change that would make, alter or undo a decision.

The engine itself writes proposals on behalf of an agent that reflects. So a proposal may be written by anyone who may
write, as long as every item that is approved or rejected in it stays exactly as it was, and none is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.errors import RoleRefused
from workbench.engine.history.commit_message import parse_message
from workbench.engine.history.trailers import REDOES, RESTORES, REVERTS, REVERTS_ITEM, UNDOES

if TYPE_CHECKING:
    from workbench.engine.documents.review_item import ReviewItem
    from workbench.engine.history.git_store import GitStore, TreeChange

_TAKING_BACK: Final = frozenset({REVERTS, REVERTS_ITEM, RESTORES, REDOES, UNDOES})
_REFLECTION: Final = "reflection:"

Change = tuple[str, bytes | None, bytes | None]
"""A path with its content before and after; None where there is no file."""


def refuse_decisions(
    store: GitStore, actor: str, changes: Sequence[Change], trailers: Iterable[tuple[str, str]]
) -> None:
    """Let pass what decides nothing.

    Args:
        store: The history.
        actor: Whose doing it is, for the message.
        changes: What would be written.
        trailers: Of the commit: what it would take back or do again.

    Raises:
        RoleRefused: It would make, alter or undo a decision.
    """
    for path, before, after in changes:
        if decides(path, before, after):
            raise _refusal(actor, path)
    paths = frozenset(path for path, _, _ in changes)
    for key, value in trailers:
        if key == REVERTS_ITEM:
            raise _refusal(actor, value)
        if key == RESTORES:
            newest = store.head()
            back = _decided_since(store, newest, value, paths) if newest else None
            if back is not None:
                raise _refusal(actor, back[:10])
        elif key in _TAKING_BACK and _concerns(store, value):
            raise _refusal(actor, value[:10])


def is_guarded(path: str) -> bool:
    """Tell whether decisions stand in a file, also by a name that only some disks take for the same."""
    return layout.is_decided(path) and path != layout.PENDING_MEMORIES


def decides(path: str, before: bytes | None, after: bytes | None) -> bool:
    """Tell whether a change of a file makes, alters or undoes a decision."""
    if before == after or not is_guarded(path):
        return False
    if path != layout.PENDING_REFLECTION:
        return True
    old, new = _decided(before), _decided(after)
    settled = {key: item for key, item in old.items() if item.decision != "deferred"}
    # What was put off comes again with the next proposal; everything else that was decided stays as it is.
    return any(new.get(key) != item for key, item in settled.items()) or any(
        old.get(key) != item for key, item in new.items()
    )


def _decided(content: bytes | None) -> dict[str, ReviewItem]:
    from workbench.engine.documents.pending_reflection import PendingReflection

    items = PendingReflection.parse(content or b"").items
    return {item.id: replace(item, span=None, section="") for item in items if item.decision != "undecided"}


def _concerns(
    store: GitStore, commit: str, paths: frozenset[str] | None = None, seen: frozenset[str] = frozenset()
) -> bool:
    """Tell whether a commit carried out a decision, took one back, or did one again.

    Args:
        store: The history.
        commit: Full hash.
        paths: Where given, only a commit that changed one of them concerns.
        seen: Commits that are being looked at already.
    """
    if commit in seen or not store.has_object(commit):
        return False
    found = store.commit(commit)
    changes = store.changes(commit)
    changed = frozenset(change.path for change in changes)
    if paths is not None and paths.isdisjoint(changed):
        return False
    message = parse_message(found)
    if message.actor.startswith(_REFLECTION) or message.trailer(REVERTS_ITEM):
        return True
    if any(_is_decision(store, change) for change in changes):
        return True
    seen |= {commit}
    for key, value in message.trailers:
        if key in (UNDOES, REDOES, REVERTS) and _concerns(store, value, None, seen):
            return True
        if key == RESTORES and found.parent and _decided_since(store, found.parent, value, changed, seen):
            return True
    return False


def _decided_since(
    store: GitStore, newest: str, then: str, paths: frozenset[str], seen: frozenset[str] = frozenset()
) -> str | None:
    """Return a commit after an earlier one that decided something about some files, None where there is none."""
    commits = store.walk(newest, stop=then)
    return next((each.id for each in commits if _concerns(store, each.id, paths, seen)), None)


def _is_decision(store: GitStore, change: TreeChange) -> bool:
    before, after = (store.read_blob(blob) if blob else None for blob in (change.old_blob, change.new_blob))
    if change.old_path is not None and change.old_path != change.path:
        return decides(change.old_path, before, None) or decides(change.path, None, after)
    return decides(change.path, before, after)


def _refusal(actor: str, where: str) -> RoleRefused:
    return RoleRefused(
        f"{actor} may not decide on a reflection, nor take a decision back.",
        where=where,
        remedy="Ask the person to do it, in the bench or with the workbench command.",
    )
