"""The command that writes what was decided into memory: shown first, then asked for, then done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli.command import command
from workbench.cli.invocation import DONE, Invocation
from workbench.cli.printing import Page
from workbench.cli.review_words import require_items
from workbench.engine.results.reflection import Applied

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace


@command(
    "apply",
    short_help="Write what is approved into memory, in one commit",
    answers="I have decided; how does it become memory?",
    examples=("workbench review apply --dry-run", "workbench review apply --yes"),
)
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do it without asking.")
@click.pass_obj
def apply_decisions(bench: Invocation, dry_run: bool, yes: bool) -> int:
    """Shows what will be written, then asks. Rejected items are remembered as rejected; undecided ones stay."""
    with bench.open() as workspace:
        require_items(workspace.review())
        if not dry_run:
            return apply_now(bench, workspace, yes=yes)
        preview = workspace.review_preview()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.review_outcome import preview_lines

        return preview_lines(page, preview)

    return bench.report(preview, view)


def apply_now(bench: Invocation, workspace: Workspace, *, yes: bool) -> int:
    """Show what would be written, ask, and write it.

    Args:
        bench: The run.
        workspace: Open, as a person.
        yes: Do it without asking.

    Returns:
        The exit code.
    """
    if not yes and not _agreed(bench, workspace):
        return DONE
    applied: Applied = workspace.review_apply()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.review_outcome import applied_lines

        return applied_lines(page, applied)

    return bench.report(applied, view)


def _agreed(bench: Invocation, workspace: Workspace) -> bool:
    """Show what applying would write and ask whether it shall be; True where there is nothing to ask about.

    Raises:
        ConfirmationNeeded: There is no terminal to ask at; with JSON the refusal is part of the preview.
    """
    from workbench.cli.views.review_outcome import preview_lines

    preview = workspace.review_preview()
    if not preview.files:
        return True
    kept = f" and remember {len(preview.rejected)} as rejected" if preview.rejected else ""
    many = "item" if len(preview.applied) == 1 else "items"
    question = f"Apply {len(preview.applied)} approved {many}{kept}?"
    return bench.agree(question, preview, lambda page: preview_lines(page, preview))
