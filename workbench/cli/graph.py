"""The command group `graph`: look around an entity, list entities, find a path, change what is known."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.command import complete_entity, group
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.display.entity import sorted_entities
from workbench.display.graph import entity_lines, graph_lines, path_lines
from workbench.display.text import safe_line
from workbench.engine.results.graph import EntityTable
from workbench.engine.results.memories import Changed

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

ENTITIES_SHOWN = 30
# What orders are called here, and in the bench.
_SORTS = {"score": "use", "degree": "links", "name": "name", "seen": "last seen"}


def _make(invocation: Invocation, act: Callable[[Workspace], Changed], said: str) -> int:
    """Make something and report it; what was said ends in its id."""
    with invocation.open() as workspace:
        changed = act(workspace)
    name = f" {safe_line(changed.ids[0])}." if changed.ids else ""
    return invocation.report_change(changed, said + name)


graph_command = group(
    "graph",
    default="show",
    help="ENTITY is an id such as person--sam-okafor, a name, or an alias. Without one, the whole graph is listed.",
    answers="What is known about this, and what is it connected with?",
    examples=(
        "workbench graph",
        "workbench graph person--sam-okafor --depth 2",
        "workbench graph project--tofta-handbook --depth 2 --relation uses --type tool --min-score 0.3",
        "workbench graph path person--sam-okafor tool--timescaledb",
    ),
)


@graph_command.subcommand("show", short_help="Show an entity, its facts and its neighbours", hidden=True)
@click.argument("entity", required=False, shell_complete=complete_entity)
@click.option(
    "--depth",
    type=click.IntRange(0, 6),
    metavar="N",
    help="So many steps away; as the setting graph.depth says if left out.",
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
def show(invocation: Invocation, /, entity: str | None, **wanted: Any) -> int:
    return invocation.ask(lambda it: it.graph(entity, **wanted), graph_lines)


@graph_command.subcommand(
    "entities",
    short_help="List the entities in a table",
    answers="Who and what does the agent know, and how fresh is that?",
    examples=("workbench graph entities", "workbench graph entities --type person --sort degree --limit 10"),
)
@click.option("--type", "type_", metavar="T", help="Only entities of this type.")
@click.option(
    "--sort",
    type=click.Choice(tuple(_SORTS)),
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
def entities(invocation: Invocation, type_: str | None, sort: str, limit: int) -> int:
    """One line each: name, relations, type, and where there is room facts and the last day that anything is known of;
    then score and id.
    """
    with invocation.open() as workspace:
        table = workspace.graph_entities()
    chosen = [row for row in table.entities if type_ in (None, row.type)]
    table = EntityTable(tuple(sorted_entities(chosen, _SORTS[sort])), table.relations)
    return invocation.report(
        table, partial(entity_lines, limit=limit), code=DONE if table.entities else NOTHING_FOUND
    )


@graph_command.subcommand(
    "path",
    short_help="Find how two entities are connected",
    answers="What has this to do with that?",
    examples=("workbench graph path person--sam-okafor tool--timescaledb",),
)
@click.argument("a", shell_complete=complete_entity)
@click.argument("b", shell_complete=complete_entity)
def path(invocation: Invocation, a: str, b: str) -> int:
    """The shortest way along relations, whatever their direction."""
    with invocation.open() as workspace:
        graph = workspace.graph_path(a, b)
    if not graph.nodes and not invocation.json:
        invocation.warn([f"Nothing connects {a} with {b}."])
    return invocation.report(graph, path_lines, code=DONE if graph.nodes else NOTHING_FOUND)


@graph_command.subcommand(
    "add",
    short_help="Make an entity",
    answers="How do I tell the agent that somebody or something exists?",
    examples=('workbench graph add person "Robin Ek"', "workbench graph add board-game Catan"),
)
@click.argument("type_", metavar="TYPE")
@click.argument("name")
def add(invocation: Invocation, type_: str, name: str) -> int:
    """TYPE is person, project, concept, tool, place or another word. A name that is much like another one is told."""
    return _make(invocation, lambda it: it.graph_add(type_, name), f"Added {safe_line(name)} as")


@graph_command.subcommand(
    "add-fact",
    short_help="Add a fact to an entity",
    answers="How do I tell the agent one thing about this?",
    examples=('workbench graph add-fact person--sam-okafor "Prefers the night train to a flight"',),
)
@click.argument("entity", shell_complete=complete_entity)
@click.argument("text")
def add_fact(invocation: Invocation, entity: str, text: str) -> int:
    """It holds from today, and has your word as its source. `workbench edit ID` changes what a fact says."""
    said = f"Added it to {safe_line(entity)} as"
    return _make(invocation, lambda it: it.graph_add_fact(entity, text), said)


@graph_command.subcommand(
    "retire",
    short_help="Say that a fact or a relation holds no longer",
    answers="This was true once; how do I say that it no longer is?",
    examples=(
        "workbench graph retire entity:person--sam-okafor#^f4s6",
        "workbench graph retire entity:person--sam-okafor#^f4s6 --by entity:person--sam-okafor#^f9k2",
    ),
)
@click.argument("memory_id", metavar="ID")
@click.option("--by", metavar="ID", help="The fact of the same entity that holds instead.")
@click.option("--expected", metavar="TEXT", help="Only if it still says this.")
def retire(invocation: Invocation, memory_id: str, by: str | None, expected: str | None) -> int:
    """Its line moves under “Superseded”, with today as its last day, and stays readable; `restore` takes it back.

    ID is behind each fact and relation that `graph` shows. What is retired with --by stays so: `restore` leaves it.
    """
    said = f"{safe_line(memory_id)} holds no longer."
    return invocation.change(lambda it: it.graph_retire(memory_id, expected=expected, by=by), said)


@graph_command.subcommand(
    "link",
    short_help="Relate two entities",
    answers="How do I tell the agent what belongs together?",
    examples=("workbench graph link person--sam-okafor uses tool--maplibre",),
)
@click.argument("from_", metavar="FROM", shell_complete=complete_entity)
@click.argument("relation")
@click.argument("to", shell_complete=complete_entity)
def link(invocation: Invocation, from_: str, relation: str, to: str) -> int:
    """RELATION is a word of the workspace’s vocabulary, such as uses, part-of or depends-on."""
    said = f"{safe_line(from_)} {safe_line(relation)} {safe_line(to)}."
    return invocation.change(lambda it: it.graph_link(from_, relation, to), said)


@graph_command.subcommand(
    "unlink",
    short_help="Remove a relation between two entities",
    answers="They have nothing to do with each other any more; how do I say so?",
    examples=("workbench graph unlink person--sam-okafor uses tool--maplibre",),
)
@click.argument("from_", metavar="FROM", shell_complete=complete_entity)
@click.argument("relation")
@click.argument("to", shell_complete=complete_entity)
def unlink(invocation: Invocation, from_: str, relation: str, to: str) -> int:
    """Only this relation; both entities stay."""
    said = f"No longer: {safe_line(from_)} {safe_line(relation)} {safe_line(to)}."
    return invocation.change(lambda it: it.graph_unlink(from_, relation, to), said)


@graph_command.subcommand(
    "rename",
    short_help="Give an entity another name",
    answers="How do I correct its name everywhere?",
    examples=('workbench graph rename person--sam-okafor "Sam Okafor Lind"',),
)
@click.argument("entity", shell_complete=complete_entity)
@click.argument("name")
def rename(invocation: Invocation, entity: str, name: str) -> int:
    """Links to it follow, and the old name stays as an alias."""
    said = f"{safe_line(entity)} is called {safe_line(name)} now."
    return invocation.change(lambda it: it.graph_rename(entity, name), said)


@graph_command.subcommand(
    "merge",
    short_help="Make one entity of two",
    answers="These are the same; how do I join them?",
    examples=("workbench graph merge concept--smhi-wind-model concept--smhi-forecast",),
)
@click.argument("keep", shell_complete=complete_entity)
@click.argument("absorb", shell_complete=complete_entity)
def merge(invocation: Invocation, keep: str, absorb: str) -> int:
    """KEEP takes over the facts, relations and names of ABSORB; unmerge parts them again."""
    said = f"Merged {safe_line(absorb)} into {safe_line(keep)}."
    return invocation.change(lambda it: it.graph_merge(keep, absorb), said)


@graph_command.subcommand(
    "unmerge",
    short_help="Part an entity from the one it was merged into",
    answers="They were two after all; how do I part them?",
    examples=("workbench graph unmerge concept--smhi-forecast",),
)
@click.argument("entity", shell_complete=complete_entity)
def unmerge(invocation: Invocation, entity: str) -> int:
    """ENTITY is the one that was absorbed."""
    return invocation.change(lambda it: it.graph_unmerge(entity), f"Parted {safe_line(entity)} again.")


@graph_command.subcommand(
    "propose-merge",
    short_help="Ask a person whether two entities are the same",
    answers="These may be the same; how do I have it decided later?",
    examples=(
        'workbench graph propose-merge concept--smhi-wind-model concept--smhi-forecast --reason "Both are SMHI’s wind"',
    ),
)
@click.argument("keep", shell_complete=complete_entity)
@click.argument("absorb", shell_complete=complete_entity)
@click.option("--reason", default="", metavar="TEXT", help="Why, in one sentence.")
def propose_merge(invocation: Invocation, keep: str, absorb: str, reason: str) -> int:
    """It waits among the items of `workbench review`; approved and applied, ABSORB goes into KEEP."""
    said = f"Proposed to merge {safe_line(absorb)} into {safe_line(keep)}. It waits as"
    return _make(invocation, lambda it: it.graph_propose_merge(keep, absorb, reason=reason), said)
