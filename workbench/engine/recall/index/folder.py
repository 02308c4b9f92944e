"""The folder of index files: their names, which one answers, which one is built, and what can go."""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from workbench.engine.process_lock import try_lock
from workbench.engine.recall.index.opened import DAMAGED
from workbench.engine.recall.index.schema import delete_database

BUILDER_LOCK = "recall.lock"
EMBEDDING_LOCK = "recall-embedding.lock"
CACHE = "recall-vectors.sqlite"
_NAME = re.compile(r"recall-([0-9a-f]{12})-(\d{1,9})\.sqlite")
_IN_USE = "recall-{}.used"


@dataclass(frozen=True)
class Named:
    """An index file by name: the digest of its shape, and which of that shape it is, counted from 1."""

    digest: str
    generation: int

    @property
    def name(self) -> str:
        return f"recall-{self.digest}-{self.generation}.sqlite"


def index_files(folder: Path) -> list[Named]:
    """Return the index files there are, newest generation first."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
    except OSError:
        return []
    found = [Named(match[1], int(match[2])) for match in map(_NAME.fullmatch, names) if match]
    return sorted(found, key=lambda named: -named.generation)


class InUse:
    """Says to other processes, as long as it is held, that the files of a shape are in use.

    Args:
        folder: Of the index files; exists.
        digest: Of the shape.
    """

    def __init__(self, folder: Path, digest: str) -> None:
        self._handle: int | None = None
        place = folder / _IN_USE.format(digest)
        # Without the sign somebody may delete the files, which are then built again.
        with suppress(OSError):
            self._handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(self._handle, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def delete_older(folder: Path, kept: Named) -> None:
    """Delete what the file that has taken over replaces: older ones of its shape, and other shapes nobody uses."""
    for named in index_files(folder):
        if named.digest == kept.digest:
            if named.generation < kept.generation:
                delete_database(folder / named.name)
        elif _is_unused(folder, named.digest):
            delete_database(folder / named.name)
    _delete_orphans(folder)


def delete_all(folder: Path) -> None:
    """Delete everything that an index keeps in its folder."""
    for named in index_files(folder):
        delete_database(folder / named.name)
    delete_database(folder / CACHE)
    (folder / DAMAGED).unlink(missing_ok=True)
    _delete_orphans(folder)


def size_bytes(folder: Path) -> int:
    """Return how much everything takes on disk."""
    total = 0
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith("recall"):
                with suppress(OSError):
                    total += entry.stat().st_size
    return total


def _is_unused(folder: Path, digest: str) -> bool:
    try:
        handle = os.open(folder / _IN_USE.format(digest), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError:
        return False
    try:
        return try_lock(folder, handle, fcntl.LOCK_EX)
    finally:
        os.close(handle)


def _delete_orphans(folder: Path) -> None:
    """Delete what is left over of index files that are gone."""
    names = {named.name for named in index_files(folder)}
    digests = {named.digest for named in index_files(folder)}
    for entry in list(os.scandir(folder)) if folder.is_dir() else ():
        base = entry.name.removesuffix("-wal").removesuffix("-shm")
        if base != entry.name and _NAME.fullmatch(base) and base not in names:
            Path(entry.path).unlink(missing_ok=True)
        used = re.fullmatch(r"recall-([0-9a-f]{12})\.used", entry.name)
        if used and used[1] not in digests and _is_unused(folder, used[1]):
            Path(entry.path).unlink(missing_ok=True)
