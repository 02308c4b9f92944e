"""Answers about the knowledge graph."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.engine.results.memories import Validity


@dataclass(frozen=True)
class GraphNode:
    """An entity in a neighbourhood; `hop` 0 is the centre."""

    id: str
    type: str
    label: str
    score: float
    hop: int


@dataclass(frozen=True)
class GraphEdge:
    """A relation in a neighbourhood."""

    from_: str
    relation: str
    to: str
    confidence: str
    first_seen: str | None
    last_accessed: str | None


@dataclass(frozen=True)
class GraphFact:
    """A fact of the centre entity."""

    id: str
    text: str
    provenance: tuple[str, ...]
    validity: Validity


@dataclass(frozen=True)
class GraphView:
    """A neighbourhood, or the whole graph where `center` is None."""

    center: str | None
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    facts: tuple[GraphFact, ...] = ()
    summary: str = ""
