"""The folder that everything happens in: put back to how it was, and asked what changed."""

from __future__ import annotations

import base64
import contextlib
import difflib
import hashlib
import os
import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pygit2

from tests.recording.normalising import DIGEST_ALONE, LEFT_OUT, NAMES_ALONE, Normaliser

Signature = tuple[int, ...]
# A file that is longer than this is told by what changed in it; its digest stands beside that.
_WHOLE = 2000


@dataclass(frozen=True)
class Entry:
    """One thing in a folder: its rights and kind, when it was changed, and what it holds or leads to."""

    mode: int
    mtime_ns: int
    content: bytes = b""


@dataclass
class Snapshot:
    """Everything in a folder by its path in it, with the newest commit of the history there."""

    entries: dict[str, Entry]
    head: str | None


@dataclass
class Stage:
    """A folder with a workspace in `agent` and a home beside it.

    Args:
        scratch: The folder; made and emptied here.
    """

    scratch: Path
    _signatures: dict[str, Signature] = field(default_factory=dict)
    _entries: dict[str, Entry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.normaliser = Normaliser(self.scratch)
        self.clear()

    @property
    def root(self) -> Path:
        return self.scratch / "agent"

    def clear(self) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.root.mkdir(parents=True)
        (self.scratch / "home").mkdir()
        (self.scratch / "tmp").mkdir()
        self._signatures, self._entries = {}, {}

    def environment(self, now: str, more: dict[str, str]) -> dict[str, str]:
        home = self.scratch / "home"
        own = {
            "HOME": str(home),
            "TMPDIR": str(self.scratch / "tmp"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_DATA_HOME": str(home / "data"),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TZ": "UTC",
            "USER": "somebody",
            "LOGNAME": "somebody",
            "SHELL": "/bin/bash",
            "COLUMNS": "80",
            "LINES": "24",
            "PYTHONDONTWRITEBYTECODE": "1",
            "WORKBENCH_NOW": now,
        }
        return own | more

    def look(self) -> Snapshot:
        """Return what is there now; what did not change since the last look is not read again."""
        signatures: dict[str, Signature] = {}
        entries: dict[str, Entry] = {}
        for path, status in _walk(self.scratch):
            signature = (
                ()
                if status is None
                else (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
            )
            known = self._entries.get(path)
            if known is None or self._signatures.get(path) != signature:
                try:
                    known = _read(self.scratch / path)
                except FileNotFoundError:  # a database's own files go when it is closed
                    continue
            signatures[path] = signature
            entries[path] = known
        self._signatures, self._entries = signatures, entries
        return Snapshot(dict(entries), self._head())

    def put_back(self, wanted: Snapshot) -> None:
        """Make everything as it was; what is so already is left alone."""
        now = self.look().entries
        for path in sorted(now.keys() - wanted.entries.keys(), reverse=True):
            _remove(self.scratch / path)
        for path in sorted(wanted.entries):
            entry = wanted.entries[path]
            if now.get(path) is not entry and now.get(path) != entry:
                _write(self.scratch / path, entry, now.get(path))
        # A folder's time changes with what is written into it.
        self.look()

    def changes(self, before: Snapshot) -> dict[str, Any]:
        """Tell what differs from before: files, and commits with their trees and messages."""
        after = self.look()
        files = {
            path: self._told(before.entries.get(path), after.entries.get(path), path)
            for path in sorted(before.entries.keys() | after.entries.keys())
            if not LEFT_OUT.search(path) and _differ(before.entries.get(path), after.entries.get(path))
        }
        told: dict[str, Any] = {}
        kept = {self.normaliser.text(_shown(path)): each for path, each in files.items() if each is not None}
        if kept:
            told["files"] = kept
        if after.head != before.head:
            told["history"] = self.commits(before.head, after.head)
        return told

    def whole(self) -> dict[str, Any]:
        """Tell everything that is there."""
        return self.changes(Snapshot({}, None))

    def commits(self, older: str | None, newer: str | None) -> dict[str, Any]:
        """Tell the commits that a head leads to and another does not."""
        if newer is None:
            return {"head": None}
        repository = pygit2.Repository(str(self.root / ".audit"))
        walker = repository.walk(newer, pygit2.enums.SortMode.TOPOLOGICAL | pygit2.enums.SortMode.REVERSE)
        rewritten = older is not None and repository.get(older) is None
        if older is not None and not rewritten:
            walker.hide(older)
        commits = [
            {
                "commit": str(commit.id),
                "tree": str(commit.tree_id),
                "author": f"{commit.author.name} <{commit.author.email}> {commit.author.time} {commit.author.offset}",
                "message": self.normaliser.text(commit.message).split("\n"),
            }
            for commit in walker
        ]
        return {"head": newer, "rewritten": rewritten, "commits": commits}

    def _head(self) -> str | None:
        if not (self.root / ".audit/HEAD").exists():
            return None
        try:
            repository = pygit2.Repository(str(self.root / ".audit"))
            return None if repository.head_is_unborn else str(repository.head.target)
        except pygit2.GitError:
            return "unreadable"

    def _told(self, before: Entry | None, after: Entry | None, path: str) -> Any:
        """Tell one change; None for that of a folder's time alone, or of what is known by its name."""
        if after is None:
            return "gone"
        if stat.S_ISDIR(after.mode):
            rights = f"folder {stat.filemode(after.mode)}"
            return None if before is not None and before.mode == after.mode else rights
        if NAMES_ALONE.search(path):
            return "made" if before is None else None
        content = self.normaliser.content(after.content)
        old = None if before is None else self.normaliser.content(before.content)
        told: dict[str, Any] = (
            {} if before and before.mode == after.mode else {"mode": stat.filemode(after.mode)}
        )
        if old == content and not told:
            return None
        told["sha256"] = hashlib.sha256(content).hexdigest()
        told["size"] = len(content)
        if old == content or DIGEST_ALONE.search(path):
            return told
        try:
            text = content.decode()
            lines = text.split("\n")
            if old is None or len(text) <= _WHOLE:
                told["text"] = lines
            else:
                told["diff"] = list(difflib.unified_diff(old.decode().split("\n"), lines, n=1, lineterm=""))[
                    2:
                ]
        except UnicodeDecodeError:
            told["base64"] = base64.b64encode(content).decode()
        return told


def _walk(folder: Path) -> list[tuple[str, os.stat_result | None]]:
    """List a folder, without following links; None for an object of history, which never changes under its name."""
    found: list[tuple[str, os.stat_result | None]] = []
    waiting = [(str(folder), "", False)]
    while waiting:
        place, relative, frozen = waiting.pop()
        with os.scandir(place) as entries:
            for entry in entries:
                path = f"{relative}{entry.name}"
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder:
                    waiting.append((entry.path, f"{path}/", frozen or path.endswith(".audit/objects")))
                with contextlib.suppress(FileNotFoundError):
                    found.append((path, None if frozen else entry.stat(follow_symlinks=False)))
    return found


def _read(place: Path) -> Entry:
    content = b""
    status = place.lstat()
    if stat.S_ISREG(status.st_mode):
        content = place.read_bytes()
    elif stat.S_ISLNK(status.st_mode):
        content = os.fsencode(place.readlink())
    return Entry(status.st_mode, status.st_mtime_ns, content)


def _write(place: Path, entry: Entry, now: Entry | None) -> None:
    if now is not None and stat.S_IFMT(now.mode) != stat.S_IFMT(entry.mode):
        _remove(place)
    if stat.S_ISDIR(entry.mode):
        place.mkdir(exist_ok=True)
    elif stat.S_ISLNK(entry.mode):
        place.unlink(missing_ok=True)
        place.symlink_to(os.fsdecode(entry.content))
        return
    elif stat.S_ISFIFO(entry.mode):
        place.unlink(missing_ok=True)
        os.mkfifo(place)
    else:
        place.unlink(missing_ok=True)
        place.write_bytes(entry.content)
    place.chmod(stat.S_IMODE(entry.mode))
    os.utime(place, ns=(entry.mtime_ns, entry.mtime_ns))


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _differ(before: Entry | None, after: Entry | None) -> bool:
    if before is None or after is None:
        return before is not after
    return before.mode != after.mode or before.content != after.content


def _shown(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode()
