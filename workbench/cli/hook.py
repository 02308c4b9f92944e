"""The command that clients run at the moments of a session, as the command line knows it."""

from __future__ import annotations

import click

from workbench.cli.command import command
from workbench.cli.hook_moment import tell_client
from workbench.cli.invocation import DONE, Invocation
from workbench.cli.quick_hook import given_on_stdin
from workbench.engine.clients.hooks import MOMENTS


@command(
    "hook",
    answers="What does my agent’s program run at the start and the end of a session?",
    examples=("workbench hook session-start --client claude-code < event.json",),
)
@click.argument("moment", type=click.Choice(MOMENTS), metavar="MOMENT")
@click.option("--client", default="claude-code", metavar="CLIENT", help="Which program runs it.")
def hook_command(invocation: Invocation, moment: str, client: str) -> int:
    """`workbench connect` writes it into the hooks of a program, nobody types it. MOMENT is session-start (answers with
    the brief), prompt (with what memory has on it, if anything), pre-compact or session-end (saves what matters of the
    conversation). It reads the program’s JSON on stdin and answers in kind. The exit code is always 0; what went
    wrong is on stderr and in hooks.log in your state folder.
    """
    tell_client(moment, client, given_on_stdin(), invocation.locate, invocation.workspace_class)
    return DONE
