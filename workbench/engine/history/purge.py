"""Purges memories: rewrites files and history without them, keeping authors, dates, trailers and order."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Generic, TypeVar

from workbench.engine import layout
from workbench.engine.errors import HistoryError, NotFound, StorageError
from workbench.engine.file_access import flush_to_disk
from workbench.engine.history.commits import (
    AuditTrailer,
    CommitMessage,
    author_of,
    parse_message,
    render_message,
)
from workbench.engine.history.differences import with_renames
from workbench.engine.history.erasure import (
    Erasure,
    erase_from_content,
    erase_from_message,
    erase_from_words,
    ids_of_file,
    places_of_units,
)
from workbench.engine.history.git_objects import FOLDER_MODE, SHORT, Commit, TreeChange, tree_rows
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.history import History
from workbench.engine.history.journal import FileStep
from workbench.engine.history.maintenance import repacking_paused
from workbench.engine.history.outside_edits import Adopted, refuse_left_out
from workbench.engine.history.plan import Action, Attribution, Plan, Planner
from workbench.engine.history.recovery import (
    PurgeMarker,
    PurgeSteps,
    checkpoint,
    flush_objects,
    purge_is_unfinished,
    request_digest,
    write_marker,
)
from workbench.engine.history.spent_ids import spent_ids_restored, with_spent_ids
from workbench.engine.history.transaction import Transaction
from workbench.engine.history.work_files import CommitFiles, WorkFiles, named_by_id
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.pages import Procedure, VaultNote
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

# Files that are never renamed: daily logs, and the engine's own.
_OF_THEIR_OWN = ("core", "episodic", "meta")
_HASH = lazy_pattern(rf"\b[0-9a-f]{{{SHORT},40}}\b")

Row = tuple[bytes, bytes, bytes]

T = TypeVar("T")
_SUMMARY = "history was purged"


def erasure_with_old_names(store: GitStore, head: str | None, purging: PurgeSteps) -> PurgeSteps:
    """Extend what has to be removed by what history tells: former paths and titles.

    A renamed file is followed back, unless another file has its former name by now.

    Args:
        head: The newest commit.
        purging: What has to be removed according to the current files.
    """
    # By path as in ids: the parts of the file to remove by block id, or all of it.
    going: dict[str, set[str]] = {}
    for path in purging.paths:
        going.setdefault(named_by_id(path), set()).add("")
    for name in purging.names:
        for path, key in places_of_units(name):
            if key is None or key[0] == "block":
                going.setdefault(path, set()).add(key[1] if key else "")
    if not going or head is None:
        return purging
    names, paths = dict.fromkeys(purging.names), dict.fromkeys(purging.paths)
    called = dict.fromkeys(purging.called)
    for change in _changes_of(store, head, going):
        blocks = going[named_by_id(change.path)]
        ids = ids_of_file(change.path)
        names |= dict.fromkeys(f"{each}#^{block}" if block else each for block in blocks for each in ids)
        if "" in blocks:
            paths[change.path] = None
            blobs = (blob for blob in (change.old_blob, change.new_blob) if blob)
            called |= dict.fromkeys(
                name for blob in blobs for name in titles_in(change.path, store.read_blob(blob))
            )
    return replace(purging, names=tuple(names), paths=tuple(paths), called=tuple(called))


def _changes_of(store: GitStore, head: str, going: dict[str, set[str]]) -> Iterator[TreeChange]:
    """Yield every change of the files to remove, newest first, extending them by their former paths."""
    standing = {named_by_id(path) for path in store.files_at(head)}
    for commit in store.walk(head):
        older = store.tree_of(commit.parent)
        changes = store.changed_paths(older, commit.tree)
        mine = [change for change in changes if named_by_id(change.path) in going]
        yield from mine
        if not any(change.old_blob is None for change in mine) or len(mine) == len(changes):
            continue
        for change in with_renames(changes, store.read_blob):
            former, path = change.old_path, named_by_id(change.path)
            if former is None or path not in going or layout.store_of(former) in _OF_THEIR_OWN:
                continue
            if named_by_id(former) not in standing and named_by_id(former) not in going:
                going[named_by_id(former)] = set(going[path])
                yield TreeChange(former, change.old_blob, None)


def titles_in(path: str, content: bytes) -> tuple[str, ...]:
    """Return what a memory that is a whole file is called in it."""
    match layout.store_of(path):
        case "semantic":
            file = EntityFile.parse(content, path)
            return (file.label, *file.aliases)
        case "procedural":
            return (Procedure.parse(content, path).title,)
        case "vault":
            return (VaultNote.parse(content, path).title,)
    return ()


@dataclass(frozen=True)
class _Known:
    """The version of a folder examined last: its rows, and the changes of files below it, by row and in total."""

    tree: str
    rows: set[Row]
    by_row: Mapping[Row, Mapping[str, str | None]]
    changes: Mapping[str, str | None]


@dataclass
class Rewriting:
    """A rewriting in progress; new objects are added to the store, old ones stay.

    Args:
        commits: The new commit for each old one so far.
    """

    store: GitStore
    erasure: Erasure
    commits: dict[str, str] = field(default_factory=dict)
    _shorts: dict[str, str] = field(default_factory=dict)
    _folders: dict[str, _Known] = field(default_factory=dict)
    _blobs: dict[tuple[str, str], tuple[str | None, tuple[str, ...]]] = field(default_factory=dict)
    _roots: dict[str, str] = field(default_factory=dict)
    _changed: dict[str, Mapping[str, str | None]] = field(default_factory=dict)

    def rewrite(self, head: str | None) -> str | None:
        """Rewrite a commit and its ancestors, oldest first; return the newest."""
        for commit in reversed(list(self.store.walk(head)) if head else []):
            self._rewrite_commit(commit)
        return self.commits[head] if head else None

    def rewrite_some(self, commits: Sequence[str]) -> None:
        """Rewrite commits, oldest first; a parent that is not among them is to be in `commits`, or stays as it is."""
        for each in commits:
            commit = self.store.commit(each)
            for parent in commit.parents:
                self.commits.setdefault(parent, parent)
            self._rewrite_commit(commit)

    def reachable(self, head: str) -> set[str]:
        """Return every object of a rewritten history."""
        return self.objects_of(self.store.walk(head))

    def objects_of(self, commits: Iterable[Commit]) -> set[str]:
        """Return commits with every object of theirs."""
        found: set[str] = set()
        folders: dict[str, set[Row]] = {}
        for commit in commits:
            found.add(commit.id)
            self._collect(commit.tree, "", found, folders)
        return found

    def _collect(self, tree: str, prefix: str, found: set[str], folders: dict[str, set[Row]]) -> None:
        if tree in found:
            return
        found.add(tree)
        rows = tree_rows(self.store.raw_object(tree))
        # Successive versions of a folder differ in a row or two.
        new = rows - folders.get(prefix, set())
        folders[prefix] = rows
        for mode, name, oid in new:
            if mode == FOLDER_MODE:
                self._collect(oid.hex(), f"{prefix}{os.fsdecode(name)}/", found, folders)
            else:
                found.add(oid.hex())

    def _rewrite_commit(self, commit: Commit) -> None:
        tree = self._rewrite_tree(commit.tree)
        raw = self.store.raw_object(commit.id)
        header, _, _ = raw.partition(b"\n\n")
        lines = [
            line
            for line in header.split(b"\n")
            if not line.startswith((b"tree ", b"parent ", b"gpgsig", b" "))
        ]
        parents = [b"parent " + self.commits[parent].encode() for parent in commit.parents]
        lines = [b"tree " + tree.encode(), *parents, *lines]
        message = self._with_new_hashes(self._rewrite_message(commit))
        content = b"\n".join(lines) + b"\n\n" + message.encode("utf-8", "replace")
        new = self.store.write_raw_commit(content)
        self.commits[commit.id] = new
        self._shorts[commit.id[:SHORT]] = new

    def _rewrite_message(self, commit: Commit) -> str:
        if "\nTransaction: " not in commit.message:
            return "\n".join(erase_from_words(self.erasure, line) for line in commit.message.split("\n"))
        message = parse_message(commit)
        cleaned = erase_from_message(
            self.erasure, message, self._touched(commit, {e.file for e in message.entries})
        )
        return commit.message if cleaned == message else render_message(cleaned)

    def _with_new_hashes(self, message: str) -> str:
        def renamed(found: re.Match[str]) -> str:
            old = found.group()
            new = self.commits.get(old) or self._shorts.get(old[:SHORT])
            return new[: len(old)] if new else old

        return _HASH.sub(renamed, message)

    def _touched(self, commit: Commit, named: set[str]) -> frozenset[str]:
        """Return the files in which a commit wrote, changed or removed purged content."""
        parent = self.store.tree_of(commit.parent)
        touched = set()
        # Most commits are unaffected, and finding a file in a large folder takes time.
        concerned = self._changed[commit.tree].keys() | self._changed.get(parent or "", {}).keys()
        for path in named & concerned:
            after = self.store.tree_blob(commit.tree, path)
            before = self.store.tree_blob(parent, path)
            if before != after and self._removed(path, before) != self._removed(path, after):
                touched.add(path)
        return frozenset(touched)

    def _removed(self, path: str, blob: str | None) -> tuple[str, ...]:
        return self._rewrite_blob(path, blob)[1] if blob else ()

    def _rewrite_tree(self, root: str) -> str:
        if root not in self._roots:
            changes = self._changes_below(root, "")
            self._roots[root] = self.store.write_tree(root, changes) if changes else root
            self._changed[root] = changes
        return self._roots[root]

    def _changes_below(self, tree: str, prefix: str) -> Mapping[str, str | None]:
        """Return the new content of a folder's files by path, where it changes."""
        known = self._folders.get(prefix)
        if known is not None and known.tree == tree:
            return known.changes
        rows = tree_rows(self.store.raw_object(tree))
        # Successive versions of a folder differ in a row or two; the rest is known.
        by_row = {row: changes for row, changes in known.by_row.items() if row in rows} if known else {}
        for row in rows - (known.rows if known else set()):
            mode, name, oid = row
            path = prefix + os.fsdecode(name)
            if mode == FOLDER_MODE:
                changes = self._changes_below(oid.hex(), f"{path}/")
            else:
                new, removed = self._rewrite_blob(path, oid.hex())
                changes = {path: new} if removed else {}
            if changes:
                by_row[row] = changes
        merged = {path: blob for changes in by_row.values() for path, blob in changes.items()}
        self._folders[prefix] = _Known(tree, rows, by_row, merged)
        return merged

    def _rewrite_blob(self, path: str, blob: str) -> tuple[str | None, tuple[str, ...]]:
        known = self._blobs.get((path, blob))
        if known is None:
            content, removed = erase_from_content(self.erasure, path, self.store.read_blob(blob))
            new = blob if not removed else self.store.write_blob(content) if content is not None else None
            known = (new, removed)
            self._blobs[path, blob] = known
        return known


