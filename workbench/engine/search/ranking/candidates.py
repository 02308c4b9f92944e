"""Candidates of a search: units of chunks found by keyword, by vector and through the entity graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from workbench.engine.catalog.records import EdgeRecord, EntityRecord
from workbench.engine.catalog.terms import STOP_WORDS, is_prefix
from workbench.engine.search.chunks import ChunkSource, Statistics, StoredChunk
from workbench.engine.search.ranking.question import Question, SearchOptions, named_voices, without_names
from workbench.engine.search.stemming import index_terms
from workbench.engine.search.text_units import speaker_of_section, speakers_among, turn_of, units_of

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray


_WORD = re.compile(r"[\w'’.+#-]*[\w+#]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]{2,12}")
_LONGEST_NAME = 4
_MOST_NAMES = 8
_MOST_PLACES = 40
_MOST_NEIGHBOURS = 12
# Halved with every step from what the question names.
_FADE = 0.5
_HEADING = re.compile(r"#{1,6}\s")
_SENTENCE = re.compile(r"[^.!?。！？\n]*[.!?。！？]?")
_MOST_REMEMBERED = 4096
_LONGEST_REMEMBERED = 4000
# Chunks requested from each lane, and chunks scored unit by unit: for few results and for many.
_OF_A_LANE = 100
_READ = 32
_READ_FOR_MANY = 80
_FEW = 20
# How much further a lane is asked if too many of its results are hidden, and the limit.
_FURTHER = 4
_MOST_OF_A_LANE = 6400
_MOST_BY_MEANING = 1600
# Upper limit per lane for the weighted sum, however many results are wanted.
_MOST_OF_A_SUM = 200
_OF_GRAPH = 24
_OF_PERIOD = 24
# Number of chunks whose speakers are compared with the names in a question before it is embedded without them.
_LISTENED_TO = 8
# Damps the difference between the first ranks of a lane and its last.
_RANK_OFFSET = 10


@dataclass(frozen=True)
class ReachedMemory:
    """A memory reached through the graph.

    Args:
        strength: 1 for an entity the question names, halved with every step.
        way: How it was reached, in a few words.
    """

    strength: float
    way: str


class GraphLane(Protocol):
    def reach(self, question: str) -> Mapping[str, ReachedMemory]:
        """Return memories by id, the strongest first."""
        ...


class EntityLookups(Protocol):
    """The part of the catalog's lookups that the lane uses."""

    def named(self, name: str) -> EntityRecord | None: ...
    def called(self, first_name: str) -> EntityRecord | None: ...
    def edges_of(self, entity: str) -> Sequence[EdgeRecord]: ...
    def mentions(self, target: str) -> Sequence[str]: ...
    def entity(self, entity: str) -> EntityRecord | None: ...


