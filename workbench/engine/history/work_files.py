"""The tracked files: which may hold a memory, read on disk or in a commit, and written atomically."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from bisect import bisect_left
from functools import cache, lru_cache
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, OutsideWorkspace, StorageError
from workbench.engine.file_access import Stamp, flush_to_disk, stamp_of, write_all
from workbench.engine.identifiers import EPISODE_ID, NOTE, entity_name, parse_memory_id
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.plan import FileView


_HERE = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a link"),
)
_TEMPORARY = lazy_pattern(r"^\.workbench-[a-z0-9]+-\d+\.tmp$")

# An entity file whose name is certainly the entity's id.
_NAMED_PLAINLY = lazy_pattern(rf"{re.escape(layout.ENTITIES)}/[a-z0-9]+--[a-z0-9]+(?:-[a-z0-9]+)*+\.md")


def swap(one: Path, other: Path) -> bool:
    """Exchange the names of two existing files; return False, with nothing changed, if that is not possible."""
    exchange = _exchange()
    return exchange is not None and exchange(os.fsencode(one), os.fsencode(other)) == 0


@cache
def _exchange() -> Callable[[bytes, bytes], int] | None:
    import ctypes

    libc = ctypes.CDLL(None)
    try:
        if sys.platform == "darwin":
            rename = libc.renamex_np
            return lambda one, other: int(rename(one, other, _EXCHANGE))
        rename = libc.renameat2
    except AttributeError:
        return None
    return lambda one, other: int(rename(_HERE, one, _HERE, other, _EXCHANGE))


class Staging:
    """New contents written beside the files they will replace; what was not placed goes when its block ends.

    Args:
        transaction: Its id, for the temporary names.
    """

    def __init__(self, root: Path, transaction: str) -> None:
        self._root = root
        self._transaction = transaction
        self._staged: dict[str, Path] = {}
        self._made: list[Path] = []

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def lay(self, path: str, content: bytes) -> None:
        """Write a file's new content beside it and flush it.

        Raises:
            OutsideWorkspace: The path leads outside, or over a link.
            StorageError: It cannot be written, or is not a regular file.
        """
        place = layout.resolve(self._root, path)
        refuse_what_is_no_file(place, path)
        try:
            self._make_folder(place.parent)
            temporary = place.with_name(f".workbench-{self._transaction}-{len(self._staged)}.tmp")
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
            handle = os.open(temporary, flags, 0o666)
            self._staged[path] = temporary
            try:
                with contextlib.suppress(FileNotFoundError):
                    os.fchmod(handle, place.lstat().st_mode & 0o7777)
                write_all(handle, content)
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise cannot_write(path, error) from error

    def place(self, path: str, before: bytes | None = None) -> bool:
        """Put a new content in the file's place if the file is unchanged; return whether it was.

        A save between the check and the rename would otherwise be lost: therefore the two files exchange names, and
        exchange them back if the replaced content is not the one that was read.

        Args:
            path: A path given to `lay`.
            before: The content that was read; None replaces the file unconditionally.
        """
        temporary, place = self._staged[path], self._root / path
        if before is None or not swap(temporary, place):
            temporary.replace(place)
            del self._staged[path]
            return True
        if temporary.read_bytes() != before:
            swap(temporary, place)
            return False
        self.drop(path)
        return True

    def drop(self, path: str) -> None:
        """Discard one new content."""
        self._staged.pop(path).unlink(missing_ok=True)

    def discard(self) -> None:
        """Discard what was not placed, and folders created for it."""
        for temporary in self._staged.values():
            with contextlib.suppress(OSError):
                temporary.unlink()
        self._staged.clear()
        for folder in reversed(self._made):
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _make_folder(self, folder: Path) -> None:
        missing = []
        while not folder.is_dir():
            missing.append(folder)
            folder = folder.parent
        for one in reversed(missing):
            one.mkdir(exist_ok=True)
            self._made.append(one)
            flush_to_disk(one.parent)


def remove_temporary_files(root: Path) -> None:
    """Remove temporary files of crashed writers."""
    waiting = [root / "memory"]
    _remove_in(root)
    while waiting:
        folder = waiting.pop()
        waiting.extend(_remove_in(folder))


def _remove_in(folder: Path) -> list[Path]:
    """Remove the temporary files in one folder; return its folders."""
    folders = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith("."):
                    folders.append(folder / entry.name)
            elif _TEMPORARY.match(entry.name):
                (folder / entry.name).unlink(missing_ok=True)
    return folders


def refuse_what_is_no_file(place: Path, path: str) -> None:
    """Refuse anything but a regular file: a folder, a named pipe, a socket or a device.

    Raises:
        StorageError: The path is not a regular file.
    """
    try:
        mode = place.lstat().st_mode
    except OSError:
        # There is nothing, or writing will report why it is inaccessible.
        return
    if not stat.S_ISREG(mode):
        kind = next((name for is_one, name in _KINDS if is_one(mode)), "something else")
        raise StorageError(
            f"There is {kind} by this name, not a file to write to.",
            where=path,
            remedy="Move it away, or choose another name. Nothing was changed.",
        )


def cannot_write(path: str, error: OSError) -> StorageError:
    """Return the error for a work file that cannot be written."""
    return StorageError(
        f"The file cannot be written: {error.strerror or error}.",
        where=path,
        remedy="Free some space, or make the file and its folder writable.",
    )


class WorkFiles:
    """The files on disk, read without a lock: two reads may see different states."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, path: str) -> bytes | None:
        """Return a file's content, or None if there is no such regular file.

        Raises:
            OutsideWorkspace: The path leads out of the workspace, or over a link.
            StorageError: The file exists and cannot be read.
        """
        return read_work_file(self._root, path)

    def list(self, folder: str) -> list[str]:
        """Return the tracked paths below a folder (`""` for the whole workspace), sorted."""
        return list_tracked(self._root, folder)


