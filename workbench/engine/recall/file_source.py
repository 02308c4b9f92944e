"""What the index reads: files by digest, and the memories in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from workbench.engine.catalog.model import FactRecord, MemoryRecord


@dataclass(frozen=True)
class FileRecords:
    """One file taken apart.

    Args:
        path: As results give it.
        digest: Tells whether the file changed; never empty.
        records: Its memories in order, their texts whole.
        retired: Facts in it that no longer hold, to be found for themselves.
    """

    path: str
    digest: bytes
    records: tuple[MemoryRecord, ...]
    retired: tuple[FactRecord, ...] = ()


class FileSource(Protocol):
    """Some of the files that are searched."""

    def digests(self) -> Mapping[str, bytes]:
        """Return the digest of every file by path, in any order."""
        ...

    def read(self, paths: Sequence[str]) -> Iterable[FileRecords]:
        """Take these files apart; those that are gone, or not of this source, are left out.

        The digest and the records of a file are of the same state of it.
        """
        ...
