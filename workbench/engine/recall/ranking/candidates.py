"""Asks the lanes for chunks and keeps those worth reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine.catalog.terms import is_prefix
from workbench.engine.recall.model import ChunkSource, Statistics, StoredChunk, Within
from workbench.engine.recall.ranking.graph import Reached
from workbench.engine.recall.ranking.question import Question

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.model import FloatArray

# How many chunks each lane is asked for, and how many are read and scored unit by unit.
_OF_A_LANE = 100
_READ = 60
_OF_GRAPH = 24
_OF_PERIOD = 24
# The first ranks of a lane count for much more than its last.
_RANK_OFFSET = 10


@dataclass(frozen=True)
class Places:
    """Where each lane has a chunk, from 1, with its score in that lane."""

    keywords: tuple[int, float] | None = None
    meaning: tuple[int, float] | None = None


@dataclass(frozen=True)
class Candidates:
    """What the lanes found.

    Args:
        chunks: To be scored, in no order that means anything.
        places: By chunk number.
        graph: What the graph leads to, by memory id.
        statistics: Of all chunks, for the question's terms.
        vector: Of the question, or None.
    """

    chunks: tuple[StoredChunk, ...]
    places: Mapping[int, Places]
    graph: Mapping[str, Reached]
    statistics: Statistics
    vector: FloatArray | None


def gather(
    question: Question,
    source: ChunkSource,
    within: Within,
    vector: FloatArray | None,
    graph: Mapping[str, Reached],
    extra_terms: Sequence[str],
    *,
    also: Sequence[int] = (),
) -> Candidates:
    """Return the chunks worth scoring.

    Args:
        question: What was asked.
        source: The index.
        within: Which chunks are asked for.
        vector: The question's, of length 1; None without an embedder.
        graph: Memories that the graph leads to.
        extra_terms: Terms near the question's, whose frequencies are wanted too.
        also: Chunks to be scored whatever the lanes say.
    """
    asked = [term + "*" if is_prefix(term) else term for term in question.terms]
    statistics = source.statistics([*asked, *extra_terms])
    by_words = source.by_keywords(asked, _OF_A_LANE, within) if asked else []
    by_meaning = source.by_vector(vector, _OF_A_LANE, within) if vector is not None else []
    words = {number: (rank, score) for rank, (number, score) in enumerate(by_words, 1)}
    meaning = {number: (rank, score) for rank, (number, score) in enumerate(by_meaning, 1)}
    merit = {
        number: sum(1 / (_RANK_OFFSET + lane[number][0]) for lane in (words, meaning) if number in lane)
        for number in words.keys() | meaning.keys()
    }
    chosen = sorted(merit, key=lambda number: (-merit[number], number))[:_READ]
    if graph:
        chosen.extend(source.by_memory(list(graph), within)[:_OF_GRAPH])
    if question.period is not None:
        chosen.extend(source.by_day(question.period.first, question.period.last, _OF_PERIOD, within))
    chunks = source.read(list(dict.fromkeys((*chosen, *also))))
    places = {chunk.number: Places(words.get(chunk.number), meaning.get(chunk.number)) for chunk in chunks}
    return Candidates(tuple(chunks), places, graph, statistics, vector)
