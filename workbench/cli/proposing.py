"""The command by which an agent that may not write asks for something to be remembered."""

from __future__ import annotations

import click

from workbench.cli import scoped
from workbench.cli.asking_scope import scope_option, scoped_door
from workbench.cli.command import command
from workbench.cli.invocation import Invocation
from workbench.cli.printing import Page
from workbench.cli.text_argument import text_of
from workbench.engine.identifiers import MEMORY_STORES

CONFIDENCES = ("high", "medium", "low")


@command(
    "propose",
    answers="I am a sub-agent; how do I get this remembered?",
    examples=(
        'workbench propose "Sam prefers academic sources" --as researcher --entity person:Sam',
        'workbench propose - --as coder --store procedural --trigger "asked for it" < pattern.md',
    ),
)
@click.argument("words", metavar="TEXT", nargs=-1)
@click.option("--as", "name", metavar="NAME", help="The agent that proposes: the same as --role agent:NAME.")
@click.option(
    "--store", type=click.Choice(MEMORY_STORES), help="Where it belongs; found by its wording if left out."
)
@click.option("--entity", "entities", metavar="TYPE:NAME", multiple=True, help="Whom or what it is about.")
@click.option("--confidence", type=click.Choice(CONFIDENCES), default="medium", help="How sure it is.")
@click.option("--trigger", metavar="TEXT", default="", help="What set it off, in a few words.")
@click.option("--core-worthy", is_flag=True, help="It should stand in core memory as well.")
@click.option("--type", "kind", metavar="TYPE", help="What it is, as for `remember`.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="A topic; give as many as you like.")
@click.option("--origin", "origins", metavar="ID", multiple=True, help="A memory that it was learned from.")
@scope_option
@click.pass_obj
def propose_command(
    bench: Invocation,
    words: tuple[str, ...],
    name: str | None,
    store: str | None,
    entities: tuple[str, ...],
    confidence: str,
    trigger: str,
    core_worthy: bool,
    kind: str | None,
    tags: tuple[str, ...],
    origins: tuple[str, ...],
    scope: str | None,
) -> int:
    """It waits for the main agent’s or the person’s verdict. What contradicts memory or another proposal is marked
    on both sides; what says the same already is named. TEXT may be “-” for stdin.
    """
    text = text_of(words, what="The text to propose")
    if name is not None:
        if bench.role is not None and bench.role != f"agent:{name}":
            raise click.UsageError("--as and --role name two different roles.", click.get_current_context())
        bench.role = f"agent:{name}"
    door = scoped_door(bench, scope)
    if door is not None:
        if core_worthy or origins:
            raise click.UsageError(
                "--core-worthy and --origin are the owner’s alone.", click.get_current_context()
            )
        wishes = {
            "store": store, "entities": entities, "confidence": confidence, "trigger": trigger, "type": kind,
            "tags": tags,
        }  # fmt: skip
        return scoped.propose(bench, door, text, wishes)
    with bench.open() as workspace:
        proposed = workspace.propose(
            text,
            store=store,
            entities=entities,
            confidence=confidence,
            trigger=trigger,
            core_worthy=core_worthy,
            type=kind,
            tags=tags,
            origins=origins,
        )

    def view(page: Page) -> list[str]:
        from workbench.cli.views.proposals import proposed_lines

        return proposed_lines(page, proposed)

    return bench.report(proposed, view)
