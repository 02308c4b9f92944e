"""What the stores ask of whoever knows the whole workspace: names, relations, mentions and standing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Protocol

from workbench.engine.catalog.model import EdgeRecord, EntityMatch, EntityRecord, MemoryRecord


class EntityLookup(Protocol):
    """Finds entities and what is joined to them, without opening every file."""

    def resolve(self, name: str, entity_type: str | None = None) -> tuple[EntityMatch, ...]:
        """Return the entities a name may mean, best first: exact, alias and acronym before near."""
        ...

    def entity(self, entity: str) -> EntityRecord | None:
        """Return the entity by its id `entity:type--slug`."""
        ...

    def edges_of(self, entity: str) -> tuple[EdgeRecord, ...]:
        """Return the relations that start from or lead to an entity."""
        ...

    def absorbed(self, entity: str) -> tuple[str, ...]:
        """Return the ids of the entities whose files say that they were merged into this one."""
        ...


class MemoryLookup(EntityLookup, Protocol):
    """Finds any memory, and where it is named."""

    def memory(self, memory_id: str) -> MemoryRecord | None:
        """Return the memory by its id."""
        ...

    def memories_in(self, path: str) -> list[MemoryRecord]:
        """Return the memories that stand in a file, in order."""
        ...

    def mentions(self, target: str) -> tuple[str, ...]:
        """Return the ids of memories that link to a memory or give it as their source."""
        ...

    def mentioning_files(self, target: str) -> tuple[str, ...]:
        """Return the paths of files that link to a memory or give it as their source."""
        ...

    def links_from(self, source: str) -> tuple[str, ...]:
        """Return the ids that a memory links to or comes from."""
        ...


@dataclass(frozen=True)
class Standing:
    """How relevant a memory is at the moment.

    Args:
        score: 0-1.
        pinned: Whether it never decays.
        archived: Whether it is hidden.
        last_accessed: The day, in the workspace's zone, or None where nothing is known.
    """

    score: float
    pinned: bool = False
    archived: bool = False
    last_accessed: date | None = None


class StandingLookup(Protocol):
    """Tells how relevant memories are."""

    def standing(self, memory_id: str) -> Standing:
        """Return the standing of a memory by its id."""
        ...
