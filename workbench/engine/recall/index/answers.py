"""What bringing the index up to date did, and what the index holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class IndexSync:
    """What bringing the index up to date did.

    Args:
        changed: Files read into it.
        removed: Files taken out of it.
        pending_files: Files that it does not hold as they are.
        pending_vectors: Chunks that still lack their vector.
        busy: Whether another process is building, so that nothing was done here.
        failure: Why vectors could not be made, or None.
    """

    changed: int = 0
    removed: int = 0
    pending_files: int = 0
    pending_vectors: int = 0
    busy: bool = False
    failure: str | None = None

    @property
    def finished(self) -> bool:
        """Tell whether the words of every file can be searched."""
        return not self.busy and not self.pending_files


@dataclass(frozen=True)
class IndexState:
    """What the index holds.

    Args:
        dimensions: Of its vectors; None without vectors.
        last_sync: When it last held every file, aware; None before the first time.
        size_bytes: On disk, embedding cache included.
        pending_vectors: Chunks that still lack their vector.
        rebuilding: Share done of a building that has not taken over yet, 0–1, or None.
        is_of_another_shape: Whether an older index answers until the wanted one is built.
        failure: Why vectors could not be made the last time, or None.
    """

    files: int
    chunks: int
    dimensions: int | None
    last_sync: datetime | None
    size_bytes: int
    pending_vectors: int
    rebuilding: float | None
    is_of_another_shape: bool
    failure: str | None
