"""Outside edits: found by file stamps, screened, and committed (design document §12.3–§12.5)."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path

from workbench.engine import layout
from workbench.engine.errors import HistoryDamaged, OutsideWorkspace, SecretFound, StorageError
from workbench.engine.file_access import flush_to_disk, stamp_of, write_state
from workbench.engine.history.alerts import CRITICAL_CHANGED, CRITICAL_MARK, critical_alert, sensitive_alert
from workbench.engine.history.commits import AuditTrailer, CommitMessage
from workbench.engine.history.differences import line_counts
from workbench.engine.history.git_objects import TreeChange, blob_hash
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.plan import Action, OutsideEdit, Screen, common_pattern
from workbench.engine.history.work_files import Staging, cannot_write, read_work_file
from workbench.engine.values import dataclass

_INIT, _BEGINS = "system:init", "history begins"
# The subject of the first commit if every file that was found awaits a decision.
_NOTHING_YET = "workspace"

# A file changed twice within one tick of the file system's clock keeps its stamp; the coarsest tick is 2 s.
COARSEST_TICK = 2_000_000_000
_FILE = "stamps"
_HEADER = "workbench-stamps-1"


@dataclass(frozen=True)
class Adopted:
    """Adopted outside edits.

    Args:
        commits: Their commits, oldest first.
        files: The changed paths.
        alerts: Ids of the alerts raised.
        warnings: One line for each file that could not be read, or of which something was held back.
        left_out: The reason, by path, for files that stay out of history until a person decides.
    """

    commits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PlannedCommit:
    """A commit to make.

    Args:
        message: Its message.
        changes: New content by path; None deletes the file.
        joins: A commit of another history that it joins; full hash.
    """

    message: CommitMessage
    changes: Mapping[str, bytes | None]
    joins: str | None = None


@dataclass(frozen=True)
class Adoption:
    """Edits to adopt: whose they are, and what they change.

    Args:
        tree: The root tree before the edits.
        edits: New content by path, None for a deleted file.
        actor: Who made them.
        transaction: Its id.
        cut: Paths of files of which something was held back.
    """

    store: GitStore
    tree: str | None
    edits: Mapping[str, bytes | None]
    actor: str
    transaction: str
    cut: Collection[str]

    def commits(self, critical: frozenset[str], alerting: frozenset[str]) -> list[PlannedCommit]:
        """Return the commits that adopt the edits: each critical or alerting file by itself, then the rest together.

        Args:
            alerting: Files whose changes raise alerts.
        """
        drafts = []
        apart = critical | alerting
        for path in sorted(apart & self.edits.keys()):
            entry = self._entry(self._change(path))
            told, trigger = entry, self._trigger
            if path in critical:
                told = AuditTrailer(entry.action, path, "—", CRITICAL_MARK + entry.summary)
                trigger += CRITICAL_CHANGED
            message = self._message(entry.action, path, entry.summary, trigger, (told,))
            drafts.append(PlannedCommit(message, {path: self.edits[path]}))
            if path in alerting:
                alert = (
                    critical_alert(path, entry.action, self.actor, "—", self.transaction)
                    if path in critical
                    else sensitive_alert(path, entry.action, self.actor, self.transaction)
                )
                drafts.append(PlannedCommit(alert, {}))
        rest = {path: content for path, content in self.edits.items() if path not in apart}
        if rest:
            drafts.append(PlannedCommit(self._message_of_many(rest), rest))
        return drafts

    def _message_of_many(self, edits: Mapping[str, bytes | None]) -> CommitMessage:
        write = self.store.write_blob
        blobs = {path: write(new) if new is not None else None for path, new in edits.items()}
        changes = self.store.tree_changes(self.tree, self.store.write_tree(self.tree, blobs))
        entries = tuple(map(self._entry, changes))
        actions = {entry.action for entry in entries}
        if len(entries) == 1:
            file, summary = entries[0].file, entries[0].summary
        else:
            file = common_pattern(sorted(edits))
            summary = f"{len(entries)} files changed {self._by}"
        action = actions.pop() if len(actions) == 1 else Action.EDIT
        return self._message(action, file, summary, self._trigger, entries)

    def _message(
        self, action: str, file: str, summary: str, trigger: str, entries: tuple[AuditTrailer, ...]
    ) -> CommitMessage:
        return CommitMessage(action, file, summary, self.actor, "—", trigger, self.transaction, entries)

    def _change(self, path: str) -> TreeChange:
        content = self.edits[path]
        after = self.store.write_blob(content) if content is not None else None
        return TreeChange(path, self.store.tree_blob(self.tree, path), after)

    def _entry(self, change: TreeChange) -> AuditTrailer:
        before, after = self.store.contents(change)
        added, removed = line_counts(before, after)
        counts = f" (+{added} −{removed} lines)" if added or removed else ""
        counts += ", part of it held back" if change.path in self.cut else ""
        if change.old_path:
            told = f"renamed from {change.old_path} {self._by}{counts}"
            return AuditTrailer(Action.RENAME, change.path, "—", told)
        if before is None:
            told = _BEGINS if self.actor == _INIT else f"created {self._by}{counts}"
            return AuditTrailer(Action.CREATE, change.path, "—", told)
        if after is None:
            return AuditTrailer(Action.DELETE, change.path, "—", f"deleted {self._by}{counts}")
        appended = layout.store_of(change.path) == "episodic" and after.startswith(before)
        action, verb = (Action.APPEND, "appended to") if appended else (Action.EDIT, "edited")
        return AuditTrailer(action, change.path, "—", f"{verb} {self._by}{counts}")

    @property
    def _by(self) -> str:
        return "outside the engine" if self.actor == "manual" else f"on disk by {self.actor}"

    @property
    def _trigger(self) -> str:
        declared = "init" if self.actor == _INIT else f"edit found on disk, declared as {self.actor}"
        return "direct human edit" if self.actor == "manual" else declared


def first_commit(files: Mapping[str, bytes | None], transaction: str) -> PlannedCommit:
    """Return the first commit of a history: every file as found."""
    entries = tuple(AuditTrailer(Action.CREATE, path, "auto", _BEGINS) for path in files or (_NOTHING_YET,))
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
    return PlannedCommit(message, files)


@dataclass(frozen=True)
class Edits:
    """The differences between the files on disk and a tree.

    Args:
        files: New content by path, None for a deleted file.
        unreadable: The reason, by path, for unreadable files; they count as unchanged.
    """

    files: Mapping[str, bytes | None]
    unreadable: Mapping[str, str]


@dataclass(frozen=True)
class _Known:
    """Files known to match a tree: their stamps by path, and the number of files in the tree."""

    tree: str | None
    total: int
    stamps: dict[str, str]


def find_edits(
    root: Path, store: GitStore, tree: str | None, state: Path, *, tick: int = COARSEST_TICK
) -> Edits:
    """Compare every tracked file on disk with a tree.

    Args:
        tree: The root tree to compare with; None for an empty one.
        state: Folder of derived state, where stamps are cached.
        tick: Nanoseconds within which two changes of a file may get the same stamp.

    Raises:
        StorageError: A folder cannot be listed.
    """
    known = _load(state, store, tree)
    now = _file_system_time(state)
    try:
        found = layout.tracked_files(root)
    except OSError as error:
        raise StorageError(
            f"The workspace cannot be listed: {error.strerror or error}.",
            where=str(error.filename or root),
            remedy="Give yourself the right to read that folder.",
        ) from error
    stamps = {
        path: f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
        for path, status in found.items()
    }
    recorded = known.stamps.get
    doubtful = [path for path, stamp in stamps.items() if recorded(path) != stamp]
    if not doubtful and len(found) == known.total and known.tree == tree:
        return Edits({}, {})
    expected = store.tree_files(tree) if tree else {}
    files: dict[str, bytes | None] = {}
    unreadable: dict[str, str] = {}
    unsure: set[str] = set()
    for path in doubtful:
        try:
            content = read_work_file(root, path)
        except (StorageError, OutsideWorkspace) as error:
            unreadable[path] = error.message
            unsure.add(path)
            continue
        if content is None or expected.get(path) != blob_hash(content):
            files[path] = content
            unsure.add(path)
        elif found[path].st_ctime_ns > now - tick:
            unsure.add(path)
    for path in (each for each in expected if each not in found and layout.is_tracked(each)):
        if os.path.lexists(root / path):
            unreadable[path] = "A link, or something else that is no file of its own, stands where it was."
        else:
            files[path] = None
    kept = {path: stamp for path, stamp in stamps.items() if path not in unsure}
    if kept != known.stamps or known.tree != tree:
        _save(state, _Known(tree, len(expected), kept))
    return Edits({path: files[path] for path in sorted(files)}, unreadable)


def _file_system_time(state: Path) -> int:
    """Return the file system's time in nanoseconds; 0, which trusts no stamp, if it is unknown."""
    probe = state / f"{_FILE}.probe"
    try:
        state.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        return probe.stat().st_ctime_ns
    except OSError:
        return 0