@dataclass(frozen=True)
class Purged(Generic[T]):
    """The result of a purge.

    Args:
        outcome: The plan's answer.
        commit: The PURGE commit, which records the purge but not what was purged.
        deleted: The plan's own commit, None if it changed nothing.
        commits: The new commit for each old one.
        files: Paths of changed or removed work files.
        told: What a person should know, one sentence each.
    """

    outcome: T
    commit: str
    deleted: str | None
    commits: Mapping[str, str]
    files: tuple[str, ...]
    told: tuple[str, ...]


def purge(
    history: History,
    planner: Planner[T],
    going: Callable[[T], PurgeSteps],
    attribution: Attribution,
    *,
    asked: Sequence[str] = (),
    step: Callable[[str], None] = lambda _: None,
) -> Purged[T]:
    """Delete memories from the files and remove them from all history, completely or not at all.

    Every commit stays, with its author, date, trailers and position; where it wrote or removed purged content, its
    message no longer says what. References between commits are updated. The audit log is rewritten. Other git
    branches, tags and reflogs in the history are deleted.

    Args:
        planner: Plans the deletion, given the files of the newest commit.
        going: Returns what has to be removed, given the plan's answer.
        attribution: Who purges; the caller checks that this is a person.
        asked: Words and ids of the request; an interrupted purge is recognised by them.
        step: Called with the name of each step.

    Raises:
        Locked: Another writer, or background repacking, is active; nothing was changed.
        StorageError: Something cannot be written. If a purge is then unfinished, it will be completed; otherwise
            nothing was changed.
        SecretFound: A file with this content is kept out of history until a person decides; nothing was changed.
        OutsideWorkspace: One of the files is now a link; nothing was changed.
        HistoryDamaged: The history cannot be read; nothing was changed.
    """
    if history.exists:
        # Waits before the writer's lock is taken, so that others can write meanwhile.
        with repacking_paused(history.path, history.lock_timeout):
            pass
    with (
        history.writing(attribution.actor) as turn,
        repacking_paused(turn.store.path, history.lock_timeout),
    ):
        step("plan")
        store = turn.store
        adopted = turn.adopt("manual")
        head = turn.head()
        plan = _planned(planner, store, head, adopted)
        purging = erasure_with_old_names(store, head, going(plan.outcome))
        erasure = purging.erasure
        _refuse_held_back(history.root, erasure, adopted)
        with spent_ids_restored(store) as spent:
            deleted = _written(turn, plan, attribution, history.new_id())
            step("rewrite")
            rewriting = Rewriting(store, erasure)
            rewritten = rewriting.rewrite(deleted[-1] if deleted else head)
            steps = _file_steps(store, head, rewritten)
            newest = _purge_commit(history, store, (head, rewritten), steps, attribution)
            try:
                mark_replacement(
                    history,
                    turn,
                    newest,
                    purging,
                    adopted.left_out,
                    rewriting=rewriting,
                    asked=asked,
                    step=step,
                )
            finally:
                spent.is_kept = purge_is_unfinished(store.path)
        told = history.finish_purge(turn, step=step)
        history.told_of_purges(now=True)
    first = rewriting.commits[deleted[0]] if deleted else None
    files = tuple(each.path for each in steps)
    return Purged(plan.outcome, newest, first, rewriting.commits, files, told)


