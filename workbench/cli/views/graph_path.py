"""How a way between two entities is told: as a chain, then relation by relation."""

from __future__ import annotations

from workbench.cli.printing import Page, display_width, safe_line
from workbench.engine.results.graph import GraphEdge, GraphView


def path_lines(page: Page, graph: GraphView) -> list[str]:
    """Tell a way; nothing where there is none.

    Args:
        page: What is written on.
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
    """Join the parts, each given plain and painted; a line breaks before an arrow."""
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
