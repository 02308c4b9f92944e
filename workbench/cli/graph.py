"""The command for the graph: look around an entity, find a path, join, part and name entities."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from workbench.cli.command import group
from workbench.cli.completing import complete_entity
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.cli.printing import Page, safe_line
from workbench.engine.results import Changed, GraphView

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

graph_command = group(
    "graph",
    default="show",
    help="ENTITY is an id such as person--alex, a name, or an alias. Without one, the whole graph is listed.",
    answers="What is known about this, and what is it connected with?",
    examples=(
        "workbench graph",
        "workbench graph person--alex --depth 2",
        "workbench graph path person--alex tool--git",
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
@click.pass_obj
def show(bench: Invocation, entity: str | None, depth: int) -> int:
    with bench.open() as workspace:
        graph = workspace.graph(entity, depth=depth)
    return _report(bench, graph, DONE)


def _report(bench: Invocation, graph: GraphView, code: int) -> int:
    def view(page: Page) -> list[str]:
        from workbench.cli.views.graph import graph_lines

        return graph_lines(page, graph)

    return bench.report(graph, view, code=code)


@graph_command.bench_command(
    "path",
    short_help="Find how two entities are connected",
    answers="What has this to do with that?",
    examples=("workbench graph path person--alex tool--git",),
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
    return _report(bench, graph, DONE if graph.nodes else NOTHING_FOUND)


def _change(bench: Invocation, change: Callable[[Workspace], Changed], said: str) -> int:
    with bench.open() as workspace:
        changed = change(workspace)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.changed import changed_lines

        return changed_lines(page, changed, said, "Nothing changed.")

    return bench.report(changed, view)


@graph_command.bench_command(
    "merge",
    short_help="Make one entity of two",
    answers="These are the same; how do I join them?",
    examples=("workbench graph merge person--alex person--alexander",),
)
@click.argument("keep", shell_complete=complete_entity)
@click.argument("absorb", shell_complete=complete_entity)
@click.pass_obj
def merge(bench: Invocation, keep: str, absorb: str) -> int:
    """KEEP takes over the facts, relations and names of ABSORB; unmerge parts them again."""
    said = f"Merged {safe_line(absorb)} into {safe_line(keep)}."
    return _change(bench, lambda it: it.graph_merge(keep, absorb), said)


@graph_command.bench_command(
    "unmerge",
    short_help="Part an entity from the one it was merged into",
    answers="They were two after all; how do I part them?",
    examples=("workbench graph unmerge person--alexander",),
)
@click.argument("entity", shell_complete=complete_entity)
@click.pass_obj
def unmerge(bench: Invocation, entity: str) -> int:
    """ENTITY is the one that was absorbed."""
    return _change(bench, lambda it: it.graph_unmerge(entity), f"Parted {safe_line(entity)} again.")


@graph_command.bench_command(
    "rename",
    short_help="Give an entity another name",
    answers="How do I correct its name everywhere?",
    examples=('workbench graph rename person--alex "Alex Meyer"',),
)
@click.argument("entity", shell_complete=complete_entity)
@click.argument("name")
@click.pass_obj
def rename(bench: Invocation, entity: str, name: str) -> int:
    """Links to it follow, and the old name stays as an alias."""
    said = f"{safe_line(entity)} is called {safe_line(name)} now."
    return _change(bench, lambda it: it.graph_rename(entity, name), said)


@graph_command.bench_command(
    "link",
    short_help="Relate two entities",
    answers="How do I tell the agent what belongs together?",
    examples=("workbench graph link person--alex uses tool--git",),
)
@click.argument("from_", metavar="FROM", shell_complete=complete_entity)
@click.argument("relation")
@click.argument("to", shell_complete=complete_entity)
@click.pass_obj
def link(bench: Invocation, from_: str, relation: str, to: str) -> int:
    """RELATION is a word of the workspace’s vocabulary, such as uses, part-of or depends-on."""
    said = f"{safe_line(from_)} {safe_line(relation)} {safe_line(to)}."
    return _change(bench, lambda it: it.graph_link(from_, relation, to), said)


@graph_command.bench_command(
    "unlink",
    short_help="Remove a relation between two entities",
    answers="They have nothing to do with each other any more; how do I say so?",
    examples=("workbench graph unlink person--alex uses tool--git",),
)
@click.argument("from_", metavar="FROM", shell_complete=complete_entity)
@click.argument("relation")
@click.argument("to", shell_complete=complete_entity)
@click.pass_obj
def unlink(bench: Invocation, from_: str, relation: str, to: str) -> int:
    """Only this relation; both entities stay."""
    said = f"No longer: {safe_line(from_)} {safe_line(relation)} {safe_line(to)}."
    return _change(bench, lambda it: it.graph_unlink(from_, relation, to), said)
