"""Candidates of a search: units of chunks found by keyword, by vector and through the entity graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from workbench.engine.catalog.terms import index_terms, is_prefix
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.memories import Score
from workbench.engine.search.chunks import (
    ChunkSource,
    Statistics,
    StoredChunk,
    speaker_of_section,
    speakers_among,
    turn_of,
    units_of,
)
from workbench.engine.search.ranking.graph import ReachedMemory
from workbench.engine.search.ranking.question import Question, SearchOptions, named_voices, without_names
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from workbench.engine.providers.embedding.embedder import FloatArray
    from workbench.engine.search.chunks import Numbers


_HEADING = lazy_pattern(r"#{1,6}\s")
# Coarser than `language.sentences` and five times as fast: a search asks it of every unit.
_SENTENCE = lazy_pattern(r"[^.!?。！？\n]*[.!?。！？]?")
_MOST_REMEMBERED = 4096
_LONGEST_REMEMBERED = 4000
# Chunks requested from each lane, and chunks scored unit by unit: for few results and for many.
_OF_A_LANE = 100
_READ = 32
_READ_FOR_MANY = 80
_FEW = 20
# A budget holds more than few results do: a chunk more is read for each so many tokens of it, up to the limit.
_TOKENS_PER_CHUNK = 25
_MOST_READ = 160
# How chunks are marked by the status of their memory, those that are hidden last.
_SHOWN = 1
_MARKS = {"dormant": 2, "archived": 3}
# How much further a lane is asked if too many of its results are hidden, and the limit.
_FURTHER = 4
_MOST_OF_A_LANE = 6400
_MOST_BY_MEANING = 1600
# Chunks whose memories' scores are fetched at once.
_LOOKED_AT_ONCE = 256
# Upper limit per lane for the weighted sum, however many results are wanted.
_MOST_OF_A_SUM = 200
_OF_GRAPH = 24
_OF_PERIOD = 24
_OF_CORE = 24
# Headings in these stores are titles and never speakers, whose names would be struck from the question.
_UNSPOKEN = frozenset(("core", "semantic", "procedural", "vault"))
# Number of chunks whose speakers are compared with the names in a question before it is embedded without them.
_LISTENED_TO = 8
# Damps the difference between the first ranks of a lane and its last.
_RANK_OFFSET = 10


class UnitShape(NamedTuple):
    """Properties of a unit's text that do not depend on the question.

    Args:
        first: Its first line in the chunk's text, counted from 0.
        speaker: Its speaker, folded, or None.
        spoken: Its text without headings and the label of its first line.
        asking: Share of it that is questions, 0–1.
        is_part: Whether the chunk is of one message, of which it is a part.
    """

    first: int
    last: int
    speaker: str | None
    spoken: str
    asking: float
    is_part: bool


@dataclass(slots=True)
class CandidateUnit:
    """Lines of a chunk that are found and returned together.

    Args:
        place: Its position among the units of its chunk.
        terms: Its stemmed terms in the order of the text.
    """

    stored: StoredChunk
    place: int
    shape: UnitShape
    terms: Sequence[str]
    signals: dict[str, float] = field(default_factory=dict)
    points: float = 0.0
    _words: frozenset[str] | None = None

    @property
    def words(self) -> frozenset[str]:
        """Return each of its terms once; few units are asked for them."""
        if self._words is None:
            self._words = frozenset(self.terms)
        return self._words

    @property
    def start_line(self) -> int:
        """Return its first line in the file."""
        return self.stored.chunk.start_line + self.shape.first

    @property
    def end_line(self) -> int:
        """Return its last line in the file."""
        return self.stored.chunk.start_line + self.shape.last


def units_in(stored: StoredChunk) -> list[CandidateUnit]:
    """Return the units of a chunk, unscored."""
    chunk = stored.chunk
    shape = _remembered_shapes if len(chunk.text) <= _LONGEST_REMEMBERED else _shapes
    units = []
    for place, each in enumerate(shape(chunk.text, chunk.title, chunk.store not in _UNSPOKEN)):
        if stored.unit_terms is not None and place < len(stored.unit_terms):
            words = stored.unit_terms[place].split(" ")
        else:
            words = index_terms("\n".join(chunk.text.split("\n")[each.first : each.last + 1]))
        units.append(CandidateUnit(stored, place, each, words))
    return units


def share_of_questions(text: str) -> float:
    """Return the share of questions in a text, 0–1: a question is rarely an answer."""
    if "?" not in text and "？" not in text:
        return 0.0
    asked = total = 0
    for sentence in _SENTENCE.findall(text):
        total += len(sentence)
        if sentence.endswith(("?", "？")):
            asked += len(sentence)
    return asked / total if total else 0.0


def _shapes(text: str, title: str, is_log: bool) -> tuple[UnitShape, ...]:
    lines = text.split("\n")
    section_speaker = speaker_of_section(text, title) if is_log else None
    speakers = speakers_among(lines)
    return tuple(_shape(lines, first, last, section_speaker, speakers) for first, last in units_of(text))


_remembered_shapes = lru_cache(maxsize=_MOST_REMEMBERED)(_shapes)


def _shape(
    lines: list[str], first: int, last: int, section_speaker: str | None, speakers: frozenset[str]
) -> UnitShape:
    spoken = lines[first : last + 1]
    if first < last:
        spoken = [line for line in spoken if line.strip() and _HEADING.match(line) is None] or spoken
    turn = turn_of(spoken[0])
    is_turn = turn.speaker in speakers
    said = "\n".join((turn.text, *spoken[1:])) if is_turn else "\n".join(spoken)
    speaker = turn.speaker if is_turn else section_speaker
    is_part = not is_turn and section_speaker is not None
    return UnitShape(first, last, speaker, said, share_of_questions(said), is_part)


@dataclass(frozen=True)
class Candidates:
    """What the lanes found.

    Args:
        bm25: Of the chunks found by keywords, by number, for the weighted sum.
        graph: Memories reached through the graph, by id.
    """

    chunks: tuple[StoredChunk, ...]
    bm25: Mapping[int, float]
    graph: Mapping[str, ReachedMemory]
    statistics: Statistics
    vector: FloatArray | None


ScoresOf = Callable[[Sequence[str]], Mapping[str, Score | None]]


class MemoryScores:
    """The relevance scores of the memories that a search meets, each fetched once.

    Args:
        scores_of: Returns scores by memory id; None for those without one.
        options: Whether dormant memories are wanted.
        source: Of the chunks.
        basis: See `ChunkSource.marks`.
    """

    def __init__(
        self, scores_of: ScoresOf, options: SearchOptions, source: ChunkSource, basis: object = None
    ) -> None:
        self._scores_of = scores_of
        self._most_shown = _MARKS["dormant"] if options.include_dormant else _SHOWN
        self._source = source
        self._marks = source.marks(basis)
        self._known: dict[str, Score | None] = {}

    def of(self, memory_ids: Iterable[str]) -> Mapping[str, Score | None]:
        """Return the scores known, those of these memories among them; a fact has the score of its entity."""
        wholes = {each: _scored_as(each) for each in memory_ids if each not in self._known}
        if wholes:
            scores = self._scores_of(sorted(set(wholes.values())))
            self._known.update({each: scores[whole] for each, whole in wholes.items()})
        return self._known

    def hidden_among(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Return of each of these chunks whether its memory is hidden."""
        marks = self._marks.of(numbers)
        new = marks == 0
        if new.any():
            owners = self._source.owners(numbers[new].tolist())
            scores = self.of(set(owners.values()))
            found = {number: _mark(scores[memory_id]) for number, memory_id in owners.items()}
            self._marks.note(found)
            marks[new] = [found.get(number, _SHOWN) for number in numbers[new].tolist()]
        return marks > self._most_shown


