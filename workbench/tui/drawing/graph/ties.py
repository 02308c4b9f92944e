"""What ties the entities of a view together: the words of each pair, and a tree from the centre outward."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.display.cells import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.graph import GraphNode, GraphView

OUTWARD, INWARD, BOTH, APART = ">", "<", "=", "-"


@dataclass(frozen=True)
class Ties:
    """A view, read for drawing.

    Args:
        nodes: Entities by id, each once.
        center: Id of the centre; empty where there is no entity at all.
        words: What the relations from one entity to another are called, safe and each once.
    """

    nodes: dict[str, GraphNode]
    center: str
    words: dict[tuple[str, str], tuple[str, ...]]

    def words_between(self, inner: str, outer: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what the relations are called from an entity to another, and back."""
        return self.words.get((inner, outer), ()), self.words.get((outer, inner), ())

    def direction(self, inner: str, outer: str) -> str:
        """Return whether relations lead outward, inward or both ways between two entities, or are not there."""
        there, back = self.words_between(inner, outer)
        if there and back:
            return BOTH
        return OUTWARD if there else INWARD if back else APART

    @cached_property
    def neighbours(self) -> dict[str, list[str]]:
        """The entities that each one is related to, either way, without itself."""
        found: dict[str, list[str]] = {each: [] for each in self.nodes}
        for from_, to in self.words:
            if from_ != to:
                found[from_].append(to)
                if (to, from_) not in self.words:
                    found[to].append(from_)
        return found

    @cached_property
    def children(self) -> dict[str, tuple[str, ...]]:
        """A tree over all entities, the most relevant first; what nothing leads to hangs on the centre, last."""
        if not self.center:
            return {}
        grown: dict[str, tuple[str, ...]] = {}
        reached = {self.center}
        ring = [self.center]
        while ring:
            outer: list[str] = []
            for each in ring:
                fresh = [other for other in self.neighbours[each] if other not in reached]
                grown[each] = tuple(sorted(fresh, key=self.relevance))
                reached.update(fresh)
                outer.extend(grown[each])
            ring = outer
        apart = sorted((each for each in self.nodes if each not in reached), key=self.relevance)
        grown.update(dict.fromkeys(apart, ()))
        grown[self.center] += tuple(apart)
        return grown

    @cached_property
    def classes(self) -> dict[str, tuple[str, ...]]:
        """The centre’s neighbours by direction and relation; the most relevant come first in a class and of classes."""
        found: dict[str, list[str]] = {}
        for id_ in self.children[self.center]:
            there, back = self.words_between(self.center, id_)
            name = self.direction(self.center, id_) + ", ".join((*there, *back))
            found.setdefault(name, []).append(id_)
        return {name: tuple(members) for name, members in found.items()}

    def relevance(self, id_: str) -> tuple[float, str, str]:
        """Return what entities are sorted by: the highest score first."""
        node = self.nodes[id_]
        return (-node.score, node.label.casefold(), id_)

    def beyond(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Return all that hangs on some entities, near before far."""
        found: list[str] = []
        ring: list[str] = list(ids)
        while ring:
            ring = [child for each in ring for child in self.children[each]]
            found.extend(ring)
        return tuple(found)


def read_ties(view: GraphView) -> Ties:
    """Read a view for drawing; a relation with an end that is not among the entities is left out."""
    nodes: dict[str, GraphNode] = {}
    for node in view.nodes:
        nodes.setdefault(node.id, node)
    center = view.center if view.center in nodes else next(iter(nodes), "")
    words: dict[tuple[str, str], dict[str, None]] = {}
    for edge in view.edges:
        if edge.from_ in nodes and edge.to in nodes:
            words.setdefault((edge.from_, edge.to), {})[plain(edge.relation).strip()] = None
    return Ties(nodes, center or "", {pair: tuple(each) for pair, each in words.items()})
