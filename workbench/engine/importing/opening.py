"""Files below what a person named, opened with limits: never through a link, never beyond it, never without end."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from workbench.engine import layout
from workbench.engine.errors import DocumentError, InvalidInput, NotFound, OutsideWorkspace, StorageError
from workbench.engine.importing.pieces import Place, Skipped

MOST_FILES = 50_000
MOST_DEPTH = 40
MOST_DOCUMENT_BYTES = 8 << 20
"""A longer document is a book or an attack; nobody remembers it in one piece."""
LINK = "It is a symbolic link; links are never followed."
MANIFEST = "workbench-export.json"
"""Lies in a folder that was exported."""
_OWN = "It is already this workspace’s own."
_WHOLE = "It is a workspace of Workbench, or an export of one; import it by itself."
_PASSED_OVER = frozenset({"node_modules", "__pycache__"})
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file.

    Args:
        place: Where it is.
        relative: Its POSIX path below the folder that was named; its own name where it was named itself.
        size: Bytes.
        changed: When its content was changed last.
    """

    place: Path
    relative: str
    size: int
    changed: datetime


def named(source: Path) -> Path:
    """Return the place that a person named; links in what they named are theirs and are followed.

    Raises:
        NotFound: There is nothing.
        InvalidInput: It is neither file nor folder.
        StorageError: It may not be read.
    """
    try:
        place = source.expanduser().resolve()
        kind = place.stat().st_mode
    except (OSError, RuntimeError, ValueError) as error:
        raise NotFound(
            "There is nothing to import here.",
            where=str(source)[:300],
            remedy="Name a file or folder that exists.",
        ) from error
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        raise InvalidInput("This is neither a file nor a folder.", where=str(source)[:300])
    if not os.access(place, os.R_OK | (os.X_OK if stat.S_ISDIR(kind) else 0)):
        raise StorageError(
            "This cannot be read.", where=shown(str(source)), remedy="Give yourself the right to read it."
        )
    return place


def single(place: Path) -> FoundFile:
    """Return the file that was named."""
    return _found(place, place.name, place.stat())


def walk(
    folder: Path,
    wanted: Callable[[str], bool] = lambda _: True,
    *,
    own: Path | None = None,
    hidden: frozenset[str] = frozenset(),
) -> Iterator[FoundFile | Skipped]:
    """Give the files below a folder in the order of their names; links are told and never followed.

    Args:
        folder: Where to look.
        wanted: Tells of a path below it whether it is asked for.
        own: The open workspace, which is told and not looked into.
        hidden: Names of hidden folders to look into all the same; others are passed over.
    """
    count = 0
    waiting = [(os.fspath(folder), "", 0)]
    while waiting:
        place, prefix, depth = waiting.pop()
        try:
            if own is not None and own.samefile(place):
                yield Skipped(shown(prefix) or ".", _OWN)
                continue
            with os.scandir(place) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(shown(prefix) or ".", f"The folder cannot be read: {error.strerror}.")
            continue
        if prefix and any(entry.name in (MANIFEST, layout.HISTORY) for entry in entries):
            yield Skipped(shown(prefix), _WHOLE)
            continue
        folders = []
        for entry in entries:
            relative = prefix + entry.name
            if entry.name in _PASSED_OVER or (entry.name.startswith(".") and entry.name not in hidden):
                continue
            if entry.is_symlink():
                yield Skipped(shown(relative), LINK)
            elif entry.is_dir(follow_symlinks=False):
                if depth < MOST_DEPTH:
                    folders.append((entry.path, relative + "/", depth + 1))
                else:
                    yield Skipped(shown(relative), f"Folders are nested more than {MOST_DEPTH} deep here.")
            elif wanted(relative) and entry.is_file(follow_symlinks=False):
                count += 1
                if count > MOST_FILES:
                    yield Skipped(
                        shown(relative), f"There are more than {MOST_FILES:,} files; the rest was left."
                    )
                    return
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError as error:
                    yield Skipped(shown(relative), f"The file cannot be looked at: {error.strerror}.")
                    continue
                yield _found(Path(entry.path), relative, status)
        waiting.extend(reversed(folders))


def open_file(place: Path) -> BinaryIO:
    """Open a file that was found.

    Raises:
        OutsideWorkspace: A link stands there by now, or something that is no file.
        StorageError: It cannot be read.
    """
    try:
        handle = os.open(place, _FLAGS)
    except OSError as error:
        if place.is_symlink():
            raise OutsideWorkspace(
                "A symbolic link stands here; links are never followed.",
                where=shown(str(place)),
                remedy="Name the file itself.",
            ) from error
        raise StorageError(
            f"The file cannot be read: {error.strerror}.",
            where=shown(str(place)),
            remedy="Give yourself the right to read it.",
        ) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OutsideWorkspace("This is no plain file.", where=shown(str(place)), remedy="Name a file.")
    return os.fdopen(handle, "rb")


def read_text(found: FoundFile, most: int = MOST_DOCUMENT_BYTES) -> str:
    """Return a document's text, its line ends as `\\n`.

    Raises:
        DocumentError: It is too long, or no text that can be told for sure.
        OutsideWorkspace, StorageError: As `open_file`.
    """
    with open_file(found.place) as opened:
        content = opened.read(most + 1)
    return as_text(content, found.relative, most)


def as_text(content: bytes, where: str, most: int = MOST_DOCUMENT_BYTES) -> str:
    """Return bytes as text, its line ends as `\\n`.

    Raises:
        DocumentError: They are too many, or no text.
    """
    if len(content) > most:
        raise DocumentError(
            f"It is longer than {most >> 20} MB.",
            where=shown(where),
            remedy="Part it into several documents.",
        )
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DocumentError(
            f"It is no UTF-8 text (line {line}).", where=shown(where), remedy="Save it as UTF-8."
        ) from error
    if "\0" in text:
        raise DocumentError("It is no text.", where=shown(where), remedy="Export it as text.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def peek(place: Path, most: int = 65_536) -> bytes:
    """Return the beginning of a file."""
    with open_file(place) as opened:
        return opened.read(most)


def shown(path: str) -> str:
    """Return a path as it can be told: printable, and not too long."""
    text = "".join(each if each.isprintable() else "\ufffd" for each in path)
    return text if len(text) <= 300 else text[:299] + "…"


def place_of(found: FoundFile, first: int | None = None, last: int | None = None) -> Place:
    """Return the place of some lines of a file."""
    return Place(shown(found.relative), first, last)


def _found(place: Path, relative: str, status: os.stat_result) -> FoundFile:
    return FoundFile(place, relative, status.st_size, datetime.fromtimestamp(status.st_mtime, UTC))