def _mark(score: Score | None) -> int:
    return _SHOWN if score is None else _MARKS.get(score.status, _SHOWN)


def _scored_as(memory_id: str) -> str:
    """Return the memory whose score counts: a fact's entity, else the memory itself, whose name may hold anything."""
    return memory_id.partition("#^")[0] if memory_id.startswith("entity:") else memory_id


def is_hidden(memory_score: Score | None, options: SearchOptions) -> bool:
    """Return whether a memory is normally hidden (design document §9.2)."""
    if memory_score is None:
        return False
    return memory_score.status == "archived" or (
        memory_score.status == "dormant" and not options.include_dormant
    )


def gather(
    question: Question,
    source: ChunkSource,
    options: SearchOptions,
    embed: Callable[[str], FloatArray] | None,
    graph: Mapping[str, ReachedMemory],
    extra_terms: Sequence[str],
    scores: MemoryScores,
    *,
    also: Sequence[int] = (),
) -> Candidates:
    """Return the chunks worth scoring.

    Args:
        embed: Makes the question's vector, of length 1 or zeros; None searches by keywords only.
        extra_terms: Terms near the question's, whose frequencies are needed too.
        scores: Of the memories; hidden ones are looked past.
        also: Chunks to score in any case.
    """
    import numpy as np

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
        best = _best(by_words, by_meaning)
        hidden = _hidden_first(best, wanted, scores)
        shown = best[: len(hidden)][~hidden][:wanted]
        is_all = len(by_words) < reach and len(by_meaning) < min(reach, _MOST_BY_MEANING)
        if len(shown) >= wanted or is_all or reach >= _MOST_OF_A_LANE:
            break
        # An old workspace has more faded memories than fresh ones, and they crowd the lanes.
        reach *= _FURTHER
        by_words = source.by_keywords(asked, reach, within) if asked else []
    # Hidden chunks that match best are scored too: they may hold the exact term, or need an explanation.
    chosen: list[int] = [*shown.tolist(), *best[:wanted][hidden[:wanted]].tolist()]
    if graph:
        led = np.array(source.by_memory(list(graph), within), np.int64)
        chosen.extend(led[~scores.hidden_among(led)][:_OF_GRAPH].tolist())
    if question.period is not None:
        chosen.extend(source.by_day(question.period.first, question.period.last, _OF_PERIOD, within))
    if question.wants_advice and within.store is None:
        core = replace(within, store="core")
        found = source.by_keywords(asked, _OF_CORE, core) if asked else []
        found += source.by_vector(vector, _OF_CORE, core) if vector is not None else []
        chosen.extend(number for number, _ in found)
    chunks = source.read(list(dict.fromkeys((*chosen, *also))))
    bm25 = dict(by_words) if options.fusion == "weighted-sum" else {}
    return Candidates(tuple(chunks), bm25, graph, statistics, vector)


