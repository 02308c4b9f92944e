"""What is said of entities and relations that were found in the graph, and which of them may be given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.workspace.graph_filter import GraphFilter

if TYPE_CHECKING:
    from workbench.engine.catalog import EdgeRecord, KnowledgeGraph
    from workbench.engine.workspace.scores import Scores


class Look:
    """One look at the graph: which entities may be given, and what is said of them."""

    def __init__(self, graph: KnowledgeGraph, scores: Scores, narrowed: GraphFilter | None = None) -> None:
        self._graph = graph
        self._scores = scores
        self._narrowed = narrowed or GraphFilter()

    def admit(self, entities: Collection[str]) -> list[str]:
        """Return those that the filters let pass, by id."""
        passed = sorted(entities)
        if self._narrowed.types:
            named = self._graph.named(passed)
            passed = [id_ for id_ in passed if _type_of(id_, named) in self._narrowed.types]
        if self._narrowed.min_score > 0:
            grades = grades_of(self._scores, passed)
            passed = [id_ for id_ in passed if _value(grades, id_) >= self._narrowed.min_score]
        return passed

    def best(self, entities: Sequence[str]) -> list[str]:
        """Return them with those first that matter most: by score, by relations, by id."""
        grades, degrees = grades_of(self._scores, entities), self._graph.degrees(entities)
        return sorted(entities, key=lambda id_: (-_value(grades, id_), -degrees.get(id_, 0), id_))

    def everything(self) -> results.GraphView:
        """Return all entities and relations that the filters let pass."""
        edges = self._graph.edges()
        ends = dict.fromkeys(end for edge in edges for end in (edge.from_, edge.to))
        everybody = self._graph.everybody()
        hops = dict.fromkeys(self.admit({*everybody, *ends}), 0)
        return self.view(None, hops, [edge for edge in edges if edge.from_ in hops and edge.to in hops])

    def view(
        self, center: str | None, hops: Mapping[str, int], edges: Sequence[EdgeRecord], *, omitted: int = 0
    ) -> results.GraphView:
        """Return what is said of some entities and the relations among them."""
        named = self._graph.named(hops)
        degrees = self._graph.degrees(hops)
        grades = grades_of(self._scores, list(hops))
        nodes = []
        for id_, hop in hops.items():
            grade, known = grades.get(id_), named.get(id_)
            nodes.append(
                results.GraphNode(
                    id=id_,
                    type=_type_of(id_, named),
                    label=known[1] if known else id_.partition("--")[2].replace("-", " "),
                    score=grade.value if grade else 0.0,
                    hop=hop,
                    status=grade.status if grade else "",
                    degree=degrees.get(id_, 0),
                    known=known is not None,
                )
            )
        nodes.sort(key=lambda node: (node.hop, -node.score, node.id))
        return results.GraphView(
            center=center,
            nodes=tuple(nodes),
            edges=tuple(_edge(edge, grades) for edge in edges),
            omitted=omitted,
        )


@dataclass(frozen=True, slots=True)
class _Grade:
    value: float
    status: str
    last_accessed: str


def grades_of(scores: Scores, entities: Sequence[str]) -> Mapping[str, _Grade]:
    """Return how relevant some entities are; those without a score are missing."""
    return {
        id_: _Grade(score.value, score.status, scores.last_accessed(id_) or "")
        for id_, score in scores.of_all(entities).items()
        if score is not None
    }


def _value(grades: Mapping[str, _Grade], entity: str) -> float:
    grade = grades.get(entity)
    return grade.value if grade else 0.0


def _type_of(entity: str, named: Mapping[str, tuple[str, str]]) -> str:
    known = named.get(entity)
    return known[0] if known else entity.removeprefix("entity:").partition("--")[0]


def _edge(edge: EdgeRecord, grades: Mapping[str, _Grade]) -> results.GraphEdge:
    start = grades.get(edge.from_)
    return results.GraphEdge(
        from_=edge.from_,
        relation=edge.relation,
        to=edge.to,
        confidence=edge.confidence,
        first_seen=edge.since,
        last_accessed=start.last_accessed if start else None,
        id=f"{edge.from_}#^{edge.block}" if edge.block else "",
    )
