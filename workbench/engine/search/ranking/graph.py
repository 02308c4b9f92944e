"""The graph lane: the entities that a question means, where they lead, and the relations that answer it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Protocol

from workbench.engine.catalog.records import EdgeRecord, EntityRecord
from workbench.engine.catalog.terms import NEAR, STOP_WORDS, index_terms, name_key
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.recall import HitRelation
from workbench.engine.values import dataclass

_WORD = lazy_pattern(r"[\w'’.+#-]*[\w+#]")
_HAN = lazy_pattern("[\u3400-\u4dbf\u4e00-\u9fff]{2,12}")
_LONGEST_NAME = 4
_MOST_NAMES = 8
_MOST_WORDS = 60
_MOST_PLACES = 40
_MOST_NEIGHBOURS = 12
_MOST_RELATIONS = 8
# Halved with every step from what the question names.
_FADE = 0.5
# A name with a slip in it may be another's.
_SLIP = 0.75
_LEAST_LETTERS_OF_A_SLIP = 5
# One word alone stands for a name of at most this many.
_MOST_WORDS_OF_A_NAME = 3
# What the types of the graph (design document §6.1) are called in Chinese, where no blank parts the words.
_HAN_TYPES = {
    "project": ("项目", "項目", "專案"),
    "person": ("人",),
    "concept": ("概念",),
    "tool": ("工具",),
    "place": ("地方", "地点", "地點"),
}
_LONGEST_HAN_PART = 6


@dataclass(frozen=True)
class ReachedMemory:
    """A memory reached through the graph.

    Args:
        strength: 1 for an entity the question names, halved with every step.
        way: How it was reached, in a few words.
        called: Terms by which the question calls it, where they are not its name.
    """

    strength: float
    way: str
    called: frozenset[str] = frozenset()


class GraphLane(Protocol):
    def reach(self, question: str) -> Mapping[str, ReachedMemory]:
        """Return memories by id, the strongest first."""
        ...

    def relations(self, entities: Mapping[str, bool], question: str) -> Mapping[str, Sequence[HitRelation]]:
        """Return the relations of entities that answer a question; of those marked True the others too."""
        ...


class EntityLookups(Protocol):
    """The part of the catalog's lookups that the lane uses."""

    def named(self, name: str) -> EntityRecord | None: ...
    def called(self, first_name: str) -> EntityRecord | None: ...
    def names_with(self, pieces: Iterable[str]) -> Sequence[tuple[str, str, str]]: ...
    def edges_of(self, entity: str) -> Sequence[EdgeRecord]: ...
    def edges_among(self, entities: Iterable[str]) -> Sequence[EdgeRecord]: ...
    def mentions(self, target: str) -> Sequence[str]: ...
    def entity(self, entity: str) -> EntityRecord | None: ...
    def entities_of(self, entities: Iterable[str]) -> Mapping[str, EntityRecord]: ...
    def labels(self, entities: Iterable[str]) -> Mapping[str, str]: ...