def _hidden_first(best: Numbers, wanted: int, scores: MemoryScores) -> NDArray[np.bool_]:
    """Return of the first chunks whether each is hidden, as far as so many that are not."""
    import numpy as np

    looked_at = [np.empty(0, np.bool_)]
    left = wanted
    for start in range(0, len(best), _LOOKED_AT_ONCE):
        hidden = scores.hidden_among(best[start : start + _LOOKED_AT_ONCE])
        looked_at.append(hidden)
        left -= len(hidden) - int(np.count_nonzero(hidden))
        if left <= 0:
            break
    return np.concatenate(looked_at)


def _counts(options: SearchOptions) -> tuple[int, int]:
    """Return how many chunks to request from each lane, and how many to read in all."""
    results = options.max_results or 0
    if options.fusion == "weighted-sum" and results and options.budget is None:
        count = min(_MOST_OF_A_SUM, options.candidate_multiplier * results)
        return count, count
    if options.budget is None and results <= _FEW:
        return _OF_A_LANE, _READ
    for_budget = min(_MOST_READ, _READ_FOR_MANY + (options.budget or 0) // _TOKENS_PER_CHUNK)
    return max(_OF_A_LANE, results), max(for_budget, results)


def _best(*lanes: Sequence[tuple[int, float]]) -> Numbers:
    """Return all chunks found, those ranked high in both lanes first."""
    import numpy as np

    ranks = [np.arange(1, len(lane) + 1) for lane in lanes]
    merits = 1 / (_RANK_OFFSET + np.concatenate(ranks))
    numbers = np.array([number for lane in lanes for number, _ in lane], np.int64)
    found, which = np.unique(numbers, return_inverse=True)
    best: Numbers = found[np.argsort(-np.bincount(which, merits), kind="stable")]
    return best


def _vector(
    question: Question, embed: Callable[[str], FloatArray] | None, source: ChunkSource, numbers: Sequence[int]
) -> FloatArray | None:
    if embed is None or not question.terms:
        return None
    speakers = {unit.shape.speaker for stored in source.read(numbers) for unit in units_in(stored)}
    names = named_voices(question, (speaker for speaker in speakers if speaker))
    text = without_names(question.meant, names)
    vector = embed(text if any(map(str.isalnum, text)) else question.text)
    return vector if bool(vector.any()) else None
