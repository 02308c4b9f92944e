"""What is said of entities and relations that were found in the graph, and which of them may be given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.engine.results.graph import GraphEdge, GraphNode, GraphView
from workbench.engine.workspace.graph_filter import GraphFilter

if TYPE_CHECKING:
    from workbench.engine.catalog.knowledge_graph import Edge, KnowledgeGraph
    from workbench.engine.workspace.known_scores import Grade
    from workbench.engine.workspace.scores import Scores

_UNGRADED = (0.0, "", "")


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
            passed = [id_ for id_ in passed if _type_of(id_, named).casefold() in self._narrowed.types]
        if self._narrowed.min_score > 0:
            grades = self._scores.graded(passed)
            passed = [id_ for id_ in passed if _value(grades, id_) >= self._narrowed.min_score]
        return passed

    def best(self, entities: Sequence[str], room: int) -> list[str]:
        """Return so many of them that matter most: by score, of one score those with more relations."""
        grades = self._scores.graded(entities)
        value = {id_: _value(grades, id_) for id_ in entities}
        last = sorted(value.values(), reverse=True)[room - 1]
        above = [id_ for id_ in entities if value[id_] > last]
        tied = [id_ for id_ in entities if value[id_] == last]
        degrees = self._graph.degrees(tied)
        tied.sort(key=lambda id_: (-degrees.get(id_, 0), id_))
        return [*above, *tied][:room]

    def everything(self) -> GraphView:
        """Return all entities and relations that the filters let pass."""
        edges = self._graph.edges()
        named = self._graph.everybody()
        hops = dict.fromkeys(named, 0)
        hops.update((edge.from_, 0) for edge in edges)
        hops.update((edge.to, 0) for edge in edges)
        passed = self.admit(hops)
        if len(passed) < len(hops):
            hops = dict.fromkeys(passed, 0)
            edges = [edge for edge in edges if edge.from_ in hops and edge.to in hops]
        return self._view(None, hops, edges, 0, named, self._graph.degrees())

    def view(
        self, center: str | None, hops: Mapping[str, int], edges: Sequence[Edge], *, omitted: int = 0
    ) -> GraphView:
        """Return what is said of some entities and the relations among them."""
        named, degrees = self._graph.named(hops), self._graph.degrees(hops)
        return self._view(center, hops, edges, omitted, named, degrees)

    def _view(
        self,
        center: str | None,
        hops: Mapping[str, int],
        edges: Sequence[Edge],
        omitted: int,
        named: Mapping[str, tuple[str, str]],
        degrees: Mapping[str, int],
    ) -> GraphView:
        grades = self._scores.graded(list(hops))
        nodes = []
        for id_, hop in hops.items():
            value, status, _ = grades.get(id_, _UNGRADED)
            known = named.get(id_)
            kind, label = known or _read_from(id_)
            nodes.append(
                GraphNode(id_, kind, label, value, hop, status, degrees.get(id_, 0), known is not None)
            )
        nodes.sort(key=lambda node: (node.hop, -node.score, node.id))
        shown = []
        for from_, relation, to, confidence, since, block, _ in edges:
            accessed = grades[from_][2] if from_ in grades else None
            id_ = f"{from_}#^{block}" if block else ""
            shown.append(GraphEdge(from_, relation, to, confidence, since, accessed, id_))
        return GraphView(center, tuple(nodes), tuple(shown), omitted=omitted)


def _value(grades: Mapping[str, Grade], entity: str) -> float:
    grade = grades.get(entity)
    return grade.value if grade else 0.0


def _type_of(entity: str, named: Mapping[str, tuple[str, str]]) -> str:
    return (named.get(entity) or _read_from(entity))[0]


def _read_from(entity: str) -> tuple[str, str]:
    """Return type and label of an entity without a file, as far as its id says."""
    kind, _, slug = entity.removeprefix("entity:").partition("--")
    return kind, slug.replace("-", " ")
