"""The command that reflects: running a cycle, saying whether one is due, what a model was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli.command import group
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.cli.printing import Page
from workbench.cli.progress_line import ProgressLine

if TYPE_CHECKING:
    from workbench.engine.results.reflection import Progress

reflect_command = group(
    "reflect",
    default="run",
    help="Reflection reads what no reflection has read yet and writes one proposal, memory/meta/pending-reflection.md. "
    "Nothing of it is applied until a person decides: workbench review. Without a model, rules reflect.",
    answers="What should the agent learn from the last days?",
    examples=("workbench reflect", "workbench reflect --if-due", "workbench reflect due --json"),
)


@reflect_command.bench_command("run", short_help="Reflect on what is new, and propose", hidden=True)
@click.option("--if-due", is_flag=True, help="Only where a reflection is due; for cron.")
@click.option("--session-end", is_flag=True, help="Say that a session has ended; implies --if-due.")
@click.option("--renew", is_flag=True, help="Although a proposal waits; what is undecided in it comes again.")
@click.pass_obj
def run(bench: Invocation, if_due: bool, session_end: bool, renew: bool) -> int:
    line = ProgressLine()
    occasion = "session-end" if session_end else "schedule" if if_due else "manual"

    def told(progress: Progress) -> None:
        steps = f" {progress.done:,} of {progress.total:,}" if progress.total else ""
        line.tell(f"Reflecting: {progress.phase}{steps}, {progress.tokens:,} of {progress.cap:,} tokens")

    with bench.open() as workspace:
        try:
            reflected = workspace.reflect(
                if_due=if_due or session_end, trigger=occasion, renew=renew, progress=told
            )
        finally:
            line.end()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.reflected import reflected_lines

        return reflected_lines(page, reflected)

    return bench.report(reflected, view)


@reflect_command.bench_command(
    "due",
    short_help="Say whether a reflection is due, and why",
    answers="Will the next cron run reflect?",
    examples=("workbench reflect due",),
)
@click.pass_obj
def due(bench: Invocation) -> int:
    with bench.open() as workspace:
        found = workspace.reflection_due()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.reflected import due_lines

        return due_lines(page, found)

    return bench.report(found, view)


@reflect_command.bench_command(
    "trace",
    short_help="Print what a model was asked in a cycle, and what it answered",
    help="Kept in the cache of this machine, beside the index; clearing the cache or purging history deletes it.",
    answers="Why did the model propose this?",
    examples=("workbench reflect trace r-004",),
)
@click.argument("reflection", metavar="ID")
@click.pass_obj
def trace(bench: Invocation, reflection: str) -> int:
    with bench.open() as workspace:
        exchanges = workspace.reflection_trace(reflection)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.reflected import trace_lines

        return trace_lines(page, exchanges)

    return bench.report(
        {"id": reflection, "exchanges": list(exchanges)}, view, code=DONE if exchanges else NOTHING_FOUND
    )
