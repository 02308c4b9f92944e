"""The command for core memory: show it with its budget, change a block or an item."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from workbench.cli.command import group
from workbench.cli.invocation import Invocation
from workbench.cli.options import text_of
from workbench.display.changes import changed_lines
from workbench.display.status import core_lines
from workbench.display.text import Page, safe_line
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


@core_command.subcommand("show", short_help="Show the blocks with their budget", hidden=True)
def show(invocation: Invocation) -> int:
    return invocation.ask(lambda it: it.core(), core_lines)


def _change(invocation: Invocation, change: Callable[[Workspace], Changed], said: str) -> int:
    with invocation.open() as workspace:
        changed = change(workspace)
        core = None if invocation.json else workspace.core()

    def draw(page: Page, changed: Changed) -> list[str]:
        room = f"Core memory has {core.tokens:,} of {core.cap:,} tokens." if core else ""
        return [*changed_lines(page, changed, said, "Nothing changed."), f"  {page.paint(room, 'quiet')}"]

    return invocation.report(changed, draw)


@core_command.subcommand(
    "set",
    short_help="Replace the text of a whole block",
    answers="How do I rewrite this block?",
    examples=('workbench core set "Active Context" "- Working on: the release"',),
)
@click.argument("block")
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
def set_block(invocation: Invocation, block: str, words: tuple[str, ...]) -> int:
    """TEXT is Markdown, usually list items; “-” reads it from stdin."""
    body = text_of(words, what="The block’s text")
    return _change(invocation, lambda it: it.core_set(block, body), f"Rewrote {safe_line(block)}.")


@core_command.subcommand(
    "add",
    short_help="Add one item to a block",
    answers="How do I tell the agent something it must always know?",
    examples=('workbench core add "Critical Facts" "Never deploy on a Friday"',),
)
@click.argument("block")
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
def add(invocation: Invocation, block: str, words: tuple[str, ...]) -> int:
    """TEXT may be “-” for stdin."""
    text = text_of(words, what="The item’s text")
    return _change(invocation, lambda it: it.core_add(block, text), f"Added to {safe_line(block)}.")


@core_command.subcommand(
    "remove",
    short_help="Remove one item",
    answers="How do I take this out of what the agent always knows?",
    examples=("workbench core remove core:critical-facts:never-deploy-on-a-friday",),
)
@click.argument("id_", metavar="ID")
def remove(invocation: Invocation, id_: str) -> int:
    """Undo brings it back."""
    return _change(invocation, lambda it: it.core_remove(id_), f"Removed {safe_line(id_)}.")


@core_command.subcommand(
    "replace",
    short_help="Reword one item",
    answers="How do I correct this one line?",
    examples=('workbench core replace core:critical-facts:never-deploy-on-a-friday "Deploy on Tuesdays"',),
)
@click.argument("id_", metavar="ID")
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
def replace(invocation: Invocation, id_: str, words: tuple[str, ...]) -> int:
    """TEXT may be “-” for stdin."""
    text = text_of(words, what="The item’s text")
    return _change(invocation, lambda it: it.core_replace(id_, text), f"Reworded {safe_line(id_)}.")