class RecordedFiles:
    """The files on disk, each read once and remembered for later checks.

    Attributes:
        contents: The contents read, by path.
        stamps: The stamp of each file, taken before it was read.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files = WorkFiles(root)
        self._lists: dict[str, list[str]] = {}
        self.contents: dict[str, bytes | None] = {}
        self.stamps: dict[str, Stamp | None] = {}

    def read(self, path: str) -> bytes | None:
        path = layout.normalise(path)
        if path not in self.contents:
            # The stamp is taken before the content, so a change in between is noticed.
            self.stamps[path] = stamp_of(self._root / path)
            self.contents[path] = self._files.read(path)
        return self.contents[path]

    def list(self, folder: str) -> list[str]:
        if folder not in self._lists:
            self._lists[folder] = self._files.list(folder)
        return self._lists[folder]


class CommitFiles:
    """The files of one commit.

    Args:
        commit: Full hash; None for the state before the first commit.
    """

    def __init__(self, store: GitStore, commit: str | None) -> None:
        self._store = store
        self._tree = store.tree_of(commit)
        self._paths: list[str] | None = None

    def read(self, path: str) -> bytes | None:
        """Return a file's content, or None if there was no such file."""
        blob = self._store.tree_blob(self._tree, layout.normalise(path))
        return self._store.read_blob(blob) if blob else None

    def list(self, folder: str) -> list[str]:
        """Return the paths below a folder (`""` for the whole workspace), sorted."""
        if self._paths is None:
            self._paths = sorted(self._store.tree_files(self._tree)) if self._tree else []
        if not folder:
            return list(self._paths)
        prefix = layout.normalise(folder) + "/"
        start = bisect_left(self._paths, prefix)
        end = start
        while end < len(self._paths) and self._paths[end].startswith(prefix):
            end += 1
        return self._paths[start:end]


def stem_of(path: str) -> str:
    """Return the name of a Markdown file without folder and `.md`, as used in wikilinks."""
    return path.rpartition("/")[2].removesuffix(".md")


def entity_file(entity: str, view: FileView) -> str:
    """Return the path of an entity's file, or of a new file for it.

    Of several files that claim one id the one named after it counts, else the first.

    Args:
        entity: Its `type--slug`.

    Raises:
        OutsideWorkspace: The id cannot be a file name.
        InvalidInput: It is too long for a file name.
    """
    own = layout.normalise(f"{layout.ENTITIES}/{entity}.md")
    if view.read(own) is not None:
        return own
    return notes_among(tuple(view.list(layout.ENTITIES))).get(entity, own)


