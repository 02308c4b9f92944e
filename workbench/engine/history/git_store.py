"""The git repository of a workspace's history, through libgit2: objects, commits, the branch, differences."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine.errors import Ambiguous, HistoryDamaged, HistoryError, NotFound, Stale, StorageError
from workbench.engine.history.git_tree import TreeReader, differing_files

if TYPE_CHECKING:
    import pygit2

BRANCH = "refs/heads/main"
SHORT = 10
SIMILAR = 60
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

_MARK = "[workbench]"
# gc is ours to run; the rest keeps a person's own git commands on this folder from converting or refusing.
_CONFIG = f"""[core]
\trepositoryformatversion = 0
\tfilemode = false
\tbare = false
\tlogallrefupdates = false
\tautocrlf = false
\tsafecrlf = false
\thooksPath = /dev/null
[commit]
\tgpgsign = false
[gc]
\tauto = 0
{_MARK}
\tformat = 1
"""
_LAYOUT = {
    "HEAD": f"ref: {BRANCH}\n",
    "config": _CONFIG,
    "description": "History of this workspace, kept by Workbench.\n",
    ".gitignore": "*\n",
    "info/attributes": "* -text -filter -ident\n",
}
_FOLDERS = ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info")
_HEX = re.compile(r"^[0-9a-f]{4,40}$")


@dataclass(frozen=True)
class Commit:
    """One commit as it stands in history.

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
        """Return the hash as it is shown and written into the audit log."""
        return self.id[:SHORT]


@dataclass(frozen=True)
class TreeChange:
    """One file that differs between two commits.

    Args:
        path: Where it is now; where it was, if it is gone.
        old_blob: Hash of the content before, None where there was no file.
        new_blob: Hash of the content after, None where the file is gone.
        old_path: Where it was before, where it was renamed; else None.
    """

    path: str
    old_blob: str | None
    new_blob: str | None
    old_path: str | None = None


