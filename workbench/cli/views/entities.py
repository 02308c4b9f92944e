"""How the table of entities is printed."""

from __future__ import annotations

from workbench.cli.printing import Page, clip, safe_line
from workbench.engine.results.graph import EntityTable

LABEL = 28


def entity_lines(page: Page, table: EntityTable, *, limit: int) -> list[str]:
    """Print a table of entities in their order.

    Args:
        page: What is written on.
        table: The entities that were asked for.
        limit: Rows at most.
    """
    if not table.entities:
        return ["There is no such entity."]
    count = len(table.entities)
    told = f"{count:,} {'entity' if count == 1 else 'entities'}, {table.relations:,} relations in all"
    shown = table.entities[:limit]
    rows = [("score", "type", "links", "facts", "seen", "name", "id")]
    rows += [
        (
            f"{row.score:.2f} {safe_line(row.status)}".rstrip(),
            safe_line(row.type),
            f"{row.degree:,}",
            f"{row.facts:,}",
            safe_line(row.seen),
            clip(safe_line(row.label), LABEL),
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
