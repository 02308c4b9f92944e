"""Answers about the knowledge graph."""

from __future__ import annotations

from dataclasses import field

from workbench.engine.results import OR_NULL
from workbench.engine.results.memories import Validity
from workbench.engine.values import dataclass

_OR_NULL = {OR_NULL: True}


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An entity in a neighbourhood; `hop` 0 is the centre.

    Args:
        score: 0-1.
        status: active, fading, dormant, archived or pinned; empty where there is no file of that entity.
        degree: Relations it has in all, in both directions, shown or not.
        known: Whether it has a file; one that is only named by a relation has none.
    """

    id: str
    type: str
    label: str
    score: float
    hop: int
    status: str = field(default="", metadata=_OR_NULL)
    degree: int = 0
    known: bool = True


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A relation in a neighbourhood; `id` is `entity:type--slug#^block`, or empty where the line has no block id."""

    from_: str
    relation: str
    to: str
    confidence: str
    first_seen: str | None
    last_accessed: str | None
    id: str = field(default="", metadata=_OR_NULL)


@dataclass(frozen=True, slots=True)
class GraphFact:
    """A fact of the centre entity; `retired` if it no longer holds: it is under “Superseded”, or its end has passed.

    Its id is `entity:type--slug#^block`, or `file:PATH#L12` where the line has no block id.
    """

    id: str
    text: str
    provenance: tuple[str, ...]
    validity: Validity
    retired: bool = False
    line: int = 0


@dataclass(frozen=True, slots=True)
class GraphEvent:
    """One line of an entity's timeline; `date` as the file writes it, empty where it writes none."""

    date: str = field(metadata=_OR_NULL)
    text: str
    provenance: tuple[str, ...] = ()


@dataclass(frozen=True)
class GraphView:
    """A neighbourhood, or the whole graph where `center` is None.

    Args:
        omitted: Entities within the depth asked for that are not among `nodes`, because there are too many.
        aliases: Other names of the centre.
        events: The centre's timeline, in the order of its file.
        absorbed: Ids of entities that were merged into the centre.
    """

    center: str | None
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    facts: tuple[GraphFact, ...] = ()
    summary: str = ""
    omitted: int = 0
    aliases: tuple[str, ...] = ()
    events: tuple[GraphEvent, ...] = ()
    questions: tuple[str, ...] = ()
    absorbed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityRow:
    """One entity in a table of all.

    Args:
        score: 0-1.
        status: active, fading, dormant, archived or pinned.
        degree: Its relations, in both directions.
        facts: Facts that hold.
        seen: The newest day that its file or its last access names, `2026-02-02`; empty without one.
        relations: The relations that it takes part in, each once, in either direction.
        aliases: Its other names.
    """

    id: str
    type: str
    label: str
    score: float
    status: str
    degree: int
    facts: int
    seen: str = field(default="", metadata=_OR_NULL)
    relations: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class EntityTable:
    """All entities that were asked for, by id; `relations` counts the relations of the whole graph."""

    entities: tuple[EntityRow, ...]
    relations: int