def mark_replacement(
    history: History,
    turn: Transaction,
    newest: str,
    purging: PurgeSteps,
    left_out: Mapping[str, str],
    *,
    rewriting: Rewriting,
    asked: Sequence[str] = (),
    step: Callable[[str], None] = lambda _: None,
) -> None:
    """Have a rewritten history take the place of this one: from the end of this on it happens.

    Call `History.finish_purge` afterwards. Needs the writer's lock and that of repacking.

    Args:
        newest: The rewritten history's newest commit.
        purging: What has to be removed beside; its files are found here.
        left_out: Files kept out of history, and why.
        rewriting: What rewrote it.
        asked: Words and ids of the request.
        step: Called with the name of each step.

    Raises:
        StorageError: Something cannot be written. If a purge is then unfinished, it will be completed; otherwise
            nothing was changed.
        SecretFound: A file that would change is kept out of history.
    """
    store = turn.store
    steps = _file_steps(store, turn.head(), newest)
    refuse_left_out(left_out, {each.path for each in steps})
    _refuse_unwritable(history.root, steps)
    step("pack")
    packs = _packed(store, rewriting.reachable(newest))
    step("checkpoint")
    note = store.write_blob(replace(purging, files=steps).as_bytes())
    flush_objects(store, {note: None})
    checkpoint(store, history.journal)
    step("mark")
    salt = history.new_id()
    marker = PurgeMarker(newest, packs, note, salt, tuple(request_digest(salt, each) for each in asked))
    try:
        write_marker(store.path, marker)
    except OSError as error:
        raise _cannot_mark(store.path, error) from error


