"""An exact source of chunks in memory, and a small embedder with meanings of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import numpy as np

from workbench.engine.catalog.terms import index_terms
from workbench.engine.results.memories import Score
from workbench.engine.results.recall import Found
from workbench.engine.search.chunks import (
    Chunk,
    ChunkMarks,
    Statistics,
    StoredChunk,
    Within,
    unit_texts,
    units_of,
)
from workbench.engine.search.ranking.graph import GraphLane
from workbench.engine.search.ranking.question import SearchOptions
from workbench.engine.search.ranking.search import Search, SearchQuery

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray

NOW = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)
# Words of one line mean the same.
MEANINGS = ("dog puppy hound pet", "doctor physician clinic", "car vehicle sedan", "狗 宠物")


def embed(text: str) -> FloatArray:
    """Return a vector of length 1: one dimension per meaning, hashed ones for other words; zeros without any."""
    vector = np.zeros(64, np.float32)
    for word in text.casefold().replace("?", " ").replace(".", " ").split():
        known = next((at for at, words in enumerate(MEANINGS) if word in words.split()), None)
        vector[known if known is not None else 8 + sum(map(ord, word)) % 56] += 4 if known is not None else 1
    length = float(np.sqrt(vector @ vector))
    return vector / length if length else vector


class MemorySource:
    """Chunks in a list, asked exactly."""

    def __init__(self, chunks: Sequence[Chunk], *, has_vectors: bool = False) -> None:
        self.stored = [_stored(number, chunk, has_vectors) for number, chunk in enumerate(chunks, 1)]
        self._terms = {
            stored.number: [*index_terms(stored.chunk.title), *index_terms(stored.chunk.text)]
            for stored in self.stored
        }

    def statistics(self, terms: Sequence[str]) -> Statistics:
        count = {term: sum(_holds(own, term) > 0 for own in self._terms.values()) for term in terms}
        return Statistics(len(self.stored), count)

    def by_keywords(self, terms: Sequence[str], limit: int, within: Within) -> list[tuple[int, float]]:
        about = self.statistics(terms)
        found = []
        for number in self._within(within):
            score = sum(
                math.log(1 + len(self.stored) / (about.frequencies[term] + 0.5)) * held / (held + 1)
                for term in terms
                if (held := _holds(self._terms[number], term))
            )
            if score:
                found.append((number, score))
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]

    def by_vector(self, vector: FloatArray, limit: int, within: Within) -> list[tuple[int, float]]:
        found = [
            (number, float(stored.vector @ vector))
            for number in self._within(within)
            if (stored := self.stored[number - 1]).vector is not None
        ]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]

    def by_memory(self, memory_ids: Sequence[str], within: Within) -> list[int]:
        numbers = self._within(within)
        return [n for wanted in memory_ids for n in numbers if self.stored[n - 1].chunk.memory_id == wanted]

    def by_lines(self, path: str, first: int, last: int, limit: int, within: Within) -> list[int]:
        return [
            number
            for number in self._within(within)
            if (chunk := self.stored[number - 1].chunk).path == path
            and chunk.start_line <= last
            and chunk.start_line + chunk.text.count("\n") >= first
        ][:limit]

    def by_day(self, first: date, last: date, limit: int, within: Within) -> list[int]:
        days = {n: day for n in self._within(within) if (day := self.stored[n - 1].chunk.day) is not None}
        return sorted(
            (n for n, day in days.items() if first <= day <= last), key=lambda n: days[n], reverse=True
        )[:limit]

    def owners(self, numbers: Sequence[int]) -> Mapping[int, str]:
        return {number: self.stored[number - 1].chunk.memory_id for number in numbers}

    def marks(self, basis: object) -> ChunkMarks:
        return ChunkMarks()

    def read(self, numbers: Sequence[int]) -> list[StoredChunk]:
        return [self.stored[number - 1] for number in numbers]

    def _within(self, within: Within) -> list[int]:
        return [
            stored.number
            for stored in self.stored
            if (within.store is None or stored.chunk.store == within.store)
            and (within.after is None or (stored.chunk.day is not None and stored.chunk.day >= within.after))
            and (
                within.before is None or (stored.chunk.day is not None and stored.chunk.day <= within.before)
            )
        ]


def note(
    text: str, day: str | None = "2026-01-05", *, name: str = "", store: str = "file", line: int = 1
) -> Chunk:
    """Return a chunk of a log, a memory of its own."""
    path = f"memory/{name or day or 'notes'}.md"
    return Chunk(
        f"{store}:{path}#L{line}", store, path, line, text, "", date.fromisoformat(day) if day else None
    )


def ask(
    query: str,
    chunks: Sequence[Chunk],
    *,
    meaning: bool = False,
    scores: Mapping[str, Score] | None = None,
    graph: GraphLane | None = None,
    options: SearchOptions | None = None,
) -> Found:
    """Search chunks as the door does."""
    asked = SearchQuery(
        query,
        options or SearchOptions(),
        NOW,
        lambda ids: {memory_id: (scores or {}).get(memory_id) for memory_id in ids},
        graph,
    )
    return Search(asked, MemorySource(chunks, has_vectors=meaning), embed if meaning else None).found()


def _stored(number: int, chunk: Chunk, has_vectors: bool) -> StoredChunk:
    if not has_vectors:
        return StoredChunk(number, chunk)
    rows = np.stack([embed(text) for text in unit_texts(chunk.text)] or [np.zeros(64, np.float32)])
    mean = rows.sum(axis=0)
    length = float(np.sqrt(mean @ mean))
    terms = tuple(
        " ".join(index_terms("\n".join(chunk.text.split("\n")[first : last + 1])))
        for first, last in units_of(chunk.text)
    )
    return StoredChunk(number, chunk, mean / length if length else mean, rows, terms)


def _holds(own: Sequence[str], term: str) -> int:
    return sum(word.startswith(term[:-1]) for word in own) if term.endswith("*") else own.count(term)
