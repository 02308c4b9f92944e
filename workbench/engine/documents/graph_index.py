"""`memory/graph/index.md`: the tables of entities and edges, a projection of the entity files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.documents.problems import Problem


@dataclass(frozen=True, slots=True)
class IndexedEntity:
    """One row of the registry; `score` is shown as written (`0.95`, `1.00 (pinned)`)."""

    id: str
    type: str
    label: str
    file: str
    score: str


@dataclass(frozen=True, slots=True)
class IndexedEdge:
    """One row of the edges; dates are ISO, empty where unknown."""

    from_: str
    relation: str
    to: str
    confidence: str
    first_seen: str
    last_accessed: str


@dataclass(frozen=True)
class GraphIndex:
    """The index as read."""

    path: str
    entities: tuple[IndexedEntity, ...]
    edges: tuple[IndexedEdge, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/graph/index.md") -> GraphIndex:
        """Read the file. Any bytes will do; a row that cannot be read is a problem."""
        raise NotImplementedError


def render_graph_index(entities: Iterable[IndexedEntity], edges: Iterable[IndexedEdge]) -> bytes:
    """Write the whole file, rows sorted by id, so that the same graph gives the same bytes."""
    raise NotImplementedError


def update_graph_index(
    content: bytes, entity_id: str, entity: IndexedEntity | None, edges: Iterable[IndexedEdge]
) -> bytes:
    """Bring one entity's row and the edges that start from it up to date, touching nothing else.

    Args:
        content: A file that `render_graph_index` wrote; anything else is laid out anew around the given rows.
        entity_id: `type--slug`.
        entity: Its row, or None to remove it.
        edges: All edges that start from it.

    Returns:
        The same bytes that rendering the changed graph as a whole would give.
    """
    raise NotImplementedError
