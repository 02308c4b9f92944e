"""The folder of a history: its layout, whether it is one of ours, and what would lead git elsewhere."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

from workbench.engine.errors import HistoryDamaged, HistoryError, NotFound, StorageError
from workbench.engine.patterns import lazy_pattern

BRANCH = "refs/heads/main"

_MARK = "[workbench]"
# gc is run by the engine; the rest keeps a person's own git commands from converting or refusing this folder.
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
# Folders that the engine or git writes to; no link in them may lead outside.
_WRITTEN = ("", "info", "objects", "objects/info", "objects/pack", "refs", "refs/heads")
# Files that redirect git to another folder, or parts of it.
_ELSEWHERE = ("commondir", "objects/info/alternates", "objects/info/http-alternates")
# Files that make git show commits other than the stored ones; the engine ignores them.
_PRETENDING = ("shallow", "info/grafts")
_REPLACING = "refs/replace/"
# What a config may say so that git works in another folder, or reads another config.
_REDIRECTED = lazy_pattern(r"(?im)^[ \t]*(?:\[[^\]\n]*\][ \t]*)?(worktree)\b|^[ \t]*\[(include)")
_FOLDERS = ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info")


def make_repository(path: Path) -> None:
    """Create an empty history; an existing one is left alone.

    Raises:
        StorageError: The folder cannot be written.
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
        # If another process was first, the rename fails and its repository is used.
        if not path.is_dir():
            raise StorageError(
                f"The history cannot be created: {error.strerror or error}.",
                where=str(path),
                remedy="Make the workspace folder writable, or free some space.",
            ) from error
    finally:
        # Including those of others: a slower process lost the race, and a crashed one left rubbish.
        for left in path.parent.glob(f"{path.name}.new-*"):
            shutil.rmtree(left, ignore_errors=True)


def pretences(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each file that makes git show another history than the engine reads, with its effect and remedy.

    Raises:
        StorageError: The folder cannot be read.
    """
    try:
        head = path / "HEAD"
        if not head.is_file() or head.read_bytes().strip() != f"ref: {BRANCH}".encode():
            yield "HEAD", f"it does not name {BRANCH}. Change it to: ref: {BRANCH}"
        for name in _PRETENDING:
            if os.path.lexists(path / name):
                yield name, "it cuts off or joins commits. Remove it"
        loose = path / _REPLACING
        packed = path / "packed-refs"
        if any(files for _, _, files in os.walk(loose)) or (
            packed.is_file() and f" {_REPLACING}".encode() in packed.read_bytes()
        ):
            yield (
                _REPLACING.rstrip("/"),
                "it puts other objects in place of those that are there. Remove it",
            )
    except OSError as error:
        raise StorageError(
            f"The history cannot be read: {error.strerror or error}.",
            where=str(path),
            remedy="Give yourself the right to read that folder.",
        ) from error


def require_ours(path: Path) -> None:
    """Check that a folder is a history of Workbench.

    Raises:
        NotFound: There is no such folder.
        HistoryError: It is something else.
        HistoryDamaged: Its config file is missing.
        StorageError: It cannot be read.
    """
    if path.is_symlink():
        raise HistoryError(
            "The history folder is a symbolic link, which is never followed.",
            where=str(path),
            remedy="Replace the link by the folder itself.",
        )
    try:
        _require_within(path)
        config = (path / "config").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError) as error:
        if not os.path.lexists(path):
            raise NotFound(
                "There is no history here yet.", where=str(path), remedy="Run: workbench init"
            ) from error
        raise damaged(path, "its config file is missing") from error
    except OSError as error:
        raise StorageError(
            f"The history cannot be read: {error.strerror}.",
            where=str(path),
            remedy="Give yourself the right to read that folder.",
        ) from error
    if _MARK not in config:
        raise HistoryError(
            "This folder is not a history that Workbench made.",
            where=str(path),
            remedy="Move it elsewhere, or set it aside with: workbench doctor --set-aside-history",
        )
    if (found := _REDIRECTED.search(config)) is not None:
        said = found[1] or found[2]
        raise _leads_elsewhere(
            path / "config", f"says “{said}”, which names another place", "Take that out of it"
        )


def _require_within(path: Path) -> None:
    """Check that writes to the history stay inside its folder, which someone else may have created."""
    for folder in _WRITTEN:
        place = path / folder
        try:
            with os.scandir(place) as entries:
                strange = next(
                    (each for each in entries if not _is_plain(each) and os.path.lexists(each)), None
                )
        except (FileNotFoundError, NotADirectoryError):
            continue
        if strange is not None:
            raise _leads_elsewhere(Path(strange.path), "is neither a file nor a folder")
    for name in _ELSEWHERE:
        if (path / name).exists():
            raise _leads_elsewhere(path / name, "names another folder to be used")


def _is_plain(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)


def _leads_elsewhere(place: Path, how: str, remedy: str = "Remove it") -> HistoryError:
    return HistoryError(
        f"The history may lead out of its folder: “{place.name}” {how}.",
        where=str(place),
        remedy=f"{remedy} if you know where it is from, or start a new history with: "
        "workbench doctor --set-aside-history",
    )


def damaged(path: Path, reason: str) -> HistoryDamaged:
    """Return the error for a history that git cannot read."""
    return HistoryDamaged(
        f"The history is damaged: {reason}.",
        where=str(path),
        remedy="Your files are untouched. Look with: workbench audit verify; start a new history with: "
        "workbench doctor --set-aside-history",
    )
