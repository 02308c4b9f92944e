"""What recall works on: chunks of memories, where to look for them, and what the index can be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.model import FloatArray


@dataclass(frozen=True)
class Chunk:
    """A piece of memory that is found as one: a whole small memory, or a part of a long one.

    Args:
        memory_id: The memory it belongs to (see `engine.identifiers`).
        store: core, episodic, semantic, procedural, vault or file; `extra` and `session` for what lies outside.
        path: The file it stands in, as results give it.
        start_line: The line of that file that `text` begins on, 1-based; line k of the text stands at start_line + k.
        text: Its lines as they stand in the file, joined by line feeds; lines that are not to be found are blank.
        title: What names it: file title and heading, an entity's label, an episode's first sentence.
        day: The day it is about, or None.
        tags: Topical tags.
        is_retired: Whether it no longer holds.
        superseded_by: The id of the fact that replaced it, or None.
    """

    memory_id: str
    store: str
    path: str
    start_line: int
    text: str
    title: str
    day: date | None = None
    tags: tuple[str, ...] = ()
    is_retired: bool = False
    superseded_by: str | None = None


@dataclass(frozen=True)
class StoredChunk:
    """A chunk as the index holds it.

    Args:
        number: Its number in the index.
        chunk: The chunk.
        vector: Of the whole chunk, length 1; None while it has none.
        unit_vectors: One row per unit of the chunk (see `units`), length 1 each; None while it has none.
        unit_terms: Of each unit the terms it can be found by, stemmed, parted by one space.
    """

    number: int
    chunk: Chunk
    vector: FloatArray | None = None
    unit_vectors: FloatArray | None = None
    unit_terms: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Within:
    """Which chunks are asked for.

    Args:
        store: Of this store alone.
        after: From this day on; chunks without a day are left out.
        before: Up to this day, likewise.
    """

    store: str | None = None
    after: date | None = None
    before: date | None = None


@dataclass(frozen=True)
class Statistics:
    """What BM25 needs to know of all chunks.

    Args:
        chunks: How many there are.
        average_terms: Their mean length in terms.
        frequencies: In how many chunks each term stands that was asked for.
    """

    chunks: int
    average_terms: float
    frequencies: Mapping[str, int]


class ChunkSource(Protocol):
    """What can be asked of the index; each answer is of one consistent state."""

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Return the counts that BM25 needs for these terms."""
        ...

    def by_keywords(self, terms: Sequence[str], limit: int, within: Within) -> list[tuple[int, float]]:
        """Return the chunks that hold any of the terms, best first, with BM25 (positive, higher is better).

        A term that ends in `*` stands for every term that begins with it.
        """
        ...

    def by_vector(self, vector: FloatArray, limit: int, within: Within) -> list[tuple[int, float]]:
        """Return the chunks nearest to a unit vector, best first, with their cosine; nothing without vectors."""
        ...

    def by_memory(self, memory_ids: Sequence[str], within: Within) -> list[int]:
        """Return the chunks of these memories, in the order of the ids and of their lines."""
        ...

    def by_day(self, first: date, last: date, limit: int, within: Within) -> list[int]:
        """Return chunks of these days, newest first."""
        ...

    def owners(self, numbers: Sequence[int]) -> Mapping[int, str]:
        """Return the memory that each of these chunks belongs to."""
        ...

    def read(self, numbers: Sequence[int]) -> list[StoredChunk]:
        """Return chunks in the order asked for; one that is gone meanwhile is left out."""
        ...
