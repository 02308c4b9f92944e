"""Which entity a model means by a name or an id: a known one, or one that the same reflection proposes."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Final

from workbench.engine.identifiers import entity_id
from workbench.engine.reflection.model_mind.dropping import Unusable
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.catalog.records import EntityRecord
    from workbench.engine.reflection.model import Passage

_OWNER_WORDS: Final = frozenset({"user", "the user", "owner", "the owner"})
_NOBODY: Final = frozenset({"user", "assistant", "system", "tool", "bot", "ai"})


@dataclass(frozen=True, slots=True)
class Target:
    """An entity `type--slug`, and whether a person has yet to approve that there is one."""

    id: str
    proposed: bool

    @property
    def needs(self) -> tuple[str, ...]:
        """Return what has to be approved before anything about it."""
        return (self.id,) if self.proposed else ()


def speakers_of(passages: Iterable[Passage]) -> frozenset[str]:
    """Return the people who speak in some passages; “user” and “assistant” are no names."""
    return frozenset(
        passage.speaker
        for passage in passages
        if passage.speaker and passage.speaker.casefold() not in _NOBODY
    )


@dataclass
class Targets:
    """Finds entities, and keeps those that this reflection proposes.

    Args:
        graph: Knows the entities there are.
        owner: The person's name; empty where core memory does not say.
        speakers: Who says something in what is new, as the labels have it.
        proposed: Labels of the proposed ones by their ids `type--slug`.
    """

    graph: Lookups
    owner: str
    speakers: frozenset[str]
    proposed: dict[str, str] = field(default_factory=dict)

    def known(self, name: str) -> EntityRecord | None:
        """Return the entity of the graph by that id or name, or None."""
        meant = self._meant(name)
        if "--" in meant and (found := self.graph.entity(f"entity:{meant}")) is not None:
            return found
        return self.graph.named(meant)

    def find(self, name: str) -> Target:
        """Return the entity that a name or id means.

        Who speaks is a person, whether or not one is proposed.

        Raises:
            Unusable: There is none, and none is proposed.
        """
        known = self.known(name)
        if known is not None:
            return Target(known.id.removeprefix("entity:"), proposed=False)
        meant = self._meant(name)
        for target, label in self.proposed.items():
            if meant == target or meant.casefold() == label.casefold():
                return Target(target, proposed=True)
        for person in (self.owner, *sorted(self.speakers)):
            target = str(entity_id("person", person)).removeprefix("entity:") if person else ""
            if target and meant.casefold() in (person.casefold(), target):
                return Target(target, proposed=True)
        raise Unusable(f"“{meant[:60]}” is no known or proposed entity")

    def propose(self, name: str, entity_type: str) -> str:
        """Return the id `type--slug` of a new entity.

        Raises:
            Unusable: There is one already.
        """
        target = str(entity_id(entity_type, name)).removeprefix("entity:")
        known = self.known(name) or self.known(target)
        if known is not None:
            raise Unusable(f"“{name}” is known already as {known.id.removeprefix('entity:')}")
        if target in self.proposed:
            raise Unusable(f"“{name}” is proposed already")
        self.proposed[target] = name
        return target

    def _meant(self, name: str) -> str:
        bare = name.strip().removeprefix("[[").removesuffix("]]").removeprefix("entity:")
        return self.owner if bare.casefold() in _OWNER_WORDS and self.owner else bare
