"""Commands about secrets: what was held back since it looks like one, and where memory holds some already."""

from __future__ import annotations

import click

from workbench.cli.command import group
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.cli.printing import Page, safe

secrets_command = group(
    "secrets",
    default="list",
    answers="What was not remembered because it looks like a key or a password?",
    examples=("workbench secrets", "workbench secrets store 1 --leave-out", "workbench secrets scan"),
    help="History remembers everything, so what looks like a key, a token, a private key or a password is not "
    "stored; it waits outside the workspace until a person decides.",
)

_NUMBER = click.argument("number", metavar="N", type=click.IntRange(min=1))
_NUMBERS = click.argument("numbers", metavar="N…", type=click.IntRange(min=1), nargs=-1, required=True)


@secrets_command.bench_command("list", short_help="List what was held back", hidden=True)
@click.pass_obj
def list_command(bench: Invocation) -> int:
    """Shows what should have been remembered, without the secrets."""
    with bench.open() as workspace:
        held = workspace.secrets_held()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.secrets import held_lines

        return held_lines(page, held)

    return bench.report(held, view)


@secrets_command.bench_command(
    "store",
    short_help="Remember what was held back",
    answers="This was no secret, or I want it kept; how?",
    examples=("workbench secrets store 1", "workbench secrets store 1 --leave-out"),
)
@_NUMBERS
@click.option("--leave-out", is_flag=True, help="Remember the rest of it, with the secret left out.")
@click.pass_obj
def store_command(bench: Invocation, numbers: tuple[int, ...], leave_out: bool) -> int:
    """Without --leave-out, the secret is allowed from then on, in `secrets.allow` of the workspace’s settings.

    What somebody wrote into a file is put back where its placeholder stands. One `workbench undo` takes back all of it,
    but leaves a file that was new to history.
    """
    with bench.open() as workspace:
        files = {each.number for each in workspace.secrets_held().held if each.left_out}
        remembered = workspace.secrets_store(*numbers, leave_out=leave_out)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.memories import remembered_lines

        return remembered_lines(page, remembered, undone=not (leave_out and files.issuperset(numbers)))

    return bench.report(remembered, view)


@secrets_command.bench_command(
    "reveal",
    short_help="Show what was held back, with the secret",
    answers="What was it that I am asked about?",
    examples=("workbench secrets reveal 1",),
)
@_NUMBER
@click.pass_obj
def reveal_command(bench: Invocation, number: int) -> int:
    """For your eyes: it is printed as it is."""
    with bench.open() as workspace:
        found = workspace.secrets_reveal(number)
    return bench.report(found, lambda _page: safe(found.text).split("\n"))


@secrets_command.bench_command(
    "drop",
    short_help="Forget what was held back",
    answers="How do I make sure that it is gone?",
    examples=("workbench secrets drop 1",),
)
@_NUMBERS
@click.pass_obj
def drop_command(bench: Invocation, numbers: tuple[int, ...]) -> int:
    """Nothing of it stays anywhere; in a file, [secret left out] stands where its placeholder stood."""
    with bench.open() as workspace:
        held = workspace.secrets_drop(*numbers)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.secrets import held_lines

        return [f"{page.paint('✓', 'good')} Dropped.", *held_lines(page, held)]

    return bench.report(held, view)


@secrets_command.bench_command(
    "allow",
    short_help="Let a secret be stored wherever it comes up",
    answers="A refusal named a digest; how do I let it in?",
    examples=("workbench secrets allow 5f2b9c0a417de836",),
)
@click.argument("digests", metavar="DIGEST…", nargs=-1, required=True)
@click.pass_obj
def allow_command(bench: Invocation, digests: tuple[str, ...]) -> int:
    """One commit of the settings, which `workbench undo` takes back."""
    with bench.open() as workspace:
        changed = workspace.secrets_allow(digests)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.changes import changed_lines

        return changed_lines(page, changed, "Allowed.", "Allowed already.")

    return bench.report(changed, view)


@secrets_command.bench_command(
    "scan",
    short_help="Find secrets that memory holds already",
    answers="Does memory hold a key or a password?",
    examples=("workbench secrets scan",),
)
@click.pass_obj
def scan_command(bench: Invocation) -> int:
    """Looks at the files as they are; `workbench forget ID --purge-history` takes one out of history too."""
    with bench.open() as workspace:
        found = workspace.secrets_scan()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.secrets import scan_lines

        return scan_lines(page, found)

    return bench.report(found, view, code=DONE if found.places else NOTHING_FOUND)