def _planned(planner: Planner[T], store: GitStore, head: str | None, adopted: Adopted) -> Plan[T]:
    try:
        return planner(CommitFiles(store, head))
    except NotFound:
        # Content that is in no commit may be in a file that is kept out of history.
        refuse_left_out(adopted.left_out, adopted.left_out.keys())
        raise


def _refuse_held_back(root: Path, erasure: Erasure, adopted: Adopted) -> None:
    """Refuse if a file with purged content is neither in history nor writable by the engine."""
    files = WorkFiles(root)
    for path in sorted(adopted.left_out):
        content = files.read(path)
        if content is not None and erase_from_content(erasure, path, content)[1]:
            refuse_left_out(adopted.left_out, {path})


def _refuse_unwritable(root: Path, steps: Sequence[FileStep]) -> None:
    """Refuse if a file to change cannot be read, or its folder cannot be written."""
    files = WorkFiles(root)
    for step in steps:
        if files.read(step.path) is not None and not os.access((root / step.path).parent, os.W_OK | os.X_OK):
            raise StorageError(
                "The file cannot be written; nothing was purged.",
                where=step.path,
                remedy="Make its folder writable; then purge again.",
            )


def _written(turn: Transaction, plan: Plan[T], attribution: Attribution, transaction: str) -> list[str]:
    """Write the commits of a plan without moving the branch; none if it changes nothing."""
    head = turn.head()
    files = CommitFiles(turn.store, head)
    changing = {layout.normalise(each.path): each.content for each in plan.changes}
    changing = {path: content for path, content in changing.items() if files.read(path) != content}
    if not changing:
        return []
    drafts = turn.drafts_of_plan(plan, changing, attribution, transaction)
    commits, _ = turn.write_commits(drafts, head)
    return [commit for commit, _, _ in commits]


