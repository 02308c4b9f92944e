"""The command for core memory: show it with its budget, change a block or an item."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from workbench.cli.command import group
from workbench.cli.invocation import Invocation
from workbench.cli.options import text_of
from workbench.cli.printing import Page, safe_line
from workbench.engine.results.memories import Changed

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

core_command = group(
    "core",
    default="show",
    help="Core memory is MEMORY.md: a few blocks, each with a share of the token budget. What would pass the "
    "cap is refused before anything is written.",
    answers="What does the agent always have in mind, and how much room is left?",
    examples=("workbench core", 'workbench core add "Critical Facts" "Never deploy on a Friday"'),
)


@core_command.bench_command("show", short_help="Show the blocks with their budget", hidden=True)
@click.pass_obj
def show(bench: Invocation) -> int:
    with bench.open() as workspace:
        core = workspace.core()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.core import core_lines

        return core_lines(page, core)

    return bench.report(core, view)


def _change(bench: Invocation, change: Callable[[Workspace], Changed], said: str) -> int:
    with bench.open() as workspace:
        changed = change(workspace)
        core = None if bench.json else workspace.core()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.changes import changed_lines

        room = f"Core memory has {core.tokens:,} of {core.cap:,} tokens." if core else ""
        return [*changed_lines(page, changed, said, "Nothing changed."), f"  {page.paint(room, 'quiet')}"]

    return bench.report(changed, view)


@core_command.bench_command(
    "set",
    short_help="Replace the text of a whole block",
    answers="How do I rewrite what stands in this block?",
    examples=('workbench core set "Active Context" "- Working on: the release"',),
)
@click.argument("block")
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
@click.pass_obj
def set_block(bench: Invocation, block: str, words: tuple[str, ...]) -> int:
    """TEXT is Markdown, usually list items; “-” reads it from stdin."""
    body = text_of(words, what="The block’s text")
    return _change(bench, lambda it: it.core_set(block, body), f"Rewrote {safe_line(block)}.")


@core_command.bench_command(
    "add",
    short_help="Add one item to a block",
    answers="How do I tell the agent something it must always know?",
    examples=('workbench core add "Critical Facts" "Never deploy on a Friday"',),
)
@click.argument("block")
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
@click.pass_obj
def add(bench: Invocation, block: str, words: tuple[str, ...]) -> int:
    """TEXT may be “-” for stdin."""
    text = text_of(words, what="The item’s text")
    return _change(bench, lambda it: it.core_add(block, text), f"Added to {safe_line(block)}.")


@core_command.bench_command(
    "remove",
    short_help="Remove one item",
    answers="How do I take this out of what the agent always knows?",
    examples=("workbench core remove core:critical-facts:never-deploy-on-a-friday",),
)
@click.argument("id_", metavar="ID")
@click.pass_obj
def remove(bench: Invocation, id_: str) -> int:
    """Undo brings it back."""
    return _change(bench, lambda it: it.core_remove(id_), f"Removed {safe_line(id_)}.")


@core_command.bench_command(
    "replace",
    short_help="Reword one item",
    answers="How do I correct this one line?",
    examples=('workbench core replace core:critical-facts:never-deploy-on-a-friday "Deploy on Tuesdays"',),
)
@click.argument("id_", metavar="ID")
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
@click.pass_obj
def replace(bench: Invocation, id_: str, words: tuple[str, ...]) -> int:
    """TEXT may be “-” for stdin."""
    text = text_of(words, what="The item’s text")
    return _change(bench, lambda it: it.core_replace(id_, text), f"Reworded {safe_line(id_)}.")
