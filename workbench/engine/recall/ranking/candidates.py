"""Asks the lanes for chunks and keeps those worth reading."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine.catalog.terms import is_prefix
from workbench.engine.recall.model import ChunkSource, Statistics, StoredChunk
from workbench.engine.recall.ranking.graph import Reached
from workbench.engine.recall.ranking.named_voices import named_voices, without_names
from workbench.engine.recall.ranking.options import Options
from workbench.engine.recall.ranking.question import Question
from workbench.engine.recall.ranking.unit import units_in

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.model import FloatArray

# How many chunks each lane is asked for, and how many are read and scored unit by unit: for few results and for many.
_OF_A_LANE = 100
_READ = 32
_READ_FOR_MANY = 80
_FEW = 20
# How much further a lane is asked where too much of what it gave is not to be shown, and how far at most.
_FURTHER = 4
_MOST_OF_A_LANE = 6400
_MOST_BY_MEANING = 1600
# The most that the weighted sum asks each lane for, however many results are wanted.
_MOST_OF_A_SUM = 200
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
    options: Options,
    embed: Callable[[str], FloatArray] | None,
    graph: Mapping[str, Reached],
    extra_terms: Sequence[str],
    hidden_among: Callable[[Mapping[int, str]], Collection[int]],
    *,
    also: Sequence[int] = (),
) -> Candidates:
    """Return the chunks worth scoring.

    Args:
        question: What was asked.
        source: The index.
        options: Which chunks are asked for, and how many results.
        embed: Makes the question's vector, of length 1 or zeros; None searches by keywords alone.
        graph: Memories that the graph leads to.
        hidden_among: Tells of chunks, by the memory each belongs to, which are not to be shown.
        extra_terms: Terms near the question's, whose frequencies are wanted too.
        also: Chunks to be scored whatever the lanes say.
    """
    within = options.within
    reach, wanted = _counts(options)
    asked = [term + "*" if is_prefix(term) else term for term in question.terms]
    statistics = source.statistics([*asked, *extra_terms])
    by_words = source.by_keywords(asked, reach, within) if asked else []
    vector = _vector(question, embed, source, [number for number, _ in by_words[:_LISTENED_TO]])
    while True:
        by_meaning = (
            source.by_vector(vector, min(reach, _MOST_BY_MEANING), within) if vector is not None else []
        )
        words, meaning = _ranks(by_words), _ranks(by_meaning)
        best = _best(words, meaning)
        hidden = hidden_among(source.owners(best))
        shown = [number for number in best if number not in hidden][:wanted]
        is_all = len(by_words) < reach and len(by_meaning) < min(reach, _MOST_BY_MEANING)
        if len(shown) >= wanted or is_all or reach >= _MOST_OF_A_LANE:
            break
        # A long life has more memories that have faded than fresh ones, and they are in the way.
        reach *= _FURTHER
        by_words = source.by_keywords(asked, reach, within) if asked else []
    # What is hidden but matches best is scored all the same: it may be the very thing asked for, or be explained.
    chosen = [*shown, *(number for number in best[:wanted] if number in hidden)]
    if graph:
        led = source.by_memory(list(graph), within)
        hidden = hidden_among(source.owners(led))
        chosen.extend([number for number in led if number not in hidden][:_OF_GRAPH])
    if question.period is not None:
        chosen.extend(source.by_day(question.period.first, question.period.last, _OF_PERIOD, within))
    chunks = source.read(list(dict.fromkeys((*chosen, *also))))
    places = {chunk.number: Places(words.get(chunk.number), meaning.get(chunk.number)) for chunk in chunks}
    return Candidates(tuple(chunks), places, graph, statistics, vector)


def _counts(options: Options) -> tuple[int, int]:
    """Return how many chunks each lane is asked for, and how many of all are read."""
    results = options.max_results or 0
    if options.fusion == "weighted-sum" and results and options.budget is None:
        count = min(_MOST_OF_A_SUM, options.candidate_multiplier * results)
        return count, count
    if options.budget is None and results <= _FEW:
        return _OF_A_LANE, _READ
    return max(_OF_A_LANE, results), max(_READ_FOR_MANY, results)


def _ranks(found: Sequence[tuple[int, float]]) -> dict[int, tuple[int, float]]:
    return {number: (rank, score) for rank, (number, score) in enumerate(found, 1)}


def _best(*lanes: Mapping[int, tuple[int, float]]) -> list[int]:
    """Return all that the lanes found, those first that stand far up in both."""
    merit: dict[int, float] = {}
    for lane in lanes:
        for number, (rank, _) in lane.items():
            merit[number] = merit.get(number, 0.0) + 1 / (_RANK_OFFSET + rank)
    return sorted(merit, key=lambda number: (-merit[number], number))


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
