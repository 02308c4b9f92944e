"""Scores how many of a question's words stand in units, in their chunks and in their memories: BM25 at three grains."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from workbench.engine.catalog.terms import is_pair, is_prefix
from workbench.engine.recall.model import Statistics
from workbench.engine.recall.ranking.unit import Unit
from workbench.engine.recall.stemming import index_terms

# BM25's usual saturation and length normalisation.
_K1, _B = 1.2, 0.75
# What is said in one of these is said of its title.
_SMALL_STORES = frozenset(("core", "episodic", "semantic", "procedural"))
# Chinese words of one character that tell nothing by themselves.
_FUNCTION_CHARACTERS = frozenset(
    "的了是在我你他她它们們吗嗎呢吧啊呀和與与跟什么麼怎样樣哪谁誰几幾多少过過着著把被给給用会會要就都也还還很"
    "有没沒这這那个個为為到从從对對"
)


def inverse_frequency(statistics: Statistics, term: str) -> float:
    """Return how much a term tells (the idf of BM25, never negative)."""
    count = min(statistics.frequencies.get(term if not is_prefix(term) else f"{term}*", 0), statistics.chunks)
    return math.log(1 + (statistics.chunks - count + 0.5) / (count + 0.5))


def words_of_runs(terms: Sequence[str], statistics: Statistics) -> list[str]:
    """Leave out the pairs of characters that only lie between two words of a question.

    A run of Chinese or the like is asked for by all its pairs. One that stands nowhere is no word that is missing
    where each of its characters belongs to a pair that does stand somewhere, or is a function word.

    Args:
        terms: Of a question.
        statistics: How often each stands in the index.
    """
    held = {term for term in terms if statistics.frequencies.get(term, 0)}
    covered = _FUNCTION_CHARACTERS.union(*(term for term in held if is_pair(term)))
    left = [term for term in terms if term in held or not is_pair(term) or not covered.issuperset(term)]
    return left or list(terms)


def score_words(units: Sequence[Unit], idf: Mapping[str, float], near: Mapping[str, float]) -> None:
    """Set the signals of units that come of words, each at least 0.

    `exact` is the idf of the question's terms in the unit together; `words` is that as BM25 without repetitions, by
    the unit's length; `near` counts near words as well; `chunk` and `memory` are `near` of the whole chunk, and of what
    is there of the memory.

    Args:
        units: Of all candidates.
        idf: What each term of the question tells.
        near: What each near word tells, by how near it is.
    """
    weights = {**near, **idf}
    wanted = weights.keys()
    own: list[set[str]] = []
    of_chunk: dict[int, set[str]] = defaultdict(set)
    of_memory: dict[str, set[str]] = defaultdict(set)
    lengths_of_chunk: dict[int, int] = defaultdict(int)
    chunks_of_memory: dict[str, set[int]] = defaultdict(set)
    prefixes = [term for term in wanted if is_prefix(term)]
    for unit in units:
        held = wanted & unit.words
        held.update(term for term in prefixes if any(word.startswith(term) for word in unit.words))
        number = unit.stored.number
        chunk = unit.stored.chunk
        if chunk.store in _SMALL_STORES:
            held |= wanted & _title_terms(chunk.title, chunk.tags)
        own.append(held)
        lengths_of_chunk[number] += unit.length
        of_chunk[number] |= held
        memory = chunk.memory_id
        of_memory[memory] |= held
        chunks_of_memory[memory].add(number)
    lengths_of_memory = {
        memory: sum(lengths_of_chunk[number] for number in numbers)
        for memory, numbers in chunks_of_memory.items()
    }
    grains = (
        _saturation([unit.length for unit in units]),
        dict(zip(lengths_of_chunk, _saturation(list(lengths_of_chunk.values())), strict=True)),
        dict(zip(lengths_of_memory, _saturation(list(lengths_of_memory.values())), strict=True)),
    )
    chunk_scores = {
        number: grains[1][number] * sum(map(weights.__getitem__, held)) for number, held in of_chunk.items()
    }
    memory_scores = {
        memory: grains[2][memory] * sum(map(weights.__getitem__, held)) for memory, held in of_memory.items()
    }
    for unit, held, factor in zip(units, own, grains[0], strict=True):
        exact = extra = 0.0
        for term in held:
            if term in idf:
                exact += idf[term]
            else:
                extra += near[term]
        unit.signals = {
            "exact": exact,
            "words": factor * exact,
            "near": factor * (exact + extra),
            "chunk": chunk_scores[unit.stored.number],
            "memory": memory_scores[unit.stored.chunk.memory_id],
        }


@lru_cache(maxsize=4096)
def _title_terms(title: str, tags: tuple[str, ...]) -> frozenset[str]:
    return frozenset(index_terms(f"{title} {' '.join(tags)}"))


def _saturation(lengths: Sequence[int]) -> list[float]:
    average = sum(lengths) / len(lengths) if lengths else 1.0
    return [(_K1 + 1) / (1 + _K1 * (1 - _B + _B * length / (average or 1.0))) for length in lengths]
