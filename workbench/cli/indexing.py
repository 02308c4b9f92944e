"""The command for the search index: bringing it up to date, building it anew, saying how it is."""

from __future__ import annotations

import click

from workbench.cli.command import group
from workbench.cli.invocation import Invocation
from workbench.cli.printing import Page
from workbench.cli.progress_line import ProgressLine
from workbench.engine.results.recall import IndexStatus

index_command = group(
    "index",
    default="update",
    help="The index is made from the files alone and kept outside the workspace; deleting it loses nothing. "
    "Searching brings it up to date by itself.",
    answers="Does search know everything, and what makes its vectors?",
    examples=("workbench index", "workbench index --force", "workbench index status"),
)


@index_command.bench_command("update", short_help="Bring the index up to date with the files", hidden=True)
@click.option(
    "--force",
    is_flag=True,
    help="Build it again beside the old one, which answers meanwhile; try a failed local model again.",
)
@click.option("--download", is_flag=True, help="First fetch the local model that the settings name.")
@click.pass_obj
def update(bench: Invocation, force: bool, download: bool) -> int:
    progress = _Progress()
    with bench.open() as workspace:
        if download:
            from workbench.engine.providers.embedding.choosing import download_model_of

            download_model_of(workspace.settings.embedding, progress=progress.bytes)
        status = workspace.index(force=force, progress=progress.chunks)
    progress.end()
    return _report(bench, status)


@index_command.bench_command(
    "status",
    short_help="Say what the index holds and how fresh it is",
    answers="Which provider makes the vectors, and is anything missing?",
    examples=("workbench index status", "workbench index status --json"),
)
@click.pass_obj
def status(bench: Invocation) -> int:
    with bench.open() as workspace:
        found = workspace.index_status()
    return _report(bench, found)


def _report(bench: Invocation, status: IndexStatus) -> int:
    def view(page: Page) -> list[str]:
        from workbench.cli.views.index import index_lines

        return index_lines(page, status)

    return bench.report(status, view)


class _Progress(ProgressLine):
    """What indexing and downloading tell of themselves."""

    def chunks(self, done: int, total: int) -> None:
        self.tell(f"Indexing {done:,} of {total:,}", at_once=done == total)

    def bytes(self, done: int, total: int | None) -> None:
        megabytes = f"{done / 1e6:,.0f}" + (f" of {total / 1e6:,.0f} MB" if total else " MB")
        self.tell(f"Downloading {megabytes}", at_once=done == total)
