"""Commands about what stays: archive or delete, bring back, protect, keep fresh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.command import command
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.cli.options import complete_memory
from workbench.cli.printing import Page, safe_line
from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import parse_memory_id
from workbench.engine.process import interrupted_by_signals
from workbench.engine.results.memories import Changed, Forgotten, Match

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace


@command(
    "forget",
    answers="How do I make the agent stop acting on this?",
    examples=(
        "workbench forget old deploy script",
        "workbench forget episode:2026-02-02:14:30 --yes",
        "workbench forget person--mei-chen --hard --purge-history",
    ),
)
@click.argument("words", metavar="QUERY", nargs=-1, required=True, shell_complete=complete_memory)
@click.option("-y", "--yes", is_flag=True, help="Do it without asking.")
@click.option("--hard", is_flag=True, help="Delete the file or lines, instead of archiving.")
@click.option("--purge-history", is_flag=True, help="Delete, and remove the text from history too.")
@click.pass_obj
def forget_command(
    bench: Invocation, words: tuple[str, ...], yes: bool, hard: bool, purge_history: bool
) -> int:
    """Shows what matches, then asks. QUERY is words, or ids where every word is one. Archived memories are
    hidden from search and come back with restore or undo; --hard can be undone as long as history has it.
    --purge-history cannot: it removes the text for good, or changes nothing; interrupted, it says which.
    """
    query, ids = _ids_or_query(words)
    hard = hard or purge_history
    with bench.open() as workspace, interrupted_by_signals() if purge_history else nullcontext():
        if yes:
            done = workspace.forget(query, ids=ids, apply=True, hard=hard, purge_history=purge_history)
            return _report(bench, done, hard=hard, purged=purge_history)
        found = workspace.forget(query, ids=ids, hard=hard, purge_history=purge_history)
        if not found.matches:
            return _report(bench, found, hard=hard, purged=purge_history)
        if not agreed_to_archive(bench, found, found.matches, hard=hard, purge=purge_history):
            return DONE
        # Exactly what was shown, whatever has been written since.
        shown = [match.id for match in found.matches]
        said = query if purge_history else None
        done = workspace.forget(said, ids=shown, apply=True, hard=hard, purge_history=purge_history)
    return _report(bench, done, hard=hard, purged=purge_history)


def _ids_or_query(words: Sequence[str]) -> tuple[str | None, list[str]]:
    try:
        return None, [str(parse_memory_id(word)) for word in words]
    except InvalidInput:
        return " ".join(words), []


def agreed_to_archive(
    bench: Invocation, preview: object, matches: Sequence[Match], *, hard: bool = False, purge: bool = False
) -> bool:
    """Show what would be forgotten and ask whether it shall be.

    Args:
        preview: The answer that holds the matches; it is printed as JSON where nobody can be asked.

    Raises:
        ConfirmationNeeded: There is no terminal to ask at; with JSON the refusal is part of the preview,
            and the program ends with its exit code.
    """
    from workbench.cli.views.memories import match_lines

    count = "this memory" if len(matches) == 1 else f"these {len(matches)} memories"
    question = f"Archive {count}?"
    if purge:
        question = f"Delete {count} and every trace in history, for good?"
    elif hard:
        question = f"Delete {count} from disk?"
    return bench.agree(question, preview, lambda page: match_lines(page, matches))


def _report(bench: Invocation, done: Forgotten, *, hard: bool, purged: bool = False) -> int:
    def view(page: Page) -> list[str]:
        from workbench.cli.views.memories import forgotten_lines

        return forgotten_lines(page, done, hard=hard, purged=purged)

    return bench.report(done, view, code=DONE if done.matches or done.applied else NOTHING_FOUND)


def _on_one_memory(
    bench: Invocation, id_: str, change: Callable[[Workspace], Changed], said: str, unchanged: str
) -> int:
    with bench.open() as workspace:
        changed = change(workspace)

    def view(page: Page) -> list[str]:
        from workbench.cli.views.changes import changed_lines

        name = safe_line(changed.ids[0] if len(changed.ids) == 1 else id_)
        return changed_lines(page, changed, said.replace("{}", name), unchanged.replace("{}", name))

    # That nothing had to change is said once.
    said_already = changed.commit is None and not bench.json
    return bench.report(replace(changed, warnings=()) if said_already else changed, view)


def _id_argument(callback: Callable[..., Any]) -> Callable[..., Any]:
    return click.argument("id_", metavar="ID", shell_complete=complete_memory)(callback)


@command(
    "restore",
    answers="It is still needed; how do I get it back?",
    examples=("workbench restore episode:2026-02-02:14:30",),
)
@_id_argument
@click.pass_obj
def restore_command(bench: Invocation, id_: str) -> int:
    """It returns to where it was, into the search, the graph and core memory."""
    return _on_one_memory(bench, id_, lambda it: it.restore(id_), "Restored {}.", "{} is not archived.")


@command(
    "pin",
    answers="How do I make sure this is never forgotten?",
    examples=("workbench pin person--sam-okafor",),
)
@_id_argument
@click.pass_obj
def pin_command(bench: Invocation, id_: str) -> int:
    """A pinned memory keeps its full score, however long nobody asks for it."""
    return _on_one_memory(bench, id_, lambda it: it.pin(id_), "Pinned {}.", "{} is pinned already.")


@command(
    "unpin",
    answers="This need not stay for ever; how do I let it fade?",
    examples=("workbench unpin person--sam-okafor",),
)
@_id_argument
@click.pass_obj
def unpin_command(bench: Invocation, id_: str) -> int:
    """Its score is again what its last access makes of it."""
    return _on_one_memory(bench, id_, lambda it: it.unpin(id_), "Unpinned {}.", "{} is not pinned.")


@command(
    "reinforce",
    answers="This was used just now; how do I keep it fresh?",
    examples=("workbench reinforce procedure:how-to-deploy-harbor",),
)
@_id_argument
@click.pass_obj
def reinforce_command(bench: Invocation, id_: str) -> int:
    """Accesses are journalled first and reach history in batches, so this may show no commit yet."""
    return _on_one_memory(bench, id_, lambda it: it.reinforce(id_), "Reinforced {}.", "Reinforced {}.")
