"""Commands that look after the installation: what works, and completion for the shell."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.command import command
from workbench.cli.invocation import DONE, Invocation
from workbench.cli.printing import Page, safe_line, wrap
from workbench.engine.results.standing import Check

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

SHELLS = ("bash", "zsh", "fish")
_AFTERWARDS = (
    "Memory itself is untouched. The next change begins a new history; workbench init begins it now."
)


@command(
    "doctor",
    answers="Something seems wrong; what is it, and what do I do?",
    examples=("workbench doctor", "workbench doctor --set-aside-history"),
)
@click.option("--set-aside-history", is_flag=True, help="Move a damaged history away and begin a new one.")
@click.option("-y", "--yes", is_flag=True, help="Do that without asking.")
@click.pass_obj
def doctor_command(bench: Invocation, set_aside_history: bool, yes: bool) -> int:
    """Changes nothing, unless told to. The exit code is 1 where something is broken; what is merely degraded
    still works. Where your own settings, the state and the cache are is said too. A local model is loaded and run
    once, also where that failed before. A history that is set aside stays beside the memory, whole, and can be
    moved back.
    """
    if set_aside_history:
        return _set_history_aside(bench, agreed=yes)
    with bench.open(lenient=True) as workspace:
        diagnosis = workspace.doctor()
        daemon = _daemon(workspace)
    diagnosis = replace(diagnosis, checks=(*diagnosis.checks, daemon, _own_settings()))

    def view(page: Page) -> list[str]:
        from workbench.cli.views.standing import doctor_lines

        return doctor_lines(page, diagnosis)

    return bench.report(diagnosis, view)


def _daemon(workspace: Workspace) -> Check:
    from workbench.cli.views.daemon import daemon_check
    from workbench.engine.daemon.standing import read_status

    return daemon_check(read_status(workspace.state))


def _own_settings() -> Check:
    from workbench.engine.settings.directories import user_settings_file

    file = user_settings_file(os.environ)
    return Check("config", "ok", str(file) if file.exists() else f"{file} (none yet)")


def _set_history_aside(bench: Invocation, *, agreed: bool) -> int:
    question = "Set the history aside, so that undo, audit and alerts start over?"
    with bench.open() as workspace:
        if not agreed and not bench.confirm(question):
            bench.warn(["Nothing was changed."])
            return DONE
        place = workspace.set_aside_history()

    def view(page: Page) -> list[str]:
        name = safe_line(place.name)
        return [
            f"{page.paint('✓', 'good')} The history is in {page.paint(name, 'place')} now; nothing of it was deleted.",
            *(page.paint(line, "quiet") for line in wrap(_AFTERWARDS, page.width, first="  ")),
        ]

    account: dict[str, object] = {"ok": True, "commit": None, "files": [], "ids": [], "setAside": place.name}
    return bench.report(account, view)


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
