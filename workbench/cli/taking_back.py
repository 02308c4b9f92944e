"""Commands that take back: undo and redo, one commit, a whole state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from workbench.cli.command import command
from workbench.cli.invocation import Invocation
from workbench.cli.printing import Page, clip, safe_line
from workbench.engine.errors import ConfirmationNeeded
from workbench.engine.results.memories import Changed

if TYPE_CHECKING:
    from workbench.engine.results.audit import NextStep
    from workbench.engine.workspace import Workspace

ACTS_NAMED = 5
_REDO = "Do it again: workbench redo"


def _change(
    bench: Invocation,
    change: Callable[[Workspace], Changed],
    said: str,
    unchanged: str,
    hint: str = "Have it again: workbench undo",
) -> int:
    with bench.open() as workspace:
        changed = change(workspace)
        asks = hint == _REDO and not bench.json and _is_of_others(workspace.next_steps().redo)
        acts = [] if bench.json else [_act(workspace, commit) for commit in changed.ids[:ACTS_NAMED]]

    def view(page: Page) -> list[str]:
        from workbench.cli.views.changed import changed_lines

        lines = changed_lines(page, changed, said, unchanged)
        if changed.commit is not None:
            if (more := len(changed.ids) - ACTS_NAMED) > 0:
                acts.append(f"… and {more:,} more of the same action")
            lines[1:1] = [f"  {clip(act, page.width - 2)}" for act in acts]
            lines.append(page.paint(f"  {hint}{' --yes' if asks else ''}", "quiet"))
        return lines

    return bench.report(changed, view)


def _is_of_others(step: NextStep | None) -> bool:
    return step is not None and not step.own


def _act(workspace: Workspace, commit: str) -> str:
    """Say what a commit did that was taken back."""
    subject = safe_line(workspace.audit_show(commit).subject)
    return f"{commit[:7]} {subject}"


_YES_HELP = "Also where it is somebody else’s, without asking."


@command(
    "undo",
    answers="That was a mistake; how do I get back?",
    examples=("workbench undo", "workbench undo --mine", "workbench undo --yes"),
)
@click.option("--mine", is_flag=True, help="Take back your own newest action, whatever others did since.")
@click.option("--yes", "sure", is_flag=True, help=_YES_HELP)
@click.pass_obj
def undo_command(bench: Invocation, mine: bool, sure: bool) -> int:
    """Upkeep, alerts and pruning are left out; an import goes as a whole, and so does a reflection. Again, it walks
    further back; redo walks forward.

    Yours is what you did here and in the bench without naming another actor, and what you edited in other programs.
    What agents did, what a reflection changed (though you approved it) and what was done with --actor NAME is not: undo
    says whose it is and asks. --mine passes over it, and refuses where a later action rests on yours. An agent takes
    back nothing but its own.
    """

    def change(workspace: Workspace) -> Changed:
        if mine:
            return workspace.undo(mine=True)
        return _confirmed(bench, workspace.undo, lambda: workspace.next_steps().undo, sure)

    return _change(bench, change, "Undone:", "There is nothing to undo.", _REDO)


@command(
    "redo",
    answers="It was right after all; how do I have it again?",
    examples=("workbench redo", "workbench redo --yes"),
)
@click.option("--yes", "sure", is_flag=True, help=_YES_HELP)
@click.pass_obj
def redo_command(bench: Invocation, sure: bool) -> int:
    """Works until something else is changed. It asks, as undo does, where somebody else did or undid it."""
    return _change(
        bench,
        lambda it: _confirmed(bench, it.redo, lambda: it.next_steps().redo, sure),
        "Done again:",
        "There is nothing to redo.",
        "Take it back: workbench undo",
    )


def _confirmed(
    bench: Invocation, act: Callable[..., Changed], shown: Callable[[], NextStep | None], sure: bool
) -> Changed:
    """Take a step, after asking at the terminal where it is somebody else's."""
    try:
        return act(confirmed=sure)
    except ConfirmationNeeded as refusal:
        step = shown()
        if step is None or not bench.can_ask:
            raise
        if not bench.confirm(f"{safe_line(refusal.message)}. Go on?"):
            return Changed(None, warnings=("Nothing was changed.",))
        return act(confirmed=True, expected=step.commit)


@command(
    "revert",
    answers="One change of last week was wrong; how do I take back just that?",
    examples=("workbench revert abc1234", "workbench revert r-012.3"),
)
@click.argument("commit_or_item", metavar="COMMIT-OR-ITEM")
@click.pass_obj
def revert_command(bench: Invocation, commit_or_item: str) -> int:
    """Works on entries and facts, not on lines, so an entry is found though others were added after it. It
    asks nothing: undo takes the revert back.
    """
    said = f"Took back {safe_line(commit_or_item)}."
    return _change(bench, lambda it: it.revert(commit_or_item), said, "Nothing was left to take back.")


@command(
    "rollback",
    answers="How do I get memory back as it was yesterday?",
    examples=(
        "workbench rollback --to 3d",
        "workbench rollback --to abc1234",
        "workbench rollback --file MEMORY.md@abc1234",
        "workbench rollback --memory entity:person--sam-okafor@abc1234",
        "workbench rollback --reflection r-012",
    ),
)
@click.option(
    "--to",
    metavar="TIME-OR-COMMIT",
    help="Everything, as a commit had it, or the newest commit not later than a time.",
)
@click.option("--file", metavar="PATH@COMMIT", help="One file, as a commit had it.")
@click.option("--memory", metavar="ID@COMMIT", help="One memory, with its pin, as a commit had it.")
@click.option("--reflection", metavar="ID", help="Everything that one reflection changed.")
@click.pass_obj
def rollback_command(
    bench: Invocation, to: str | None, file: str | None, memory: str | None, reflection: str | None
) -> int:
    """Exactly one of the four. Nothing of history is lost: the rollback is a commit that undo takes back. A memory
    that was not there at its commit is archived; one that is gone comes back in its place.
    """
    if sum(given is not None for given in (to, file, memory, reflection)) != 1:
        raise click.UsageError(
            "Give one of --to, --file, --memory and --reflection.", click.get_current_context()
        )
    if memory is not None and not all(memory.rpartition("@")[::2]):
        raise click.BadParameter(
            "Write ID@COMMIT, such as entity:person--sam-okafor@abc1234.", param_hint="--memory"
        )
    if file is not None and not all(file.rpartition("@")[::2]):
        raise click.BadParameter("Write PATH@COMMIT, such as MEMORY.md@abc1234.", param_hint="--file")
    goal = to or file or memory or f"before {reflection}"
    said = f"Rolled back to {safe_line(goal)}."
    return _change(
        bench,
        lambda it: it.rollback(to=to, file=file, memory=memory, reflection=reflection),
        said,
        "Memory is as it was then; nothing had to change.",
    )
