"""Writes a history again without what has to go, commit by commit, keeping authors, dates, trailers and order."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from workbench.engine import layout
from workbench.engine.documents.entity import EntityFile
from workbench.engine.documents.procedure import Procedure
from workbench.engine.documents.vault import VaultNote
from workbench.engine.history.commit_message import parse_message, render_message
from workbench.engine.history.differences import with_renames
from workbench.engine.history.erasure import (
    Erasure,
    erase_from_content,
    erase_from_message,
    erase_from_words,
    ids_of_file,
    place_of,
)
from workbench.engine.history.git_objects import TreeChange
from workbench.engine.history.git_store import SHORT, Commit, GitStore
from workbench.engine.history.git_tree import FOLDER_MODE, tree_rows
from workbench.engine.history.unfinished_purge import Purging
from workbench.engine.history.views import named_by_id

# What is never a former file of something else: logs of days, and what the engine keeps itself.
_OF_THEIR_OWN = ("core", "episodic", "meta")
_HASH = re.compile(rf"\b[0-9a-f]{{{SHORT},40}}\b")

Row = tuple[bytes, bytes, bytes]


def as_it_was(store: GitStore, head: str | None, purging: Purging) -> Purging:
    """Return what has to go with everything that history tells of it: where its files were, and what they were called.

    A file that was renamed is followed back, unless another has its former name by now.

    Args:
        store: The history.
        head: The newest commit.
        purging: What has to go, as it is now.
    """
    # By path as ids have it: what goes of the file, its parts by block id, or all of it.
    going: dict[str, set[str]] = {}
    for path in purging.paths:
        going.setdefault(named_by_id(path), set()).add("")
    for name in purging.names:
        for path, key in place_of(name):
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
                name for blob in blobs for name in _called(change.path, store.read_blob(blob))
            )
    return replace(purging, names=tuple(names), paths=tuple(paths), called=tuple(called))


def _changes_of(store: GitStore, head: str, going: dict[str, set[str]]) -> Iterator[TreeChange]:
    """Yield every change of files that go, newest first; files that became them are added to what goes."""
    standing = {named_by_id(path) for path in store.files_at(head)}
    for commit in store.walk(head):
        older = store.commit(commit.parent).tree if commit.parent else None
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


def _called(path: str, content: bytes) -> tuple[str, ...]:
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
    """The version of a folder looked at last: its rows, and what becomes of files below it, by row and together."""

    tree: str
    rows: set[Row]
    by_row: Mapping[Row, Mapping[str, str | None]]
    changes: Mapping[str, str | None]


@dataclass
class Rewriting:
    """One rewriting in progress; new objects are added to the store, old ones are left where they are.

    Args:
        store: The history.
        erasure: What has to go.
        commits: The new commit of each old one so far.
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
        """Rewrite a commit and every one before it, oldest first; return the newest."""
        newest = None
        for commit in reversed(list(self.store.walk(head)) if head else []):
            newest = self._rewrite_commit(commit, newest)
        return newest

    def reachable(self, head: str) -> set[str]:
        """Return every object that a rewritten history is made of."""
        found: set[str] = set()
        folders: dict[str, set[Row]] = {}
        for commit in self.store.walk(head):
            found.add(commit.id)
            self._collect(commit.tree, "", found, folders)
        return found

    def _collect(self, tree: str, prefix: str, found: set[str], folders: dict[str, set[Row]]) -> None:
        if tree in found:
            return
        found.add(tree)
        rows = tree_rows(self.store.raw_object(tree))
        # Versions of a folder that follow each other differ in a row or two.
        new = rows - folders.get(prefix, set())
        folders[prefix] = rows
        for mode, name, oid in new:
            if mode == FOLDER_MODE:
                self._collect(oid.hex(), f"{prefix}{os.fsdecode(name)}/", found, folders)
            else:
                found.add(oid.hex())

    def _rewrite_commit(self, commit: Commit, parent: str | None) -> str:
        tree = self._rewrite_tree(commit.tree)
        raw = self.store.raw_object(commit.id)
        header, _, _ = raw.partition(b"\n\n")
        lines = [
            line
            for line in header.split(b"\n")
            if not line.startswith((b"tree ", b"parent ", b"gpgsig", b" "))
        ]
        lines.insert(0, b"tree " + tree.encode())
        if parent:
            lines.insert(1, b"parent " + parent.encode())
        message = self._with_new_hashes(self._rewrite_message(commit))
        content = b"\n".join(lines) + b"\n\n" + message.encode("utf-8", "replace")
        new = self.store.write_raw_commit(content)
        self.commits[commit.id] = new
        self._shorts[commit.id[:SHORT]] = new
        return new

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
        """Return the files in which this commit wrote, changed or removed what has to go."""
        parent = self.store.commit(commit.parent).tree if commit.parent else None
        touched = set()
        # Most commits concern nothing that goes, and finding a file in a large folder takes time.
        concerned = self._changed[commit.tree].keys() | self._changed.get(parent or "", {}).keys()
        for path in named & concerned:
            after = self.store.tree_blob(commit.tree, path)
            before = self.store.tree_blob(parent, path) if parent else None
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
        """Return what a folder's files become, by path, where they change."""
        known = self._folders.get(prefix)
        if known is not None and known.tree == tree:
            return known.changes
        rows = tree_rows(self.store.raw_object(tree))
        # Versions of a folder that follow each other differ in a row or two; the rest is as found before.
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
