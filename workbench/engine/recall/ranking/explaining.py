"""Says why a result stands where it does, and why a memory did not come up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.engine.catalog.terms import query_terms
from workbench.engine.recall.ranking.candidates import Candidates
from workbench.engine.recall.ranking.question import Question
from workbench.engine.recall.ranking.scoring import IN_PERIOD, Scored
from workbench.engine.recall.ranking.selecting import Ranked
from workbench.engine.recall.ranking.unit import Unit
from workbench.engine.recall.stemming import stem
from workbench.engine.results.recall import Cut, Explanation, Lane, WhyNot

_LANES = {"keywords": "exact", "meaning": "meaning"}
_SENTENCES = {
    "primary": "It stands where questions of this kind are answered first.",
    "voice": "Said by whom the question is about.",
    "asking": "Lowered for being a question itself.",
    "time": "It names a time, and the question asks for one.",
    "days": "The question asks for whatever there is of these days.",
    "recent": "Raised for being new: the question asks for the latest.",
}
_REMEDIES = {
    "archived": "Restore it.",
    "dormant": "Search dormant memories too, or quote it word for word.",
    "near-duplicate": "Look at the result that says the same.",
    "below-minimum": "Lower the minimum score.",
    "over-budget": "Raise the budget.",
    "over-limit": "Ask for more results.",
}


def ranks_of(units: Sequence[Unit]) -> dict[str, dict[int, int]]:
    """Return the place of each unit in each lane, from 1, by lane and the unit's identity."""
    ranks = {}
    for lane, signal in _LANES.items():
        found = sorted(
            (unit for unit in units if unit.signals.get(signal, 0.0) > 0),
            key=lambda unit: -unit.signals[signal],
        )
        ranks[lane] = {id(unit): place for place, unit in enumerate(found, 1)}
    return ranks


def explanation_of(
    place: Ranked,
    candidates: Candidates,
    scored: Scored,
    ranks: Mapping[str, Mapping[int, int]],
    question: Question,
) -> Explanation:
    """Return why a unit stands where it does."""
    unit = place.unit
    asked = {stem(term): term for term in reversed(query_terms(question.text))}
    matched = [asked.get(term, term) for term in scored.idf if term in unit.words]
    total = sum(scored.idf.values())
    text = unit.signals["exact"] / total if total else 0.0
    meaning = unit.signals.get("meaning")
    lanes = [
        Lane(
            "keywords", ranks["keywords"].get(id(unit)), round(text, 4) if text else None, ", ".join(matched)
        ),
        Lane(
            "meaning",
            ranks["meaning"].get(id(unit)),
            None if meaning is None else round(max(0.0, min(1.0, meaning)), 4),
            "no vector" if meaning is None else f"cosine {meaning:.2f}",
        ),
    ]
    reached = candidates.graph.get(unit.stored.chunk.memory_id)
    if reached is not None:
        order = list(candidates.graph)
        lanes.append(
            Lane("graph", order.index(unit.stored.chunk.memory_id) + 1, reached.strength, reached.way)
        )
    if question.period is not None and "period" in unit.signals:
        days = f"{question.period.first.isoformat()} to {question.period.last.isoformat()}"
        lanes.append(Lane("dates", None, round(unit.signals["period"] / IN_PERIOD, 4), days))
    nudges = tuple(sentence for signal, sentence in _SENTENCES.items() if unit.signals.get(signal))
    factor = place.decay_factor
    return Explanation(
        tuple(lanes),
        round(place.relevance, 4),
        None if factor is None else round(factor, 4),
        (*nudges, *place.nudges),
    )


def reason_of(
    memory_id: str,
    *,
    exists: bool,
    rank: int | None = None,
    cut: Cut | None = None,
    explanation: Explanation | None = None,
) -> WhyNot:
    """Put into a sentence what kept a memory away, or that nothing did."""
    if explanation is None:
        if exists:
            return WhyNot(
                memory_id, None, "The filters of the search leave it out.", "Search without filters."
            )
        return WhyNot(
            memory_id, None, "The index holds no such memory.", "Check the id, or bring the index up to date."
        )
    if rank is not None:
        return WhyNot(memory_id, rank, f"It is result {rank}.", "", explanation)
    if cut is not None:
        return WhyNot(memory_id, None, cut.detail, _REMEDIES.get(cut.reason, ""), explanation)
    if all(lane.rank is None for lane in explanation.lanes):
        reason = "It shares no word with the question, and no other lane leads to it."
        return WhyNot(memory_id, None, reason, "Ask with words that stand in it.", explanation)
    reason = "A better result shows the same lines or memory."
    return WhyNot(memory_id, None, reason, "", explanation)