def named_by_id(path: str) -> str:
    """Return the path that a file would have if named after its entity's id; unchanged for all others."""
    if path.startswith(f"{layout.ENTITIES}/") and path.endswith(".md"):
        return f"{layout.ENTITIES}/{entity_name(stem_of(path))}.md"
    return path


# One change looks up many entities of the same folder.
@lru_cache(maxsize=4)
def notes_among(paths: tuple[str, ...]) -> dict[str, str]:
    """Return the paths of entity files not simply named after the entity’s id, by that id."""
    found: dict[str, str] = {}
    # Nearly all are, and every file is checked for a new entity.
    for path in filterfalse(_NAMED_PLAINLY.fullmatch, paths):
        if path.endswith(".md"):
            own = named_by_id(path)
            if path != own:
                found.setdefault(stem_of(own), path)
    return found


def read_work_file(root: Path, path: str) -> bytes | None:
    """Return the content of a workspace file, or None if there is no regular file.

    Raises:
        OutsideWorkspace: The path leads out of the workspace, or over a link.
        StorageError: The file exists and cannot be read.
    """
    place = layout.resolve(root, path)
    try:
        # A link may appear between the check and the opening; this refuses it.
        handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if place.is_symlink():
            raise OutsideWorkspace(
                "There is a symbolic link on this path.",
                where=path,
                remedy="Put the file itself into the workspace; links are never followed.",
            ) from error
        raise unreadable(path, error) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    except OSError as error:
        raise unreadable(path, error) from error
    finally:
        os.close(handle)


def list_tracked(root: Path, folder: str) -> list[str]:
    """Return the tracked paths on disk below a folder (`""` for the whole workspace), sorted."""
    if not folder:
        return list(layout.tracked_files(root))
    start = layout.normalise(folder)
    layout.resolve(root, start)
    found: list[str] = []
    waiting = [start]
    while waiting:
        current = waiting.pop()
        try:
            entries = list(os.scandir(root / current))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise unreadable(current, error) from error
        for entry in entries:
            path = f"{current}/{entry.name}"
            # The name is checked first: most entries are files, and asking for their kind costs more.
            if layout.is_tracked(path) and entry.is_file(follow_symlinks=False):
                found.append(path)
            elif not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                waiting.append(path)
    return sorted(found)


def unreadable(path: str, error: OSError) -> StorageError:
    """Return the error for a work file that cannot be read."""
    return StorageError(
        f"The file cannot be read: {error.strerror or error}.",
        where=path,
        remedy="Give yourself the right to read it.",
    )


def memory_exists(name: str, read: Callable[[str], bytes | None]) -> bool:
    """Return True if a memory is in its file, or if its id does not tell."""
    places = files_of_memory(name)
    if not places:
        return True
    memory = parse_memory_id(name)
    contents = [content for content in map(read, places) if content is not None]
    if memory.block is not None and contents:
        return any(f"^{memory.block}".encode() in content for content in contents)
    episode = EPISODE_ID.match(name)
    if episode:
        number = f" #{episode.group(3)}" if episode.group(3) else "(?! #)"
        heading = re.compile(rf"^##\s+{episode.group(2)}{number}(?!\d)".encode(), re.MULTILINE)
        return any(heading.search(content) for content in contents)
    # A note is found by its name alone, which its id does not contain.
    return bool(contents) or (memory.kind == "entity" and memory.name.startswith(f"{NOTE}--"))


def files_of_memory(name: str) -> tuple[str, ...]:
    """Return the files that may hold a memory, by its id; none if the id does not tell."""
    try:
        memory = parse_memory_id(name)
    except InvalidInput:
        return ()
    match memory.kind:
        case "entity":
            return (f"{layout.ENTITIES}/{memory.name}.md",)
        case "procedure":
            return (f"{layout.PROCEDURES}/{memory.name}.md",)
        case "vault":
            name = memory.name.removeprefix(f"{layout.VAULT}/")
            return (f"{layout.VAULT}/{name}", f"{layout.VAULT}/{name}.md")
        case "episode":
            return (f"{layout.EPISODES}/{memory.name[:10]}.md",)
        case "core":
            return (layout.CORE,)
        case _:
            return ()