class GitStore:
    """A history repository. Safe from several threads; each gets its own handle of libgit2.

    Args:
        path: The git directory, usually `<workspace>/.audit`.

    Raises:
        NotFound: There is no such folder.
        HistoryError: The folder is no history of Workbench.
        HistoryDamaged: It is one, and git cannot read it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handles = threading.local()
        self._require_ours()
        _ = self._trees

    @classmethod
    def create(cls, path: Path) -> GitStore:
        """Make an empty history; one that is already there is opened.

        Raises:
            StorageError: The folder cannot be written.
            HistoryError: Something else is in the way.
        """
        staging = path.with_name(f"{path.name}.new-{os.getpid()}-{threading.get_ident()}")
        try:
            if not path.exists():
                for folder in _FOLDERS:
                    (staging / folder).mkdir(parents=True, exist_ok=True)
                for name, text in _LAYOUT.items():
                    (staging / name).write_text(text, encoding="utf-8", newline="\n")
                staging.rename(path)
        except OSError as error:
            # Where another process was first, the rename fails and theirs is as good.
            if not path.is_dir():
                raise StorageError(
                    f"The history cannot be created: {error.strerror or error}.",
                    where=str(path),
                    remedy="Make the workspace folder writable, or free some space.",
                ) from error
        finally:
            _remove_folder(staging)
        return cls(path)

    # Objects

    def write_blob(self, content: bytes) -> str:
        """Store a file's content as it is; return its hash."""
        return self._write(_kind("BLOB"), content)

    def read_blob(self, blob: str) -> bytes:
        """Return a blob's content.

        Raises:
            HistoryDamaged: The object is missing or broken.
        """
        return self._read(blob)

    def has_object(self, oid: str) -> bool:
        """Tell whether an object is there and intact."""
        try:
            self._read(oid)
        except HistoryDamaged:
            return False
        return True

    def write_tree(self, tree: str | None, changes: Mapping[str, str | None]) -> str:
        """Write the tree that differs from another in some files.

        Args:
            tree: The root tree to start from; None starts from nothing.
            changes: Blob, or None for a file that goes, by path.

        Returns:
            The new root tree's hash.
        """
        return self._trees.changed(tree, changes)

    def write_commit(
        self, tree: str, parents: Iterable[str], message: str, *, author: str, email: str, moment: datetime
    ) -> str:
        """Store a commit without moving the branch.

        Args:
            tree: The root tree's hash.
            parents: Hashes of the parents.
            message: The whole message.
            author: Name of author and committer; must hold no `<`, `>` or control characters.
            email: Their address.
            moment: The date, aware; its offset is kept to the minute.

        Returns:
            The commit's hash.
        """
        offset = moment.utcoffset() or timedelta(0)
        stamp = f"{author} <{email}> {int(moment.timestamp())} {_render_offset(offset)}"
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents), f"author {stamp}"]
        content = "\n".join([*lines, f"committer {stamp}", "", message]).encode("utf-8", "replace")
        return self._write(_kind("COMMIT"), content)

    def write_raw_commit(self, content: bytes) -> str:
        """Store a commit from the bytes of its object; return its hash."""
        return self._write(_kind("COMMIT"), content)

    def raw_object(self, oid: str) -> bytes:
        """Return an object's content as git stores it, without the header."""
        return self._read(oid)

    # Commits

    def commit(self, oid: str) -> Commit:
        """Return a commit by its full hash.

        Raises:
            HistoryDamaged: It is missing or broken, or no commit.
        """
        return parse_commit(oid, self._read(oid))

    def resolve(self, name: str) -> str:
        """Return the full hash of the commit that a name means.

        Args:
            name: A hash or the first four or more digits of one; `HEAD` or `main` for the newest.

        Raises:
            NotFound: No commit answers to it.
            Ambiguous: Several do.
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
        """Yield commits along first parents, newest first.

        Args:
            start: Where to begin; the newest commit by default.
            stop: A commit not to yield, nor anything before it.
        """
        oid = start or self.head()
        while oid and oid != stop:
            commit = self.commit(oid)
            yield commit
            oid = commit.parent

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Tell whether one commit is another, or comes before it."""
        if older == newer:
            return True
        try:
            return bool(self._repository.descendant_of(newer, older))
        except (_git_error(), KeyError, ValueError):
            return False

    # Files in commits

    def blob_id(self, commit: str, path: str) -> str | None:
        """Return the hash of a file's content as of a commit, or None."""
        return self.tree_blob(self.commit(commit).tree, path)

    def tree_blob(self, tree: str, path: str) -> str | None:
        """Return the hash of a file's content in a root tree, or None."""
        entry = self._trees.entry(tree, path)
        return entry.oid.hex() if entry and not entry.is_folder else None

    def file_at(self, commit: str, path: str) -> bytes | None:
        """Return a file's content as of a commit, or None where there was no such file."""
        blob = self.blob_id(commit, path)
        return self.read_blob(blob) if blob else None

    def files_at(self, commit: str) -> dict[str, str]:
        """Return every file of a commit: blob hash by path."""
        return self.tree_files(self.commit(commit).tree)

    def tree_files(self, tree: str) -> dict[str, str]:
        """Return every file of a root tree: blob hash by path."""
        return dict(self._trees.files(tree))

    def changed_paths(self, before: str | None, after: str | None) -> list[TreeChange]:
        """Return the files that differ between two root trees, by path, renames not looked for.

        Args:
            before: A root tree, or None for nothing.
            after: A root tree, or None for nothing.
        """
        return [TreeChange(*found) for found in differing_files(self._trees, before, after)]

    def changes(self, commit: str, against: str | None = None) -> list[TreeChange]:
        """Return the files a commit changed, renames (60 % similar or more) found.

        Args:
            commit: The newer commit.
            against: The older one; the commit's first parent by default.
        """
        newer = self.commit(commit)
        older = against or newer.parent
        return self.tree_changes(self.commit(older).tree if older else None, newer.tree)

    def tree_changes(self, before: str | None, after: str) -> list[TreeChange]:
        """Return the files that differ between two root trees, with renames (60 % similar or more) found."""
        plain = self.changed_paths(before, after)
        if not any(change.old_blob is None for change in plain) or all(change.new_blob for change in plain):
            return plain
        pairs = self._renames([change for change in plain if not (change.old_blob and change.new_blob)])
        sources = set(pairs.values())
        gone = {change.path: change for change in plain if change.new_blob is None}
        found = []
        for change in plain:
            if change.path in pairs and change.old_blob is None:
                source = pairs[change.path]
                change = TreeChange(change.path, gone[source].old_blob, change.new_blob, source)
            elif change.path in sources and change.new_blob is None:
                continue
            found.append(change)
        return found

    def _renames(self, changes: list[TreeChange]) -> dict[str, str]:
        """Match files that came with files that went: new path to old path, each used once."""
        gone = [change for change in changes if change.new_blob is None]
        pairs: dict[str, str] = {}
        by_blob: dict[str, list[str]] = {}
        for change in reversed(gone):
            by_blob.setdefault(change.old_blob or "", []).append(change.path)
        for change in changes:
            if change.new_blob and by_blob.get(change.new_blob):
                pairs[change.path] = by_blob[change.new_blob].pop()
        left = [c for c in gone if c.path not in set(pairs.values())]
        come = [c for c in changes if c.new_blob and c.path not in pairs]
        # Similarity is looked for pair by pair; past this many, only identical content counts as a rename.
        if not left or not come or len(left) * len(come) > 10_000:
            return pairs
        scored = sorted(
            (
                (
                    -similarity(self.read_blob(old.old_blob or ""), self.read_blob(new.new_blob or "")),
                    new,
                    old,
                )
                for new in come
                for old in left
            ),
            key=lambda found: (found[0], found[1].path, found[2].path),
        )
        taken: set[str] = set()
        for score, new, old in scored:
            if -score >= SIMILAR and new.path not in pairs and old.path not in taken:
                pairs[new.path] = old.path
                taken.add(old.path)
        return pairs

    # The branch

    def head(self) -> str | None:
        """Return the newest commit's hash, or None where nothing was committed yet.

        Raises:
            HistoryDamaged: The branch's file is unreadable.
        """
        git = _libgit2()
        try:
            return str(self._repository.lookup_reference(BRANCH).target)
        except KeyError:
            return None
        except (git.GitError, ValueError, OSError) as error:
            raise self._damaged(f"the branch is unreadable ({error})") from error

    def move_head(self, new: str, *, expected: str | None) -> None:
        """Move the branch, only if it still stands where it is expected.

        Args:
            new: The commit to point at.
            expected: The commit it points at now; None where there is no branch yet.

        Raises:
            Stale: Someone else moved it.
            StorageError: It cannot be written.
        """
        git = _libgit2()
        try:
            if expected is None:
                self._repository.references.create(BRANCH, new)
                return
            reference = self._repository.lookup_reference(BRANCH)
            if str(reference.target) == expected:
                reference.set_target(new)
                return
        except OSError as error:
            raise StorageError(
                f"The branch of the history cannot be moved: {error}.",
                where=str(self.path),
                remedy="If no git command is running on it, remove refs/heads/main.lock in that folder.",
            ) from error
        except (git.GitError, KeyError, ValueError) as error:
            raise self._moved(expected) from error
        raise self._moved(expected)

    def _moved(self, expected: str | None) -> Stale:
        return Stale(
            f"The history moved on while this was written (it stood at {(expected or 'nothing')[:SHORT]}).",
            where=str(self.path),
            remedy="Do it again.",
        )

    # Storage

    def loose_path(self, oid: str) -> Path:
        """Return where an object's own file is, if it has one."""
        return self.path / "objects" / oid[:2] / oid[2:]

    def pack(self, oids: Iterable[str]) -> list[Path]:
        """Write objects into a new pack.

        Returns:
            The files written (pack and index), not yet flushed to disk.
        """
        git = _libgit2()
        folder = self.path / "objects" / "pack"
        before = set(folder.iterdir()) if folder.is_dir() else set()
        builder = git.PackBuilder(self._repository)
        builder.set_threads(1)
        for oid in oids:
            builder.add(git.Oid(hex=oid))
        builder.write()
        return sorted(set(folder.iterdir()) - before)

    def forget_handles(self) -> None:
        """Drop this thread's open handle, so that rewritten packs and objects are seen afresh."""
        self._handles = threading.local()

    # Inner parts

    @property
    def _repository(self) -> pygit2.Repository:
        found: pygit2.Repository | None = getattr(self._handles, "repository", None)
        if found is None:
            git = _libgit2()
            flags = git.enums.RepositoryOpenFlag
            try:
                found = git.Repository(os.fspath(self.path), flags.NO_SEARCH | flags.NO_DOTGIT)
            except (git.GitError, KeyError, ValueError, OSError) as error:
                raise self._damaged(f"git cannot open it ({error})") from error
            self._handles.repository = found
        return found

    @property
    def _trees(self) -> TreeReader:
        found: TreeReader | None = getattr(self._handles, "trees", None)
        if found is None:
            _ = self._repository
            found = TreeReader(self._read, lambda content: self._write(_kind("TREE"), content))
            self._handles.trees = found
        return found

    def _read(self, oid: str) -> bytes:
        git = _libgit2()
        try:
            content = self._repository.odb.read(oid)[1]
        except (git.GitError, KeyError, ValueError, OSError) as error:
            if oid == EMPTY_TREE:
                return b""
            raise self._damaged(f"object {oid[:SHORT]} is missing or broken ({error})") from error
        return bytes(content)

    def _write(self, kind: int, content: bytes) -> str:
        git = _libgit2()
        try:
            return str(self._repository.odb.write(kind, content))
        except (git.GitError, OSError) as error:
            raise StorageError(
                f"The history cannot be written: {error}.",
                where=str(self.path),
                remedy="Free some space, or make the folder writable.",
            ) from error

    def _expand(self, prefix: str) -> str | None:
        git = _libgit2()
        try:
            found = self._repository.get(self._repository.expand_id(prefix))
            return str(found.id) if isinstance(found, git.Commit) else None
        except KeyError:
            return None
        except ValueError:
            matches = [commit.id for commit in self.walk() if commit.id.startswith(prefix)]
        if len(matches) > 1:
            raise Ambiguous(
                f"{len(matches)} commits begin with “{prefix}”.", remedy="Give more digits of the commit."
            )
        return matches[0] if matches else None

    def _require_ours(self) -> None:
        try:
            config = (self.path / "config").read_text(encoding="utf-8", errors="replace")
        except (FileNotFoundError, NotADirectoryError) as error:
            if not os.path.lexists(self.path):
                raise NotFound(
                    "There is no history here yet.", where=str(self.path), remedy="Run: workbench init"
                ) from error
            raise self._damaged("its config file is missing") from error
        except OSError as error:
            raise StorageError(
                f"The history cannot be read: {error.strerror}.",
                where=str(self.path),
                remedy="Give yourself the right to read that folder.",
            ) from error
        if self.path.is_symlink():
            raise HistoryError(
                "The history folder is a symbolic link, which is never followed.",
                where=str(self.path),
                remedy="Replace the link by the folder itself.",
            )
        if _MARK not in config:
            raise HistoryError(
                "This folder is not a history that Workbench made.",
                where=str(self.path),
                remedy="Move it elsewhere, or set it aside with: workbench doctor --set-aside-history",
            )

    def _damaged(self, reason: str) -> HistoryDamaged:
        return HistoryDamaged(
            f"The history is damaged: {reason}.",
            where=str(self.path),
            remedy="Your files are untouched. Look with: workbench audit verify; start a new history with: "
            "workbench doctor --set-aside-history",
        )


