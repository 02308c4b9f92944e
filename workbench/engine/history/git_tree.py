"""Git's tree objects as bytes: how a folder's list of files is read, changed and written."""

from __future__ import annotations

import os
import re
from bisect import insort
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

FILE_MODE = b"100644"
FOLDER_MODE = b"40000"

# A folder of more bytes is searched for one name rather than taken apart; so many such are kept at hand.
_LARGE = 50_000
_MOST_RAW = 6
# So many names are put in their places one by one; more are sorted with all the others.
_FEW = 8

_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)


@dataclass(frozen=True)
class TreeEntry:
    """One name in a folder.

    Args:
        mode: Git's octal mode as it stands in the object.
        oid: The 20 raw bytes of the object's name.
    """

    mode: bytes
    oid: bytes

    @property
    def is_folder(self) -> bool:
        return self.mode == FOLDER_MODE


Folder = dict[bytes, TreeEntry]


def tree_rows(raw: bytes) -> set[tuple[bytes, bytes, bytes]]:
    """Read a tree object's content as rows of mode, name and raw object name: fastest where many are compared."""
    return set(_ENTRY.findall(raw))


def parse_tree(raw: bytes) -> Folder:
    """Read a tree object's content."""
    return {name: TreeEntry(mode, oid) for mode, name, oid in _ENTRY.findall(raw)}


def _in_order(folder: Folder) -> Folder:
    return dict(sorted(folder.items(), key=_sort_key))


def _with_new(folder: Folder, new: Folder) -> Folder:
    """Return a folder, whose names are in git's order, with names it has not."""
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
    """Looks paths up in trees and makes changed trees, keeping the folders read last at hand.

    Args:
        read_object: Gives a tree object's content by its hex name.
        write_object: Stores a tree object's content and gives its hex name.
    """

    # A folder of 20,000 names takes some megabytes.
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
        """Return a folder's entries by the tree's hex name; not to be changed by the caller."""
        found = self._folders.get(tree)
        if found is None:
            found = parse_tree(self._read_object(tree))
            self._keep(tree, found)
        else:
            self._folders.move_to_end(tree)
        return found

    def entry(self, tree: str, path: str) -> TreeEntry | None:
        """Return what stands at a path below a tree, or None."""
        *folders, name = os.fsencode(path).split(b"/")
        for part in folders:
            step = self._named(tree, part)
            if step is None or not step.is_folder:
                return None
            tree = step.oid.hex()
        return self._named(tree, name)

    def files(self, tree: str, prefix: str = "") -> Iterator[tuple[str, str]]:
        """Yield every file below a tree as path and hex name of its blob, in git's order of names."""
        for mode, name, oid in _ENTRY.findall(self._read_object(tree)):
            path = prefix + os.fsdecode(name)
            if mode == FOLDER_MODE:
                yield from self.files(oid.hex(), path + "/")
            else:
                yield path, oid.hex()

    def changed(self, tree: str | None, changes: Mapping[str, str | None]) -> str:
        """Write the tree that differs from another in some files.

        Args:
            tree: Hex name of the tree to start from; None starts from nothing.
            changes: Blob (hex) or None (gone) by path.

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
        """Return a folder with the changes below it made, the names in git's order."""
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
                # Files and folders sort differently, so what changes its kind gets another place.
                folder.pop(name, None)
                new[name] = after
        return _with_new(folder, new) if new else folder

    def _named(self, tree: str, name: bytes) -> TreeEntry | None:
        """Return one entry of a folder, without taking apart all of a large one for it."""
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
            # Bytes of a hash may look like a name; taking the folder apart tells.
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


_Branch = dict[bytes, "str | _Branch | None"]


def differing_files(
    reader: TreeReader, before: str | None, after: str | None, prefix: str = ""
) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield path, old blob and new blob (hex, None where absent) of every file that differs."""
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
