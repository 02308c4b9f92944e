"""Where each kind of memory file lives, which files history tracks, and the guard that keeps paths inside."""

from __future__ import annotations

import os
import stat
import unicodedata
from datetime import date
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import NamedTuple

from workbench.engine.errors import InvalidInput, OutsideWorkspace
from workbench.engine.patterns import lazy_pattern

CORE = "MEMORY.md"
EPISODES = "memory/episodes"
GRAPH = "memory/graph"
ENTITIES = "memory/graph/entities"
GRAPH_INDEX = "memory/graph/index.md"
RELATIONS = "memory/graph/relations.md"
PROCEDURES = "memory/procedures"
VAULT = "memory/vault"
META = "memory/meta"
DECAY_SCORES = "memory/meta/decay-scores.json"
AUDIT_LOG = "memory/meta/audit.log"
AUDIT_ARCHIVE = "memory/meta/audit-archive.md"
REFLECTION_LOG = "memory/meta/reflection-log.md"
EVOLUTION = "memory/meta/evolution.md"
PENDING_REFLECTION = "memory/meta/pending-reflection.md"
PENDING_MEMORIES = "memory/meta/pending-memories.md"
REJECTED = "memory/meta/rejected.md"
CONFLICTS = "memory/meta/sync-conflicts.json"
SETTINGS = "workbench.toml"
HISTORY = ".audit"

DECIDED = frozenset({PENDING_REFLECTION, REJECTED, REFLECTION_LOG, EVOLUTION, PENDING_MEMORIES, CONFLICTS})
"""Files that record people's decisions; nobody else writes them by hand."""
BOOKS = frozenset({PENDING_REFLECTION, REJECTED, REFLECTION_LOG, DECAY_SCORES, CONFLICTS})
"""Files in which the engine records decisions; their content follows from the decisions."""

