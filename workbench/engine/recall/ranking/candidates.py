"""Asks the lanes for chunks and keeps those worth reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine.catalog.terms import is_prefix
from workbench.engine.recall.model import ChunkSource, Statistics, StoredChunk, Within
from workbench.engine.recall.ranking.graph import Reached
from workbench.engine.recall.ranking.named_voices import named_voices, without_names
from workbench.engine.recall.ranking.question import Question
from workbench.engine.recall.ranking.unit import units_in

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.model import FloatArray

# How many chunks each lane is asked for, and how many are read and scored unit by unit.
_OF_A_LANE = 100
_READ = 32
_READ_FOR_BUDGET = 80
_OF_GRAPH = 24
_OF_PERIOD = 24
# Chunks among whose speakers the names in a question are looked for, before it is embedded without them.
_LISTENED_TO = 8
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
    embed: Callable[[str], FloatArray] | None,
    graph: Mapping[str, Reached],
    extra_terms: Sequence[str],
    *,
    fills_budget: bool = False,
    also: Sequence[int] = (),
) -> Candidates:
    """Return the chunks worth scoring.

    Args:
        question: What was asked.
        source: The index.
        within: Which chunks are asked for.
        embed: Makes the question's vector, of length 1 or zeros; None searches by keywords alone.
        graph: Memories that the graph leads to.
        extra_terms: Terms near the question's, whose frequencies are wanted too.
        fills_budget: Whether many results are wanted rather than the best few.
        also: Chunks to be scored whatever the lanes say.
    """
    asked = [term + "*" if is_prefix(term) else term for term in question.terms]
    statistics = source.statistics([*asked, *extra_terms])
    by_words = source.by_keywords(asked, _OF_A_LANE, within) if asked else []
    vector = _vector(question, embed, source, [number for number, _ in by_words[:_LISTENED_TO]])
    by_meaning = source.by_vector(vector, _OF_A_LANE, within) if vector is not None else []
    words = {number: (rank, score) for rank, (number, score) in enumerate(by_words, 1)}
    meaning = {number: (rank, score) for rank, (number, score) in enumerate(by_meaning, 1)}
    merit = {
        number: sum(1 / (_RANK_OFFSET + lane[number][0]) for lane in (words, meaning) if number in lane)
        for number in words.keys() | meaning.keys()
    }
    chosen = sorted(merit, key=lambda number: (-merit[number], number))
    chosen = chosen[: _READ_FOR_BUDGET if fills_budget else _READ]
    if graph:
        chosen.extend(source.by_memory(list(graph), within)[:_OF_GRAPH])
    if question.period is not None:
        chosen.extend(source.by_day(question.period.first, question.period.last, _OF_PERIOD, within))
    chunks = source.read(list(dict.fromkeys((*chosen, *also))))
    places = {chunk.number: Places(words.get(chunk.number), meaning.get(chunk.number)) for chunk in chunks}
    return Candidates(tuple(chunks), places, graph, statistics, vector)


def _vector(
    question: Question, embed: Callable[[str], FloatArray] | None, source: ChunkSource, numbers: Sequence[int]
) -> FloatArray | None:
    if embed is None or not question.terms:
        return None
    speakers = {unit.shape.speaker for stored in source.read(numbers) for unit in units_in(stored)}
    names = named_voices(question, (speaker for speaker in speakers if speaker))
    text = without_names(question.text, names)
    vector = embed(text if any(map(str.isalnum, text)) else question.text)
    return vector if bool(vector.any()) else None