class EntityGraph:
    """Entities named in a question, their neighbours, and what mentions them.

    Args:
        depth: Steps to the furthest neighbours (design document §16); 0 finds only what the question names and what
            mentions it.
    """

    def __init__(self, lookups: EntityLookups, depth: int) -> None:
        self._lookups = lookups
        self._depth = depth

    def reach(self, question: str) -> Mapping[str, ReachedMemory]:
        """Return entities and the memories that mention the named ones, at most forty (design document §11.2)."""
        named = self._named(question)
        found = {entity.id: reached for entity, reached in named}
        edge_of_search = {entity.id: reached.way for entity, reached in named}
        strength = 1.0
        for _hop in range(self._depth):
            strength *= _FADE
            edge_of_search = self._step(edge_of_search, strength, found)
        for entity, _ in named:
            for memory in tuple(self._lookups.mentions(entity.id))[-_MOST_NEIGHBOURS:]:
                found.setdefault(memory, ReachedMemory(_FADE, f"mentions {entity.label}"))
        strongest = sorted(found.items(), key=lambda pair: -pair[1].strength)
        return dict(strongest[:_MOST_PLACES])

    def relations(self, entities: Mapping[str, bool], question: str) -> Mapping[str, Sequence[HitRelation]]:
        """Return the relations of entities that share words with a question, at most eight of each.

        Args:
            entities: Whether to fill up with its other relations, in the order of the files, by each one's id.
        """
        if not entities or not self._depth:
            return {}
        records = self._lookups.entities_of(entities)
        edges: dict[str, list[EdgeRecord]] = {entity: [] for entity in records}
        for edge in self._lookups.edges_among(records):
            for end in {edge.from_, edge.to} & edges.keys():
                if len(edges[end]) < _MOST_NEIGHBOURS * 2:
                    edges[end].append(edge)
        others_of = {
            entity: [edge.to if edge.from_ == entity else edge.from_ for edge in own]
            for entity, own in edges.items()
        }
        labels = self._lookups.labels({other for others in others_of.values() for other in others})
        asked = set(index_terms(question)) - STOP_WORDS
        found = {}
        for entity, record in records.items():
            telling = asked.difference(index_terms(" ".join((record.label, *record.aliases))))
            answering: list[HitRelation] = []
            others: list[HitRelation] = []
            for edge, other in zip(edges[entity], others_of[entity], strict=True):
                if other not in labels:
                    continue
                relation = HitRelation(edge.from_, edge.relation, edge.to, labels[other])
                words = index_terms(f"{edge.relation.replace('-', ' ')} {labels[other]}")
                (others if telling.isdisjoint(words) else answering).append(relation)
            found[entity] = tuple([*answering, *(others if entities[entity] else ())][:_MOST_RELATIONS])
        return found

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

    def _named(self, question: str) -> list[tuple[EntityRecord, ReachedMemory]]:
        """Return entities whose name, a part of it or, for a person, first name occurs in the question.

        Whole names come first, longer ones before shorter ones.
        """
        found: dict[str, tuple[EntityRecord, ReachedMemory]] = {}
        words = [_bare(word) for word in _WORD.findall(question)[:_MOST_WORDS]]
        taken: set[int] = set()
        for length in range(min(_LONGEST_NAME, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                places = set(range(start, start + length))
                name = " ".join(words[start : start + length])
                if places & taken or (length == 1 and name.casefold() in STOP_WORDS):
                    continue
                entity = self._lookups.named(name)
                if entity is None and length == 1 and name[:1].isupper():
                    entity = self._lookups.called(name)
                if entity is not None:
                    called = frozenset(index_terms(name)) if name != entity.label else frozenset()
                    found[entity.id] = (entity, ReachedMemory(1.0, entity.label, called))
                    taken |= places
        for entity, reached in self._named_in_part(words, taken):
            found.setdefault(entity.id, (entity, reached))
        for run in _HAN.findall(question):
            for entity, said in self._named_within(run):
                found.setdefault(entity.id, (entity, _called(entity, said, 1.0)))
        return list(found.values())[:_MOST_NAMES]

    def _named_within(self, run: str) -> list[tuple[EntityRecord, str]]:
        """Return the entities named in a run of a script without word separators, each with what it is called there.

        That is a name, or a part of one before the word for a type.
        """
        found = []
        for length in range(min(6, len(run)), 1, -1):
            for start in range(len(run) - length + 1):
                entity = self._lookups.named(run[start : start + length])
                if entity is not None:
                    found.append((entity, entity.label))
        for entity_type, type_words in _HAN_TYPES.items():
            before, word = next(
                ((run[:at], word) for word in type_words if (at := run.find(word)) > 1), ("", "")
            )
            for length in range(min(_LONGEST_HAN_PART, len(before)), 1, -1):
                part = before[-length:]
                holders = self._lookups.names_with([part])
                same = {id_ for name, id_, kind in holders if kind == entity_type and part in name_key(name)}
                if len(same) == 1:
                    entity = self._lookups.entity(same.pop())
                    found.extend([(entity, part + word)] if entity is not None else [])
                    break
        return found

    def _named_in_part(
        self, words: Sequence[str], taken: set[int]
    ) -> list[tuple[EntityRecord, ReachedMemory]]:
        """Return the entities of whose names the question holds a part that only they can mean.

        A part is two words or more, one word beside the entity's type (“the memory project”), or one that is
        capitalised or all that is asked about. Beside another word, one may have a slip (“moltbot memry”).
        """
        keys = [name_key(word) for word in words]
        telling = [
            at
            for at, key in enumerate(keys)
            if at not in taken and len(key) > 2 and key not in STOP_WORDS and " " not in key
        ]
        if not telling:
            return []
        parts: dict[str, _Part] = {}
        for name, entity_id, entity_type in self._lookups.names_with(keys[at] for at in telling):
            own = name_key(name).split()
            held = [at for at in telling if keys[at] in own]
            slips = [
                at
                for at in telling
                if at not in held and (at - 1 in held or at + 1 in held) and _has_slip_of(keys[at], own)
            ]
            for part in _parts_of(entity_id, entity_type, own, keys, [*held, *slips], slips):
                _keep_longest(parts, part)
        known = set().union(*(part.places for part in parts.values()))
        # “The harvst project”: nothing but the type says that a name is meant.
        for at in [
            at for at in telling if at not in known and keys[at + 1 : at + 2] and keys[at + 1] in _HAN_TYPES
        ]:
            grams = {keys[at][start : start + 3] for start in range(len(keys[at]) - 2)}
            for name, entity_id, entity_type in self._lookups.names_with(grams):
                own = name_key(name).split()
                if entity_type == keys[at + 1] and _has_slip_of(keys[at], own):
                    for part in _parts_of(entity_id, entity_type, own, keys, [at], [at]):
                        _keep_longest(parts, part)
        meant = [part for part in parts.values() if part.is_telling(words, telling)]
        meant.sort(key=lambda part: part.rank, reverse=True)
        result: list[tuple[EntityRecord, ReachedMemory]] = []
        claimed = set(taken)
        for part in meant:
            if claimed & part.places:
                continue
            claimed |= part.places
            rivals = [other for other in parts.values() if other.places & part.places]
            if any(other.rank >= part.rank for other in rivals if other.entity != part.entity):
                continue
            entity = self._lookups.entity(part.entity)
            if entity is not None:
                said = " ".join(words[at] for at in sorted(part.places))
                result.append((entity, _called(entity, said, _SLIP if part.slips else 1.0)))
        return result


@dataclass(frozen=True)
class _Part:
    """Some neighbouring words of a question that belong to a name.

    Args:
        entity: Id of the entity.
        places: Their positions, that of a word for the entity's type included.
        held: Those of the name's own words.
        slips: Those of them that are written otherwise than in the name.
        size: Words of the whole name.
    """

    entity: str
    places: frozenset[int]
    held: tuple[int, ...]
    slips: tuple[int, ...]
    size: int

    @property
    def has_type(self) -> bool:
        return len(self.places) > len(self.held)

    @property
    def rank(self) -> tuple[bool, int, int]:
        return self.has_type, len(self.held) - len(self.slips), len(self.held)

    def is_telling(self, words: Sequence[str], telling: Sequence[int]) -> bool:
        if self.has_type or len(self.held) > max(1, len(self.slips)):
            return True
        is_all = set(telling) <= self.places
        is_capital = self.held[0] > 0 and words[self.held[0]][:1].isupper()
        return not self.slips and self.size <= _MOST_WORDS_OF_A_NAME and (is_all or is_capital)


def _parts_of(
    entity: str,
    entity_type: str,
    own: Sequence[str],
    keys: Sequence[str],
    held: Sequence[int],
    slips: Sequence[int],
) -> list[_Part]:
    """Return the runs of neighbouring words in a question that a name holds, each with its type's word beside it."""
    runs: list[list[int]] = []
    for at in sorted(held):
        if runs and at == runs[-1][-1] + 1:
            runs[-1].append(at)
        else:
            runs.append([at])
    size = sum(word not in STOP_WORDS for word in own)
    found = []
    for run in runs:
        after = run[-1] + 1
        has_type = after < len(keys) and keys[after] == entity_type
        places = frozenset([*run, after] if has_type else run)
        found.append(_Part(entity, places, tuple(run), tuple(at for at in run if at in slips), size))
    return found


def _keep_longest(parts: dict[str, _Part], part: _Part) -> None:
    known = parts.get(part.entity)
    if known is None or part.rank > known.rank:
        parts[part.entity] = part


def _called(entity: EntityRecord, said: str, strength: float) -> ReachedMemory:
    if said == entity.label:
        return ReachedMemory(strength, said)
    return ReachedMemory(strength, f"{entity.label} (“{said}”)", frozenset(index_terms(said)))


def _has_slip_of(word: str, own: Iterable[str]) -> bool:
    """Return whether a word may be one of some others with a slip of the pen; numbers are never slips."""
    if len(word) < _LEAST_LETTERS_OF_A_SLIP or not word.isalpha():
        return False
    return any(
        other != word
        and abs(len(other) - len(word)) <= 2
        and other.isalpha()
        and SequenceMatcher(None, word, other, autojunk=False).ratio() >= NEAR
        for other in own
    )


def _bare(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")
