"""What approved facts say of the lines they cite: which no longer hold, and which answer because a fact does."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, tzinfo
from itertools import islice
from typing import Protocol

from workbench.engine.catalog.records import EntityRecord, FactRecord
from workbench.engine.catalog.terms import index_terms
from workbench.engine.identifiers import cited_lines
from workbench.engine.language.sentences import split_sentences
from workbench.engine.markdown.statements import parse_statement
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.recall import citation
from workbench.engine.search.chunks import ChunkSource, StoredChunk, Within
from workbench.engine.search.ranking.candidates import CandidateUnit, units_in
from workbench.engine.search.ranking.selection import Ranked
from workbench.engine.values import dataclass

# Supersessions followed from one fact to the one that holds; more are a circle.
_MOST_SUCCESSORS = 16
# Facts that hold words of the question, whose lines are fetched.
_MOST_LENDING = 12
_MOST_LINES = 24
_MOST_CHUNKS = 2
# Items of core memory and other lines that are compared with each other.
_MOST_CORE = 8
_MOST_COMPARED = 60
_TIME = lazy_pattern(r"(?<=^episode:\d{4}-\d{2}-\d{2}:)\d{2}:\d{2}")


class FactLookups(Protocol):
    """The part of the catalog's lookups that says which facts cite what."""

    def facts_citing(
        self, lines: Sequence[tuple[str, int, int]], memories: Sequence[str]
    ) -> Sequence[FactRecord]: ...
    def fact(self, fact_id: str) -> FactRecord | None: ...
    def entity(self, entity: str) -> EntityRecord | None: ...


@dataclass(frozen=True)
class Succession:
    """A superseded fact, and the fact that holds instead.

    Args:
        place: Where that one stands, as a source is cited.
    """

    past: FactRecord
    present: FactRecord
    place: str

    @property
    def since(self) -> str | None:
        """Return the ISO date from which the other holds, as far as it is known."""
        return self.past.until or self.present.since


class CitedPlaces:
    """Facts by the places that they cite: lines of a file, or a memory as a whole."""

    def __init__(self, facts: Iterable[FactRecord]) -> None:
        self._by_path: dict[str, list[tuple[int, int, FactRecord]]] = defaultdict(list)
        self._by_memory: dict[str, list[FactRecord]] = defaultdict(list)
        for fact in facts:
            for source in fact.provenance:
                lines = cited_lines(source.removeprefix("file:"))
                if lines is None:
                    self._by_memory[source].append(fact)
                else:
                    path, first, last = lines
                    self._by_path[path].append((first, last, fact))

    def citing(self, unit: CandidateUnit) -> list[FactRecord]:
        """Return the facts that cite any line of a unit."""
        chunk = unit.stored.chunk
        found = list(self._by_memory.get(chunk.memory_id, ()))
        for first, last, fact in self._by_path.get(chunk.path, ()):
            if first <= unit.end_line and last >= unit.start_line:
                found.append(fact)
        return found