class EntityGraph:
    """The graph lane: entities named in a question, their neighbours within two steps, and memories that mention them.

    Args:
        lookups: The catalog's queries.
    """

    def __init__(self, lookups: EntityLookups) -> None:
        self._lookups = lookups

    def reach(self, question: str) -> Mapping[str, ReachedMemory]:
        """Return entities and the memories that mention the named ones, at most forty (design document §11.2)."""
        named = self._named(question)
        found: dict[str, ReachedMemory] = {entity.id: ReachedMemory(1.0, entity.label) for entity in named}
        edge_of_search = {entity.id: entity.label for entity in named}
        strength = 1.0
        for _hop in range(2):
            strength *= _FADE
            edge_of_search = self._step(edge_of_search, strength, found)
        for entity in named:
            for memory in tuple(self._lookups.mentions(entity.id))[-_MOST_NEIGHBOURS:]:
                found.setdefault(memory, ReachedMemory(_FADE, f"mentions {entity.label}"))
        strongest = sorted(found.items(), key=lambda pair: -pair[1].strength)
        return dict(strongest[:_MOST_PLACES])

    def _step(
        self, ways: Mapping[str, str], strength: float, found: dict[str, ReachedMemory]
    ) -> dict[str, str]:
        reached: dict[str, str] = {}
        for entity, way in ways.items():
            for edge in tuple(self._lookups.edges_of(entity))[:_MOST_NEIGHBOURS]:
                other = edge.to if edge.from_ == entity else edge.from_
                if other in found or len(found) >= _MOST_PLACES:
                    continue
                record = self._lookups.entity(other)
                if record is None:
                    continue
                reached[other] = f"{way} › {edge.relation} › {record.label}"
                found[other] = ReachedMemory(strength, reached[other])
        return reached

    def _named(self, question: str) -> list[EntityRecord]:
        """Return entities whose name or, for a person, first name occurs in the question; longest names first."""
        found: dict[str, EntityRecord] = {}
        words = _WORD.findall(question)[:60]
        taken: set[int] = set()
        for length in range(min(_LONGEST_NAME, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                places = set(range(start, start + length))
                name = " ".join(words[start : start + length]).removesuffix("'s").removesuffix("’s")
                if places & taken or (length == 1 and name.casefold() in STOP_WORDS):
                    continue
                entity = self._lookups.named(name)
                if entity is None and length == 1 and name[:1].isupper():
                    entity = self._lookups.called(name)
                if entity is not None:
                    found[entity.id] = entity
                    taken |= places
        for run in _HAN.findall(question):
            self._named_within(run, found)
        return list(found.values())[:_MOST_NAMES]

    def _named_within(self, run: str, found: dict[str, EntityRecord]) -> None:
        """Look for names in a script without word separators."""
        for length in range(min(6, len(run)), 1, -1):
            for start in range(len(run) - length + 1):
                entity = self._lookups.named(run[start : start + length])
                if entity is not None:
                    found[entity.id] = entity


class UnitShape(NamedTuple):
    """Properties of a unit's text that do not depend on the question.

    Args:
        first: Its first line in the chunk's text, counted from 0.
        last: Its last.
        speaker: Its speaker, folded, or None.
        spoken: Its text without headings and the label of its first line.
        asking: Share of it that is questions, 0–1.
    """

    first: int
    last: int
    speaker: str | None
    spoken: str
    asking: float


@dataclass(slots=True)
class CandidateUnit:
    """Lines of a chunk that are found and returned together.

    Args:
        stored: Its chunk.
        place: Its position among the units of its chunk.
        shape: What its text is like.
        words: Its distinct stemmed terms.
        length: Number of its terms, repetitions included.
        signals: Scores by signal name.
        points: Total score.
    """

    stored: StoredChunk
    place: int
    shape: UnitShape
    words: frozenset[str]
    length: int
    signals: dict[str, float] = field(default_factory=dict)
    points: float = 0.0

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
    for place, each in enumerate(shape(chunk.text, chunk.title)):
        if stored.unit_terms is not None and place < len(stored.unit_terms):
            words = stored.unit_terms[place].split(" ")
        else:
            words = index_terms("\n".join(chunk.text.split("\n")[each.first : each.last + 1]))
        units.append(CandidateUnit(stored, place, each, frozenset(words), len(words)))
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


def _shapes(text: str, title: str) -> tuple[UnitShape, ...]:
    lines = text.split("\n")
    section_speaker = speaker_of_section(text, title)
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
    return UnitShape(
        first, last, turn.speaker if is_turn else section_speaker, said, share_of_questions(said)
    )


@dataclass(frozen=True)
class LaneRanks:
    """Rank, from 1, and score of a chunk in each lane."""

    keywords: tuple[int, float] | None = None
    meaning: tuple[int, float] | None = None


@dataclass(frozen=True)
class Candidates:
    """What the lanes found.

    Args:
        chunks: To be scored, in arbitrary order.
        places: By chunk number.
        graph: Memories reached through the graph, by id.
        statistics: For the question's terms.
        vector: Of the question, or None.
    """

    chunks: tuple[StoredChunk, ...]
    places: Mapping[int, LaneRanks]
    graph: Mapping[str, ReachedMemory]
    statistics: Statistics
    vector: FloatArray | None


def gather(
    question: Question,
    source: ChunkSource,
    options: SearchOptions,
    embed: Callable[[str], FloatArray] | None,
    graph: Mapping[str, ReachedMemory],
    extra_terms: Sequence[str],
    hidden_among: Callable[[Mapping[int, str]], Collection[int]],
    *,
    also: Sequence[int] = (),
) -> Candidates:
    """Return the chunks worth scoring.

    Args:
        question: What was asked.
        source: The index.
        options: Filters and limits.
        embed: Makes the question's vector, of length 1 or zeros; None searches by keywords only.
        graph: Memories reached through the graph.
        hidden_among: Returns the hidden ones among chunks, given the memory of each.
        extra_terms: Terms near the question's, whose frequencies are needed too.
        also: Chunks to score in any case.
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
        # An old workspace has more faded memories than fresh ones, and they crowd the lanes.
        reach *= _FURTHER
        by_words = source.by_keywords(asked, reach, within) if asked else []
    # Hidden chunks that match best are scored too: they may hold the exact term, or need an explanation.
    chosen = [*shown, *(number for number in best[:wanted] if number in hidden)]
    if graph:
        led = source.by_memory(list(graph), within)
        hidden = hidden_among(source.owners(led))
        chosen.extend([number for number in led if number not in hidden][:_OF_GRAPH])
    if question.period is not None:
        chosen.extend(source.by_day(question.period.first, question.period.last, _OF_PERIOD, within))
    chunks = source.read(list(dict.fromkeys((*chosen, *also))))
    places = {chunk.number: LaneRanks(words.get(chunk.number), meaning.get(chunk.number)) for chunk in chunks}
    return Candidates(tuple(chunks), places, graph, statistics, vector)


def _counts(options: SearchOptions) -> tuple[int, int]:
    """Return how many chunks to request from each lane, and how many to read in all."""
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
    """Return all chunks found, those ranked high in both lanes first."""
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
