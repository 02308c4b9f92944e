"""Writes a history again without what has to go, commit by commit, keeping authors, dates, trailers and order."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.engine.history.commit_message import parse_message, render_message
from workbench.engine.history.erasure import Erasure, erase_from_content, erase_from_message, erase_from_text
from workbench.engine.history.git_store import SHORT, Commit, GitStore
from workbench.engine.history.git_tree import FOLDER_MODE, tree_rows

_HASH = re.compile(rf"\b[0-9a-f]{{{SHORT},40}}\b")

Row = tuple[bytes, bytes, bytes]


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
            return "\n".join(erase_from_text(self.erasure, line) for line in commit.message.split("\n"))
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
