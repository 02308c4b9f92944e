"""The command group for the graph: look around an entity, list all of them, find a way between two."""

from __future__ import annotations

import click

from workbench.cli import graph_editing
from workbench.cli.command import group
from workbench.cli.completing import complete_entity
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.cli.printing import Page
from workbench.engine.results.graph import EntityRow, EntityTable

ENTITIES_SHOWN = 30

graph_command = group(
    "graph",
    default="show",
    help="ENTITY is an id such as person--sam-okafor, a name, or an alias. Without one, the whole graph is listed.",
    answers="What is known about this, and what is it connected with?",
    examples=(
        "workbench graph",
        "workbench graph person--sam-okafor --depth 2",
        "workbench graph project--harbor --depth 2 --relation uses --type tool --min-score 0.3 --after 2026-01-01",
        "workbench graph path person--sam-okafor tool--timescaledb",
    ),
)


@graph_command.bench_command("show", short_help="Show an entity, its facts and its neighbours", hidden=True)
@click.argument("entity", required=False, shell_complete=complete_entity)
@click.option(
    "--depth",
    type=click.IntRange(0, 6),
    default=1,
    show_default=True,
    metavar="N",
    help="So many steps away.",
)
@click.option(
    "--relation",
    "relations",
    multiple=True,
    metavar="R",
    help="Follow this relation and its opposite alone; may be given several times.",
)
@click.option(
    "--type",
    "types",
    multiple=True,
    metavar="T",
    help="Only entities of this type, such as person; may be given several times.",
)
@click.option("--min-score", type=float, default=0.0, metavar="X", help="Only entities this fresh, 0 to 1.")
@click.option("--after", metavar="DAY", help="Only relations first seen on this day or later, or on no day.")
@click.option("--before", metavar="DAY", help="Only relations first seen by this day, or on no day.")
@click.pass_obj
def show(
    bench: Invocation,
    entity: str | None,
    depth: int,
    relations: tuple[str, ...],
    types: tuple[str, ...],
    min_score: float,
    after: str | None,
    before: str | None,
) -> int:
    with bench.open() as workspace:
        graph = workspace.graph(
            entity,
            depth=depth,
            relations=relations,
            types=types,
            min_score=min_score,
            after=after,
            before=before,
        )

    def view(page: Page) -> list[str]:
        from workbench.cli.views.graph import graph_lines

        return graph_lines(page, graph)

    return bench.report(graph, view)


@graph_command.bench_command(
    "entities",
    short_help="List the entities in a table",
    answers="Who and what does the agent know, and how fresh is that?",
    examples=("workbench graph entities", "workbench graph entities --type person --sort degree --limit 10"),
)
@click.option("--type", "type_", metavar="T", help="Only entities of this type.")
@click.option(
    "--sort",
    type=click.Choice(("score", "degree", "name", "seen")),
    default="score",
    show_default=True,
    help="The freshest, the best connected, by the alphabet, or the latest seen first.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=ENTITIES_SHOWN,
    metavar="N",
    help=f"Print at most so many; {ENTITIES_SHOWN} if left out. JSON always has all.",
)
@click.pass_obj
def entities(bench: Invocation, type_: str | None, sort: str, limit: int) -> int:
    """One line each: score, type, relations, facts, the last day that anything is known of, name and id."""
    with bench.open() as workspace:
        table = workspace.graph_entities()
    chosen = [row for row in table.entities if type_ in (None, row.type)]
    table = EntityTable(tuple(sorted(chosen, key=lambda row: _place(row, sort))), table.relations)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.entities import entity_lines

        return entity_lines(page, table, limit=limit)

    return bench.report(table, view, code=DONE if table.entities else NOTHING_FOUND)


def _place(row: EntityRow, sort: str) -> tuple[float, str, str]:
    """Return where a row stands; of equals the one whose name comes first."""
    by_number = {"score": -row.score, "degree": -row.degree, "name": 0.0, "seen": _days_back(row.seen)}
    return by_number[sort], row.label.casefold(), row.id


def _days_back(day: str) -> float:
    return -float(day.replace("-", "")) if day else 0.0


@graph_command.bench_command(
    "path",
    short_help="Find how two entities are connected",
    answers="What has this to do with that?",
    examples=("workbench graph path person--sam-okafor tool--timescaledb",),
)
@click.argument("a", shell_complete=complete_entity)
@click.argument("b", shell_complete=complete_entity)
@click.pass_obj
def path(bench: Invocation, a: str, b: str) -> int:
    """The shortest way along relations, whatever their direction."""
    with bench.open() as workspace:
        graph = workspace.graph_path(a, b)
    if not graph.nodes and not bench.json:
        bench.warn([f"Nothing connects {a} with {b}."])

    def view(page: Page) -> list[str]:
        from workbench.cli.views.graph_path import path_lines

        return path_lines(page, graph)

    return bench.report(graph, view, code=DONE if graph.nodes else NOTHING_FOUND)


for _command in (
    graph_editing.add,
    graph_editing.add_fact,
    graph_editing.retire,
    graph_editing.link,
    graph_editing.unlink,
    graph_editing.rename,
    graph_editing.merge,
    graph_editing.unmerge,
    graph_editing.propose_merge,
):
    graph_command.add_command(_command)
