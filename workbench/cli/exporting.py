"""The command that hands memory over."""

from __future__ import annotations

import sys

import click

from workbench.cli.command import command
from workbench.cli.invocation import DONE, Invocation
from workbench.cli.printing import Page
from workbench.cli.progress_line import ProgressLine


@command(
    "export",
    answers="How do I take this memory elsewhere, or keep a copy?",
    examples=(
        "workbench export > memory.jsonl",
        "workbench export memory.jsonl --only memories",
        "workbench export --to ~/memory-copy",
    ),
)
@click.argument("file", required=False, type=click.Path())
@click.option(
    "--to", "folder", metavar="FOLDER", type=click.Path(), help="Write the files into a new folder."
)
@click.option("--only", type=click.Choice(("memories", "files")), help="One kind of lines alone.")
@click.pass_obj
def export_command(bench: Invocation, file: str | None, folder: str | None, only: str | None) -> int:
    """JSON Lines go to FILE, or to stdout: a line for each memory with what is known of it, for other programs, and a
    line for each file as it is, for `workbench import`. Imported into an empty workspace, an export gives the same
    memory. Settings, history and what was held back stay here.
    """
    if folder is not None and (file is not None or only is not None):
        raise click.UsageError("--to takes neither FILE nor --only.", click.get_current_context())
    memories, files = only != "files", only != "memories"
    with bench.open() as workspace:
        if folder is None and file is None:
            for line in workspace.export_lines(memories=memories, files=files):
                sys.stdout.write(line + "\n")
            return DONE
        target = folder if folder is not None else file
        assert target is not None
        told = ProgressLine()
        try:
            exported = workspace.export(
                target,
                folder=folder is not None,
                memories=memories,
                files=files,
                progress=lambda each: told.tell(f"{each.done:,} of {each.total:,} files and memories"),
            )
        finally:
            told.end()

    def view(page: Page) -> list[str]:
        from workbench.cli.views.importing import exported_lines

        return exported_lines(page, exported)

    return bench.report(exported, view)
