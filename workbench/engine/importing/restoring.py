"""Files of an export put back where they stood: new ones whole, into logs and scores what they lack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.engine import layout
from workbench.engine.documents.decay_scores import DecayScores
from workbench.engine.documents.episodes import EpisodeLog, NewEntry
from workbench.engine.errors import DocumentError, WorkbenchError
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.importing.ledger import Account, Ledger
from workbench.engine.importing.pieces import Skipped, StoredFile
from workbench.engine.importing.planning import Import, Written, note
from workbench.engine.stores.drafting import Draft
from workbench.engine.stores.wording import text_key


@dataclass(frozen=True)
class Rights:
    """What whoever imports may write.

    Args:
        critical: Files that steer the agent, and those in which people decided.
        blank: Files that nobody has written into yet; they give way.
    """

    critical: bool
    blank: frozenset[tuple[str, bytes]] = frozenset()


def checked_path(stored: StoredFile, rights: Rights) -> str:
    """Return the path at which a stored file may be written.

    Raises:
        WorkbenchError: It leads out of the workspace, is no memory file, or is not for whoever imports.
    """
    path = layout.normalise(stored.path)
    if path != stored.path or not layout.is_memory_file(path) or path in layout.PROJECTIONS:
        raise DocumentError("It is no file of memory.", where=path)
    if not rights.critical and (layout.is_critical(path) or layout.is_decided(path)):
        raise DocumentError("Only a person may bring it back.", where=path)
    return path


def plan_restore_files(
    view: FileView,
    stored: Sequence[StoredFile],
    about: Import,
    rights: Rights,
    ledger: Callable[[], Ledger],
) -> Plan[Written]:
    """Plan to put files back. What is there and says something else stays; logs and scores are joined.

    What was brought back before and was changed or removed since does not come back.

    Args:
        view: The files.
        stored: What the export holds.
        about: The import.
        rights: Of whoever imports.
        ledger: Gives a fresh copy of the account.
    """
    draft, account, known = Draft(view), Account(), ledger()
    known.catch_up(view)
    skipped: list[Skipped] = []
    added: list[str] = []
    for each in stored:
        try:
            path = checked_path(each, rights)
            if path == layout.DECAY_SCORES:
                # With one that is broken nothing could be pinned, archived or brought back any more.
                DecayScores.parse(each.content, path).update({})
        except WorkbenchError as error:
            skipped.append(Skipped(str(each.place), error.message))
            continue
        before = draft.read(path)
        if before == each.content or each.key in known.pieces:
            continue
        told = f"brought back from {about.source}"
        if before is None or (path, before) in rights.blank:
            draft.write(path, each.content, Action.RESTORE if before is not None else Action.CREATE, told)
        elif path.startswith(layout.EPISODES + "/") and path.endswith(".md"):
            joined = _joined_logs(draft, before, each.content, path)
            if joined == before:
                continue
            draft.write(path, joined, Action.APPEND, told)
        elif path == layout.DECAY_SCORES:
            joined = _joined_scores(before, each.content)
            if joined == before:
                continue
            draft.write(path, joined, Action.EDIT, told)
        else:
            skipped.append(Skipped(str(each.place), f"{path} says something else here; it stays as it is."))
            continue
        added.append(path)
        account.pieces[each.key] = ""
    count = len(added)
    told = f"brought back {count:,} {'file' if count == 1 else 'files'} from {about.source}"
    if added:
        note(draft, account, about)
    outcome = Written(
        None,
        ids=tuple(f"file:{path}" for path in added),
        added=count,
        known=len(stored) - count - len(skipped),
        skipped=tuple(skipped),
    )
    return draft.plan(Action.RESTORE, added[0] if count == 1 else "memory/*", told, outcome)


def _joined_logs(draft: Draft, before: bytes, content: bytes, path: str) -> bytes:
    log, other = EpisodeLog.parse(before, path), EpisodeLog.parse(content, path)
    said = {text_key(entry.body) for entry in log.entries}
    new = [
        NewEntry(entry.time, entry.body, entry.type, entry.confidence, entry.tags, entry.source, entry.extra)
        for entry in other.entries
        if entry.body.strip() and text_key(entry.body) not in said
    ]
    return log.append_entries(new, draft.was_given).render() if new else before


def _joined_scores(before: bytes, content: bytes) -> bytes:
    scores, other = DecayScores.parse(before), DecayScores.parse(content)
    new = {name: entry for name, entry in other.entries.items() if name not in scores.entries}
    return scores.update(dict(new)).render() if new else before