@dataclass(frozen=True)
class Approved:
    """Approved facts about the candidates of a search.

    Args:
        citing: Facts that cite lines of the candidates, whether they hold or were superseded.
        successions: By the id of the superseded fact.
        lending: Facts among the candidates, with words of the question in them.
    """

    citing: tuple[FactRecord, ...] = ()
    successions: Mapping[str, Succession] = field(default_factory=dict)
    lending: tuple[FactRecord, ...] = ()

    def sources(self) -> tuple[str, ...]:
        """Return what shall be among the candidates: what these facts cite, and what holds instead of another."""
        holding = [each.place for each in self.successions.values()]
        present = [each.present for each in self.successions.values()]
        cited = [source for fact in (*present, *self.lending) for source in fact.provenance]
        wanted = dict.fromkeys((*cited, *holding))
        return tuple(source for source in wanted if not source.startswith("source:"))[:_MOST_LINES]

    def applied(self, placed: Sequence[Ranked], idf: Mapping[str, float]) -> list[Ranked]:
        """Return units with what approved facts make of their scores, best first.

        Lines cited by a superseded fact fall behind those that its successor cites, and lines cited by a fact that
        holds stand no lower than the fact.

        Args:
            placed: Best first.
            idf: Weight of each of the question's terms.
        """
        if not (self.citing or self.lending):
            return list(placed)
        weigh = _Weights(idf)
        present = [each.present for each in self.successions.values()]
        places = CitedPlaces({fact.id: fact for fact in (*self.citing, *self.lending, *present)}.values())
        cited: dict[str, list[int]] = defaultdict(list)
        stated: dict[str, list[int]] = defaultdict(list)
        result = list(placed)
        for at, place in enumerate(placed):
            for id_ in fact_ids(place.unit):
                stated[id_].append(at)
            facts = places.citing(place.unit)
            for fact in facts:
                cited[fact.id].append(at)
            result[at] = self._marked(place, facts, weigh)
        self._lend(placed, result, cited, weigh)
        for at, place in enumerate(placed):
            by = result[at].outdated_by or ""
            for better in (cited[by] or stated[by])[:1]:
                if result[better].score < place.score:
                    told = "Raised: it holds instead of a statement that matched better."
                    result[better] = _raised(result[better], by, place.score, told)
        result.sort(key=lambda place: (-place.score, place.outdated_by is not None))
        return result

    def _marked(self, place: Ranked, facts: Sequence[FactRecord], weigh: _Weights) -> Ranked:
        """Return a unit with what the facts that cite it say of it."""
        succession = self._ruling(facts, weigh)
        if succession is not None:
            since = f" since {succession.since}" if succession.since else ""
            told = f"Behind what holds instead{since}: {succession.present.id}."
            return replace(
                place,
                nudges=(*place.nudges, told),
                outdated_by=succession.present.id,
                outdated_since=succession.since,
            )
        stating = max((fact for fact in facts if not fact.retired), key=weigh.of, default=None)
        return replace(place, approved_as=stating.id) if stating and weigh.of(stating) else place

    def _ruling(self, facts: Sequence[FactRecord], weigh: _Weights) -> Succession | None:
        """Return the succession that makes lines outdated for the question, given all facts that cite them.

        Lines that say several things are outdated if what changed covers as much of the question as what holds.
        """
        over = [self.successions[fact.id] for fact in facts if fact.id in self.successions]
        holding = [fact for fact in facts if not fact.retired]
        over = [each for each in over if all(fact.id != each.present.id for fact in holding)]
        if not over:
            return None
        best = max(over, key=lambda each: weigh.of(each.past))
        asked = weigh.of(best.past)
        if any(weigh.of(fact) > asked for fact in holding) or (holding and not asked):
            return None
        return best

    def _lend(
        self,
        placed: Sequence[Ranked],
        result: list[Ranked],
        cited: Mapping[str, Sequence[int]],
        weigh: _Weights,
    ) -> None:
        """Raise the best cited line of each fact to the fact's own score."""
        lending = {fact.id: fact for fact in self.lending}
        for place in placed:
            own = [lending[id_] for id_ in fact_ids(place.unit) if id_ in lending]
            if not own:
                continue
            fact = max(own, key=weigh.of)
            for at in cited.get(fact.id, ())[:1]:
                if result[at].score < place.score:
                    told = f"Raised: the approved fact {fact.id} rests on it."
                    result[at] = _raised(result[at], fact.id, place.score, told)


@dataclass(frozen=True)
class CoreTruth:
    """What core memory makes of older lines, which it names no source for.

    Args:
        contradict: Returns True if two statements evidently cannot both hold.
        first_seen: When its items came into the history, by id, up to some commit; a reworded item has another id.
        now: When those came that did since, in the workspace’s zone; None where there is no history.
        zone: Of the days and times of episodes.
    """

    contradict: Callable[[str, str], bool]
    first_seen: Mapping[str, datetime]
    now: datetime | None
    zone: tzinfo

    def applied(self, placed: Sequence[Ranked]) -> list[Ranked]:
        """Return units with those marked that an item of core memory contradicts, and behind it.

        Args:
            placed: Best first.
        """
        core = [at for at, place in enumerate(placed) if _store(place) == "core" and place.is_found]
        result = list(placed)
        for at, place in enumerate(placed[:_MOST_COMPARED] if core else ()):
            if _store(place) in ("core", "semantic") or place.outdated_by or not place.is_found:
                continue
            for own in core[:_MOST_CORE]:
                since = self._since(placed[own], place)
                if since is None:
                    continue
                by = placed[own].unit.stored.chunk.memory_id
                told = f"Behind what holds instead since {since}: {by}."
                result[at] = replace(
                    place,
                    nudges=(*place.nudges, told),
                    outdated_by=by,
                    outdated_since=since,
                    approved_as=None,
                )
                if result[own].score < place.score:
                    told = "Raised: it holds instead of a statement that matched better."
                    result[own] = replace(result[own], score=place.score, nudges=(*result[own].nudges, told))
                break
        result.sort(key=lambda place: (-place.score, place.outdated_by is not None))
        return result

    def _since(self, own: Ranked, place: Ranked) -> str | None:
        """Return the ISO date since which an item of core memory holds instead of a line; None if it does not."""
        # To compare takes longer than to count words.
        words = set(own.unit.words)
        if 2 * len(words.intersection(place.unit.words)) < len(words):
            return None
        item, said = own.unit.shape.spoken, split_sentences(place.unit.shape.spoken)
        if not any(self.contradict(item, each) for each in said):
            return None
        chunk = place.unit.stored.chunk
        since = self.first_seen.get(own.unit.stored.chunk.memory_id, self.now)
        if since is None or chunk.day is None:
            return None
        until = since.astimezone(self.zone)
        # The id of an episode tells its minute as well.
        time = parsed.group() if (parsed := _TIME.search(chunk.memory_id)) else ""
        is_older = (chunk.day, time) <= (until.date(), f"{until:%H:%M}")
        return until.date().isoformat() if is_older else None


