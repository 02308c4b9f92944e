"""What an index depends on besides the files: another shape is another index."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from workbench.engine.recall.chunking import ChunkSize

# Raised with each change of the tables, of chunks, of terms or of units.
INDEX_VERSION = 2


@dataclass(frozen=True)
class Shape:
    """How an index was made; two of the same shape are interchangeable.

    Args:
        size: Of its chunks.
        embedder: The fingerprint of what made its vectors; the empty string without vectors.
        reading: What the memories depend on besides their files: the version of the catalog and its zone.
    """

    size: ChunkSize
    embedder: str
    reading: str

    @property
    def digest(self) -> str:
        """Return twelve letters and digits that name the shape."""
        parts = (INDEX_VERSION, self.size.tokens, self.size.overlap, self.embedder, self.reading)
        text = "\n".join(map(str, parts))
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
