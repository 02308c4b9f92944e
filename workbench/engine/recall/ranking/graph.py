"""The graph lane: from the entities a question names to what is known of them and of their neighbours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from workbench.engine.catalog.model import EdgeRecord, EntityRecord
from workbench.engine.catalog.terms import STOP_WORDS

_WORD = re.compile(r"[\w'’.+#-]*[\w+#]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]{2,12}")
_LONGEST_NAME = 4
_MOST_NAMES = 8
_MOST_PLACES = 40
_MOST_NEIGHBOURS = 12
# Half as much with every step away from what the question names.
_FADE = 0.5


@dataclass(frozen=True)
class Reached:
    """A memory that the graph leads to.

    Args:
        strength: 1 for an entity that the question names, half as much with every step from it.
        way: How it was reached, in a few words.
    """

    strength: float
    way: str


class GraphLane(Protocol):
    """Where a question's names lead."""

    def reach(self, question: str) -> Mapping[str, Reached]:
        """Return memories by id, the strongest first."""
        ...


class KnowsEntities(Protocol):
    """The part of the catalog's lookups that the lane asks."""

    def named(self, name: str) -> EntityRecord | None: ...
    def called(self, first_name: str) -> EntityRecord | None: ...
    def edges_of(self, entity: str) -> Sequence[EdgeRecord]: ...
    def mentions(self, target: str) -> Sequence[str]: ...
    def entity(self, entity: str) -> EntityRecord | None: ...


class EntityGraph:
    """The graph lane over the catalog: entities named in a question, one and two hops, and what mentions them.

    Args:
        lookups: The catalog's questions.
    """

    def __init__(self, lookups: KnowsEntities) -> None:
        self._lookups = lookups

    def reach(self, question: str) -> Mapping[str, Reached]:
        """Return entities and the memories that mention the named ones, at most forty (design document §11.2)."""
        named = self._named(question)
        found: dict[str, Reached] = {entity.id: Reached(1.0, entity.label) for entity in named}
        edge_of_search = {entity.id: entity.label for entity in named}
        strength = 1.0
        for _hop in range(2):
            strength *= _FADE
            edge_of_search = self._step(edge_of_search, strength, found)
        for entity in named:
            for memory in tuple(self._lookups.mentions(entity.id))[-_MOST_NEIGHBOURS:]:
                found.setdefault(memory, Reached(_FADE, f"mentions {entity.label}"))
        strongest = sorted(found.items(), key=lambda pair: -pair[1].strength)
        return dict(strongest[:_MOST_PLACES])

    def _step(self, ways: Mapping[str, str], strength: float, found: dict[str, Reached]) -> dict[str, str]:
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
                found[other] = Reached(strength, reached[other])
        return reached

    def _named(self, question: str) -> list[EntityRecord]:
        """Return the entities whose name or, of a person, first name stands in the question; longest names first."""
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
        """Look for names in a script that does not part words."""
        for length in range(min(6, len(run)), 1, -1):
            for start in range(len(run) - length + 1):
                entity = self._lookups.named(run[start : start + length])
                if entity is not None:
                    found[entity.id] = entity
