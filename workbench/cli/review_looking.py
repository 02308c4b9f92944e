"""The commands that show what is proposed, and what was rejected before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli.command import command
from workbench.cli.invocation import DONE, NOTHING_FOUND, Invocation
from workbench.cli.printing import Page, safe_line
from workbench.cli.review_editing import report_edit
from workbench.cli.review_words import item_named
from workbench.engine.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace


@command("list", short_help="List what is proposed", hidden=True)
@click.pass_obj
def list_items(bench: Invocation) -> int:
    with bench.open() as workspace:
        review = workspace.review()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.review import review_lines

        return review_lines(page, review)

    return bench.report(review, view, code=DONE if review.items else NOTHING_FOUND)


@command(
    "show",
    short_help="Show one item with why, and the words it rests on",
    answers="Why does it want to learn this, and who said so?",
    examples=("workbench review show 3",),
)
@click.argument("id_", metavar="ID")
@click.pass_obj
def show(bench: Invocation, id_: str) -> int:
    """What changes is shown as a diff; of a stale item, what was proposed on and what stands there now."""
    with bench.open() as workspace:
        item = item_named(workspace.review(), id_)
        places = [] if bench.json else [(quoted, _place(workspace, quoted.id)) for quoted in item.evidence]

    def view(page: Page) -> list[str]:
        from workbench.cli.views.review import item_lines

        return item_lines(page, item, places)

    return bench.report(item, view)


def _place(workspace: Workspace, memory_id: str) -> str:
    try:
        shown = workspace.show(memory_id, count_access=False, history=False)
    except WorkbenchError:
        # That a memory is gone is what is told here.
        return ""
    return f"{shown.path}:{shown.start_line} · {shown.title}"


@command(
    "rejected",
    short_help="List what you rejected, which stays away",
    answers="Why does it never propose this any more?",
    examples=("workbench review rejected", "workbench review rejected --forget r-003.2"),
)
@click.option("--forget", "ids", multiple=True, metavar="ID", help="Allow this to be proposed again.")
@click.pass_obj
def rejected(bench: Invocation, ids: tuple[str, ...]) -> int:
    """A rejected claim comes back only with evidence that is newer than the rejection, and says so then."""
    with bench.open() as workspace:
        if ids:
            changed = workspace.review_allow(*ids)
            names = ", ".join(map(safe_line, ids))
            return report_edit(bench, changed, f"{names} may be proposed again.")
        found = workspace.review_rejected()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.review_outcome import rejections_lines

        return rejections_lines(page, found)

    return bench.report(found, view, code=DONE if found.rejections else NOTHING_FOUND)
