"""Undoes an import memory by memory; later changes and decisions are kept and reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.errors import InvalidInput
from workbench.engine.history.alerts import CRITICAL_CHANGED
from workbench.engine.history.commits import CONTINUES, REVERTS, parse_message
from workbench.engine.history.revert import reverting_plan
from workbench.engine.history.structural_revert import try_revert
from workbench.engine.history.undo import Overlay, commits_since, take_back_accesses
from workbench.engine.markdown.episodes import EpisodeLog
from workbench.engine.markdown.markup import remove_lines
from workbench.engine.markdown.proposals import PendingMemories
from workbench.engine.markdown.source import LineSpan
from workbench.engine.transfer.plan import FOLDER, NOTES, ledger_file
from workbench.engine.transfer.source import Skipped

if TYPE_CHECKING:
    from workbench.engine.history.commits import CommitIndex
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.plan import FileView, Plan
    from workbench.engine.markdown.episodes import EpisodeEntry

IMPORT_OF: Final = "import of "
"""Prefix of the trigger of every import commit."""
Dropping = Callable[[PendingMemories, Sequence[int]], PendingMemories]
"""Removes proposals from the file of pending ones."""
_ONE_MEMORY: Final = (f"{NOTES}/", f"{layout.VAULT}/", f"{layout.PROCEDURES}/")
_CHANGED: Final = "It was changed since."
_NOWHERE: Final = LineSpan(1, 1)


@dataclass
class ImportUndo:
    """Outcome of undoing an import.

    Args:
        removed: Number of memories, proposals and files removed.
        kept: What stays, and why.
        settled: Proposals that the import stored at once.
    """

    removed: int = 0
    kept: list[Skipped] = field(default_factory=list)
    settled: set[int] = field(default_factory=set)

    def keep(self, where: str, reason: str) -> None:
        self.kept.append(Skipped(where, reason))


def commits_of_import(store: GitStore, line: CommitIndex, commit: str) -> tuple[tuple[str, ...], str]:
    """Return the commits of an import, newest first, and what it imported.

    Args:
        store: The history.
        line: Reference to its newest commit.
        commit: Hash of any commit of the import, or its first digits.

    Raises:
        NotFound: There is no such commit.
        InvalidInput: It belongs to no import, or that was undone already.
    """
    named = store.resolve(commit)
    first = parse_message(store.commit(named)).trailer(CONTINUES) or named
    trigger = parse_message(store.commit(first)).trigger
    if not trigger.startswith(IMPORT_OF):
        raise InvalidInput(
            "This commit is no import’s.",
            where=commit,
            remedy="See them with: workbench audit log --actor 'import:*'",
        )
    undone_by = line.undone_by(first)
    if undone_by is not None and line.undone_by(undone_by) is None:
        raise InvalidInput(
            "This import was taken back already.",
            where=commit,
            remedy=f"Have it again with: workbench revert {undone_by[:10]}",
        )
    source = trigger.removeprefix(IMPORT_OF).removesuffix(CRITICAL_CHANGED)
    return commits_since(first, store.walk()), source


def plan_import_undo(
    files: FileView, store: GitStore, commits: Sequence[str], told: str, drop: Dropping
) -> Plan[ImportUndo]:
    """Plan to undo an import.

    Args:
        files: Present files.
        store: The history.
        commits: Of the import, newest first.
        told: Description for the audit log.
        drop: Removes proposals.
    """
    overlay, reckoning = Overlay(files), ImportUndo()
    accounts: list[str] = []
    for commit in commits:
        for change in store.changes(commit):
            before, after = (
                store.read_blob(blob) if blob else None for blob in (change.old_blob, change.new_blob)
            )
            now = overlay.read(change.path)
            # What was removed since stays removed.
            if now is None or after is None:
                continue
            if change.path.startswith(f"{FOLDER}/"):
                accounts.append(change.path)
            else:
                content = _without(change.path, before, after, now, reckoning, drop)
                overlay.write(change.path, content)
    take_back_accesses(overlay, store, commits)
    # What stays is not imported again unchanged; all else may be.
    kept = {each.where for each in reckoning.kept}
    for path in accounts:
        overlay.write(path, ledger_file(overlay.read(path) or b"", kept))
    trailers = tuple((REVERTS, commit) for commit in commits)
    return reverting_plan(overlay, tuple(commits), told, trailers).answering(reckoning)


def _without(
    path: str, before: bytes | None, after: bytes, now: bytes, reckoning: ImportUndo, drop: Dropping
) -> bytes | None:
    """Return a file without what one commit of an import did to it."""
    if path.startswith(f"{layout.EPISODES}/"):
        return _without_entries(path, before, after, now, reckoning)
    if path == layout.PENDING_MEMORIES:
        return _without_proposals(before, after, now, reckoning, drop)
    if now != after and path.startswith(_ONE_MEMORY):
        reckoning.keep(path, _CHANGED)
        return now
    content, conflicts = try_revert(path, before, after, now)
    if conflicts:
        reckoning.keep(path, _CHANGED)
    elif not path.startswith(f"{layout.META}/"):
        reckoning.removed += 1
    return content


def _without_entries(
    path: str, before: bytes | None, after: bytes, now: bytes, reckoning: ImportUndo
) -> bytes | None:
    known = {entry.id for entry in EpisodeLog.parse(before or b"", path).entries}
    brought = {
        entry.id: _said(entry) for entry in EpisodeLog.parse(after, path).entries if entry.id not in known
    }
    log = EpisodeLog.parse(now, path)
    source, removed = log.source, 0
    for entry in reversed(log.entries):
        if entry.id in brought and brought[entry.id] == _said(entry):
            source = remove_lines(source, entry.span)
            removed += 1
        elif entry.id in brought:
            reckoning.keep(entry.id, _CHANGED)
    reckoning.removed += removed
    if now == after:
        return before
    return None if before is None and removed == len(log.entries) else source.render()


def _said(entry: EpisodeEntry) -> EpisodeEntry:
    return replace(entry, span=_NOWHERE)


def _without_proposals(
    before: bytes | None, after: bytes, now: bytes, reckoning: ImportUndo, drop: Dropping
) -> bytes | None:
    known = {each.number for each in PendingMemories.parse(before or b"").proposals}
    left = {each.number: each for each in PendingMemories.parse(after).proposals}
    reckoning.settled |= known - left.keys()
    pending = PendingMemories.parse(now)
    going = []
    for number in left.keys() - known - reckoning.settled:
        found = pending.proposal(number)
        if found is None:
            reckoning.keep(f"#{number}", "It was decided on since; what became of it stays.")
        elif (found.content, found.is_deferred) != (left[number].content, False):
            reckoning.keep(f"#{number}", _CHANGED)
        else:
            going.append(number)
    reckoning.removed += len(going)
    return before if now == after else drop(pending, going).render()
