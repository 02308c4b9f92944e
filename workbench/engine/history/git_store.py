"""The git repository of a workspace's history: the folder `.audit`, its objects, commits and branch."""

from __future__ import annotations

import hashlib
import os
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.errors import Ambiguous, HistoryDamaged, NotFound, Stale, StorageError
from workbench.engine.file_access import reserve, why_unwritable, write_all
from workbench.engine.history.differences import with_renames
from workbench.engine.history.git_folder import BRANCH, damaged, make_repository, require_ours
from workbench.engine.history.git_objects import (
    EMPTY_TREE,
    SHORT,
    Commit,
    TreeChange,
    TreeReader,
    differing_files,
    libgit2,
    parse_commit,
    render_commit,
)
from workbench.engine.history.git_packs import packed_object
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    import pygit2


_INFLATED_AT_ONCE = 1 << 20
# So many objects of packs are read before libgit2 is worth the 50 ms that it takes to load; comparing two trees of
# thousands of files takes as long as reading some.
_FEW, _COMPARED = 50, 15
# Changes of two trees that are few enough to be kept, and pairs of trees of which they are.
_FEW_CHANGED, _MOST_CHANGED = 20, 500
# A pack that libgit2 is writing.
_BEGUN_PACKS = "pack_git2_*"
# Bytes that must be free for a pack to have failed for another reason than a full disk.
_PACK_PROBE = 1 << 20
_MAKE_ROOM = "Free some space, or make the folder writable."

_HEX, _HASH = lazy_pattern(r"^[0-9a-f]{4,40}$"), lazy_pattern(r"[0-9a-f]{40}")