def _store(place: Ranked) -> str:
    return place.unit.stored.chunk.store


class _Weights:
    """How much of a question each fact covers: the summed weight of the question's terms in its words."""

    def __init__(self, idf: Mapping[str, float]) -> None:
        self._idf = idf
        self._known: dict[str, float] = {}

    def of(self, fact: FactRecord) -> float:
        if fact.id not in self._known:
            held = self._idf.keys() & set(index_terms(fact.text))
            self._known[fact.id] = math.fsum(self._idf[term] for term in held)
        return self._known[fact.id]


def _raised(place: Ranked, fact: str, score: float, told: str) -> Ranked:
    return replace(place, score=score, nudges=(*place.nudges, told), approved_as=fact)


def approved_about(
    chunks: Sequence[StoredChunk], terms: Iterable[str], lookups: FactLookups, today: str
) -> Approved:
    """Return what approved facts say of some candidates.

    Args:
        terms: The question's terms, stemmed.
        today: ISO date; a fact whose end has passed lends nothing.
    """
    citable = [stored.chunk for stored in chunks if stored.chunk.store != "semantic"]
    lines = [(each.path, each.start_line, each.start_line + each.text.count("\n")) for each in citable]
    memories = list(dict.fromkeys(each.memory_id for each in citable))
    citing = tuple(lookups.facts_citing(lines, memories)) if citable else ()
    successions = {}
    for fact in citing:
        present = _holding(fact, lookups) if fact.retired else None
        entity = lookups.entity(present.entity) if present else None
        # Of what was corrected and corrected back, both say the same.
        if present is not None and entity is not None and present.text != fact.text:
            place = f"file:{citation(entity.path, present.line, present.line)}"
            successions[fact.id] = Succession(fact, present, place)
    citing = tuple(fact for fact in citing if fact.id in successions or fact.holds(today))
    lending = _lending(chunks, frozenset(terms), today)
    return Approved(citing, successions, tuple(islice(lending, _MOST_LENDING)))


def _holding(fact: FactRecord, lookups: FactLookups) -> FactRecord | None:
    """Return the fact that holds instead of a superseded one, or None."""
    for _ in range(_MOST_SUCCESSORS):
        following = lookups.fact(fact.superseded_by) if fact.superseded_by else None
        if following is None:
            return None
        if not following.retired:
            return following
        fact = following
    return None


def _lending(chunks: Iterable[StoredChunk], terms: frozenset[str], today: str) -> Iterator[FactRecord]:
    """Yield the facts of entities that hold words of the question, as their lines tell."""
    for stored in chunks:
        chunk = stored.chunk
        if chunk.store != "semantic" or chunk.is_retired:
            continue
        for unit in units_in(stored):
            if terms.isdisjoint(unit.words):
                continue
            for line in _lines(unit):
                statement = parse_statement(line)
                known = statement.provenance
                if statement.block_id and known.sources and not known.has_ended(today):
                    id_ = f"{chunk.memory_id}#^{statement.block_id}"
                    yield FactRecord(id_, chunk.memory_id, statement.text, 0, provenance=known.sources)


def fact_ids(unit: CandidateUnit) -> list[str]:
    """Return the ids of the facts in a unit of an entity."""
    chunk = unit.stored.chunk
    if chunk.store != "semantic" or chunk.is_retired:
        return []
    blocks = (line.rstrip().rpartition(" ^")[2] for line in _lines(unit) if " ^" in line)
    return [f"{chunk.memory_id}#^{block}" for block in blocks]


def _lines(unit: CandidateUnit) -> list[str]:
    return unit.stored.chunk.text.split("\n")[unit.shape.first : unit.shape.last + 1]


def places_of(sources: Iterable[str], source: ChunkSource, within: Within) -> list[int]:
    """Return the chunks that hold what facts cite."""
    found: list[int] = []
    memories: list[str] = []
    for cited in sources:
        lines = cited_lines(cited.removeprefix("file:"))
        if lines is None:
            memories.append(cited)
        else:
            found += source.by_lines(*lines, _MOST_CHUNKS, within)
    return [*found, *(source.by_memory(memories, within) if memories else ())]
