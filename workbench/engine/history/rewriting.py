"""Writes a history again without what has to go, commit by commit, keeping authors, dates, trailers and order."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.engine.history.commit_message import parse_message, render_message
from workbench.engine.history.erasure import Erasure, erase_from_content, erase_from_message, erase_from_text
from workbench.engine.history.git_store import SHORT, Commit, GitStore
from workbench.engine.history.git_tree import Folder, parse_tree

_HASH = re.compile(rf"\b[0-9a-f]{{{SHORT},40}}\b")


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
    _changes: dict[tuple[str, str], Mapping[str, str | None]] = field(default_factory=dict)
    _blobs: dict[tuple[str, str], tuple[str | None, tuple[str, ...]]] = field(default_factory=dict)
    _roots: dict[str, str] = field(default_factory=dict)

    def rewrite(self, *, leave_out: str | None = None) -> str | None:
        """Rewrite every commit, oldest first; return the newest.

        Args:
            leave_out: A commit to drop; it must change nothing but what has to go.
        """
        newest = None
        for commit in reversed(list(self.store.walk())):
            if commit.id != leave_out:
                newest = self._rewrite_commit(commit, newest)
        return newest

    def reachable(self, head: str) -> set[str]:
        """Return every object that a rewritten history is made of."""
        found: set[str] = set()
        for commit in self.store.walk(head):
            found.add(commit.id)
            self._collect(commit.tree, found)
        return found

    def _collect(self, tree: str, found: set[str]) -> None:
        if tree in found:
            return
        found.add(tree)
        for entry in parse_tree(self.store.raw_object(tree)).values():
            if entry.is_folder:
                self._collect(entry.oid.hex(), found)
            else:
                found.add(entry.oid.hex())

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
        for path in named:
            if path == "*":
                continue
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
        return self._roots[root]

    def _changes_below(self, tree: str, prefix: str) -> Mapping[str, str | None]:
        known = self._changes.get((tree, prefix))
        if known is not None:
            return known
        found: dict[str, str | None] = {}
        for name, oid, is_folder in _named(parse_tree(self.store.raw_object(tree))):
            path = prefix + name
            if is_folder:
                found.update(self._changes_below(oid, f"{path}/"))
            else:
                new, removed = self._rewrite_blob(path, oid)
                if removed:
                    found[path] = new
        self._changes[tree, prefix] = found
        return found

    def _rewrite_blob(self, path: str, blob: str) -> tuple[str | None, tuple[str, ...]]:
        known = self._blobs.get((path, blob))
        if known is None:
            content, removed = erase_from_content(self.erasure, path, self.store.read_blob(blob))
            new = blob if not removed else self.store.write_blob(content) if content is not None else None
            known = (new, removed)
            self._blobs[path, blob] = known
        return known


def _named(folder: Folder) -> list[tuple[str, str, bool]]:
    return [(os.fsdecode(name), entry.oid.hex(), entry.is_folder) for name, entry in folder.items()]
