"""Works out what the files become without a commit's changes, on top of what else is planned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.documents.decay_scores import DecayScores
from workbench.engine.history.commit_message import parse_message
from workbench.engine.history.plan import Action, FileChange
from workbench.engine.history.scores_rollback import (
    drop_entries,
    memory_exists,
    places_of,
    withdraw_accesses,
)
from workbench.engine.history.structural_revert import revert_content
from workbench.engine.history.trailers import REDOES, REVERTS, REVERTS_ITEM, UNDOES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.plan import FileView


@dataclass(frozen=True)
class TakenBack:
    """What a revert, rollback, undo or redo did.

    Args:
        commits: The commits whose changes were taken back, newest first; for a rollback to a state, the one
            commit that held it.
        files: The paths that changed.
        summary: One line for people.
        warnings: What a person should know, one sentence each.
        since: Where everything goes back to a commit, that one.
    """

    commits: tuple[str, ...]
    files: tuple[str, ...]
    summary: str
    warnings: tuple[str, ...] = ()
    since: str | None = None


class Overlay:
    """The files as they will be: what is planned so far over what is there.

    Args:
        files: What is there.
    """

    def __init__(self, files: FileView) -> None:
        self._files = files
        self._planned: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes | None:
        """Return a file's planned content, or the one it has."""
        return self._planned[path] if path in self._planned else self._files.read(path)

    def write(self, path: str, content: bytes | None) -> None:
        """Plan a file's content; None deletes it."""
        self._planned[path] = content

    def removes(self, memory_id: str) -> bool:
        """Return True where a memory is in its file, and will not be."""
        planned = any(path in self._planned for path in places_of(memory_id))
        return (
            planned and memory_exists(memory_id, self._files.read) and not memory_exists(memory_id, self.read)
        )

    def changes(self, action: Action, summary: str) -> tuple[FileChange, ...]:
        """Return the planned files that differ from what is there, by path."""
        return tuple(
            FileChange(path, content, action, summary)
            for path, content in sorted(self._planned.items())
            if content != self._files.read(path)
        )


def take_back(
    overlay: Overlay,
    store: GitStore,
    commit: str,
    *,
    units: Mapping[str, Collection[str]] | None = None,
    exempt: Collection[str] = (),
) -> None:
    """Plan every file that a commit changed without that change.

    Args:
        overlay: What is planned so far; added to.
        store: The history.
        commit: Full hash; its change is the one against its first parent.
        units: Where given, only these units by path are taken back (see `changed_units`).
        exempt: Paths to leave alone.

    Raises:
        Stale: A unit was changed again since.
    """
    for change in store.changes(commit):
        origin = change.old_path or change.path
        if change.path in exempt or origin in exempt:
            continue
        if units is not None and change.path not in units:
            continue
        before = store.read_blob(change.old_blob) if change.old_blob else None
        after = store.read_blob(change.new_blob) if change.new_blob else None
        only = None if units is None else units[change.path]
        content = revert_content(change.path, before, after, overlay.read(change.path), only=only)
        if origin != change.path:
            overlay.write(change.path, None)
        overlay.write(origin, content)


def take_back_accesses(
    overlay: Overlay, store: GitStore, commits: Iterable[str], *, item: str | None = None
) -> None:
    """Plan the scores without the accesses that came with some commits, and without entries of memories that go.

    Args:
        overlay: What is planned so far: the commits taken back.
        store: The history.
        commits: Full hashes, newest first.
        item: Where given, only this item of a reflection is taken back.
    """
    taken = [store.commit(commit) for commit in commits]
    parent = taken[-1].parent if taken else None
    known = DecayScores.parse((store.file_at(parent, layout.DECAY_SCORES) if parent else None) or b"").entries
    transactions = {parse_message(commit).transaction for commit in taken}
    scores = withdraw_accesses(overlay.read(layout.DECAY_SCORES), transactions, item=item)
    overlay.write(
        layout.DECAY_SCORES, drop_entries(scores, lambda name: name not in known and overlay.removes(name))
    )


def standing_changes(store: GitStore, commit: str, since: str | None = None) -> dict[str, bool]:
    """Return which changes of memory no longer stand because of a commit, and which stand again.

    Args:
        store: The history.
        commit: That takes back or does again; full hash.
        since: Where everything went back to an earlier commit, that one.

    Returns:
        Whether a change stands now, by its transaction, followed by the item where one item of it is meant.
    """
    found: dict[str, bool] = {}

    def note(one: str, stands: bool) -> None:
        message = parse_message(store.commit(one))
        found[message.transaction] = stands
        items = message.values(REVERTS_ITEM)
        for key, target in message.trailers:
            if key == REVERTS and items:
                whole = parse_message(store.commit(target)).transaction
                found.update({f"{whole} {item}": not stands for item in items})
            elif key in (UNDOES, REVERTS):
                note(target, not stands)
            elif key == REDOES:
                note(target, stands)

    note(commit, True)
    if since is not None:
        for each in store.walk(store.commit(commit).parent, stop=since):
            note(each.id, False)
    return found
