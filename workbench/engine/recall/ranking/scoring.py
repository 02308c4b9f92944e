"""Scores the units of candidate chunks at three grains: the unit, its chunk, and the memory both stand in.

Each lane is scaled by the best it found for the question, so that lanes compare whatever their raw scores mean; the
weights were chosen on conversations of two kinds (turns of a line, long messages) and matter little by themselves:
halving or doubling one moves recall by about a point. What matters is that each of these is there at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine.recall.ranking.candidates import Candidates
from workbench.engine.recall.ranking.named_voices import named_voices
from workbench.engine.recall.ranking.options import Options
from workbench.engine.recall.ranking.question import Question
from workbench.engine.recall.ranking.unit import Unit, units_in
from workbench.engine.recall.ranking.words import inverse_frequency, score_words, words_of_runs
from workbench.engine.recall.stemming import index_terms

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.model import FloatArray

_WORDS = 1.0
_NEAR_WORDS = 1.0
_WORDS_OF_CHUNK = 2.0
_WORDS_OF_MEMORY = 1.0
_MEANING = 4.0
# Without meaning, words speak for it too.
_WORDS_ALONE = 1.5
# What is said right before often asks what is said here.
_BEFORE = 1.0
# Who is asked about mostly says it himself.
_OWN_VOICE = 3.5
_ASKING = -1.0
_TELLS_TIME = 1.6
IN_PERIOD = 3.0
# Where nothing else is asked for, words and meaning must not count against the days.
_DAYS_ALONE = 9.0
_GRAPH = 2.0
_RECENT = 1.0
_NUDGES = frozenset(("primary", "voice", "asking", "time", "period", "days", "graph", "recent"))
# Per e-fold of length, where results are to fill a budget.
_LENGTH = -0.8
_PERIOD_FADE_DAYS = 7.0

# Terms that tell a time, as they stand in the index.
_TIME_TERMS = frozenset(
    term
    for term in index_terms(
        "yesterday today tomorrow tonight ago last next week weekend month year since recently just"
        " monday tuesday wednesday thursday friday saturday sunday"
        " january february march april may june july august september october november december"
        " 昨天 今天 明天 前天 后天 後天 上周 上週 下周 下週"
        " 这周 這週 本周 本週 上月 下月 本月 去年 今年 明年 前年 月底 年底 刚才 剛才"
    )
    if len(term) > 1
).union(map(str, range(1900, 2100)))


# Where a strategy looks first (design document section 11.1).
_PRIMARY_STORES = {
    "when": frozenset(("episodic",)),
    "about": frozenset(("semantic",)),
    "how": frozenset(("procedural",)),
    "latest": frozenset(("episodic", "core")),
}
_PRIMARY = 1.0


@dataclass(frozen=True)
class Scored:
    """What scoring found.

    Args:
        units: Best first.
        idf: What each of the question's terms tells; names of speakers that were asked about are not among them.
        voices: Whose words were preferred.
        is_answered_by_days: Whether the question asks for whatever there is of some days, and there is something.
    """

    units: list[Unit]
    idf: Mapping[str, float]
    voices: frozenset[str]
    is_answered_by_days: bool = False


def score(question: Question, candidates: Candidates, near: Mapping[str, float], options: Options) -> Scored:
    """Score every unit of the candidates.

    Args:
        question: What was asked.
        candidates: The chunks the lanes found.
        near: Terms near the question's in meaning, with how near, 0–1.
        options: Which fusion, and whether a budget is to be filled.
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
    score_words(units, idf, near_idf)
    _meaning(units, candidates)
    if options.fusion == "weighted-sum":
        _weighted_sum(units, candidates, options)
    else:
        _two_grain(units, question, candidates, voices, has_budget=options.budget is not None)
    units.sort(key=lambda unit: (-unit.points, unit.stored.chunk.path, unit.start_line))
    return Scored(units, idf, voices, _answers_by_days(question, candidates))


def _answers_by_days(question: Question, candidates: Candidates) -> bool:
    period = question.period
    if period is None or not question.wants_whatever:
        return False
    days = (stored.chunk.day for stored in candidates.chunks)
    return any(day is not None and period.distance(day) == 0 for day in days)


