"""Who may make, change or undo an action: only people decide, and an agent may undo only its own actions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.errors import RoleRefused
from workbench.engine.history.commits import (
    ASKED_BY,
    REDOES,
    RESTORES,
    REVERTS,
    REVERTS_ITEM,
    UNDOES,
    parse_message,
)
from workbench.engine.markdown.review import PendingReflection

if TYPE_CHECKING:
    from collections.abc import Collection

    from workbench.engine.history.commits import CommitMessage
    from workbench.engine.history.git_objects import TreeChange
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.plan import Attribution
    from workbench.engine.markdown.review import ReviewItem


_TAKING_BACK: Final = frozenset({REVERTS, REVERTS_ITEM, RESTORES, REDOES, UNDOES})
_REFLECTION: Final = "reflection:"

Change = tuple[str, bytes | None, bytes | None]
"""A path with its content before and after; None if there is no file."""

PERSON: Final = "person"
MAIN: Final = "main"
_AS: Final = " as "
_ACCEPTED: Final = "bot:commit-from:"
_FOR_AGENTS: Final = ("bot:", "skill:")
_NAMING_COMMITS: Final = (UNDOES, REDOES, REVERTS)
_UPKEEP_ACTIONS: Final = frozenset({"ALERT", "ACK", "PRUNE", "PURGE"})
_WORDS: Final = {PERSON: "the person", MAIN: "the main agent"}


def refuse_decisions(
    store: GitStore, actor: str, changes: Sequence[Change], trailers: Iterable[tuple[str, str]]
) -> None:
    """Refuse changes that make, change or undo a decision.

    Args:
        actor: Who makes the change, for the message.
        changes: The changes.
        trailers: The commit's trailers: what it undoes or redoes.

    Raises:
        RoleRefused: They make, change or undo a decision.
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
    """Return True if a file holds decisions, also by a name that only case-insensitive disks equate."""
    return layout.is_decided(path) and path != layout.PENDING_MEMORIES


def decides(path: str, before: bytes | None, after: bytes | None) -> bool:
    """Return True if a change of a file makes, changes or undoes a decision."""
    if before == after or not is_guarded(path):
        return False
    if path != layout.PENDING_REFLECTION:
        return True
    old, new = _decided(before), _decided(after)
    settled = {key: item for key, item in old.items() if item.decision != "deferred"}
    # Postponed items come again with the next proposal; all other decisions stay.
    return any(new.get(key) != item for key, item in settled.items()) or any(
        old.get(key) != item for key, item in new.items()
    )


def _decided(content: bytes | None) -> dict[str, ReviewItem]:
    items = PendingReflection.parse(content or b"").items
    return {item.id: replace(item, span=None, section="") for item in items if item.decision != "undecided"}


def _concerns(
    store: GitStore, commit: str, paths: frozenset[str] | None = None, seen: frozenset[str] = frozenset()
) -> bool:
    """Return True if a commit carried out, undid or redid a decision.

    Args:
        commit: Full hash.
        paths: If given, only commits that changed one of these count.
        seen: Commits already being checked.
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
    """Return a commit after an earlier one that decided something about some files, or None."""
    commits = store.walk(newest, stop=then)
    return next((each.id for each in commits if _concerns(store, each.id, paths, seen)), None)


def _is_decision(store: GitStore, change: TreeChange) -> bool:
    before, after = store.contents(change)
    if change.old_path is not None and change.old_path != change.path:
        return decides(change.old_path, before, None) or decides(change.path, None, after)
    return decides(change.path, before, after)


def _refusal(actor: str, where: str) -> RoleRefused:
    return RoleRefused(
        f"{actor} may not decide on a reflection, nor take a decision back.",
        where=where,
        remedy="Ask the person to do it, in the bench or with the workbench command.",
    )


def requester_of(role: str, actor: str | None) -> str:
    """Return the owner of an action requested through a role.

    Args:
        role: `person`, `main` or `agent:NAME`.
        actor: The actor that was named, or None. A person who names one acts for it, except that accepting a
            sub-agent's proposal is the person's own action.
    """
    own = actor in (None, "manual") or actor.startswith(_ACCEPTED)
    return role if own or role != PERSON else f"{PERSON}{_AS}{actor}"


def owner_of(message: CommitMessage) -> str:
    """Return the owner of a commit's action, like `requester_of`.

    Changes of a reflection are the reflection's, even if a person approved them; outside edits are the person's.
    """
    if message.actor.startswith("reflection:"):
        return message.actor
    asked_by = message.trailer(ASKED_BY)
    if asked_by is not None:
        return asked_by
    if message.actor.startswith(_FOR_AGENTS):
        return MAIN
    return PERSON if message.actor == "manual" else message.actor


def owner_in_words(owner: str, actor: str) -> str:
    """Return an action's owner as a phrase: “the main agent (bot:auto-detect)”."""
    if owner.startswith("reflection:"):
        return owner.replace(":", " ", 1)
    if owner.startswith(PERSON + _AS):
        return owner.removeprefix(PERSON + _AS)
    name = _WORDS.get(owner) or owner.replace("agent:", "the agent ", 1)
    return name if actor in (owner, "manual") or actor.startswith("subagent:") else f"{name} ({actor})"


def is_upkeep(message: CommitMessage) -> bool:
    """Return True for the system's own housekeeping, which undo skips."""
    return message.actor.startswith("system:") or message.action in _UPKEEP_ACTIONS


def refuse_others(
    store: GitStore, by: Attribution, changes: Sequence[Change], trailers: Iterable[tuple[str, str]]
) -> None:
    """Refuse to let an agent undo or redo actions other than its own.

    Args:
        by: Who acts; without an asker there is no check.
        changes: The changes.
        trailers: The commit's trailers.

    Raises:
        RoleRefused: Some of them belong to others.
    """
    if not by.asker:
        return
    paths = frozenset(path for path, _, _ in changes)
    for key, value in trailers:
        if key in _NAMING_COMMITS:
            _refuse_unless_own(store, by.asker, value)
            if key == REDOES:
                undone_by = (each.id for each in store.walk() if f"{UNDOES}: {value}\n" in each.message)
                _refuse_unless_own(store, by.asker, next(undone_by))
        elif key == RESTORES:
            refuse_others_since(store, by.asker, value, paths)


def refuse_others_since(store: GitStore, asker: str, then: str, paths: Collection[str]) -> None:
    """Refuse to roll back changes of some files by anyone but the asker and the system.

    Args:
        asker: Who wants to roll back.
        then: Full hash of the commit to return to.
        paths: The files.

    Raises:
        RoleRefused: There is such a change.
    """
    for commit in store.walk(stop=then):
        if any(change.path in paths or change.old_path in paths for change in store.changes(commit.id)):
            _refuse_unless_own(store, asker, commit.id, upkeep=True)


def _refuse_unless_own(store: GitStore, asker: str, commit: str, *, upkeep: bool = False) -> None:
    if not store.has_object(commit):
        return
    message = parse_message(store.commit(commit))
    if (upkeep and is_upkeep(message)) or (owner := owner_of(message)) == asker:
        # What the asker's own step redid or undid may belong to someone else.
        for key, value in message.trailers:
            if key in _NAMING_COMMITS and not upkeep:
                _refuse_unless_own(store, asker, value)
        return
    raise RoleRefused(
        f"This takes back what {owner_in_words(owner, message.actor)} did: {message.summary}",
        where=commit[:10],
        remedy="An agent can undo only its own actions. Ask the person to do it.",
    )
