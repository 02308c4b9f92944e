"""Commands that look after the installation: what works, and completion for the shell."""

from __future__ import annotations

import os
from pathlib import Path

import click

from workbench.cli.command import command
from workbench.cli.invocation import Invocation
from workbench.cli.printing import Page

SHELLS = ("bash", "zsh", "fish")


@command(
    "doctor",
    answers="Something seems wrong; what is it, and what do I do?",
    examples=("workbench doctor",),
)
@click.pass_obj
def doctor_command(bench: Invocation) -> int:
    """Changes nothing. The exit code is 1 where something is broken; what is merely degraded still works."""
    with bench.open() as workspace:
        diagnosis = workspace.doctor()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.standing import doctor_lines

        return doctor_lines(page, diagnosis)

    return bench.report(diagnosis, view)


@command(
    "completion",
    answers="How do I get commands and options with the tab key?",
    examples=(
        'eval "$(workbench completion bash)"',
        "workbench completion fish > ~/.config/fish/completions/workbench.fish",
    ),
)
@click.argument("shell", required=False, type=click.Choice(SHELLS))
@click.pass_obj
def completion_command(bench: Invocation, shell: str | None) -> int:
    """Without a name it is the shell of $SHELL. The example is a line for your shell’s startup file."""
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise click.UsageError(f"Name your shell: {', '.join(SHELLS)}.", click.get_current_context())
    from click.shell_completion import get_completion_class

    from workbench.cli.root import COMPLETION_VARIABLE, PROGRAM, workbench

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(workbench, {}, PROGRAM, COMPLETION_VARIABLE).source()
    return bench.report_text({"shell": shell, "script": script}, script)
