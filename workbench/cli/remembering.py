"""Commands that take something in: store one text or many, do what a message asks."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from workbench.cli import scoped
from workbench.cli.asking_scope import scope_option, scoped_door
from workbench.cli.command import command
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.cli.printing import Page
from workbench.cli.remember_lines import Options, read_lines
from workbench.cli.text_argument import text_of
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.results.memories import MessageOutcome

EPISODE_TYPES = ("decision", "fact", "preference", "task", "event", "emotion", "correction")
EPISODE_SOURCES = ("conversation", "reflection", "user-explicit")


@command(
    "remember",
    answers="How do I get this into the agent’s memory, in the right place?",
    examples=(
        'workbench remember "We chose the hybrid approach" --tag architecture',
        'workbench remember "Lena prefers short reports" --entity person:Lena --dry-run',
        "git log -1 --format=%B | workbench remember - --type event",
    ),
)
@click.argument("words", metavar="TEXT", nargs=-1)
@click.option(
    "--store",
    type=click.Choice(MEMORY_STORES),
    help="Where it belongs; found by its wording if left out.",
)
@click.option("--type", "kind", metavar="TYPE", help=f"What it is: {', '.join(EPISODE_TYPES)}.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="A topic; give as many as you like.")
@click.option("--entity", "entities", metavar="TYPE:NAME", multiple=True, help="Whom or what it is about.")
@click.option("--confidence", type=click.Choice(["high", "medium", "low"]), help="How sure it is.")
@click.option("--source", metavar="SOURCE", help=f"Where it is from: {', '.join(EPISODE_SOURCES)}.")
@click.option("--actor", metavar="ACTOR", help="Who remembers it, such as skill:calendar.")
@click.option(
    "--for",
    "audience",
    metavar="SCOPE",
    help="Whom it is for besides you: person:NAME, group:NAME or shared.",
)
@scope_option
@click.option("--dry-run", is_flag=True, help="Show where it would go, and change nothing.")
@click.option("--jsonl", is_flag=True, help="Read one JSON object a line from stdin, each with “text”.")
@click.pass_obj
def remember_command(
    bench: Invocation,
    words: tuple[str, ...],
    store: str | None,
    kind: str | None,
    tags: tuple[str, ...],
    entities: tuple[str, ...],
    confidence: str | None,
    source: str | None,
    actor: str | None,
    audience: str | None,
    scope: str | None,
    dry_run: bool,
    jsonl: bool,
) -> int:
    """TEXT may be “-” for stdin. With --jsonl every line of stdin is one memory with a commit of its own; its
    keys are “text” and the names of the options here, and each answer is one line of JSON, printed once it is
    safe on disk.
    """
    door = scoped_door(bench, scope)
    if door is not None:
        if jsonl or actor is not None or audience is not None:
            raise click.UsageError(
                "--jsonl, --actor and --for are the owner’s alone.", click.get_current_context()
            )
        wishes = {
            "store": store, "type": kind, "tags": tags, "entities": entities, "confidence": confidence,
            "source": source, "dry_run": dry_run,
        }  # fmt: skip
        return scoped.remember(bench, door, text_of(words, what="The text to remember"), wishes)
    options = Options(store, kind, tags, entities, confidence, source, actor, audience)
    if jsonl:
        if words not in ((), ("-",)):
            raise click.UsageError("With --jsonl the texts come from stdin.", click.get_current_context())
        with bench.open() as workspace:
            code = read_lines(bench, workspace, sys.stdin, options, dry_run=dry_run)
            bench.warn(workspace.warnings)
            return code
    text = text_of(words, what="The text to remember")
    with bench.open() as workspace:
        remembered = workspace.remember(text, **options.as_arguments(), dry_run=dry_run)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.remembered import remembered_lines

        return remembered_lines(page, remembered, audience)

    return bench.report(remembered, view)


@command(
    "message",
    answers="Did the user just ask the agent to remember or forget something?",
    examples=(
        'workbench message "Remember that the demo is on Friday"',
        'workbench message "Do you remember when we met?"',
    ),
)
@click.argument("words", metavar="TEXT", nargs=-1)
@click.option("-y", "--yes", is_flag=True, help="Archive what it asks to forget, without asking back.")
@scope_option
@click.pass_obj
def message_command(bench: Invocation, words: tuple[str, ...], yes: bool, scope: str | None) -> int:
    """Reads one message for the phrases that remember, forget, reflect and recall, in English and in Chinese.
    What merely mentions them does nothing. Forgetting is confirmed first; what a reflection
    proposes waits for your decisions. TEXT may be “-” for stdin.
    """
    from workbench.cli.forgetting import agreed_to_archive

    text = text_of(words, what="The message")
    door = scoped_door(bench, scope)
    if door is not None:
        return scoped.message(bench, door, text)

    with bench.open() as workspace:
        outcome = workspace.message(text)
        found = outcome.forgotten
        if found is not None and found.matches and not found.applied:
            if not yes and not agreed_to_archive(bench, outcome, found.matches):
                return DONE
            done = workspace.forget(ids=[match.id for match in found.matches], apply=True)
            outcome = replace(outcome, applied=done.applied, forgotten=done)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.remembered import message_lines

        return message_lines(page, outcome)

    if outcome.applied and bench.opened is not None:
        bench.warn(bench.opened.warnings)
    return bench.report(outcome, view, code=_code(outcome))


def _code(outcome: MessageOutcome) -> int:
    empty_recall = outcome.found is not None and not outcome.found.results
    empty_forget = outcome.forgotten is not None and not outcome.forgotten.matches
    return NOTHING_FOUND if empty_recall or empty_forget else DONE
