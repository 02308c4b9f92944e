"""The command group `hub`: many memories in one PostgreSQL database."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.command import group
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation, refuse_for_a_scope
from workbench.display.connections import changed_lines, memories_lines, synced_lines
from workbench.display.memories import found_lines
from workbench.display.text import ProgressLine
from workbench.engine.errors import WorkbenchError
from workbench.engine.identifiers import SEARCHED_STORES
from workbench.engine.requests import SearchRequest

if TYPE_CHECKING:
    from workbench.engine.hub import Hub, HubLabels


PATH = click.argument("path", metavar="PATH", type=click.Path(path_type=Path, exists=True, file_okay=False))
SCOPE = click.option("--scope", metavar="SCOPE", help="Only what is for person:NAME or group:NAME.")
_LABELS = (
    click.option("--project", metavar="NAME", help="Of this project."),
    click.option("--person", metavar="NAME", help="Of this person."),
    click.option("--team", metavar="NAME", help="Of this team."),
)


def labelled(command: Any) -> Any:
    """Add the options `--project`, `--person` and `--team`."""
    for option in reversed(_LABELS):
        command = option(command)
    return command


hub_command = group(
    "hub",
    default="list",
    help="hub.url, in the environment or your own configuration, names the database, and the role in it decides what "
    "is seen. Workspaces stay as they are: what is in the database can be deleted at any time, and is made again from "
    "the files. Needs the extra postgres.",
    answers="What do all my agents know about this?",
    examples=(
        "workbench hub add . --project apollo",
        "workbench hub sync",
        "workbench hub search who decides",
    ),
)


def open_hub(invocation: Invocation) -> Hub:
    """Return the hub that the user's own settings name, for use in a `with` statement."""
    from workbench.engine.hub import Hub
    from workbench.engine.settings.layers import load_settings

    refuse_for_a_scope()
    return Hub(load_settings(None), invocation.clock())


def labels_of(given: dict[str, Any]) -> HubLabels:
    """Take the labels out of what was given."""
    from workbench.engine.hub import HubLabels

    return HubLabels(*(given.pop(name, None) for name in ("project", "person", "team")))


@hub_command.subcommand("list", short_help="List the memories that you may see", hidden=True)
def list_memories(invocation: Invocation) -> int:
    with open_hub(invocation) as hub:
        found = hub.memories()
    return invocation.report(found, memories_lines, code=DONE if found.memories else NOTHING_FOUND)


@hub_command.subcommand(
    "add",
    short_help="Have a workspace of this machine kept indexed",
    answers="How does this memory get into the hub?",
    examples=("workbench hub add . --project apollo --team core",),
)
@PATH
@labelled
def add(invocation: Invocation, path: Path, **given: Any) -> int:
    """Nothing is sent before the next `hub sync`. Adding it again replaces its labels."""
    with open_hub(invocation) as hub:
        done = hub.add(path, labels_of(given))
    return invocation.report(done, changed_lines)


@hub_command.subcommand(
    "remove",
    short_help="Delete what the hub has of a workspace",
    answers="How do I take a memory out of the hub?",
    examples=("workbench hub remove .",),
)
@PATH
def remove(invocation: Invocation, path: Path) -> int:
    """Its files stay as they are."""
    with open_hub(invocation) as hub:
        done = hub.remove(path)
    return invocation.report(done, changed_lines)


@hub_command.subcommand(
    "sync",
    short_help="Bring the workspaces of this machine up to date in the hub",
    answers="Does the hub know what was remembered today?",
    examples=("workbench hub sync", "workbench hub sync --every 5"),
)
@click.option(
    "--every", type=click.FloatRange(min=0.01), metavar="MINUTES", help="Go on until ended, so often."
)
def sync(invocation: Invocation, every: float | None) -> int:
    """One that cannot be read keeps none of the others from it. Secrets are held back, as in any index."""
    from workbench.engine.process import Alarm, ending_signals_reported

    line = ProgressLine()
    with open_hub(invocation) as hub:
        if every is None:
            done = hub.sync(told=lambda path: line.tell(path))
            line.clear()
            return invocation.report(done, synced_lines)
        ended: list[str] = []
        with closing(Alarm()) as alarm, alarm.rung_by_signals(), ending_signals_reported(ended.append):
            while not ended:
                try:
                    invocation.report(hub.sync(cancelled=lambda: bool(ended)), synced_lines)
                except WorkbenchError as error:
                    # The server comes back, or somebody mends it.
                    invocation.warn((str(error),))
                alarm.wait(every * 60)
    return DONE


@hub_command.subcommand(
    "search",
    short_help="Find memories in all workspaces that you may see",
    answers="Which of my agents knows this?",
    examples=("workbench hub search release date", "workbench hub search deploy --project apollo --json"),
)
@click.argument("words", metavar="QUERY", nargs=-1, required=True)
@labelled
@click.option("-n", "--max-results", type=click.IntRange(min=1), metavar="N", help="At most so many.")
@click.option("--min-score", type=click.FloatRange(0, 1), metavar="SCORE", help="None below this, 0 to 1.")
@click.option("--store", type=click.Choice(SEARCHED_STORES), help="Only of this store.")
@click.option("--after", metavar="DATE", help="Only from this day on.")
@click.option("--before", metavar="DATE", help="Only up to this day, included.")
@click.option("--include-dormant", is_flag=True, help="Also what has nearly faded.")
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="TOKENS", help="As many as fill so many tokens."
)
@click.option("--explain", is_flag=True, help="Show what each lane of search made of it.")
def search(invocation: Invocation, words: tuple[str, ...], **wanted: Any) -> int:
    """Each result says of which workspace it is."""
    labels = labels_of(wanted)
    request = SearchRequest(" ".join(words), **wanted)
    with open_hub(invocation) as hub:
        found = hub.search(request, labels)
    return invocation.report(
        found,
        lambda page, it: found_lines(page, it, query=request.query, explain=request.explain),
        code=DONE if found.results else NOTHING_FOUND,
    )


@hub_command.subcommand(
    "grant",
    short_help="Let a role of the database see a memory, or one scope’s part of it",
    answers="Who sees this?",
    examples=("workbench hub grant mira .", "workbench hub grant mira . --scope person:mira"),
)
@click.argument("reader", metavar="ROLE")
@PATH
@SCOPE
def grant(invocation: Invocation, reader: str, path: Path, scope: str | None) -> int:
    """Row-level security of the database keeps everything else from it, whatever is asked in whatever way."""
    with open_hub(invocation) as hub:
        done = hub.grant(reader, path, scope)
    return invocation.report(done, changed_lines)


@hub_command.subcommand(
    "revoke",
    short_help="Take a memory away from a role of the database",
    answers="How does somebody stop seeing this?",
    examples=("workbench hub revoke mira .",),
)
@click.argument("reader", metavar="ROLE")
@PATH
@SCOPE
def revoke(invocation: Invocation, reader: str, path: Path, scope: str | None) -> int:
    """It sees none of it from its next question on."""
    with open_hub(invocation) as hub:
        done = hub.revoke(reader, path, scope)
    return invocation.report(done, changed_lines)