def parse_commit(oid: str, raw: bytes) -> Commit:
    """Read a commit object's content.

    Raises:
        HistoryDamaged: It is no commit.
    """
    header, _, message = raw.partition(b"\n\n")
    tree, parents, author = "", [], ""
    for line in header.decode("utf-8", "replace").split("\n"):
        key, _, value = line.partition(" ")
        if key == "tree":
            tree = value
        elif key == "parent":
            parents.append(value)
        elif key == "author":
            author = value
    signature = re.match(r"^(.*) <[^>]*> (-?\d+) ([+-])(\d\d)(\d\d)$", author)
    if not tree or not signature:
        raise HistoryDamaged(
            f"Object {oid[:SHORT]} is no commit.", remedy="Look with: workbench audit verify"
        )
    name, seconds, sign, hours, minutes = signature.groups()
    offset = timedelta(hours=int(hours), minutes=int(minutes)) * (-1 if sign == "-" else 1)
    moment = datetime.fromtimestamp(int(seconds), UTC).astimezone(timezone(offset))
    return Commit(oid, tree, tuple(parents), name, moment, message.decode("utf-8", "replace"))


def diff_text(path: str, before: bytes | None, after: bytes | None, *, context: int = 3) -> str:
    """Return the unified difference of two contents of a file, without git's header lines.

    Args:
        path: Shown as the file's name.
        before: The older content, None where there was no file.
        after: The newer content, None where there is no file.
        context: Unchanged lines shown around each change.
    """
    patch = _libgit2().Patch.create_from(
        before, after, path, path, flag=_libgit2().enums.DiffOption.FORCE_TEXT, context_lines=context
    )
    text = (patch.data if patch else b"").decode("utf-8", "replace")
    start = text.find("\n--- ") + 1
    return text[start:] if start else ""


