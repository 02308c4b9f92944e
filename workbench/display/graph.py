"""Text of the graph: an entity with its neighbours, a path, the table of entities."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.display.card import Section, card_lines, told_card
from workbench.display.cells import cell_width, plain
from workbench.display.entity import entity_card, entity_columns, entity_row, name_room
from workbench.display.graph_drawing.views import draw_compact, draw_path
from workbench.display.ink import column, gap, ink, spread
from workbench.display.text import Page, clip, safe_line
from workbench.display.words import counted

if TYPE_CHECKING:
    from workbench.engine.results.graph import EntityTable, GraphNode, GraphView

LABEL = 24
# Facts above relations, so that each has its id behind it.
_CARD = 67
_COMMANDS: Final = {"new": "workbench graph add-fact", "merge": "workbench graph unmerge"}


def graph_lines(page: Page, graph: GraphView) -> list[str]:
    """Draw a neighbourhood around its centre as its card and what lies further away, or list the whole graph."""
    if graph.center is None:
        return _whole(page, graph)
    card = entity_card(graph, None, None, None, {}, {}, page.now, whole=True)
    center = next((node for node in graph.nodes if node.id == graph.center), None)
    score = f" · {center.score:.2f} {center.status}".rstrip() if center is not None and center.known else ""
    card = replace(card, details=(Section.of("ID", f"{graph.center}{score}", "soft"),))
    card = told_card(card, lambda command: _COMMANDS.get(command, ""))
    lines = page.printed(card_lines(card, min(page.width, _CARD), details=True), ids=True)
    if any(node.hop > 1 for node in graph.nodes):
        around = draw_compact(replace(graph, omitted=0), page.width, chosen=None)
        lines += ["", page.paint("AROUND", "soft", "strong"), *page.printed(around.lines)]
    if graph.omitted:
        told = f"{counted(graph.omitted, 'entity', 'entities')} more within reach; narrow with --type or --min-score."
        lines += ["", *page.wrapped(told, "quiet")]
    return lines


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
            f"{counted(len(graph.nodes), 'entity', 'entities')}, {counted(len(graph.edges), 'relation')}",
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
            known = counted(count, "relation") if node.known else "no file yet"
            label = clip(safe_line(node.label), LABEL)
            id_ = page.paint(safe_line(node.id), "semantic")
            rows.append((f"  {node.score:.2f}", label, page.paint(known, "quiet"), id_))
        lines += page.table(rows)
    return lines


def path_lines(page: Page, graph: GraphView) -> list[str]:
    """Draw a path; empty without one.

    Args:
        graph: Its nodes and relations in walking order.
    """
    if not graph.nodes:
        return []
    return page.printed(draw_path(graph, page.width, 0).lines)


def entity_lines(page: Page, table: EntityTable, *, limit: int) -> list[str]:
    """Print the first entities of a table, each as its row in the bench, with its score and id."""
    if not table.entities:
        return ["There is no such entity."]
    count, shown = len(table.entities), table.entities[:limit]
    scores = [f"{row.score:.2f} {row.status}".rstrip() for row in shown]
    ids = [plain(row.id.removeprefix("entity:")) for row in shown]
    score_room, id_room = max(map(cell_width, ("score", *scores))), max(map(cell_width, ("id", *ids)))
    width, names = max(24, page.width - score_room - id_room - 4), name_room(shown)
    drawn = [entity_row(row, names, page.now.date(), width) for row in shown]
    head = spread((), entity_columns(names, width), width)
    told = f"{counted(count, 'entity', 'entities')}, {table.relations:,} relations in all"
    lines = [page.heading("Entities", told), ""]
    lines += page.printed(
        (*row, gap(2), column(score, score_room, "soft"), gap(2), ink(id_, "faint"))
        for row, score, id_ in zip((head, *drawn), ("score", *scores), ("id", *ids), strict=True)
    )
    if count > limit:
        more = f"{count - limit:,} more; ask for more with --limit, or for all with --json."
        lines += ["", page.paint(more, "quiet")]
    return lines
