"""Answers a question from the index: candidates, scores, order, selection and explanation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from workbench.engine.catalog.terms import query_terms, stem
from workbench.engine.results.memories import Score
from workbench.engine.results.recall import (
    Cut,
    Explanation,
    Faded,
    Found,
    Hit,
    Lane,
    Signals,
    WhyNot,
)
from workbench.engine.search.chunks import ChunksOfToday, ChunkSource, Within
from workbench.engine.search.ranking.approved import (
    Approved,
    CoreTruth,
    FactLookups,
    approved_about,
    places_of,
)
from workbench.engine.search.ranking.candidates import (
    Candidates,
    CandidateUnit,
    MemoryScores,
    ScoresOf,
    gather,
)
from workbench.engine.search.ranking.graph import GraphLane, ReachedMemory
from workbench.engine.search.ranking.question import (
    PhraseMatch,
    Question,
    SearchOptions,
    builtin_near_words,
    read_question,
)
from workbench.engine.search.ranking.scoring import (
    IN_PERIOD,
    Scored,
    is_timeless,
    result_confidence,
    score,
)
from workbench.engine.search.ranking.selection import (
    Passage,
    Ranked,
    Selection,
    agreed_first,
    behind_what_holds,
    decay_factor,
    named_first,
    names_memory,
    newest_first,
    passage_in_context,
    select,
    within_days_first,
)
from workbench.engine.tokens import count_tokens
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray


# More than this share of the graph's strength have only entities that the question means, not their neighbours.
_NEXT = 0.5
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
    "weak": "Give a minimum score; 0 leaves nothing out.",
    "other-days": "Give a minimum score; 0 leaves nothing out.",
    "over-budget": "Raise the budget.",
    "over-limit": "Ask for more results.",
}
# What no longer holds has this share of the score that it would have, so that it stands below what is as relevant; so
# has what cannot tell the time asked for.
_LOWERED = 0.75
_IS_RETIRED = "Lowered: it no longer holds."
_IS_TIMELESS = "Lowered: it names no time, and the question asks for one."
# Only this many of the best units are examined further.
_PLACED = 240
# Faded memories that are shown; the others are counted.
_MOST_FADED = 5


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
        return WhyNot(memory_id, None, reason, "Ask with words that it holds.", explanation)
    reason = "A better result shows the same lines or memory."
    return WhyNot(memory_id, None, reason, "", explanation)


@dataclass(frozen=True)
class SearchQuery:
    """What is asked of an index.

    Args:
        text: Any text; not a query language.
        now: The current time in the workspace's zone, base of “yesterday”.
        scores_of: Returns relevance scores of memories by id; None for those without one.
        facts: Which facts cite what, or None.
        hidden: Ids of facts and relations that were archived by themselves, `entity:person--alex#^f7k2`.
        core: What core memory makes of older lines, or None.
        basis: Another object whenever scores may differ, or None; what is known by it is kept.
    """

    text: str
    options: SearchOptions
    now: datetime
    scores_of: ScoresOf
    graph: GraphLane | None = None
    facts: FactLookups | None = None
    hidden: frozenset[str] = frozenset()
    core: CoreTruth | None = None
    basis: object = None


class Search:
    """One search, from question to answer.

    A result's score, 0–1, is the confidence that the question is covered (`result_confidence`), times its strength
    relative to the best result, times at least 0.85 depending on the decay of its memory. Scores fall down the list,
    except where a newer statement moves ahead of an older one, or what lies within “last week” ahead of what does not.

    Args:
        embed_query: Makes the question's vector, of length 1 or zeros; None searches by keywords only.
        embed_texts: Embeds sentences of the candidates; None with an embedder too slow to do that for each question.
    """

    def __init__(
        self,
        query: SearchQuery,
        source: ChunkSource,
        embed_query: Callable[[str], FloatArray] | None,
        embed_texts: Callable[[Sequence[str]], FloatArray] | None = None,
    ) -> None:
        today = query.now.date()
        self._today = today.isoformat()
        self._facts = query.facts
        self._core = query.core
        self.approved = Approved()
        self.source = ChunksOfToday(source, query.hidden, self._today)
        self.options = options = query.options
        self.scores = MemoryScores(query.scores_of, options, source, query.basis)
        self.question: Question = read_question(
            query.text,
            today,
            lambda period: bool(source.by_day(period.first, period.last, 1, options.within)),
        )
        self.exactly = PhraseMatch(self.question.text)
        has_words = bool(self.question.terms)
        self._lane = query.graph
        self.embed_query = embed_query
        self._embed_texts = embed_texts
        self.graph: Mapping[str, ReachedMemory] = (
            query.graph.reach(self.question.text) if query.graph and has_words else {}
        )
        self.near = builtin_near_words().near(self.question.meant) if embed_query and has_words else {}

    def found(self) -> Found:
        """Answer the question.

        Returns:
            Results best first; the caller adds backend, time taken and staleness.
        """
        ranked, candidates, scored, _ = self.ranked(())
        selected = select(ranked, self.options, scored.idf.keys() | self.near.keys())
        ranks = ranks_of(scored.units) if self.options.explain else {}
        wanted = scored.idf.keys() | self.near.keys()
        faded = [
            (place, passage_in_context(place.unit, wanted)) for place in self._affordable(selected, wanted)
        ]
        hits = self._with_relations(
            [self._hit(*each, candidates, scored, ranks) for each in (*selected.chosen, *faded)]
        )
        period = self.question.period
        shown = len(selected.chosen)
        return Found(
            hits[:shown],
            "none",
            None,
            None,
            None,
            0.0,
            strategy=self.question.strategy,
            period=(period.first.isoformat(), period.last.isoformat()) if period else None,
            cuts=tuple(selected.cuts),
            faded=Faded(len(selected.faded), hits[shown:]),
        )

    def _affordable(self, selected: Selection, wanted: Collection[str]) -> list[Ranked]:
        """Return the faded memories to show: a few, and no more than a budget has left."""
        shown = selected.faded[:_MOST_FADED]
        if self.options.budget is None or not shown:
            return shown
        left = self.options.budget - sum(count_tokens(passage.snippet) for _, passage in selected.chosen)
        affordable = []
        for place in shown:
            left -= count_tokens(passage_in_context(place.unit, wanted).snippet)
            if left < 0:
                break
            affordable.append(place)
        return affordable

    def ranked(self, also: Sequence[int]) -> tuple[list[Ranked], Candidates, Scored, float]:
        """Return every unit of the candidates in its final order."""
        candidates = self._candidates(also)
        scored = score(self.question, candidates, self.near, self.options, self._embed_texts)
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
            self.scores,
            also=also,
        )
        successors = {
            name
            for stored in gathered.chunks
            if stored.chunk.is_retired and stored.chunk.superseded_by
            for name in (stored.chunk.superseded_by, stored.chunk.memory_id.partition("#")[0])
        }
        within = self.options.within
        wanted = self.source.by_memory(sorted(successors), within) if successors else []
        if self._facts is not None:
            self.approved = approved_about(gathered.chunks, self.question.terms, self._facts, self._today)
            wanted += places_of(self.approved.sources(), self.source, within)
        known = {stored.number for stored in gathered.chunks}
        missing = [number for number in dict.fromkeys(wanted) if number not in known]
        if not missing:
            return gathered
        return replace(gathered, chunks=(*gathered.chunks, *self.source.read(missing)))

    def _placed(self, scored: Scored, belief: float, also: Collection[int]) -> list[Ranked]:
        """Return units with their final scores, in their final order."""
        if not scored.units:
            return []
        lowest = min(0.0, scored.units[-1].points)
        units = [unit for at, unit in enumerate(scored.units) if at < _PLACED or unit.stored.number in also]
        spread = (units[0].points - lowest) or 1.0
        scores = self.scores.of({unit.stored.chunk.memory_id for unit in units})
        placed = []
        for unit in units:
            relevance = belief * (unit.points - lowest) / spread
            own = scores[unit.stored.chunk.memory_id]
            factor = decay_factor(own)
            lowered = [_IS_RETIRED] if unit.stored.chunk.is_retired else []
            if self.question.wants_times and is_timeless(unit):
                lowered.append(_IS_TIMELESS)
            placed.append(
                Ranked(
                    unit,
                    relevance,
                    relevance * (1.0 if factor is None else factor) * _LOWERED ** len(lowered),
                    own,
                    own is not None
                    and own.status == "dormant"
                    and self.exactly.is_in(unit.stored.chunk.text),
                    nudges=tuple(lowered),
                    is_named=names_memory(self.question, unit.stored.chunk, self._called(unit)),
                )
            )
        placed.sort(key=lambda place: -place.score)
        placed = self.approved.applied(placed, scored.idf)
        if self._core is not None:
            placed = self._core.applied(placed)
        by_unit = {id(place.unit): place for place in placed}
        ordered = [place.unit for place in placed]
        outdated = {at for at, place in enumerate(placed) if place.outdated_by}
        approved = {at for at, place in enumerate(placed) if place.approved_as}
        moved = newest_first(ordered, self.question, scored.idf, outdated, approved)
        nudges = {id(ordered[at]): sentence for at, sentence in moved.items() if sentence}
        holding = behind_what_holds([ordered[at] for at in moved], [placed[at].score for at in moved])
        result = [
            replace(by_unit[id(unit)], nudges=(*by_unit[id(unit)].nudges, nudges[id(unit)]))
            if id(unit) in nudges
            else by_unit[id(unit)]
            for unit in holding
        ]
        return within_days_first(named_first(agreed_first(result, self.question)), self.question)

    def _called(self, unit: CandidateUnit) -> frozenset[str]:
        """Return the terms by which the question calls a unit's entity."""
        reached = self.graph.get(unit.stored.chunk.memory_id)
        return reached.called if reached is not None and reached.strength > _NEXT else frozenset()

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
            retired=chunk.is_retired,
            until=chunk.until,
            outdated_by=place.outdated_by,
            outdated_since=place.outdated_since,
            approved_as=place.approved_as,
            matched=(place.unit.start_line, place.unit.end_line),
        )

    def _with_relations(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Return hits with the relations of entities that answer the question, without those to what was archived."""
        if self._lane is None:
            return tuple(hits)
        entities = {}
        for hit in hits:
            if not hit.retired and hit.id.startswith("entity:") and "#" not in hit.id:
                reached = self.graph.get(hit.id)
                is_meant = reached is not None and reached.strength > _NEXT
                entities[hit.id] = self.question.strategy == "about" and is_meant
        found = self._lane.relations(entities, self.question.text)
        ends = {end for own in found.values() for each in own for end in (each.from_, each.to)}
        scores = self.scores.of(ends)
        gone = {end for end in ends if (own := scores[end]) is not None and own.status == "archived"}
        shown = {
            entity: tuple([each for each in own if each.from_ not in gone and each.to not in gone])
            for entity, own in found.items()
        }
        return tuple(
            [
                replace(hit, relations=shown[hit.id]) if not hit.retired and shown.get(hit.id) else hit
                for hit in hits
            ]
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