def _voices(question: Question, units: Iterable[Unit]) -> tuple[frozenset[str], set[str]]:
    """Return the speakers that the question is about, and the terms of their names."""
    speakers = {unit.shape.speaker for unit in units if unit.shape.speaker}
    named = named_voices(question, speakers)
    if named:
        return named, {term for speaker in named for term in index_terms(speaker)}
    return question.voices & speakers, set()


def _meaning(units: Sequence[Unit], candidates: Candidates) -> None:
    """Set `meaning`, the cosine to the question, of the units that have a vector."""
    if candidates.vector is None:
        return
    import numpy as np

    rows: list[FloatArray] = []
    owners: list[Unit] = []
    at: Unit
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
    cosines = np.einsum("ij,j->i", np.stack(rows), candidates.vector).tolist()
    for at, cosine in zip(owners, cosines, strict=True):
        at.signals["meaning"] = cosine


def _two_grain(
    units: Sequence[Unit],
    question: Question,
    candidates: Candidates,
    voices: frozenset[str],
    *,
    has_budget: bool,
) -> None:
    scales = {
        lane: 1 / best
        if (best := max((unit.signals.get(lane, 0.0) for unit in units), default=0.0)) > 0
        else 0.0
        for lane in ("words", "near", "chunk", "memory", "meaning")
    }
    of_words = 1.0 if scales["meaning"] else _WORDS_ALONE
    recency = _recency(units) if question.strategy == "latest" else {}
    primary = _PRIMARY_STORES.get(question.strategy, frozenset())
    before: Unit | None = None
    carried = 0.0
    for unit in units:
        signals = unit.signals
        near = signals["near"] * scales["near"]
        meaning = max(0.0, signals.get("meaning", 0.0)) * scales["meaning"]
        points = _MEANING * meaning + of_words * (
            _WORDS * signals["words"] * scales["words"]
            + _NEAR_WORDS * near
            + _WORDS_OF_CHUNK * signals["chunk"] * scales["chunk"]
            + _WORDS_OF_MEMORY * signals["memory"] * scales["memory"]
        )
        if before is not None and before.stored is unit.stored:
            points += _BEFORE * carried
        carried, before = near + (meaning if scales["meaning"] else near), unit
        if voices and unit.shape.speaker in voices:
            signals["voice"] = _OWN_VOICE
        if unit.shape.asking:
            signals["asking"] = _ASKING * unit.shape.asking
        if question.wants_times and not _TIME_TERMS.isdisjoint(unit.words):
            signals["time"] = _TELLS_TIME
        chunk = unit.stored.chunk
        if chunk.store in primary:
            signals["primary"] = _PRIMARY
        if question.period is not None and chunk.day is not None:
            distance = question.period.distance(chunk.day)
            signals["period"] = IN_PERIOD * _nearness(distance)
            if question.wants_whatever and distance == 0:
                signals["days"] = _DAYS_ALONE
        reached = candidates.graph.get(chunk.memory_id)
        if reached is not None:
            signals["graph"] = _GRAPH * reached.strength
        if chunk.day is not None and recency:
            signals["recent"] = _RECENT * recency[chunk.day]
        for nudge in _NUDGES & signals.keys():
            points += signals[nudge]
        if has_budget:
            points += _LENGTH * math.log(len(unit.shape.spoken) + 20)
        unit.points = points


def _nearness(days: int) -> float:
    """Return 1 within a period, less after it, half as far before it: what happened is told afterwards."""
    return math.exp(-(days if days >= 0 else -2 * days) / _PERIOD_FADE_DAYS)


def _recency(units: Iterable[Unit]) -> dict[object, float]:
    """Return for each day among the candidates how new it is among them, 0–1."""
    days = sorted({unit.stored.chunk.day for unit in units if unit.stored.chunk.day is not None})
    return {day: place / max(1, len(days) - 1) for place, day in enumerate(days)}


def _weighted_sum(units: Sequence[Unit], candidates: Candidates, options: Options) -> None:
    """Score by `vectorWeight × cosine + textWeight × BM25 / (1 + BM25)`: a better match scores higher."""
    for unit in units:
        place = candidates.places.get(unit.stored.number)
        bm25 = max(0.0, place.keywords[1]) if place is not None and place.keywords is not None else 0.0
        unit.points = (
            options.vector_weight * max(0.0, unit.signals.get("meaning", 0.0))
            + options.text_weight * bm25 / (1 + bm25)
            + 1e-3 * unit.signals["words"]
        )