def similarity(before: bytes, after: bytes) -> int:
    """Return how much two contents have in common by lines, 0 to 100: shared bytes over the larger size."""
    if before == after:
        return 100
    larger = max(len(before), len(after))
    if not larger or min(len(before), len(after)) * 100 < larger * SIMILAR:
        return 0
    counts: dict[bytes, int] = {}
    for line in before.splitlines(keepends=True):
        counts[line] = counts.get(line, 0) + 1
    shared = 0
    for line in after.splitlines(keepends=True):
        if counts.get(line, 0):
            counts[line] -= 1
            shared += len(line)
    return shared * 100 // larger


def blob_hash(content: bytes) -> str:
    """Return the hash git gives to a file of this content."""
    import hashlib

    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _render_offset(offset: timedelta) -> str:
    minutes = int(offset.total_seconds() // 60)
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}{abs(minutes) % 60:02d}"


def _remove_folder(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _kind(name: str) -> int:
    return int(_libgit2().enums.ObjectType[name])


def _git_error() -> type[Exception]:
    error: type[Exception] = _libgit2().GitError
    return error


@cache
def _libgit2() -> Any:
    """Load libgit2 and have it obey no configuration but the repository's own."""
    import pygit2
    import pygit2.enums

    levels = pygit2.enums.ConfigLevel
    for level in (levels.SYSTEM, levels.GLOBAL, levels.XDG, levels.PROGRAMDATA):
        pygit2.settings.search_path[level] = ""
    # The folder may be on a drive or a mount of another owner; nothing of its configuration runs anything.
    pygit2.settings.owner_validation = False
    return pygit2
