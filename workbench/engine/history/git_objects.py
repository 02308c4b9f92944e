"""Git objects as values and bytes: commits, trees, blobs, and differences between trees and contents."""

from __future__ import annotations

import hashlib
import os
import re
from bisect import insort
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from functools import cache
from typing import Any

from workbench.engine.errors import HistoryDamaged
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

SHORT = 10
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

# A long history is read through a window of its pack, so that the whole pack does not count as memory.
_WINDOW_BYTES = 2 << 20
_MAPPED_BYTES = 8 << 20
_CACHED_BYTES = 8 << 20

FILE_MODE = b"100644"
FOLDER_MODE = b"40000"
# In folders of more bytes a single name is searched for without parsing; this many such folders are cached.
_LARGE = 50_000
_MOST_RAW = 6
# Up to this many names are inserted one by one; more are sorted with all the others.
_FEW = 8
_ENTRY = lazy_pattern(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)

_COMMIT = lazy_pattern(
    rb"tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)"
    rb"author (.*) <[^>\n]*> (-?\d+) ([+-])(\d\d)(\d\d)\n"
)

_Branch = dict[bytes, "str | _Branch | None"]


@dataclass(frozen=True)
class Commit:
    """One commit of the history.

    Args:
        id: Full hash, 40 hex digits.
        tree: Hash of the root tree.
        parents: Hashes; empty for the first commit.
        author: The author's name, which is the actor's tag.
        moment: Author date with its offset.
        message: The whole message.
    """

    id: str
    tree: str
    parents: tuple[str, ...]
    author: str
    moment: datetime
    message: str

    @property
    def parent(self) -> str | None:
        """Return the first parent, or None."""
        return self.parents[0] if self.parents else None

    @property
    def short(self) -> str:
        """Return the abbreviated hash used in displays and the audit log."""
        return self.id[:SHORT]


@dataclass(frozen=True)
class TreeChange:
    """One file that differs between two commits.

    Args:
        path: Its current path; its former path if it was deleted.
        old_blob: Hash of the content before, None if the file is new.
        new_blob: Hash of the content after, None if the file was deleted.
        old_path: Its former path if it was renamed, else None.
    """

    path: str
    old_blob: str | None
    new_blob: str | None
    old_path: str | None = None


def parse_commit(oid: str, raw: bytes) -> Commit:
    """Parse a commit object's content.

    Raises:
        HistoryDamaged: It is not a commit.
    """
    found = _COMMIT.match(raw)
    if not found:
        raise HistoryDamaged(
            f"Object {oid[:SHORT]} is not a commit.", remedy="Look with: workbench audit verify"
        )
    tree, parents, name, seconds, *offset = found.groups()
    return Commit(
        oid,
        tree.decode(),
        tuple(parents.decode().split()[1::2]),
        name.decode("utf-8", "replace"),
        datetime.fromtimestamp(int(seconds), _zone(*offset)),
        raw.partition(b"\n\n")[2].decode("utf-8", "replace"),
    )


@cache
def _zone(sign: bytes, hours: bytes, minutes: bytes) -> timezone:
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-offset if sign == b"-" else offset)


def render_commit(
    tree: str, parents: Iterable[str], message: str, *, author: str, email: str, moment: datetime
) -> bytes:
    """Format a commit object's content; author and committer are the same."""
    offset = moment.utcoffset() or timedelta(0)
    stamp = f"{author} <{email}> {int(moment.timestamp())} {_render_offset(offset)}"
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents), f"author {stamp}"]
    return "\n".join([*lines, f"committer {stamp}", "", message]).encode("utf-8", "replace")


