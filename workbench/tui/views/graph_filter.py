"""Owns what the filter of the graph browser says: of the table, and of what lies around an entity."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench.tui.query import Query, parse_query

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from workbench.engine.results.graph import EntityRow, GraphNode, GraphView
    from workbench.tui.query import Condition

FIELDS = ("type", "relation", "status", "score")
_TOP = 1.0


@dataclass(frozen=True)
class GraphFilter:
    """Conditions on entities and on the relations between them; all must hold.

    Args:
        words: Conditions on names, types and status.
        relations: Conditions on names of relations.
        lowest: Least score, 0-1.
        highest: Greatest score, 0-1.
        after: First day, or None.
        before: Last day, or None.
    """

    words: Query = field(default_factory=Query)
    relations: Query = field(default_factory=Query)
    lowest: float = 0.0
    highest: float = _TOP
    after: date | None = None
    before: date | None = None

    def __bool__(self) -> bool:
        return self != GraphFilter()

    def shows_row(self, row: EntityRow) -> bool:
        """Tell whether an entity of the table passes; its day is when it was last seen."""
        if not self.lowest <= row.score <= self.highest:
            return False
        if (self.after and row.seen < self.after.isoformat()) or (
            self.before and not "" < row.seen <= self.before.isoformat()
        ):
            return False
        if self.relations and not self.relations.holds({"relation": _lowered(row.relations)}, ""):
            return False
        text = f"{row.label}\n{row.id}\n" + "\n".join(row.aliases)
        return not self.words or self.words.holds(_fields(row.type, row.status), text.casefold())

    def shows_node(self, node: GraphNode) -> bool:
        """Tell whether an entity of a drawing passes what the engine was not asked about."""
        text = f"{node.label}\n{node.id}".casefold()
        return node.score <= self.highest and self.words.holds(_fields(node.type, node.status), text)


def _lowered(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(value.casefold() for value in values)


def _fields(type_: str, status: str) -> dict[str, tuple[str, ...]]:
    return {"type": (type_.casefold(),), "status": (status.casefold(),)}


def parse_graph_filter(text: str, today: date) -> GraphFilter:
    """Read what was typed; anything makes sense, since people are still typing.

    Args:
        text: For example `mira type:person score:>0.5 relation:uses after:2026-01 -status:dormant`.
        today: For days that are told from today.
    """
    query = parse_query(text, FIELDS, today)
    found = GraphFilter(after=query.since, before=query.until)
    named: list[Condition] = []
    relations: list[Condition] = []
    for each in query.conditions:
        if each.field == "relation":
            relations.append(each)
        elif each.field == "score":
            found = _bounded(found, each.values[0])
        else:
            named.append(each)
    return replace(found, words=Query(tuple(named)), relations=Query(tuple(relations)))


def _bounded(found: GraphFilter, bound: str) -> GraphFilter:
    """Read `>0.5`, `<0.5` or `0.5`, which is at least that; half-typed numbers bind nothing."""
    try:
        number = float(bound.lstrip("<>="))
    except ValueError:
        return found
    if not 0 <= number <= _TOP:
        return found
    return replace(found, highest=number) if bound.startswith("<") else replace(found, lowest=number)


@dataclass(frozen=True)
class Narrowing:
    """What the engine is asked to leave out around an entity; see `GraphCalls.graph`."""

    relations: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    min_score: float = 0.0
    after: str | None = None
    before: str | None = None


def narrowing(wanted: GraphFilter, types: Iterable[str], relations: Iterable[str]) -> Narrowing:
    """Return what to ask the engine for.

    Args:
        wanted: What the filter says.
        types: Every type of entity there is.
        relations: Every relation there is; what is typed may be the beginning of one, or turned round by a minus.
    """
    of_type = Query(tuple(each for each in wanted.words.conditions if each.field == "type"))
    return Narrowing(
        relations=_meant(wanted.relations, "relation", relations),
        types=_meant(of_type, "type", types),
        min_score=wanted.lowest,
        after=wanted.after.isoformat() if wanted.after else None,
        before=wanted.before.isoformat() if wanted.before else None,
    )


def _meant(query: Query, name: str, known: Iterable[str]) -> tuple[str, ...]:
    if not query:
        return ()
    meant = tuple(each for each in known if query.holds({name: (each.casefold(),)}, ""))
    # Nothing that exists is meant: what was typed itself, which shows nothing either.
    return meant or tuple(value for each in query.conditions for value in each.values)


def narrowed(view: GraphView, wanted: GraphFilter) -> GraphView:
    """Return a neighbourhood with only what passes by name, status and greatest score, and what leads there.

    The centre stays, and so does every entity that stands between it and one that passes.
    """
    passing = {node.id for node in view.nodes if node.hop == 0 or wanted.shows_node(node)}
    hops = {node.id: node.hop for node in view.nodes}
    for edge in view.edges:
        for near, far in ((edge.from_, edge.to), (edge.to, edge.from_)):
            if far in passing and hops[far] == hops[near] + 1 and hops[far] > 1:
                passing.add(near)
    if len(passing) == len(view.nodes):
        return view
    return replace(
        view,
        nodes=tuple(node for node in view.nodes if node.id in passing),
        edges=tuple(edge for edge in view.edges if edge.from_ in passing and edge.to in passing),
    )
