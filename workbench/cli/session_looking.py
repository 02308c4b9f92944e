"""The commands that read sessions: which there are, what was said, what a model would be shown."""

from __future__ import annotations

import click

from workbench.cli.command import command
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.cli.printing import Page

FROM = click.option(
    "--from",
    "from_",
    metavar="PATH",
    help="A state folder, sessions.json, database or transcript of another program.",
)


@command("list", short_help="List sessions, the latest first", hidden=True)
@FROM
@click.pass_obj
def list_sessions(bench: Invocation, from_: str | None) -> int:
    with bench.open() as workspace:
        found = workspace.sessions(from_=from_)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.sessions import sessions_lines

        return sessions_lines(page, found)

    return bench.report(found, view, code=DONE if found.sessions else NOTHING_FOUND)


@command(
    "show",
    short_help="Show what was said in a session, page by page",
    answers="Who said that, and what came before it?",
    examples=(
        "workbench sessions show main",
        "workbench sessions show main --from-line -20",
        "workbench sessions show file:sessions/7d0c.jsonl#L12",
    ),
)
@click.argument("key")
@FROM
@click.option("--from-line", type=int, metavar="N", help="First line; a negative one counts from the end.")
@click.option("--lines", type=click.IntRange(1), default=200, show_default=True, help="Most lines.")
@click.pass_obj
def show(bench: Invocation, key: str, from_: str | None, from_line: int | None, lines: int) -> int:
    """Lines that could not be read are named and skipped, so that the others can be read all the same."""
    with bench.open() as workspace:
        found = workspace.session(key, from_=from_, line=from_line, limit=lines)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.sessions import session_lines

        return session_lines(page, found)

    return bench.report(found, view)


@command(
    "context",
    short_help="Show what a model would be shown of a session",
    answers="What does the agent still know of this conversation?",
    examples=("workbench sessions context main --budget 8000",),
)
@click.argument("key")
@FROM
@click.option(
    "--budget", type=click.IntRange(1), metavar="TOKENS", help="Most tokens; else the session’s window."
)
@click.option("--turns", type=click.IntRange(0), help="Most turns of the person’s; 0 for all that fit.")
@click.pass_obj
def context(bench: Invocation, key: str, from_: str | None, budget: int | None, turns: int | None) -> int:
    """The branch in use, with the summary of what was compacted; damaged histories are put right, and it says how."""
    with bench.open() as workspace:
        found = workspace.session_context(key, from_=from_, budget=budget, turns=turns)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.sessions import context_lines

        return context_lines(page, found)

    return bench.report(found, view, code=DONE if found.messages else NOTHING_FOUND)