def _load(state: Path, store: GitStore, tree: str | None) -> _Known:
    nothing = _Known(None, -1, {})
    try:
        rows = os.fsdecode((state / _FILE).read_bytes()).split("\0")
        header, known_tree, total = rows[0].split(" ")
        stamps = {path: stamp for stamp, _, path in (row.partition("\t") for row in rows[1:])}
        known = _Known(known_tree, int(total), stamps)
    except (OSError, ValueError):
        return nothing
    if header != _HEADER or tree is None:
        return nothing
    if known_tree != tree:
        try:
            changed = store.changed_paths(known_tree, tree)
        except HistoryDamaged:
            return nothing
        for path in {change.path for change in changed}:
            stamps.pop(path, None)
    return known


def _save(state: Path, known: _Known) -> None:
    if known.tree is None:
        return
    rows: Iterable[str] = (f"{stamp}\t{path}" for path, stamp in known.stamps.items())
    write_state(state / _FILE, os.fsencode("\0".join([f"{_HEADER} {known.tree} {known.total}", *rows])))


@dataclass(frozen=True)
class ScreenedEdits:
    """Edits after screening.

    Args:
        edits: New content by path as it is on disk now, None for a deleted file.
        cut: The notice, by path, for files that were rewritten.
        left_out: The notice, by path, for files that stay out of history.
    """

    edits: Mapping[str, bytes | None]
    cut: Mapping[str, str]
    left_out: Mapping[str, str]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a line for each file of which something was held back."""
        return (*self.cut.values(), *self.left_out.values())


def screen_edits(
    root: Path,
    store: GitStore,
    tree: str | None,
    edits: Mapping[str, bytes | None],
    screen: Screen,
    new_id: Callable[[], str],
) -> ScreenedEdits:
    """Screen edited files, and rewrite those of which something is held back.

    A file that is saved at the same moment is left for the next look.

    Args:
        tree: The root tree before the edits; None for an empty one.
        edits: New content by path, None for a deleted file.
        screen: The check.
        new_id: Returns a new transaction id.

    Raises:
        StorageError: A file cannot be written; it is unchanged.
    """
    blobs = {path: store.tree_blob(tree, path) for path in edits}
    screened = screen(
        [
            OutsideEdit(path, content, partial(_content, store, blobs[path]))
            for path, content in edits.items()
            if content is not None
        ]
    )
    kept = {path: content for path, content in edits.items() if path not in screened}
    cut: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for path, found in screened.items():
        before = edits[path]
        if found.content is None or before is None:
            left_out[path] = found.told
        elif replace_unless_edited(root, path, before, found.content, new_id()):
            cut[path] = found.told
            if blob_hash(found.content) != blobs[path]:
                kept[path] = found.content
    return ScreenedEdits(dict(sorted(kept.items())), cut, left_out)


def refuse_left_out(left_out: Mapping[str, str], changing: Collection[str]) -> None:
    """Refuse to write a file whose outside edit is kept out of history, since the edit would go in with it.

    Raises:
        SecretFound: A person decides first.
    """
    for path in sorted(left_out.keys() & set(changing)):
        raise SecretFound(left_out[path], where=path, remedy="See: workbench secrets")


def replace_unless_edited(root: Path, path: str, before: bytes, after: bytes, transaction: str) -> bool:
    """Replace a file's content if it is unchanged; return whether it was replaced.

    Raises:
        StorageError: It cannot be written.
    """
    try:
        with Staging(root, transaction) as staging:
            # The stamp is taken before the content, so a change in between is noticed.
            stamp = stamp_of(root / path)
            if read_work_file(root, path) != before:
                return False
            staging.lay(path, after)
            if stamp_of(root / path) != stamp or not staging.place(path, before):
                return False
            flush_to_disk((root / path).parent)
    except OSError as error:
        raise cannot_write(path, error) from error
    return True


def _content(store: GitStore, blob: str | None) -> bytes | None:
    return store.read_blob(blob) if blob else None
