"""Scores candidates: BM25 at three grains, meaning, time and proximity, and the confidence in the results."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from heapq import nlargest
from itertools import chain, groupby, islice, pairwise
from typing import TYPE_CHECKING, TypeVar

from workbench.engine.catalog.terms import index_terms, is_pair, is_prefix
from workbench.engine.language.calendar import MONTH_NAMES, MONTHS, WEEKDAYS
from workbench.engine.patterns import lazy_pattern
from workbench.engine.search.chunks import PERSON, Statistics
from workbench.engine.search.ranking.candidates import Candidates, CandidateUnit, units_in
from workbench.engine.search.ranking.question import Question, SearchOptions, named_voices
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray


K = TypeVar("K")
_NOTHING: frozenset[str] = frozenset()
# BM25's usual saturation and length normalisation.
_K1, _B = 1.2, 0.75
# Text in one of these belongs to its title.
_SMALL_STORES = frozenset(("core", "episodic", "semantic", "procedural"))
# Chinese one-character words that mean little by themselves.
_FUNCTION_CHARACTERS = frozenset(
    "的了是在我你他她它们們吗嗎呢吧啊呀和與与跟什么麼怎样樣哪谁誰几幾多少过過着著把被给給用会會要就都也还還很"
    "有没沒这這那个個为為到从從对對"
)
_WORDS = 1.0
_NEAR_WORDS = 1.0
# Two words side by side in the question are close together in what answers it, at most this many terms apart.
_PAIRS = 1.0
_CLOSE = 3
_WORDS_OF_CHUNK = 2.0
_WORDS_OF_MEMORY = 1.0
_MEANING = 4.0
# Without vectors, words stand in for meaning.
_WORDS_ALONE = 1.5
# What another said before often asks what this line answers.
_BEFORE = 1.0
# A message says in its first sentences what it is about. Of the best units, those of their message are read, and the
# nearest to the question has this share in the unit's meaning.
_OF_OPENING = 0.5
_OPENINGS_READ = 20
_SENTENCES_READ = 3
_LEAST_CHARACTERS = 20
_BETWEEN_SENTENCES = lazy_pattern(r"(?<=[.!?。！？])\s+|\n+")
_CODE = lazy_pattern(r"(?:[#@<`]|//)|.*(?:[;:,=(){}\[\]]|=\s*\S+)$")
# A person asked about is mostly the speaker.
_OWN_VOICE = 3.5
_ASKING = -1.0
_TELLS_TIME = 1.6
IN_PERIOD = 3.0
# If nothing else is asked, words and meaning must not outweigh the days.
_DAYS_ALONE = 9.0
_GRAPH = 2.0
_RECENT = 1.0
_LANES = ("words", "near", "pairs", "chunk", "memory")
_NUDGES = ("primary", "voice", "asking", "time", "period", "days", "graph", "recent")
# Per e-fold of length, when results fill a budget.
_LENGTH = -0.8
_PERIOD_FADE_DAYS = 7.0
_PRIMARY = 1.0
_LOOKED_AT = 10
_NEAREST = 5
# For another speaker's words, if the question asks for somebody's.
_OTHER_VOICE = 0.5
# Above this mean cosine of the best five, the answer is there (same for the static table and MiniLM).
_NEAR_COSINE = 0.7


def inverse_frequency(statistics: Statistics, term: str) -> float:
    """Return the inverse document frequency of a term (as in BM25, never negative)."""
    count = min(statistics.frequencies.get(term if not is_prefix(term) else f"{term}*", 0), statistics.chunks)
    return math.log(1 + (statistics.chunks - count + 0.5) / (count + 0.5))


def words_of_runs(terms: Sequence[str], statistics: Statistics) -> list[str]:
    """Drop pairs of characters that only straddle two words of a question.

    A run of Chinese or similar script is queried by all its character pairs. A pair that occurs nowhere is not a
    missing word if each of its characters belongs to a pair that does occur, or is a function word.

    Args:
        statistics: Their frequencies in the index.
    """
    held = {term for term in terms if statistics.frequencies.get(term, 0)}
    covered = _FUNCTION_CHARACTERS.union(*(term for term in held if is_pair(term)))
    left = [term for term in terms if term in held or not is_pair(term) or not covered.issuperset(term)]
    return left or list(terms)


def score_words(
    units: Sequence[CandidateUnit],
    idf: Mapping[str, float],
    near: Mapping[str, float],
    called: Mapping[str, Collection[str]],
) -> None:
    """Set the word signals of units, each at least 0.

    `exact` is the summed idf of the question's terms in the unit; `words` is BM25 by unit length, ignoring repetitions;
    `near` also counts near words; `pairs` is the summed idf, of each pair the lower, of neighbouring terms of the
    question that stand close together; `chunk` and `memory` are `near` of the whole chunk and of the memory's
    candidates.

    Args:
        idf: Weight of each term of the question.
        near: Weight of each near word.
        called: Terms by which the question calls an entity, by its id; it holds them as it does its title.
    """
    weights = {**near, **idf}
    pairs = {frozenset(pair): min(map(idf.__getitem__, pair)) for pair in pairwise(idf)}
    wanted = frozenset(weights)
    own: list[frozenset[str]] = []
    lengths: list[int] = []
    of_chunk: dict[int, frozenset[str]] = {}
    of_memory: dict[str, frozenset[str]] = {}
    lengths_of_chunk: dict[int, int] = {}
    lengths_of_memory: dict[str, int] = defaultdict(int)
    prefixes = [term for term in wanted if is_prefix(term)]
    for number, members in groupby(units, key=lambda unit: unit.stored.number):
        alike = list(members)
        chunk = alike[0].stored.chunk
        memory = chunk.memory_id
        title: frozenset[str] = _NOTHING
        if chunk.store in _SMALL_STORES:
            title = wanted & _title_terms(chunk.title, chunk.tags).union(called.get(memory, ()))
        found = []
        for unit in alike:
            held = wanted.intersection(unit.terms)
            if prefixes:
                held |= {term for term in prefixes if any(word.startswith(term) for word in unit.terms)}
            found.append(held | title if title else held)
        counts = [len(unit.terms) for unit in alike]
        own += found
        lengths += counts
        lengths_of_chunk[number] = sum(counts)
        lengths_of_memory[memory] += lengths_of_chunk[number]
        of_chunk[number] = _NOTHING.union(*found)
        of_memory[memory] = of_memory.get(memory, _NOTHING) | of_chunk[number]
    # Exact sums do not depend on the order of a set: equal units stay equal in every run. Many hold the same terms.
    sums: dict[frozenset[str], tuple[float, float, bool]] = {}
    for held in {*own, *of_chunk.values(), *of_memory.values()}:
        exact = math.fsum([idf[term] for term in held if term in idf])
        extra = math.fsum([near[term] for term in held if term not in idf])
        sums[held] = exact, exact + extra, any(map(held.issuperset, pairs))
    totals = {held: math.fsum(map(weights.__getitem__, held)) for held in sums}
    chunk_scores = _by_grain(lengths_of_chunk, of_chunk, totals)
    memory_scores = _by_grain(lengths_of_memory, of_memory, totals)
    for unit, held, factor in zip(units, own, _saturation(lengths), strict=True):
        exact, with_near, holds_pair = sums[held]
        unit.signals = {
            "exact": exact,
            "words": factor * exact,
            "near": factor * with_near,
            "pairs": _pairs_held(unit.terms, idf, pairs) if holds_pair else 0.0,
            "chunk": chunk_scores[unit.stored.number],
            "memory": memory_scores[unit.stored.chunk.memory_id],
        }


def _by_grain(
    lengths: Mapping[K, int], held: Mapping[K, frozenset[str]], totals: Mapping[frozenset[str], float]
) -> dict[K, float]:
    """Return BM25 of chunks or memories, by what identifies them."""
    factors = _saturation(list(lengths.values()))
    return {key: factor * totals[held[key]] for key, factor in zip(lengths, factors, strict=True)}


def _pairs_held(
    terms: Sequence[str], idf: Mapping[str, float], pairs: Mapping[frozenset[str], float]
) -> float:
    places = [(at, term) for at, term in enumerate(terms) if term in idf]
    close = {frozenset((one, other)) for (at, one), (then, other) in pairwise(places) if then - at <= _CLOSE}
    return math.fsum(map(pairs.__getitem__, close & pairs.keys()))


@lru_cache(maxsize=4096)
def _title_terms(title: str, tags: tuple[str, ...]) -> frozenset[str]:
    return frozenset(index_terms(f"{title} {' '.join(tags)}"))


def _saturation(lengths: Sequence[int]) -> list[float]:
    average = sum(lengths) / len(lengths) if lengths else 1.0
    return [(_K1 + 1) / (1 + _K1 * (1 - _B + _B * length / (average or 1.0))) for length in lengths]


# Terms that express a time, as in the index.
_TIME_TERMS = frozenset(
    term
    for term in index_terms(
        "yesterday today tomorrow tonight ago last next week weekend month year since recently just "
        + " ".join((*MONTH_NAMES, *(name for name in MONTHS if not name.isascii()), *WEEKDAYS))
        + " 昨天 今天 明天 前天 后天 後天 上周 上週 下周 下週"
        " 这周 這週 本周 本週 上月 下月 本月 去年 今年 明年 前年 月底 年底 刚才 剛才"
    )
    if len(term) > 1
).union(map(str, range(1900, 2100)))


# How something is done, and what always holds, cannot say when something was.
_TIMELESS_STORES = frozenset(("procedural", "core"))
# Where a strategy looks first (design document §11.1).
_PRIMARY_STORES = {
    "when": frozenset(("episodic",)),
    "about": frozenset(("semantic",)),
    "how": frozenset(("procedural",)),
    "latest": frozenset(("episodic", "core")),
}


@dataclass(frozen=True)
class Scored:
    """Result of scoring.

    Args:
        idf: Weight of each of the question's terms, without names of speakers asked about.
        voices: Preferred speakers.
        is_answered_by_days: Whether the question asks for anything of some days, and there is something.
    """

    units: list[CandidateUnit]
    idf: Mapping[str, float]
    voices: frozenset[str]
    is_answered_by_days: bool


def score(
    question: Question,
    candidates: Candidates,
    near: Mapping[str, float],
    options: SearchOptions,
    embed: Callable[[Sequence[str]], FloatArray] | None = None,
) -> Scored:
    """Score every unit of the candidates.

    Args:
        near: Terms near the question's, with similarity 0–1.
        options: Fusion, and whether a budget is to be filled.
        embed: Makes vectors of a hundred sentences at once, of length 1 or zeros; None where that takes long.
    """
    units = [unit for stored in candidates.chunks for unit in units_in(stored)]
    voices, names = _voices(question, units)
    telling = [term for term in question.terms if term not in names] or list(question.terms)
    telling = words_of_runs(telling, candidates.statistics)
    idf = {term: inverse_frequency(candidates.statistics, term) for term in telling}
    near_idf = {
        term: nearness * inverse_frequency(candidates.statistics, term)
        for term, nearness in near.items()
        if term not in idf
    }
    called = {memory: reached.called for memory, reached in candidates.graph.items() if reached.called}
    score_words(units, idf, near_idf, called)
    _meaning(units, candidates)
    if options.fusion == "weighted-sum":
        _weighted_sum(units, candidates, options)
    else:
        _two_grain(units, question, candidates, voices, has_budget=options.budget is not None)
        if embed is not None and candidates.vector is not None:
            _read_openings(units, candidates.vector, embed)
    units.sort(key=lambda unit: (-unit.points, unit.stored.chunk.path, unit.start_line))
    return Scored(units, idf, voices, _answers_by_days(question, candidates))


def _answers_by_days(question: Question, candidates: Candidates) -> bool:
    period = question.period
    if period is None or not question.wants_whatever:
        return False
    days = (stored.chunk.day for stored in candidates.chunks)
    return any(day is not None and period.distance(day) == 0 for day in days)


def _voices(question: Question, units: Iterable[CandidateUnit]) -> tuple[frozenset[str], set[str]]:
    """Return the speakers the question is about, and the terms of their names."""
    speakers = {unit.shape.speaker for unit in units if unit.shape.speaker}
    named = named_voices(question, speakers)
    if named:
        return named, {term for speaker in named for term in index_terms(speaker)}
    return question.voices & speakers, set()


def _meaning(units: Sequence[CandidateUnit], candidates: Candidates) -> None:
    """Set `meaning`, the cosine to the question, of units with a vector."""
    if candidates.vector is None:
        return
    import numpy as np

    rows: list[FloatArray] = []
    owners: list[CandidateUnit] = []
    at: CandidateUnit
    for unit in units:
        vectors, whole = unit.stored.unit_vectors, unit.stored.vector
        if vectors is not None and unit.place < len(vectors):
            rows.append(vectors[unit.place])
        elif whole is not None:
            rows.append(whole)
        else:
            continue
        owners.append(unit)
    if not rows:
        return
    vectors = np.concatenate(rows).reshape(len(rows), -1)
    cosines = np.einsum("ij,j->i", vectors, candidates.vector).tolist()
    for at, cosine in zip(owners, cosines, strict=True):
        at.signals["meaning"] = cosine


def _two_grain(
    units: Sequence[CandidateUnit],
    question: Question,
    candidates: Candidates,
    voices: frozenset[str],
    *,
    has_budget: bool,
) -> None:
    import numpy as np

    if not units:
        return
    told = [unit.signals for unit in units]
    lanes = np.array([(*map(signals.__getitem__, _LANES), signals.get("meaning", 0.0)) for signals in told]).T
    best = np.maximum(lanes.max(axis=1), 0.0)
    words, near, pairs, of_chunk, of_memory, meaning = np.maximum(lanes, 0.0) * np.divide(
        1, best, out=np.zeros_like(best), where=best > 0
    ).reshape(-1, 1)
    has_meaning = bool(best[-1] > 0)
    points = _MEANING * meaning + (1.0 if has_meaning else _WORDS_ALONE) * (
        _WORDS * words
        + _NEAR_WORDS * near
        + _PAIRS * pairs
        + _WORDS_OF_CHUNK * of_chunk
        + _WORDS_OF_MEMORY * of_memory
    )
    answers = np.array(
        [
            at
            for at, (before, unit) in enumerate(pairwise(units), 1)
            if before.stored is unit.stored and before.shape.speaker != unit.shape.speaker
        ],
        np.intp,
    )
    points[answers] += _BEFORE * (near + (meaning if has_meaning else near))[answers - 1]
    recency = _recency(units) if question.strategy == "latest" else {}
    primary = _PRIMARY_STORES.get(question.strategy, frozenset())
    for unit, own in zip(units, points.tolist(), strict=True):
        signals, chunk, shape = unit.signals, unit.stored.chunk, unit.shape
        nudges = len(signals)
        if voices and (shape.speaker in voices or (question.wants_advice and chunk.store == "core")):
            signals["voice"] = _OWN_VOICE
        # What a person asks of an agent tells what it is about.
        if shape.asking and shape.speaker not in PERSON:
            signals["asking"] = _ASKING * shape.asking
        if question.wants_times and tells_time(unit):
            signals["time"] = _TELLS_TIME
        # What always holds is not the latest, unless it tells when.
        if chunk.store in primary and not (question.strategy == "latest" and is_timeless(unit)):
            signals["primary"] = _PRIMARY
        if question.period is not None and chunk.day is not None:
            distance = question.period.distance(chunk.day)
            signals["period"] = IN_PERIOD * _nearness(distance)
            if question.wants_whatever and distance == 0:
                signals["days"] = _DAYS_ALONE
        reached = candidates.graph.get(chunk.memory_id)
        if reached is not None:
            signals["graph"] = _GRAPH * reached.strength
        if recency and chunk.day is not None:
            signals["recent"] = _RECENT * recency[chunk.day]
        if len(signals) > nudges:
            for nudge in _NUDGES:
                own += signals.get(nudge, 0.0)
        if has_budget:
            own += _LENGTH * math.log(len(shape.spoken) + 20)
        unit.points = own


def _read_openings(
    units: Sequence[CandidateUnit], vector: FloatArray, embed: Callable[[Sequence[str]], FloatArray]
) -> None:
    """Raise the points of the best units by how near the opening of their message is to the question.

    Code after it hides what a message is about, and a rest without it does not tell.

    Args:
        units: Those of a chunk in order.
    """
    scale = max((unit.signals.get("meaning", 0.0) for unit in units), default=0.0)
    if scale <= 0:
        return
    best = {_message(unit) for unit in nlargest(_OPENINGS_READ, units, key=lambda unit: unit.points)}
    messages: dict[tuple[int, int], list[CandidateUnit]] = defaultdict(list)
    for unit in units:
        message = _message(unit)
        if message in best:
            messages[message].append(unit)
    sentences: list[str] = []
    opened: list[tuple[list[CandidateUnit], int, int]] = []
    for members in messages.values():
        start = len(sentences)
        said = chain.from_iterable(opening_of(unit.shape.spoken) for unit in members)
        sentences += islice(said, _SENTENCES_READ)
        if len(sentences) > start:
            opened.append((members, start, len(sentences)))
    cosines: list[float] = (embed(sentences) * vector).sum(axis=1).tolist() if sentences else []
    for members, start, end in opened:
        nearest = max(cosines[start:end])
        for unit in members:
            meaning = max(0.0, unit.signals.get("meaning", nearest))
            unit.points += _MEANING * _OF_OPENING * (nearest - meaning) / scale


def _message(unit: CandidateUnit) -> tuple[int, int]:
    """Return what identifies the message that a unit is or is part of."""
    return unit.stored.number, -1 if unit.shape.is_part else unit.place


@lru_cache(maxsize=4096)
def opening_of(text: str) -> tuple[str, ...]:
    """Return the first sentences of a text that are no code and not too short to tell anything."""
    said = (sentence.strip() for sentence in _BETWEEN_SENTENCES.split(text))
    telling = (each for each in said if len(each) >= _LEAST_CHARACTERS and not _CODE.match(each))
    return tuple(islice(telling, _SENTENCES_READ))


def tells_time(unit: CandidateUnit) -> bool:
    """Return whether a unit's words express a time."""
    return not _TIME_TERMS.isdisjoint(unit.words)


