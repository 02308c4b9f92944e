"""Commands about secrets: what was held back since it looks like one, and where memory holds some already."""

from __future__ import annotations

from functools import partial

import click

from workbench.cli.command import group
from workbench.cli.invocation import Invocation
from workbench.display.changes import held_lines, scan_lines
from workbench.display.memories import remembered_lines
from workbench.display.text import safe

secrets_command = group(
    "secrets",
    default="list",
    answers="What was held back because it looks like a key or a password?",
    examples=("workbench secrets", "workbench secrets store 1 --leave-out", "workbench secrets scan"),
    help="History remembers everything, so what looks like a key, a token, a private key or a password is not "
    "stored; it waits outside the workspace until a person decides.",
)

_NUMBER = click.argument("number", metavar="N", type=click.IntRange(min=1))
_NUMBERS = click.argument("numbers", metavar="N…", type=click.IntRange(min=1), nargs=-1, required=True)


@secrets_command.subcommand("list", short_help="List what was held back", hidden=True)
def list_command(invocation: Invocation) -> int:
    """Shows what should have been remembered, without the secrets."""
    return invocation.ask(lambda it: it.secrets_held(), held_lines)


@secrets_command.subcommand(
    "store",
    short_help="Remember what was held back",
    answers="This was no secret, or I want it kept; how?",
    examples=("workbench secrets store 1", "workbench secrets store 1 --leave-out"),
)
@_NUMBERS
@click.option("--leave-out", is_flag=True, help="Remember the rest of it, with the secret left out.")
def store_command(invocation: Invocation, numbers: tuple[int, ...], leave_out: bool) -> int:
    """Without --leave-out, the secret is allowed from then on, in `secrets.allow` of the workspace’s settings.

    What somebody wrote into a file is put back where its placeholder is. One `workbench undo` takes back all of it,
    and it waits again; for that it stays outside the workspace, with the secret, until `drop`. A file that was new to
    history is left.
    """
    with invocation.open() as workspace:
        files = {each.number for each in workspace.secrets_held().held if each.left_out}
        remembered = workspace.secrets_store(*numbers, leave_out=leave_out)
    return invocation.report(
        remembered, partial(remembered_lines, undone=not (leave_out and files.issuperset(numbers)))
    )


@secrets_command.subcommand(
    "reveal",
    short_help="Show what was held back, with the secret",
    answers="What exactly was held back?",
    examples=("workbench secrets reveal 1",),
)
@_NUMBER
def reveal_command(invocation: Invocation, number: int) -> int:
    """For your eyes: it is printed as it is."""
    with invocation.open() as workspace:
        found = workspace.secrets_reveal(number)
    return invocation.report(found, lambda _page, found: safe(found.text).split("\n"))


@secrets_command.subcommand(
    "drop",
    short_help="Forget what was held back",
    answers="How do I make sure that it is gone?",
    examples=("workbench secrets drop 1",),
)
@_NUMBERS
def drop_command(invocation: Invocation, numbers: tuple[int, ...]) -> int:
    """Nothing of it stays anywhere; in a file, [secret left out] takes the place of its placeholder."""
    with invocation.open() as workspace:
        held = workspace.secrets_drop(*numbers)

    return invocation.report(held, lambda page, held: [page.done("Dropped."), *held_lines(page, held)])


@secrets_command.subcommand(
    "allow",
    short_help="Let a secret be stored wherever it comes up",
    answers="A refusal named a digest; how do I let it in?",
    examples=("workbench secrets allow 5f2b9c0a417de836",),
)
@click.argument("digests", metavar="DIGEST…", nargs=-1, required=True)
def allow_command(invocation: Invocation, digests: tuple[str, ...]) -> int:
    """One commit of the settings, which `workbench undo` takes back."""
    return invocation.change(lambda it: it.secrets_allow(digests), "Allowed.", "Allowed already.")


@secrets_command.subcommand(
    "scan",
    short_help="Find secrets that memory holds already",
    answers="Does memory hold a key or a password?",
    examples=("workbench secrets scan",),
)
def scan_command(invocation: Invocation) -> int:
    """Looks at the files as they are; `workbench forget ID --purge-history` takes one out of history too."""
    with invocation.open() as workspace:
        found = workspace.secrets_scan()
    return invocation.report(found, scan_lines)