def blob_hash(content: bytes) -> str:
    """Return git's hash of a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _render_offset(offset: timedelta) -> str:
    minutes = int(offset.total_seconds() // 60)
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}{abs(minutes) % 60:02d}"


@cache
def libgit2() -> Any:
    """Return the `pygit2` module, imported on first use because that takes 60 ms."""
    import pygit2
    import pygit2.enums

    levels = pygit2.enums.ConfigLevel
    for level in (levels.SYSTEM, levels.GLOBAL, levels.XDG, levels.PROGRAMDATA):
        pygit2.settings.search_path[level] = ""
    # The folder may belong to another owner on a mounted drive; its configuration executes nothing.
    pygit2.settings.owner_validation = False
    pygit2.settings.mwindow_size = _WINDOW_BYTES
    pygit2.settings.mwindow_mapped_limit = _MAPPED_BYTES
    pygit2.settings.cache_max_size(_CACHED_BYTES)
    return pygit2


@dataclass(frozen=True)
class TreeEntry:
    """One entry of a folder.

    Args:
        mode: Git's octal mode as written in the object.
        oid: The 20 raw bytes of the object's name.
    """

    mode: bytes
    oid: bytes

    @property
    def is_folder(self) -> bool:
        return self.mode == FOLDER_MODE


Folder = dict[bytes, TreeEntry]


def tree_rows(raw: bytes) -> set[tuple[bytes, bytes, bytes]]:
    """Parse a tree object into rows of mode, name and raw object name: fastest for comparing many."""
    return set(_ENTRY.findall(raw))


def parse_tree(raw: bytes) -> Folder:
    """Parse a tree object's content."""
    return {name: TreeEntry(mode, oid) for mode, name, oid in _ENTRY.findall(raw)}


def _in_order(folder: Folder) -> Folder:
    return dict(sorted(folder.items(), key=_sort_key))


def _with_new(folder: Folder, new: Folder) -> Folder:
    """Merge new names into a folder that is in git's order."""
    if len(new) > _FEW:
        return _in_order(folder | new)
    rows = list(folder.items())
    for row in new.items():
        insort(rows, row, key=_sort_key)
    return dict(rows)


def _sort_key(row: tuple[bytes, TreeEntry]) -> bytes:
    name, entry = row
    return name + b"/" if entry.is_folder else name


def _joined(folder: Folder) -> bytes:
    return b"".join([b"%s %s\0%s" % (entry.mode, name, entry.oid) for name, entry in folder.items()])