def is_timeless(unit: CandidateUnit) -> bool:
    """Return whether a unit has no time and names none."""
    return unit.stored.chunk.store in _TIMELESS_STORES and not tells_time(unit)


def _nearness(days: int) -> float:
    """Return 1 within a period, less after it, half of that before it: events are told afterwards."""
    return math.exp(-(days if days >= 0 else -2 * days) / _PERIOD_FADE_DAYS)


def _recency(units: Iterable[CandidateUnit]) -> dict[object, float]:
    """Return the relative newness of each day among the candidates, 0–1."""
    days = sorted({unit.stored.chunk.day for unit in units if unit.stored.chunk.day is not None})
    return {day: place / max(1, len(days) - 1) for place, day in enumerate(days)}


def _weighted_sum(units: Sequence[CandidateUnit], candidates: Candidates, options: SearchOptions) -> None:
    """Score by `vectorWeight × cosine + textWeight × BM25 / (1 + BM25)`, so that a better match scores higher."""
    for unit in units:
        bm25 = max(0.0, candidates.bm25.get(unit.stored.number, 0.0))
        unit.points = (
            options.vector_weight * max(0.0, unit.signals.get("meaning", 0.0))
            + options.text_weight * bm25 / (1 + bm25)
            + 1e-3 * unit.signals["words"]
        )


def result_confidence(scored: Scored) -> float:
    """Return how much of the question the best results cover, 0–1.

    Takes the largest share of the question's term weight in one of the best ten units, halved for the wrong speaker;
    with vectors, averaged with the closeness in meaning of the best five. If the question only asks for anything of
    some days, having something is enough.
    """
    best = scored.units[:_LOOKED_AT]
    if not best:
        return 0.0
    if scored.is_answered_by_days:
        return 1.0
    total = sum(scored.idf.values())
    held = max(_held(unit, scored) for unit in best) / total if total else 0.0
    cosines = _cosines(best[:_NEAREST])
    if not cosines:
        return min(1.0, held)
    nearness = max(0.0, sum(cosines) / len(cosines)) / _NEAR_COSINE
    return min(1.0, (held + min(1.0, nearness)) / 2)


def _held(unit: CandidateUnit, scored: Scored) -> float:
    is_other = bool(scored.voices) and unit.shape.speaker not in scored.voices
    return unit.signals["exact"] * (_OTHER_VOICE if is_other else 1.0)


def _cosines(units: Sequence[CandidateUnit]) -> list[float]:
    return [unit.signals["meaning"] for unit in units if "meaning" in unit.signals]