def _file_steps(store: GitStore, before: str | None, after: str | None) -> tuple[FileStep, ...]:
    changes = store.changed_paths(store.tree_of(before), store.tree_of(after))
    return tuple(FileStep(each.path, each.old_blob, each.new_blob) for each in changes)


def _purge_commit(
    history: History,
    store: GitStore,
    heads: tuple[str | None, str | None],
    steps: Sequence[FileStep],
    attribution: Attribution,
) -> str:
    """Write the commit that records a purge, on top of the second of two heads, the rewritten one."""
    before, parent = heads
    message = CommitMessage(
        Action.PURGE,
        "*",
        _SUMMARY,
        attribution.actor,
        attribution.approval,
        "purge",
        history.new_id(),
        (AuditTrailer(Action.PURGE, "*", attribution.approval, _SUMMARY),),
    )
    # Other memories may have said the same and been removed too.
    older = store.tree_of(before)
    changes = {each.path: store.read_blob(each.after) if each.after else None for each in steps}
    message = with_spent_ids(store, older, message, changes)
    author, email = author_of(attribution.actor)
    tree = store.tree_of(parent) or store.write_tree(None, {})
    moment = history.clock.now().astimezone(history.zone)
    parents = [parent] if parent else []
    return store.write_commit(
        tree, parents, render_message(message), author=author, email=email, moment=moment
    )


def _packed(store: GitStore, objects: set[str]) -> tuple[str, ...]:
    """Pack the rewritten history, flush it, and return the names of the files."""
    files = store.pack(sorted(objects))
    if not files:
        # There is a pack of just these objects; with one more, the pack is a new one.
        files = store.pack(sorted({*objects, store.write_blob(os.urandom(20))}))
    if not files:
        raise HistoryError(
            "The rewritten history could not be packed.",
            where=str(store.path),
            remedy="Purge again; nothing was purged.",
        )
    try:
        for file in files:
            flush_to_disk(file)
        flush_to_disk(files[0].parent)
    except OSError as error:
        raise _cannot_write(store.path, error) from error
    return tuple(file.name for file in files)


def _cannot_mark(folder: Path, error: OSError) -> StorageError:
    if not purge_is_unfinished(folder):
        return _cannot_write(folder, error)
    # The marker is written and only its flush failed: the next writer continues from it.
    return StorageError(
        f"The purge has begun and cannot continue: {error.strerror or error}.",
        where=str(error.filename or folder),
        remedy="Free some space, or make the folder writable.",
    )


def _cannot_write(folder: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The history cannot be purged, and nothing was: {error.strerror or error}.",
        where=str(error.filename or folder),
        remedy="Free some space, or make the folder writable; then purge again.",
    )
