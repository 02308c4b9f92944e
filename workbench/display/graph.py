"""Text of the graph: an entity with its neighbours, a path, the table of entities."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from workbench.display.text import Page, clip, display_width, safe_line
from workbench.display.words import counted

if TYPE_CHECKING:
    from workbench.engine.results.graph import (
        EntityTable,
        GraphEdge,
        GraphEvent,
        GraphFact,
        GraphNode,
        GraphView,
    )

LABEL = 24
ENTITY_LABEL = 28


def graph_lines(page: Page, graph: GraphView) -> list[str]:
    """Draw a neighbourhood around its centre, or list the whole graph."""
    if graph.center is None:
        return _whole(page, graph)
    nodes = {node.id: node for node in graph.nodes}
    center = nodes.get(graph.center)
    lines = [_name(page, center, graph.center)]
    if graph.aliases:
        also = f"also {', '.join(map(safe_line, graph.aliases))}"
        lines += page.wrapped(also, "quiet", first="  ")
    if graph.absorbed:
        took = f"merged into it: {', '.join(map(safe_line, graph.absorbed))}"
        lines += page.wrapped(took, "quiet", first="  ")
    if graph.summary:
        lines += page.wrapped(safe_line(graph.summary), first="  ")
    standing = [fact for fact in graph.facts if not fact.retired]
    retired = [fact for fact in graph.facts if fact.retired]
    for title, facts in (("Facts", standing), ("Superseded", retired)):
        if facts:
            lines += ["", page.paint(title, "strong")]
            for fact in facts:
                lines += _fact_lines(page, fact)
    if graph.events:
        lines += ["", page.paint("Timeline", "strong")]
        for event in graph.events:
            lines += _event_lines(page, event)
    if graph.questions:
        lines += ["", page.paint("Open questions", "strong")]
        for question in graph.questions:
            lines += page.wrapped(safe_line(question), first="  ? ")
    if graph.edges:
        lines += ["", page.paint("Relations", "strong"), *_tree(page, graph, nodes)]
    if graph.omitted:
        told = f"{_counted(graph.omitted, 'entity', 'entities')} more within reach; narrow with --type or --min-score."
        lines += ["", *page.wrapped(told, "quiet")]
    return lines


def _name(page: Page, node: GraphNode | None, id_: str) -> str:
    if node is None:
        return page.paint(safe_line(id_), "strong")
    label = page.paint(safe_line(node.label), "strong")
    how = f"{node.score:.2f} {safe_line(node.status)}".rstrip() if node.known else "no file yet"
    return f"{label}  {page.paint(safe_line(node.id), 'semantic')}  {page.paint(how, 'quiet')}"


def _event_lines(page: Page, event: GraphEvent) -> list[str]:
    date = f"{safe_line(event.date)}  " if event.date else ""
    lines = page.wrapped(safe_line(event.text), first=f"  {date}")
    if event.provenance:
        aside = "from " + ", ".join(map(safe_line, event.provenance))
        lines += page.wrapped(aside, "quiet", first="    ")
    return lines


def _fact_lines(page: Page, fact: GraphFact) -> list[str]:
    lines = page.wrapped(safe_line(fact.text), first="  • ")
    known = []
    if fact.validity.from_:
        known.append(f"since {fact.validity.from_}")
    if fact.validity.until:
        known.append(f"until {fact.validity.until}")
    if fact.provenance:
        known.append("from " + ", ".join(fact.provenance))
    if fact.validity.superseded_by:
        known.append(f"superseded by {fact.validity.superseded_by}")
    aside = " · ".join([fact.id, *known])
    return lines + page.wrapped(safe_line(aside), "quiet", first="    ")


def _tree(page: Page, graph: GraphView, nodes: dict[str, GraphNode]) -> list[str]:
    """Draw every edge once, under the end nearer to the centre."""
    touching: dict[str, list[GraphEdge]] = defaultdict(list)
    for edge in graph.edges:
        touching[edge.from_].append(edge)
        if edge.to != edge.from_:
            touching[edge.to].append(edge)
    drawn: set[int] = set()
    expanded = {graph.center}
    lines: list[str] = []
    # Depth first with a stack, since a long path exceeds the recursion limit.
    waiting = [(edge, str(graph.center), 1) for edge in reversed(touching[str(graph.center)])]
    while waiting:
        edge, here, depth = waiting.pop()
        if id(edge) in drawn:
            continue
        drawn.add(id(edge))
        outward = edge.from_ == here
        other = edge.to if outward else edge.from_
        lines.append(_edge_line(page, edge, nodes.get(other), other, depth, outward=outward))
        nearer = here in nodes and other in nodes and nodes[other].hop > nodes[here].hop
        if nearer and other not in expanded:
            expanded.add(other)
            # Edges back towards the centre are drawn there.
            waiting += [
                (further, other, depth + 1)
                for further in reversed(touching[other])
                if _hop(nodes, further.from_) >= nodes[other].hop <= _hop(nodes, further.to)
            ]
    rest = [edge for edge in graph.edges if id(edge) not in drawn]
    lines += [
        _edge_line(page, edge, nodes.get(edge.to), edge.to, 1, outward=True, start=edge.from_)
        for edge in rest
    ]
    return lines


def _hop(nodes: dict[str, GraphNode], id_: str) -> int:
    node = nodes.get(id_)
    return node.hop if node is not None else 0


def _edge_line(
    page: Page,
    edge: GraphEdge,
    node: GraphNode | None,
    other: str,
    depth: int,
    *,
    outward: bool,
    start: str = "",
) -> str:
    indent = "  " * min(depth, 12)
    arrow = "→" if outward else "←"
    relation = f"{safe_line(start)} {safe_line(edge.relation)}".strip()
    head = f"{indent}{arrow} {relation}  {safe_line(other)}"
    label = safe_line(node.label) if node is not None else ""
    sure = "" if edge.confidence in ("", "high") else f"({safe_line(edge.confidence)})"
    since = f"since {safe_line(edge.first_seen)}" if edge.first_seen else ""
    missing = "no file yet" if node is not None and not node.known else ""
    block = safe_line(edge.id.partition("#")[2])
    told = "  ".join(part for part in (label, block, sure, missing, since) if part)
    aside = clip(told, page.width - display_width(head) - 2)
    painted = f"{indent}{arrow} {page.paint(relation, 'quiet')}  {page.paint(safe_line(other), 'semantic')}"
    return painted + ("  " + aside if aside else "")


def _whole(page: Page, graph: GraphView) -> list[str]:
    if not graph.nodes:
        return ["The graph is empty."]
    relations: dict[str, int] = defaultdict(int)
    for edge in graph.edges:
        relations[edge.from_] += 1
        relations[edge.to] += 1
    lines = [
        page.heading(
            "Graph",
            f"{_counted(len(graph.nodes), 'entity', 'entities')}, "
            f"{_counted(len(graph.edges), 'relation', 'relations')}",
        )
    ]
    by_type: dict[str, list[GraphNode]] = defaultdict(list)
    for node in graph.nodes:
        by_type[node.type].append(node)
    for type_, nodes in sorted(by_type.items()):
        lines += ["", page.paint(safe_line(type_), "strong")]
        rows = []
        for node in sorted(nodes, key=lambda node: (-node.score, node.id)):
            count = relations[node.id]
            known = _counted(count, "relation", "relations") if node.known else "no file yet"
            label = clip(safe_line(node.label), LABEL)
            id_ = page.paint(safe_line(node.id), "semantic")
            rows.append((f"  {node.score:.2f}", label, page.paint(known, "quiet"), id_))
        lines += page.table(rows)
    return lines


def _counted(count: int, one: str, many: str) -> str:
    return f"{count or 'no'} {one if count == 1 else many}"


def path_lines(page: Page, graph: GraphView) -> list[str]:
    """Describe a path; empty without one.

    Args:
        graph: Its nodes and relations in walking order.
    """
    if not graph.nodes:
        return []
    labels = {node.id: safe_line(node.label) for node in graph.nodes}
    here = graph.nodes[0].id
    parts = [(labels[here], page.paint(labels[here], "strong"))]
    rows = []
    for edge in graph.edges:
        other = edge.to if edge.from_ == here else edge.from_
        name = safe_line(edge.relation)
        arrow = f"—{name}→" if edge.from_ == here else f"←{name}—"
        parts.append(
            (
                f"{arrow} {labels[other]}",
                f"{page.paint(arrow, 'quiet')} {page.paint(labels[other], 'strong')}",
            )
        )
        rows.append(_row(page, edge))
        here = other
    return [*_chain(parts, page.width), *(["", *page.table(rows)] if rows else [])]


def _chain(parts: list[tuple[str, str]], width: int) -> list[str]:
    """Join the parts, given plain and styled, breaking lines before an arrow."""
    lines: list[str] = []
    used = 0
    for plain, painted in parts:
        columns = display_width(plain)
        if lines and used + 1 + columns <= width:
            lines[-1] += f" {painted}"
            used += 1 + columns
        else:
            indent = "  " if lines else ""
            lines.append(indent + painted)
            used = len(indent) + columns
    return lines


def _row(page: Page, edge: GraphEdge) -> tuple[str, str, str]:
    told = [f"since {safe_line(edge.first_seen)}" if edge.first_seen else "", safe_line(edge.confidence)]
    aside = page.paint(" · ".join(part for part in told if part), "quiet")
    start, end = (page.paint(safe_line(id_), "semantic") for id_ in (edge.from_, edge.to))
    return f"  {start}", safe_line(edge.relation), f"{end}  {aside}".rstrip()


def entity_lines(page: Page, table: EntityTable, *, limit: int) -> list[str]:
    """Print a table of entities in their order."""
    if not table.entities:
        return ["There is no such entity."]
    count = len(table.entities)
    told = f"{counted(count, 'entity', 'entities')}, {table.relations:,} relations in all"
    shown = table.entities[:limit]
    rows = [("score", "type", "links", "facts", "seen", "name", "id")]
    rows += [
        (
            f"{row.score:.2f} {safe_line(row.status)}".rstrip(),
            safe_line(row.type),
            f"{row.degree:,}",
            f"{row.facts:,}",
            safe_line(row.seen),
            clip(safe_line(row.label), ENTITY_LABEL),
            page.paint(safe_line(row.id.removeprefix("entity:")), "semantic"),
        )
        for row in shown
    ]
    lines = [page.heading("Entities", told), "", *page.table(rows, right=frozenset({2, 3}))]
    if count > limit:
        lines += [
            "",
            page.paint(
                f"{count - limit:,} more; ask for more with --limit, or for all with --json.", "quiet"
            ),
        ]
    return lines