FOREIGN_SETTINGS = ("openclaw.json", "moltbot.json", "clawdbot.json")
CRITICAL = frozenset({"SOUL.md", "IDENTITY.md", SETTINGS, *FOREIGN_SETTINGS})
SENSITIVE = frozenset({"USER.md", "TOOLS.md"})
"""Files of high sensitivity (design document §12.1): an outside edit of one raises an alert."""
SPENT_IDS = f"{HISTORY}/workbench.retired"
PROJECTIONS = frozenset({GRAPH_INDEX, AUDIT_LOG})
_ROOT_FILES = (
    CRITICAL
    | SENSITIVE
    | {"AGENTS.md", CORE, "memory.md", "HEARTBEAT.md", "BOOTSTRAP.md", "BOOT.md", "DREAMS.md"}
)
_SUFFIXES = (".md", ".json")
# In bytes; the limit of file systems, minus room for the workspace's own path.
_LONGEST_NAME = 255
_LONGEST_PATH = 2000
_DECIDED_FOLDED = frozenset(unicodedata.normalize("NFKC", path).casefold() for path in DECIDED)
# A byte from 0x80 on that is not UTF-8, as `shown` writes it.
_WRITTEN_OUT = lazy_pattern(r"\\u(dc[89a-f][0-9a-f])")
_DAY = lazy_pattern(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_DAILY_LOG = lazy_pattern(r"^memory/\d{4}-\d{2}-\d{2}(?:-[^/]+)?\.md$")


def is_tracked(path: str) -> bool:
    """Return whether history keeps the file at this workspace-relative POSIX path."""
    if path in _ROOT_FILES:
        return True
    if not path.startswith("memory/") or path in PROJECTIONS or not path.endswith(_SUFFIXES):
        return False
    return "/." not in path


def is_critical(path: str) -> bool:
    """Return whether the file is critical in every workspace (design document §12.1, §12.5)."""
    return path in CRITICAL


def can_be_critical(path: str) -> bool:
    """Return whether settings may make the file critical: it is tracked and not maintained by the engine."""
    return is_tracked(path) and not path.startswith(META + "/")


def is_decided(path: str) -> bool:
    """Return whether the file records people's decisions, also under a name that only case-insensitive disks equate."""
    return _folded(path) in _DECIDED_FOLDED


def is_memory_file(path: str) -> bool:
    """Return whether `get` may return the file: tracked Markdown or JSON of the layout, or a projection."""
    return (is_tracked(path) and path != SETTINGS and path not in FOREIGN_SETTINGS) or path in PROJECTIONS


def is_daily_log(path: str) -> bool:
    """Return whether the file is a flat daily log, `memory/YYYY-MM-DD.md` or `memory/YYYY-MM-DD-slug.md`."""
    return bool(_DAILY_LOG.match(path))


def day_in_name(path: str) -> date | None:
    """Return the first day, `YYYY-MM-DD`, in a file's name, or None.

    Args:
        path: A POSIX path from any start; days in folder names do not count.
    """
    found = _DAY.search(path.rpartition("/")[2])
    try:
        return date.fromisoformat(found[0]) if found else None
    except ValueError:
        return None


def store_of(path: str) -> str:
    """Return a file's store: core, episodic, semantic, procedural, vault, meta or file."""
    if path in (CORE, "memory.md"):
        return "core"
    for folder, store in (
        (EPISODES, "episodic"),
        (GRAPH, "semantic"),
        (PROCEDURES, "procedural"),
        (VAULT, "vault"),
        (META, "meta"),
    ):
        if path.startswith(folder + "/"):
            return store
    return "file"


def normalise(path: str | os.PathLike[str]) -> str:
    """Return a workspace-relative POSIX path without `.` parts; the result of `shown` is unchanged.

    Raises:
        OutsideWorkspace: The path is absolute, empty, holds a NUL, or climbs with `..`, also if read as on
            Windows.
        InvalidInput: It is too long for a file name, or not valid text.
    """
    return _normalised(os.fspath(path))


def _folded(path: str) -> str:
    return unicodedata.normalize("NFKC", path).casefold()


def shown(path: str) -> str:
    r"""Return a path as text, escaping bytes that are not UTF-8: `caf\udce9.md`."""
    return path if path.isascii() else path.encode(errors="backslashreplace").decode()


@lru_cache(maxsize=4096)
def _normalised(text: str) -> str:
    if "\\udc" in text:
        text = _WRITTEN_OUT.sub(lambda byte: chr(int(byte[1], 16)), text)
    pure = PurePosixPath(text)
    # A backslash is part of a name here; on Windows a copy of the folder must not follow it elsewhere.
    there = PureWindowsPath(text if "\\" in text else "")
    if (
        not text
        or "\0" in text
        or pure.is_absolute()
        or ".." in (*pure.parts, *there.parts)
        or there.anchor
        or not pure.parts
    ):
        itself = bool(text) and not pure.parts
        raise OutsideWorkspace(
            "This is the workspace itself, not a file in it."
            if itself
            else "This path leads out of the workspace.",
            where=repr(text)[1:-1][:200],
            remedy="Name a file relative to the workspace, for example memory/2026-02-01.md.",
        )
    if not _can_be_named(pure):
        raise InvalidInput(
            "No file can have this name.",
            where=repr(text)[1:-1][:200],
            remedy="Name a shorter one, in plain text.",
        )
    return str(pure)


def _can_be_named(path: PurePosixPath) -> bool:
    """Return whether file systems accept the path: its length in bytes, and no lone surrogates."""
    try:
        lengths = [len(os.fsencode(part)) for part in path.parts]
    except UnicodeEncodeError:
        return False
    return max(lengths) <= _LONGEST_NAME and sum(lengths) + len(lengths) <= _LONGEST_PATH


def resolve(root: Path, path: str | os.PathLike[str]) -> Path:
    """Return the absolute path of a workspace file, refusing links on the way.

    Args:
        root: The workspace folder, absolute.
        path: Workspace-relative.

    Raises:
        OutsideWorkspace: The path leads out, or it or a folder above it inside the workspace is a link.
    """
    relative = normalise(path)
    place = os.fspath(root)
    for part in relative.split("/"):
        place = f"{place}/{part}"
        try:
            # Called for every file read: a path object per folder on the way would cost more.
            mode = os.lstat(place).st_mode
        except (FileNotFoundError, NotADirectoryError):
            break
        if stat.S_ISLNK(mode):
            raise OutsideWorkspace(
                "This path leads over a symbolic link.",
                where=relative,
                remedy="Put the file itself into the workspace; links are never followed.",
            )
    return root / relative


class FileStatus(NamedTuple):
    """What of a file's status tells that it changed; all that `os.stat` knows would take five times the room."""

    st_size: int
    st_mtime_ns: int
    st_ctime_ns: int
    st_ino: int


def tracked_files(root: Path) -> dict[str, FileStatus]:
    """List every tracked file with its status, without links and special files.

    Args:
        root: The workspace folder, absolute.

    Returns:
        Workspace-relative POSIX paths in sorted order.
    """
    found: dict[str, FileStatus] = {}
    for name in _ROOT_FILES:
        try:
            status = os.lstat(root / name)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            found[name] = _status(status)
    _collect(os.fspath(root / "memory"), "memory/", found)
    return {path: found[path] for path in sorted(found)}


def _status(status: os.stat_result) -> FileStatus:
    return FileStatus(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _collect(folder: str, prefix: str, found: dict[str, FileStatus]) -> None:
    try:
        entries = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    if os.path.islink(folder):  # noqa: PTH114 - the string path is already at hand
        entries.close()
        return
    # One by one: an entry keeps the whole status that it was asked for.
    for entry in entries:
        name = entry.name
        if name.startswith("."):
            continue
        path = prefix + name
        # The name decides first: asking the file system for an entry's kind costs more.
        if name.endswith(_SUFFIXES) and entry.is_file(follow_symlinks=False):
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                # It vanished after the listing.
                continue
            if path not in PROJECTIONS:
                found[path] = _status(status)
        elif entry.is_dir(follow_symlinks=False):
            _collect(entry.path, path + "/", found)
