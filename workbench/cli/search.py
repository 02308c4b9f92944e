"""Commands that only read: search, show, get and brief."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from workbench.cli import scoped
from workbench.cli.command import command
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.cli.options import complete_file, complete_memory
from workbench.cli.printing import Page
from workbench.cli.scoped import scope_option, scoped_door
from workbench.engine.identifiers import SEARCHED_STORES
from workbench.engine.requests import SearchRequest
from workbench.engine.results.status import Brief


@command(
    "search",
    answers="What does the agent know about this?",
    examples=(
        "workbench search hybrid architecture",
        "workbench search deploy --store procedural --explain",
        "workbench search meeting --after 2026-01-01 --max-results 3",
    ),
)
@click.argument("words", metavar="QUERY", nargs=-1, required=True)
@click.option("-n", "--max-results", type=click.IntRange(min=1), metavar="N", help="At most so many.")
@click.option("--min-score", type=click.FloatRange(0, 1), metavar="SCORE", help="None below this, 0 to 1.")
@click.option(
    "--store",
    type=click.Choice(SEARCHED_STORES),
    help="Only of this store.",
)
@click.option("--after", metavar="DATE", help="Only from this day on.")
@click.option("--before", metavar="DATE", help="Only up to this day, included.")
@click.option("--include-dormant", is_flag=True, help="Also what has nearly faded.")
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="TOKENS", help="As many as fill so many tokens."
)
@click.option(
    "--explain", is_flag=True, help="Show what each lane of search made of it, and what was left out."
)
@click.option(
    "--why-not", metavar="ID", shell_complete=complete_memory, help="Say why this memory is not found."
)
@scope_option
@click.pass_obj
def search_command(
    bench: Invocation,
    /,
    words: tuple[str, ...],
    why_not: str | None,
    scope: str | None,
    **wanted: Any,
) -> int:
    """With --budget the results fill that many tokens, and neither their number nor their score is limited
    unless you say so.
    """
    request = SearchRequest(" ".join(words), **wanted)
    door = scoped_door(bench, scope)
    if door is not None and why_not is not None:
        raise click.UsageError("--why-not is the owner’s alone.", click.get_current_context())
    if door is not None:
        return scoped.search(bench, door, request)
    if why_not is not None:
        return _report_why_not(bench, request.query, why_not)
    with bench.open() as workspace:
        found = workspace.search_request(request)
        is_told = not found.results and not bench.json
        widened = replace(request, include_dormant=True, explain=True)
        hidden = workspace.search_request(widened) if is_told else None
        # The index's state waits until every file is read: not asked for where that takes longer than the answer.
        is_empty = is_told and found.stale is None and not workspace.index_status().chunks

    def view(page: Page) -> list[str]:
        from workbench.cli.views.memories import found_lines, nothing_lines

        lines = found_lines(page, found, query=request.query, explain=request.explain)
        if not found.results:
            lines += nothing_lines(page, hidden, is_narrowed=request.is_narrowed, is_empty=is_empty)
        return lines

    return bench.report(found, view, code=DONE if found.results else NOTHING_FOUND)


def _report_why_not(bench: Invocation, query: str, memory_id: str) -> int:
    with bench.open() as workspace:
        why = workspace.why_not(query, memory_id)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.memories import why_not_lines

        return why_not_lines(page, why)

    return bench.report(why, view)


@command(
    "get",
    answers="What exactly does this file say?",
    examples=("workbench get MEMORY.md", "workbench get memory/episodes/2026-02-02.md --from 3 --lines 5"),
)
@click.argument("path", shell_complete=complete_file)
@click.option("--from", "from_", type=click.IntRange(min=1), default=1, metavar="LINE", help="First line.")
@click.option("--lines", type=click.IntRange(min=0), metavar="N", help="So many lines; else all.")
@click.pass_obj
def get_command(bench: Invocation, path: str, from_: int, lines: int | None) -> int:
    """Memory files of the workspace only. Piped on, the text is exactly the file’s; at a terminal, characters
    that could take it over are made visible.
    """
    with bench.open() as workspace:
        excerpt = workspace.get(path, from_=from_, lines=lines)
    return bench.report_text(excerpt, excerpt.text)


@command(
    "show",
    answers="Where does this come from, is it still true, and who touched it?",
    examples=("workbench show person--sam-okafor", "workbench show episode:2026-02-02:14:30"),
)
@click.argument("id_", metavar="ID", shell_complete=complete_memory)
@scope_option
@click.pass_obj
def show_command(bench: Invocation, id_: str, scope: str | None) -> int:
    """Showing a memory counts as an access, which keeps it fresh."""
    door = scoped_door(bench, scope)
    if door is not None:
        return scoped.show(bench, door, id_)
    with bench.open() as workspace:
        shown = workspace.show(id_)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.memories import shown_lines

        return shown_lines(page, shown)

    return bench.report(shown, view)


@command(
    "brief",
    answers="What should the agent have read before it says a word?",
    examples=("workbench brief", "workbench brief --json"),
)
@scope_option
@click.pass_obj
def brief_command(bench: Invocation, scope: str | None) -> int:
    """Core memory, changes of critical files that nobody has acknowledged, proposals that wait, and whether a
    reflection is due. With --scope it is the newest of what is for these people, and nothing else.
    """
    door = scoped_door(bench, scope)
    if door is not None:
        return scoped.brief(bench, door)
    with bench.open() as workspace:
        brief: Brief = workspace.brief()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.status import brief_lines

        return brief_lines(page, brief)

    return bench.report(brief, view)