class GitStore:
    """A history repository. Thread-safe; each thread gets its own libgit2 handle.

    Args:
        path: The git directory, usually `<workspace>/.audit`.

    Raises:
        NotFound: There is no such folder.
        HistoryError: The folder is not a history of Workbench.
        HistoryDamaged: Git cannot read it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._objects = f"{path}/objects/"
        self._handles = threading.local()
        self._changed: dict[tuple[str | None, str | None], tuple[TreeChange, ...]] = {}
        self._done_here = 0
        require_ours(self.path)
        # By these git knows a repository; libgit2 itself is loaded by what needs it.
        for part in ("HEAD", "objects", "refs"):
            if not (path / part).exists():
                raise damaged(path, f"its part {part} is missing")

    @classmethod
    def create(cls, path: Path) -> GitStore:
        """Create an empty history, or open the existing one.

        Raises:
            StorageError: The folder cannot be written.
            HistoryError: Something else is in the way.
        """
        make_repository(path)
        return cls(path)

    # Objects

    def write_blob(self, content: bytes) -> str:
        """Store a file's content unchanged; return its hash."""
        return self._write(_kind("BLOB"), content)

    def read_blob(self, blob: str) -> bytes:
        """Return a blob's content.

        Raises:
            HistoryDamaged: The object is missing or broken.
        """
        return self._read(blob)

    def blob_size(self, blob: str) -> int:
        """Return the length of a blob's content in bytes, without reading all of it.

        Raises:
            HistoryDamaged: The object is missing or broken.
        """
        git = libgit2()
        self._refuse_torn(blob)
        try:
            return int(self._repository.odb.read_header(blob)[1])
        except (git.GitError, KeyError, ValueError, OSError, MemoryError) as error:
            raise damaged(self.path, f"object {blob[:SHORT]} is missing or broken ({error})") from error

    def contents(self, change: TreeChange) -> tuple[bytes | None, bytes | None]:
        """Return a file's content before and after a change; None if there was no file."""
        before, after = change.old_blob, change.new_blob
        return self.read_blob(before) if before else None, self.read_blob(after) if after else None

    def has_object(self, oid: str) -> bool:
        """Return True if an object exists and is intact."""
        try:
            self._read(oid)
        except HistoryDamaged:
            return False
        return True

    def write_tree(self, tree: str | None, changes: Mapping[str, str | None]) -> str:
        """Write a tree that differs from another in some files.

        Args:
            tree: The base root tree; None for an empty one.
            changes: Blob by path; None deletes the file.

        Returns:
            The new root tree's hash.
        """
        return self._trees.changed(tree, changes)

    def write_commit(
        self, tree: str, parents: Iterable[str], message: str, *, author: str, email: str, moment: datetime
    ) -> str:
        """Store a commit without moving the branch.

        Args:
            message: The whole message.
            author: Name of author and committer; must hold no `<`, `>` or control characters.
            email: Their address.
            moment: The date, aware; its offset is kept to the minute.

        Returns:
            The commit's hash.
        """
        content = render_commit(tree, parents, message, author=author, email=email, moment=moment)
        return self._write(_kind("COMMIT"), content)

    def write_raw_commit(self, content: bytes) -> str:
        """Store a commit from the bytes of its object; return its hash."""
        return self._write(_kind("COMMIT"), content)

    def raw_object(self, oid: str) -> bytes:
        """Return an object's content as git stores it, without the header."""
        return self._read(oid)

    @contextmanager
    def recording(self) -> Iterator[list[str]]:
        """Collect the hash of every object this thread writes during a block."""
        written: list[str] = []
        self._handles.written = written
        try:
            yield written
        finally:
            self._handles.written = None

    # Commits

    def commit(self, oid: str) -> Commit:
        """Return a commit by its full hash.

        Raises:
            HistoryDamaged: It is missing, broken, or not a commit.
        """
        return parse_commit(oid, self._read(oid))

    def resolve(self, name: str) -> str:
        """Return the full hash of the commit that a name denotes.

        Args:
            name: A hash or its first four or more digits; `HEAD` or `main` for the newest.

        Raises:
            NotFound: No commit matches.
            Ambiguous: Several commits match.
        """
        wanted = name.strip().lower()
        if wanted in ("head", "main"):
            newest = self.head()
            if newest:
                return newest
        elif _HEX.match(wanted):
            found = self._expand(wanted)
            if found:
                return found
        raise NotFound(
            f"No commit is called “{name[:60]}”.",
            where=str(self.path),
            remedy="List commits with: workbench audit log",
        )

    def walk(self, start: str | None = None, *, stop: str | None = None) -> Iterator[Commit]:
        """Yield a commit and all that it rests on, newest first: no commit comes before one that rests on it.

        Where two devices worked side by side, their commits come in the order of time.

        Args:
            start: The first commit; the newest by default.
            stop: A commit at which to stop: neither it nor anything that it rests on is yielded.
        """
        return (commit for commit, _ in self.walk_told(start, stop=stop))

    def walk_told(self, start: str | None, *, stop: str | None = None) -> Iterator[tuple[Commit, bool]]:
        """Like `walk`, and tell of each commit whether all that follows is what it rests on."""
        begin = start or self.head()
        frontier: tuple[str, ...] = (begin,) if begin else ()
        while frontier:
            if len(frontier) == 1:
                if frontier[0] == stop:
                    return
                commit = self.commit(frontier[0])
                yield commit, True
                frontier = commit.parents
                continue
            met = self.common_base(frontier)
            yield from ((self.commit(each), False) for each in self.beside(frontier, met, stop))
            goes_on = met is not None and (stop is None or not self.is_ancestor(met, stop))
            frontier = (met,) if met is not None and goes_on else ()

    def common_base(self, commits: Sequence[str]) -> str | None:
        """Return a newest commit on which all of these rest, or None if they have nothing in common."""
        try:
            # The same one whichever of them comes first.
            found = self._repository.merge_base_octopus([*sorted(commits)])
        except (_git_error(), KeyError, ValueError, MemoryError) as error:
            raise damaged(self.path, f"its branches cannot be followed ({error})") from error
        return str(found) if found else None

    def beside(self, commits: Sequence[str], *hidden: str | None) -> Iterator[str]:
        """Yield some commits and what they rest on, in the order of time, without others and what those rest on."""
        git = libgit2()
        order = git.enums.SortMode.TOPOLOGICAL | git.enums.SortMode.TIME
        try:
            walker = self._repository.walk(None, order)
            for each in commits:
                walker.push(git.Oid(hex=each))
            for each in filter(None, hidden):
                walker.hide(git.Oid(hex=each))
            for found in walker:
                yield str(found.id)
        except (git.GitError, KeyError, ValueError, OSError, MemoryError) as error:
            raise damaged(self.path, f"its branches cannot be followed ({error})") from error

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Return True if a commit is the same as, or an ancestor of, another."""
        if older == newer:
            return True
        try:
            return bool(self._repository.descendant_of(newer, older))
        except (_git_error(), KeyError, ValueError, MemoryError):
            return False

    # Files in commits

    def tree_of(self, commit: str | None) -> str | None:
        """Return the root tree of a commit; None for the state before the first."""
        return self.commit(commit).tree if commit else None

    def tree_blob(self, tree: str | None, path: str) -> str | None:
        """Return the hash of a file's content in a root tree, or None."""
        entry = self._trees.entry(tree, path) if tree else None
        return entry.oid.hex() if entry and not entry.is_folder else None

    def file_at(self, commit: str | None, path: str) -> bytes | None:
        """Return a file's content in a commit, or None if there was no such file."""
        blob = self.tree_blob(self.tree_of(commit), path)
        return self.read_blob(blob) if blob else None

    def files_at(self, commit: str) -> dict[str, str]:
        """Return every file of a commit: blob hash by path."""
        return self.tree_files(self.commit(commit).tree)

    def tree_files(self, tree: str) -> dict[str, str]:
        """Return every file of a root tree: blob hash by path."""
        return dict(self._trees.files(tree))

    def changed_paths(self, before: str | None, after: str | None) -> list[TreeChange]:
        """Return the files that differ between two root trees, by path, without rename detection.

        Args:
            before: A root tree, or None for nothing.
            after: A root tree, or None for nothing.
        """
        known = self._changed.get((before, after))
        if known is None:
            known = tuple(self._compare(before, after))
            if len(known) <= _FEW_CHANGED:
                # Whoever looks into a commit asks this again and again, and trees of a large memory are large.
                if len(self._changed) >= _MOST_CHANGED:
                    self._changed.clear()
                self._changed[before, after] = known
        return [*known]

    def _compare(self, before: str | None, after: str | None) -> list[TreeChange]:
        if before is None or after is None or before == after or EMPTY_TREE in (before, after):
            return [TreeChange(*found) for found in differing_files(self._trees, before, after)]
        if self._does_here(_COMPARED):
            return [TreeChange(*found) for found in differing_files(self._trees, before, after)]
        git = libgit2()
        found: dict[str, TreeChange] = {}
        self._refuse_torn(before)
        self._refuse_torn(after)
        try:
            older, newer = self._repository[before], self._repository[after]
            if not isinstance(older, git.Tree) or not isinstance(newer, git.Tree):
                raise damaged(self.path, f"object {before[:SHORT]} or {after[:SHORT]} is no folder")
            for delta in older.diff_to_tree(newer).deltas:
                path = os.fsdecode(delta.new_file.raw_path)
                found[path] = _with_delta(found.get(path), path, delta)
        except (git.GitError, KeyError, ValueError, TypeError, OSError, MemoryError) as error:
            raise damaged(self.path, f"its files cannot be compared ({error})") from error
        return [
            change
            for _, change in sorted(found.items(), key=lambda row: row[0].split("/"))
            if change.old_blob != change.new_blob
        ]

    def changes(self, commit: str) -> list[TreeChange]:
        """Return the files a commit changed, with renames (60 % similar or more) detected; see `own_changes`."""
        return with_renames(self.own_changes(self.commit(commit)), self.read_blob)

    def own_changes(self, commit: Commit) -> list[TreeChange]:
        """Return the files a commit changed against its first parent, without rename detection.

        One that joins two histories changed only what is as on neither side.
        """
        found = self.changed_paths(self.tree_of(commit.parent), commit.tree)
        for other in commit.parents[1:]:
            differing = {change.path for change in self.changed_paths(self.tree_of(other), commit.tree)}
            found = [change for change in found if change.path in differing]
        return found

    def tree_changes(self, before: str | None, after: str) -> list[TreeChange]:
        """Return the files that differ between two root trees, with renames (60 % similar or more) detected."""
        return with_renames(self.changed_paths(before, after), self.read_blob)

    # The branch

    def head(self) -> str | None:
        """Return the newest commit's hash, or None if there are no commits yet.

        Raises:
            HistoryDamaged: The branch's file is unreadable.
        """
        with suppress(OSError, ValueError):
            written = (self.path / BRANCH).read_text(encoding="ascii").strip()
            if _HASH.fullmatch(written):
                return written
        git = libgit2()
        try:
            return str(self._repository.lookup_reference(BRANCH).target)
        except KeyError:
            return None
        except (git.GitError, ValueError, OSError, MemoryError) as error:
            raise damaged(self.path, f"the branch is unreadable ({error})") from error

    def move_head(self, new: str, *, expected: str | None) -> None:
        """Move the branch, if it still points at the expected commit.

        Args:
            new: The new commit.
            expected: The current commit; None if there is no branch yet.

        Raises:
            Stale: The branch moved meanwhile.
            StorageError: It cannot be written.
        """
        branch = self.path / BRANCH
        # Git's own protocol for updating a reference, which excludes other git programs.
        lock = branch.with_name(f"{branch.name}.lock")
        try:
            branch.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise self._cannot_move(error) from error
        try:
            try:
                if self.head() != expected:
                    raise self._moved(expected)
                content = f"{new}\n".encode()
                reserve(handle, len(content))
                write_all(handle, content)
            finally:
                os.close(handle)
            lock.replace(branch)
        except BaseException as error:
            # Only if not renamed: otherwise the name may be another program's lock.
            lock.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise self._cannot_move(error) from error
            raise

    def _cannot_move(self, error: OSError) -> StorageError:
        is_locked = isinstance(error, FileExistsError)
        return StorageError(
            f"The branch of the history cannot be moved: {error.strerror or error}.",
            where=str(self.path),
            remedy="If no git command is running on it, remove refs/heads/main.lock in that folder."
            if is_locked
            else _MAKE_ROOM,
        )

    def _cannot_write(self, error: Exception, size: int) -> StorageError:
        """Return the error for objects that libgit2 could not write.

        Args:
            size: Of what it was writing, in bytes.
        """
        # Where the disk refuses, libgit2 may repeat an older message, such as that an object was not found.
        refused = why_unwritable(self.path / "objects", size)
        reason = refused.strerror if refused is not None else error
        return StorageError(
            f"The history cannot be written: {reason}.", where=str(self.path), remedy=_MAKE_ROOM
        )

    def _moved(self, expected: str | None) -> Stale:
        return Stale(
            f"The history moved on while this was written (it stood at {(expected or 'nothing')[:SHORT]}).",
            where=str(self.path),
            remedy="Do it again.",
        )

    # Storage

    def loose_path(self, oid: str) -> Path:
        """Return the file of a loose object, whether or not it exists."""
        return self.path / "objects" / oid[:2] / oid[2:]

    def pack(self, oids: Iterable[str]) -> list[Path]:
        """Write objects into a new pack.

        Returns:
            The files written (pack and index), not yet flushed to disk.

        Raises:
            StorageError: They cannot be written; what was begun is removed.
        """
        git = libgit2()
        folder = self.path / "objects" / "pack"
        try:
            before = set(folder.iterdir()) if folder.is_dir() else set()
            builder = git.PackBuilder(self._repository)
            builder.set_threads(1)
            for oid in oids:
                builder.add(git.Oid(hex=oid))
            builder.write()
            return sorted(set(folder.iterdir()) - before)
        except (git.GitError, KeyError, ValueError, OSError, MemoryError) as error:
            refused = self._cannot_write(error, _PACK_PROBE)
            with suppress(OSError):
                for begun in set(folder.glob(_BEGUN_PACKS)) - before:
                    begun.unlink()
            raise refused from error

    def forget_handles(self) -> None:
        """Drop this thread's open handle, so that rewritten packs and objects are read again."""
        self._handles = threading.local()

    @contextmanager
    def reading_beside(self, objects: Path) -> Iterator[None]:
        """Let this thread read the objects of another folder too for a block; what it writes goes here.

        Args:
            objects: The folder, laid out as git's own.
        """
        self._repository.odb.add_disk_alternate(os.fspath(objects))
        try:
            yield
        finally:
            self.forget_handles()

    # Inner parts

    @property
    def _repository(self) -> pygit2.Repository:
        found: pygit2.Repository | None = getattr(self._handles, "repository", None)
        if found is None:
            git = libgit2()
            flags = git.enums.RepositoryOpenFlag
            try:
                found = git.Repository(os.fspath(self.path), flags.NO_SEARCH | flags.NO_DOTGIT)
            except (git.GitError, KeyError, ValueError, OSError, MemoryError) as error:
                raise damaged(self.path, f"git cannot open it ({error})") from error
            self._handles.repository = found
        return found

    @property
    def _trees(self) -> TreeReader:
        found: TreeReader | None = getattr(self._handles, "trees", None)
        if found is None:
            found = TreeReader(self._read, lambda content: self._write(_kind("TREE"), content))
            self._handles.trees = found
        return found

    def _refuse_torn(self, oid: str) -> None:
        """Refuse an object whose own file ends too early: libgit2 would look for the rest of it for ever.

        Raises:
            HistoryDamaged: It does.
        """
        for _ in self._loose(oid):
            pass

    def _loose(self, oid: str) -> Iterator[bytes]:
        """Yield an object from a file of its own piece by piece, with its header; nothing for one in a pack.

        Raises:
            HistoryDamaged: The file ends too early, or is no such file.
        """
        try:
            # Looked for with every object of a long history: a `Path` would take as long as reading one from a pack.
            with open(f"{self._objects}{oid[:2]}/{oid[2:]}", "rb") as file:  # noqa: PTH123
                packed = file.read()
        except OSError:
            # In a pack, or nowhere.
            return
        whole = zlib.decompressobj()
        try:
            while not whole.eof and (piece := whole.decompress(packed, _INFLATED_AT_ONCE)):
                yield piece
                packed = whole.unconsumed_tail
        except zlib.error as error:
            raise damaged(self.path, f"object {oid[:SHORT]} is missing or broken ({error})") from error
        if not whole.eof:
            raise damaged(self.path, f"object {oid[:SHORT]} is missing or broken (its file is cut off)")

    def _does_here(self, cost: int = 1) -> bool:
        """Count what can be done without libgit2; return False once that is much.

        Args:
            cost: In objects read.
        """
        self._done_here += cost
        return self._done_here <= _FEW

    def _read(self, oid: str) -> bytes:
        if loose := b"".join(self._loose(oid)):
            if hashlib.sha1(loose, usedforsecurity=False).hexdigest() != oid:
                raise damaged(
                    self.path, f"object {oid[:SHORT]} is missing or broken (it holds something else)"
                )
            return loose.partition(b"\0")[2]
        packed = packed_object(self.path / "objects" / "pack", oid) if self._does_here() else b""
        if packed and hashlib.sha1(packed, usedforsecurity=False).hexdigest() == oid:
            return packed.partition(b"\0")[2]
        git = libgit2()
        try:
            content = self._repository.odb.read(oid)[1]
        except (git.GitError, KeyError, ValueError, OSError, MemoryError) as error:
            if oid == EMPTY_TREE:
                return b""
            raise damaged(self.path, f"object {oid[:SHORT]} is missing or broken ({error})") from error
        return bytes(content)

    def _write(self, kind: int, content: bytes) -> str:
        git = libgit2()
        try:
            oid = str(self._repository.odb.write(kind, content))
        except (git.GitError, KeyError, ValueError, OSError, MemoryError) as error:
            raise self._cannot_write(error, len(content)) from error
        written: list[str] | None = getattr(self._handles, "written", None)
        if written is not None:
            written.append(oid)
        return oid

    def _expand(self, prefix: str) -> str | None:
        git = libgit2()
        try:
            oid = self._repository.expand_id(prefix)
            self._refuse_torn(str(oid))
            found = self._repository.get(oid)
            return str(found.id) if isinstance(found, git.Commit) else None
        except KeyError:
            return None
        except ValueError:
            # Several match. This is a subclass of other git errors, so it has to be caught first.
            matches = [commit.id for commit in self.walk() if commit.id.startswith(prefix)]
        except git.GitError as error:
            raise damaged(self.path, f"object {prefix[:SHORT]} is broken ({error})") from error
        if len(matches) > 1:
            raise Ambiguous(
                f"{len(matches)} commits begin with “{prefix}”.", remedy="Give more digits of the commit."
            )
        return matches[0] if matches else None


def _with_delta(known: TreeChange | None, path: str, delta: pygit2.DiffDelta) -> TreeChange:
    """Merge a difference into what is known of a path; a link replaced by a file comes as two."""
    old, new = (
        None if set(str(file.id)) == {"0"} else str(file.id) for file in (delta.old_file, delta.new_file)
    )
    if known is None:
        return TreeChange(path, old, new)
    return TreeChange(path, known.old_blob or old, known.new_blob or new)


def _kind(name: str) -> int:
    return int(libgit2().enums.ObjectType[name])


def _git_error() -> type[Exception]:
    error: type[Exception] = libgit2().GitError
    return error
