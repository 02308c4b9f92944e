"""Answers a question from the index: candidates, scores, order, selection and explanation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from workbench.engine.catalog.terms import query_terms
from workbench.engine.results.memories import Score
from workbench.engine.results.recall import Cut, Explanation, Found, Hit, Lane, Signals, WhyNot
from workbench.engine.search.chunks import ChunkSource, Within
from workbench.engine.search.ranking.candidates import (
    Candidates,
    CandidateUnit,
    GraphLane,
    ReachedMemory,
    gather,
)
from workbench.engine.search.ranking.question import (
    NearWords,
    PhraseMatch,
    Question,
    SearchOptions,
    builtin_near_words,
    read_question,
)
from workbench.engine.search.ranking.scoring import (
    IN_PERIOD,
    Scored,
    is_likely_absent,
    result_confidence,
    score,
)
from workbench.engine.search.ranking.selection import (
    Passage,
    Ranked,
    after_successors,
    decay_factor,
    is_hidden,
    newest_first,
    select,
)
from workbench.engine.search.stemming import stem

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray


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
# Only this many of the best units are examined further.
_PLACED = 240


def ranks_of(units: Sequence[CandidateUnit]) -> dict[str, dict[int, int]]:
    """Return the rank of each unit in each lane, from 1, by lane and the unit's identity."""
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
    """Return why a unit has its rank."""
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
    """Return a sentence on what kept a memory out, or that nothing did."""
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


ScoresOf = Callable[[Sequence[str]], Mapping[str, Score | None]]


