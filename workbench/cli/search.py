"""Commands that only read: search, show, get and brief."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.command import command, complete_file, complete_memory, scope_option, scoped_door
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.engine.errors import WorkbenchError
from workbench.engine.identifiers import SEARCHED_STORES
from workbench.engine.requests import SearchRequest

# What draws for people is loaded where it draws: programs ask for JSON, each time in a new process.
if TYPE_CHECKING:
    from workbench.display.text import Page
    from workbench.engine.results.recall import Found
    from workbench.engine.workspace import Workspace


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
@click.option("--all", "everywhere", is_flag=True, help="In all memories of the hub that you may see.")
@click.option(
    "--why-not", metavar="ID", shell_complete=complete_memory, help="Say why this memory is not found."
)
@scope_option
def search_command(
    invocation: Invocation,
    /,
    words: tuple[str, ...],
    why_not: str | None,
    everywhere: bool,
    scope: str | None,
    **wanted: Any,
) -> int:
    """With --budget the results fill that many tokens, and neither their number nor their score is limited
    unless you say so.
    """
    request = SearchRequest(" ".join(words), **wanted)
    draw = partial(_drawn, query=request.query, explain=request.explain)
    door = scoped_door(invocation, scope)
    away: str | None = None
    if everywhere:
        if door is not None or why_not is not None:
            raise click.UsageError(
                "--all goes with neither --scope nor --why-not.", click.get_current_context()
            )
        found_everywhere, away = _in_hub(invocation, request)
        if found_everywhere is not None:
            code = DONE if found_everywhere.results else NOTHING_FOUND
            return invocation.report(found_everywhere, draw, code=code)
    if door is not None:
        if why_not is not None:
            raise click.UsageError("--why-not is the owner’s alone.", click.get_current_context())
        with door:
            found = door.search_request(request)
        return invocation.report(found, draw, code=DONE if found.results else NOTHING_FOUND)
    with invocation.open() as workspace:
        if why_not is not None:
            from workbench.display.memories import why_not_lines

            return invocation.report(workspace.why_not(request.query, why_not), why_not_lines)
        found = workspace.search_request(request)
        found = replace(found, fallback=away or found.fallback)
        is_told = not (found.results or found.faded.count or invocation.json)
        widened = replace(request, explain=True)
        hidden = workspace.search_request(widened) if is_told else None
        if found.results and not invocation.json:
            draw = partial(draw, against=_against(workspace))
        # The index's state waits until every file is read: not asked for where that takes longer than the answer.
        is_empty = is_told and found.stale is None and not workspace.index_status().chunks

    if not is_told:
        return invocation.report(found, draw, code=DONE if found.results else NOTHING_FOUND)

    def draw_nothing(page: Page, found: Found) -> list[str]:
        from workbench.display.memories import nothing_lines

        hints = nothing_lines(page, hidden, is_narrowed=request.is_narrowed, is_empty=is_empty)
        return [*draw(page, found), *hints]

    return invocation.report(found, draw_nothing, code=NOTHING_FOUND)


def _drawn(page: Page, found: Found, **said: Any) -> list[str]:
    from workbench.display.memories import found_lines

    return found_lines(page, found, **said)


def _against(workspace: Workspace) -> dict[str, str]:
    from workbench.display.found import disputed

    try:
        return disputed(workspace.review().items, workspace.proposals().proposals)
    except WorkbenchError:
        # What waits and cannot be read is told of by `review` and `doctor`; the answer stands without it.
        return {}


def _in_hub(invocation: Invocation, request: SearchRequest) -> tuple[Found | None, str | None]:
    """Ask the hub; where its server is away, return None and why."""
    from workbench.cli.hub import open_hub
    from workbench.engine.hub import HubLabels
    from workbench.engine.search.postgres.server import ServerAway

    with open_hub(invocation) as hub:
        try:
            return hub.search(request, HubLabels()), None
        except ServerAway as error:
            return None, f"{error.message} This workspace alone was searched."


@command(
    "get",
    answers="What exactly does this file say?",
    examples=("workbench get MEMORY.md", "workbench get memory/episodes/2026-02-02.md --from 3 --lines 5"),
)
@click.argument("path", shell_complete=complete_file)
@click.option("--from", "from_", type=click.IntRange(min=1), default=1, metavar="LINE", help="First line.")
@click.option("--lines", type=click.IntRange(min=0), metavar="N", help="So many lines; else all.")
def get_command(invocation: Invocation, path: str, from_: int, lines: int | None) -> int:
    """Memory files of the workspace only. Piped on, the text is exactly the file’s; at a terminal, characters
    that could take it over are made visible.
    """
    with invocation.open() as workspace:
        excerpt = workspace.get(path, from_=from_, lines=lines)
    return invocation.report_text(excerpt, excerpt.text)


@command(
    "show",
    answers="Where does this come from, is it still true, and who touched it?",
    examples=(
        "workbench show person--sam-okafor",
        "workbench show episode:2026-02-02:14:30",
        "workbench show core:identity:name --why",
    ),
)
@click.argument("id_", metavar="ID", shell_complete=complete_memory)
@click.option("--why", is_flag=True, help="Say what it rests on: who said it, where and when.")
@scope_option
def show_command(invocation: Invocation, id_: str, why: bool, scope: str | None) -> int:
    """Showing a memory counts as an access, which keeps it fresh; asking why it is believed does not."""
    from workbench.display.memories import believed_lines, shown_lines

    door = scoped_door(invocation, scope)
    if why:
        if door is not None:
            raise click.UsageError("--why is the owner’s alone.", click.get_current_context())
        return invocation.ask(lambda workspace: workspace.why(id_), believed_lines)
    with door if door is not None else invocation.open() as memory:
        shown = memory.show(id_)
    return invocation.report(shown, shown_lines)


@command(
    "brief",
    answers="What should the agent have read before it says a word?",
    examples=("workbench brief", "workbench brief --json"),
)
@scope_option
def brief_command(invocation: Invocation, scope: str | None) -> int:
    """Core memory, the log of today and yesterday (newest first, up to brief.log_tokens), changes of critical files
    that nobody has acknowledged, proposals that wait or contradict each other, and whether a reflection is due. An
    agent is also told what became of its own proposals since it last asked. With --scope it is the newest of what is
    for these people, and nothing else.
    """
    from workbench.display.memories import scoped_brief_lines
    from workbench.display.status import brief_lines

    door = scoped_door(invocation, scope)
    if door is not None:
        with door:
            told = door.brief()
        return invocation.report(told, scoped_brief_lines)
    return invocation.ask(lambda it: it.brief(), brief_lines)