class TreeReader:
    """Looks up paths in trees and writes changed trees, caching recent folders.

    Args:
        read_object: Returns a tree object's content by its hex name.
        write_object: Stores a tree object's content and returns its hex name.
    """

    # A folder of 20,000 names takes several megabytes.
    _MOST_FOLDERS = 64
    _MOST_NAMES = 200_000
    _FEWEST_FOLDERS = 8

    def __init__(self, read_object: Callable[[str], bytes], write_object: Callable[[bytes], str]) -> None:
        self._read_object = read_object
        self._write_object = write_object
        self._folders: OrderedDict[str, Folder] = OrderedDict()
        self._names = 0
        self._raws: dict[str, bytes] = {}

    def folder(self, tree: str) -> Folder:
        """Return a folder's entries by the tree's hex name; callers may not modify it."""
        found = self._folders.get(tree)
        if found is None:
            found = parse_tree(self._read_object(tree))
            self._keep(tree, found)
        else:
            self._folders.move_to_end(tree)
        return found

    def entry(self, tree: str, path: str) -> TreeEntry | None:
        """Return the entry at a path below a tree, or None."""
        *folders, name = os.fsencode(path).split(b"/")
        for part in folders:
            step = self._named(tree, part)
            if step is None or not step.is_folder:
                return None
            tree = step.oid.hex()
        return self._named(tree, name)

    def files(self, tree: str, prefix: str = "") -> Iterator[tuple[str, str]]:
        """Yield every file below a tree as path and hex name of its blob, in git's order."""
        for mode, name, oid in _ENTRY.findall(self._read_object(tree)):
            path = prefix + os.fsdecode(name)
            if mode == FOLDER_MODE:
                yield from self.files(oid.hex(), path + "/")
            else:
                yield path, oid.hex()

    def changed(self, tree: str | None, changes: Mapping[str, str | None]) -> str:
        """Write a tree that differs from another in some files.

        Args:
            tree: Hex name of the base tree; None for an empty one.
            changes: Blob (hex) by path; None deletes the file.

        Returns:
            The new tree's hex name.
        """
        branch: _Branch = {}
        for path, blob in changes.items():
            place = branch
            *folders, name = os.fsencode(path).split(b"/")
            for part in folders:
                inner = place.get(part)
                if not isinstance(inner, dict):
                    inner = {}
                    place[part] = inner
                place = inner
            if not isinstance(place.get(name), dict) or blob is not None:
                place[name] = blob
        return self._write(self._apply(tree, branch))

    def _apply(self, tree: str | None, branch: _Branch) -> Folder:
        """Return a folder with the changes below it applied, in git's order."""
        folder = dict(self.folder(tree)) if tree else {}
        new: Folder = {}
        for name, change in branch.items():
            before = folder.get(name)
            if isinstance(change, dict):
                inner = self._apply(before.oid.hex() if before and before.is_folder else None, change)
                after = TreeEntry(FOLDER_MODE, bytes.fromhex(self._write(inner))) if inner else None
                gone = before is not None and before.is_folder
            else:
                after = TreeEntry(FILE_MODE, bytes.fromhex(change)) if change is not None else None
                gone = before is not None and not before.is_folder
            if after is None:
                if gone:
                    del folder[name]
            elif before is not None and before.is_folder == after.is_folder:
                folder[name] = after
            else:
                # Files and folders sort differently, so an entry that changes its kind moves.
                folder.pop(name, None)
                new[name] = after
        return _with_new(folder, new) if new else folder

    def _named(self, tree: str, name: bytes) -> TreeEntry | None:
        """Return one entry of a folder, without parsing all of a large one."""
        found = self._folders.get(tree)
        if found is not None:
            return found.get(name)
        raw = self._raws.get(tree)
        if raw is None:
            raw = self._read_object(tree)
            if len(raw) < _LARGE:
                return self.folder(tree).get(name)
            while len(self._raws) >= _MOST_RAW:
                del self._raws[next(iter(self._raws))]
            self._raws[tree] = raw
        wanted = b" %s\0" % name
        at = raw.find(wanted)
        if at < 0:
            return None
        mode = raw[at - 5 : at] if raw[at - 5 : at] == FOLDER_MODE else raw[at - 6 : at]
        if mode not in (FILE_MODE, FOLDER_MODE) or raw.find(wanted, at + 1) >= 0:
            # The bytes of a hash may look like a name; only parsing tells.
            return self.folder(tree).get(name)
        start = at + len(wanted)
        return TreeEntry(mode, raw[start : start + 20])

    def _write(self, folder: Folder) -> str:
        tree = self._write_object(_joined(folder))
        self._keep(tree, folder)
        return tree

    def _keep(self, tree: str, folder: Folder) -> None:
        self._names += len(folder) - len(self._folders.pop(tree, ()))
        self._folders[tree] = folder
        while len(self._folders) > self._MOST_FOLDERS or (
            self._names > self._MOST_NAMES and len(self._folders) > self._FEWEST_FOLDERS
        ):
            self._names -= len(self._folders.popitem(last=False)[1])


def differing_files(
    reader: TreeReader, before: str | None, after: str | None, prefix: str = ""
) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield path, old blob and new blob (hex, None if absent) of every file that differs."""
    if before == after:
        return
    old = reader.folder(before) if before else {}
    new = reader.folder(after) if after else {}
    for name in sorted(_unequal(old, new)):
        was, now = old.get(name), new.get(name)
        path = prefix + os.fsdecode(name)
        old_folder = was.oid.hex() if was and was.is_folder else None
        new_folder = now.oid.hex() if now and now.is_folder else None
        old_blob = was.oid.hex() if was and not was.is_folder else None
        new_blob = now.oid.hex() if now and not now.is_folder else None
        if old_blob != new_blob:
            yield path, old_blob, new_blob
        yield from differing_files(reader, old_folder, new_folder, path + "/")


def _unequal(old: Folder, new: Folder) -> set[bytes]:
    return {name for name, entry in old.items() if new.get(name) != entry} | {n for n in new if n not in old}