class Search:
    """One search, from question to answer.

    A result's score, 0–1, is the confidence that the question is covered (`result_confidence`), times its
    strength relative
    to the best result, times at least 0.85 depending on the decay of its memory. Scores fall down the list,
    except where a
    newer statement moves ahead of an older one.

    Args:
        query: Any text; not a query language.
        source: One state of the index.
        options: Limits, filters, fusion.
        now: The current time in the workspace's zone, base of “yesterday”.
        embed_query: Makes the question's vector, of length 1 or zeros; None searches by keywords only.
        graph: Graph lane, or None.
        scores_of: Returns relevance scores of memories by id; None for those without one.
        near_words: Adds near words to the question's; by default the bundled table if there is an embedder.
    """

    def __init__(
        self,
        query: str,
        source: ChunkSource,
        *,
        options: SearchOptions,
        now: datetime,
        embed_query: Callable[[str], FloatArray] | None,
        graph: GraphLane | None,
        scores_of: ScoresOf,
        near_words: NearWords | None = None,
    ) -> None:
        self.source = source
        self.options = options
        self.scores_of = scores_of
        self.scores: dict[str, Score | None] = {}
        self.question: Question = read_question(
            query,
            now.date(),
            lambda period: bool(source.by_day(period.first, period.last, 1, options.within)),
        )
        self.exactly = PhraseMatch(self.question.text)
        has_words = bool(self.question.terms)
        self.embed_query = embed_query
        self.graph: Mapping[str, ReachedMemory] = (
            graph.reach(self.question.text) if graph and has_words else {}
        )
        if near_words is None and embed_query is not None:
            near_words = builtin_near_words()
        self.near = near_words.near(self.question.text) if near_words and has_words else {}

    def found(self) -> Found:
        """Answer the question.

        Returns:
            Results best first; the caller adds backend, time taken and staleness.
        """
        ranked, candidates, scored, belief = self.ranked(())
        selected = select(ranked, self.options, scored.idf.keys() | self.near.keys())
        ranks = ranks_of(scored.units) if self.options.explain else {}
        hits = tuple(
            self._hit(place, passage, candidates, scored, ranks) for place, passage in selected.chosen
        )
        period = self.question.period
        return Found(
            hits,
            "none",
            None,
            None,
            not hits or is_likely_absent(belief, scored),
            0.0,
            strategy=self.question.strategy,
            period=(period.first.isoformat(), period.last.isoformat()) if period else None,
            cuts=tuple(selected.cuts),
        )

    def ranked(self, also: Sequence[int]) -> tuple[list[Ranked], Candidates, Scored, float]:
        """Return every unit of the candidates in its final order."""
        candidates = self._candidates(also)
        scored = score(self.question, candidates, self.near, self.options)
        belief = result_confidence(scored)
        placed = self._placed(scored, belief, also)
        return placed, candidates, scored, belief

    def why_not(self, memory_id: str) -> WhyNot:
        """Explain a memory's rank or absence.

        Args:
            memory_id: As in the index; unknown ids get an answer too.
        """
        options = replace(self.options, explain=True)
        within = options.within
        numbers = self.source.by_memory([memory_id], within)
        if not numbers:
            return reason_of(memory_id, exists=bool(self.source.by_memory([memory_id], Within())))
        ranked, candidates, scored, _ = self.ranked(numbers)
        selected = select(ranked, options, scored.idf.keys() | self.near.keys())
        own = next((place for place in ranked if place.unit.stored.chunk.memory_id == memory_id), None)
        assert own is not None, "its chunks are among the candidates"
        rank = next(
            (
                at
                for at, (place, _) in enumerate(selected.chosen, 1)
                if place.unit.stored.chunk.memory_id == memory_id
            ),
            None,
        )
        cut = next((cut for cut in selected.cuts if cut.id == memory_id), None)
        explanation = explanation_of(own, candidates, scored, ranks_of(scored.units), self.question)
        return reason_of(memory_id, exists=True, rank=rank, cut=cut, explanation=explanation)

    def _candidates(self, also: Sequence[int]) -> Candidates:
        gathered = gather(
            self.question,
            self.source,
            self.options,
            self.embed_query,
            self.graph,
            list(self.near),
            self._hidden_among,
            also=also,
        )
        successors = {
            name
            for stored in gathered.chunks
            if stored.chunk.is_retired and stored.chunk.superseded_by
            for name in (stored.chunk.superseded_by, stored.chunk.memory_id.partition("#")[0])
        }
        known = {stored.number for stored in gathered.chunks}
        missing = (
            [n for n in self.source.by_memory(sorted(successors), self.options.within) if n not in known]
            if successors
            else []
        )
        if not missing:
            return gathered
        return replace(gathered, chunks=(*gathered.chunks, *self.source.read(missing)))

    def _know(self, memory_ids: Iterable[str]) -> None:
        """Fetch the scores of memories not fetched yet."""
        if unknown := sorted({memory_id for memory_id in memory_ids if memory_id not in self.scores}):
            self.scores.update(self.scores_of(unknown))

    def _hidden_among(self, owners: Mapping[int, str]) -> Collection[int]:
        """Return the chunks whose memory is hidden."""
        self._know(owners.values())
        hidden = {
            memory_id for memory_id in set(owners.values()) if is_hidden(self.scores[memory_id], self.options)
        }
        return {number for number, memory_id in owners.items() if memory_id in hidden}

    def _placed(self, scored: Scored, belief: float, also: Collection[int]) -> list[Ranked]:
        """Return units with their final scores, in their final order."""
        if not scored.units:
            return []
        lowest = min(0.0, scored.units[-1].points)
        units = [unit for at, unit in enumerate(scored.units) if at < _PLACED or unit.stored.number in also]
        spread = (units[0].points - lowest) or 1.0
        self._know({unit.stored.chunk.memory_id for unit in units})
        placed = []
        for unit in units:
            memory_id = unit.stored.chunk.memory_id
            relevance = belief * (unit.points - lowest) / spread
            own = self.scores[memory_id]
            factor = decay_factor(own)
            placed.append(
                Ranked(
                    unit,
                    relevance,
                    relevance * (1.0 if factor is None else factor),
                    own,
                    own is not None
                    and own.status == "dormant"
                    and self.exactly.is_in(unit.stored.chunk.text),
                )
            )
        placed.sort(key=lambda place: -place.score)
        by_unit = {id(place.unit): place for place in placed}
        ordered = [place.unit for place in placed]
        moved = newest_first(ordered, self.question, scored.idf)
        nudges = {id(ordered[at]): sentence for at, sentence in moved.items() if sentence}
        final = after_successors([ordered[at] for at in moved])
        return [
            replace(by_unit[id(unit)], nudges=(nudges[id(unit)],))
            if id(unit) in nudges
            else by_unit[id(unit)]
            for unit in final
        ]

    def _hit(
        self,
        place: Ranked,
        passage: Passage,
        candidates: Candidates,
        scored: Scored,
        ranks: Mapping[str, Mapping[int, int]],
    ) -> Hit:
        chunk = place.unit.stored.chunk
        own = place.memory_score
        return Hit(
            id=chunk.memory_id,
            path=chunk.path,
            start_line=passage.start_line,
            end_line=passage.end_line,
            snippet=passage.snippet,
            score=round(place.score, 4),
            store=chunk.store,
            status=own.status if own else None,
            signals=_signals(place.unit, scored, candidates, own),
            title=chunk.title,
            date=chunk.day.isoformat() if chunk.day else None,
            explanation=explanation_of(place, candidates, scored, ranks, self.question)
            if self.options.explain
            else None,
            superseded_by=chunk.superseded_by,
        )


def _signals(unit: CandidateUnit, scored: Scored, candidates: Candidates, own: Score | None) -> Signals:
    total = sum(scored.idf.values())
    meaning = unit.signals.get("meaning")
    reached = candidates.graph.get(unit.stored.chunk.memory_id)
    return Signals(
        vector=None if meaning is None else round(max(0.0, min(1.0, meaning)), 4),
        text=round(unit.signals["exact"] / total, 4) if total and unit.signals["exact"] else None,
        graph=reached.strength if reached else None,
        decay=own.value if own else None,
    )
