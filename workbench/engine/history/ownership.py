"""Whose an action is: undo asks before it takes back somebody else's, and an agent takes back its own alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.errors import RoleRefused
from workbench.engine.history.commit_message import parse_message
from workbench.engine.history.trailers import ASKED_BY, REDOES, RESTORES, REVERTS, UNDOES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from workbench.engine.history.commit_message import CommitMessage
    from workbench.engine.history.decisions import Change
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.plan import Attribution

PERSON: Final = "person"
MAIN: Final = "main"
_AS: Final = " as "
_ACCEPTED: Final = "bot:commit-from:"
_FOR_AGENTS: Final = ("bot:", "skill:")
_NAMING_COMMITS: Final = (UNDOES, REDOES, REVERTS)
_UPKEEP_ACTIONS: Final = frozenset({"ALERT", "ACK", "PRUNE", "PURGE"})
_WORDS: Final = {PERSON: "the person", MAIN: "the main agent"}


def asker_of(role: str, actor: str | None) -> str:
    """Return whose an action is that is asked for at a door.

    Args:
        role: The door's, `person`, `main` or `agent:NAME`.
        actor: The actor that was named, or None. A person who names one acts for somebody else, but what a sub-agent
            proposed and a person accepts is the person's action.
    """
    own = actor in (None, "manual") or actor.startswith(_ACCEPTED)
    return role if own or role != PERSON else f"{PERSON}{_AS}{actor}"


def owner_of(message: CommitMessage) -> str:
    """Return whose the action of a commit is, as `asker_of` does.

    What a reflection changed is the reflection's, even where a person approved it; an edit from outside is the
    person's.
    """
    if message.actor.startswith("reflection:"):
        return message.actor
    asked_by = message.trailer(ASKED_BY)
    if asked_by is not None:
        return asked_by
    if message.actor.startswith(_FOR_AGENTS):
        return MAIN
    return PERSON if message.actor == "manual" else message.actor


def in_words(owner: str, actor: str) -> str:
    """Return whose an action is, for a sentence: “the main agent (bot:auto-detect)”."""
    if owner.startswith("reflection:"):
        return owner.replace(":", " ", 1)
    if owner.startswith(PERSON + _AS):
        return owner.removeprefix(PERSON + _AS)
    name = _WORDS.get(owner) or owner.replace("agent:", "the agent ", 1)
    return name if actor in (owner, "manual") or actor.startswith("subagent:") else f"{name} ({actor})"


def is_upkeep(message: CommitMessage) -> bool:
    """Return True for the system's own housekeeping, which undo passes over."""
    return message.actor.startswith("system:") or message.action in _UPKEEP_ACTIONS


def refuse_others(
    store: GitStore, by: Attribution, changes: Sequence[Change], trailers: Iterable[tuple[str, str]]
) -> None:
    """Let an agent take back, or do again, nothing but its own actions.

    Args:
        store: The history.
        by: Who takes back; nothing is asked of one that no door vouches for.
        changes: What would be written.
        trailers: Of the commit that would be made.

    Raises:
        RoleRefused: Something of it is somebody else's.
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
    """Refuse to go back over a change of some files by anybody but the asker and the system.

    Args:
        store: The history.
        asker: Who would go back.
        then: Full hash of the commit that is gone back to.
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
        # What an own step did again or took back may be another's.
        for key, value in message.trailers:
            if key in _NAMING_COMMITS and not upkeep:
                _refuse_unless_own(store, asker, value)
        return
    raise RoleRefused(
        f"This takes back what {in_words(owner, message.actor)} did: {message.summary}",
        where=commit[:10],
        remedy="An agent takes back its own actions alone. Ask the person to do it.",
    )
