"""The commands `import` and `export`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

import click

from workbench.cli.command import command
from workbench.cli.invocation import DONE, FAILED, NOTHING_FOUND, Invocation
from workbench.display.text import ProgressLine
from workbench.display.transfer import (
    exported_lines,
    imported_lines,
    places_lines,
    pre_images_lines,
    preview_lines,
    undone_lines,
)
from workbench.engine.results.transfer import ImportPreview

if TYPE_CHECKING:
    from workbench.engine.results.transfer import ImportedAs, ImportProgress


WAYS = ("memories", "episodes", "proposals")
_MEGABYTE = 1 << 20


@command(
    "import",
    answers="My agent’s memory, my chats and my notes are somewhere else; how do they get in here?",
    examples=(
        "workbench import",
        "workbench import ~/clawd --dry-run",
        "workbench import ~/Downloads/chatgpt-export.zip",
        "workbench import ~/notes --as proposals",
        "workbench import ~/.openclaw --pre-images",
        "workbench import memory.jsonl",
        "workbench import --undo abc1234 --dry-run",
    ),
)
@click.argument("source", required=False, type=click.Path())
@click.option("--as", "way", type=click.Choice(WAYS), help="What becomes of it; memories if left out.")
@click.option("--from", "form", metavar="FORM", help="What SOURCE is; found by looking at it if left out.")
@click.option("--name", metavar="NAME", help="A short name for where it comes from.")
@click.option("--pre-images", is_flag=True, help="List the copies of MEMORY.md that OpenClaw keeps hidden.")
@click.option("--pre-image", type=click.IntRange(1), metavar="N", help="Import one of them, as proposals.")
@click.option(
    "--undo", "commit", metavar="COMMIT", help="Take back all that the import of this commit brought."
)
@click.option("--dry-run", is_flag=True, help="Tell what would come in, or go, and what would not.")
def import_command(
    invocation: Invocation,
    source: str | None,
    way: str | None,
    form: str | None,
    name: str | None,
    pre_images: bool,
    pre_image: int | None,
    commit: str | None,
    dry_run: bool,
) -> int:
    """SOURCE is a file or folder: a workspace, sessions or state folder of OpenClaw, Moltbot or Clawdbot; CLAUDE.md,
    memory or sessions of Claude Code; an export of ChatGPT or Claude, packed or not; an Obsidian vault, Markdown, plain
    text, PDF; an export of a workspace. As memories, what was said and noted becomes episodes on the days it happened,
    and documents are kept as notes below memory/imports. What was imported before does not come again, also where you
    changed or removed it since; an import that was cut off goes on when it is started again. Without SOURCE, it tells
    where other agents keep memory on this machine. Right after an import, `workbench undo` takes all of it back; later
    --undo does, but for what was changed or decided on since.
    """
    if commit is not None:
        if source or way or form or name or pre_images or pre_image:
            raise click.UsageError("--undo goes with --dry-run alone.", click.get_current_context())
        return _undo(invocation, commit, dry_run=dry_run)
    if source == "":
        # A script whose variable is empty means no folder, least of all the one it happens to run in.
        raise click.UsageError("SOURCE is empty. Name a file or folder.", click.get_current_context())
    if source is None:
        if way or form or name or pre_images or pre_image or dry_run:
            raise click.UsageError("Name a SOURCE to import.", click.get_current_context())
        return _list_places(invocation)
    if pre_images:
        return _list_pre_images(invocation, source)
    imported_as = cast("ImportedAs", way or ("proposals" if pre_image else "memories"))

    def told(progress: ImportProgress) -> None:
        share = f"{min(100, progress.read * 100 // progress.total)} % · " if progress.total else ""
        read = f"{progress.read / _MEGABYTE:.1f} MB"
        line.tell(f"{share}{read} · {progress.added:,} new · {progress.known:,} known")

    with invocation.open() as workspace, ProgressLine() as line:
        bring = workspace.import_preview if dry_run else workspace.import_from
        brought = bring(
            source, form=form, imported_as=imported_as, name=name, pre_image=pre_image, progress=told
        )
    if isinstance(brought, ImportPreview):
        return invocation.report(brought, preview_lines)
    nothing = brought.left_out_count and not (brought.added or brought.known)
    return invocation.report(brought, imported_lines, code=FAILED if nothing else DONE)


def _undo(invocation: Invocation, commit: str, *, dry_run: bool) -> int:
    return invocation.ask(lambda it: it.import_undo(commit, dry_run=dry_run), undone_lines)


def _list_places(invocation: Invocation) -> int:
    with invocation.open() as workspace:
        found = workspace.import_places()

    return invocation.report(found, places_lines, code=DONE if found.places else NOTHING_FOUND)


def _list_pre_images(invocation: Invocation, source: str) -> int:
    with invocation.open() as workspace:
        found = workspace.import_pre_images(source)
    return invocation.report(found, pre_images_lines, code=DONE if found.images else NOTHING_FOUND)


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
def export_command(invocation: Invocation, file: str | None, folder: str | None, only: str | None) -> int:
    """JSON Lines go to FILE, or to stdout: a line for each memory with what is known of it, for other programs, and a
    line for each file as it is, for `workbench import`. Imported into an empty workspace, an export gives the same
    memory. Settings, history and what was held back stay here.
    """
    if folder is not None and (file is not None or only is not None):
        raise click.UsageError("--to takes neither FILE nor --only.", click.get_current_context())
    memories, files = only != "files", only != "memories"
    with invocation.open() as workspace:
        if folder is None and file is None:
            for line in workspace.export_lines(memories=memories, files=files):
                sys.stdout.write(line + "\n")
            return DONE
        target = folder if folder is not None else file
        assert target is not None
        with ProgressLine() as told:
            exported = workspace.export(
                target,
                folder=folder is not None,
                memories=memories,
                files=files,
                progress=lambda each: told.tell(f"{each.done:,} of {each.total:,} files and memories"),
            )
    return invocation.report(exported, exported_lines)
