"""The command `sync`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.command import command
from workbench.cli.invocation import DONE, Invocation
from workbench.display.sync import devices_lines, preview_lines, synced_lines
from workbench.display.text import ProgressLine

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace


@command(
    "sync",
    answers="How do I have one memory on my laptop, my desktop and a server?",
    examples=(
        "workbench sync /media/stick/memory.git",
        "workbench sync git@example.org:nora/memory.git --yes --device laptop",
        "workbench sync",
        "workbench sync --dry-run",
        "workbench sync --devices",
        "workbench sync --retire old-laptop",
    ),
)
@click.argument("remote", required=False)
@click.option("-y", "--yes", is_flag=True, help="Sync with a new REMOTE without asking.")
@click.option("--dry-run", is_flag=True, help="Tell what would go and come; change nothing.")
@click.option("--device", metavar="NAME", help="What this device is called from now on.")
@click.option("--devices", is_flag=True, help="List the devices that share this memory.")
@click.option("--retire", metavar="NAME", help="Refuse another device from now on.")
@click.option("--forget", is_flag=True, help="Stop syncing; what is here and there stays.")
def sync_command(
    invocation: Invocation,
    remote: str | None,
    yes: bool,
    dry_run: bool,
    device: str | None,
    devices: bool,
    retire: str | None,
    forget: bool,
) -> int:
    """REMOTE is any git remote: a folder (created if missing), host:path, ssh:// or https://. Name it once; it is kept
    outside the workspace, and after that plain `sync` sends and fetches. In an empty folder, sync fetches the memory.
    Anything two devices changed differently waits in the Inbox. Nothing is sent while a file, past or present, holds
    something that looks like a secret.
    """
    if devices + forget + (retire is not None) + dry_run > 1:
        raise click.UsageError(
            "One of --dry-run, --devices, --retire and --forget at a time.", click.get_current_context()
        )
    if (devices or forget or retire) and (remote or device or yes):
        raise click.UsageError("This takes no REMOTE, --device or --yes.", click.get_current_context())
    if devices:
        return invocation.ask(lambda it: it.sync_status(), devices_lines)
    if forget:
        return invocation.ask(lambda it: it.sync_forget(), devices_lines)
    if retire:
        return invocation.ask(lambda it: it.sync_retire(retire, may_ask=invocation.can_ask), devices_lines)
    if remote is not None and _is_empty_here(invocation):
        invocation.workspace = Path.cwd()
    with invocation.open() as workspace, ProgressLine() as line:

        def told(what: str, done: int, total: int) -> None:
            line.tell(f"{what}: {done:,} of {total:,}" if total else what)

        named = _absolute(remote)
        if dry_run:
            found = workspace.sync_preview(named, device=device, may_ask=invocation.can_ask, progress=told)
            line.clear()
            return invocation.report(found, preview_lines)
        if named is not None and not yes and _is_new(workspace, named):
            found = workspace.sync_preview(named, device=device, may_ask=invocation.can_ask, progress=told)
            line.clear()
            question = f"Sync this memory with {found.remote} from now on?"
            if not invocation.agree(question, found, preview_lines):
                return DONE
        synced = workspace.sync(
            named, confirmed=named is not None, device=device, may_ask=invocation.can_ask, progress=told
        )
        line.clear()
    return invocation.report(synced, synced_lines)


def _is_empty_here(invocation: Invocation) -> bool:
    """Return whether nobody named a workspace and this folder is empty: the memory is to come here."""
    named = invocation.workspace is not None or "WORKBENCH_WORKSPACE" in os.environ
    return not named and not any(Path.cwd().iterdir())


def _absolute(remote: str | None) -> str | None:
    """Return a folder that was named from here by its whole path; all else as it is."""
    if remote is not None and (remote.startswith((".", "~", os.sep)) or Path(remote).exists()):
        return str(Path(remote).expanduser().absolute())
    return remote


def _is_new(workspace: Workspace, remote: str) -> bool:
    from workbench.engine.sync.remotes import parse_remote

    return parse_remote(remote, workspace.root).url != workspace.sync_status().remote
