"""The command `sync`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.command import command
from workbench.cli.invocation import DONE, Invocation
from workbench.display.sync import devices_lines, key_lines, preview_lines, recovery_lines, synced_lines
from workbench.display.text import ProgressLine

if TYPE_CHECKING:
    from workbench.engine.results.sync import SyncPreview
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
        "workbench sync git@example.org:nora/memory.git --sealed",
        "workbench sync --key",
        "workbench sync --allow age1…",
    ),
)
@click.argument("remote", required=False)
@click.option("-y", "--yes", is_flag=True, help="Sync with a new REMOTE without asking.")
@click.option("--dry-run", is_flag=True, help="Tell what would go and come; change nothing.")
@click.option("--device", metavar="NAME", help="What this device is called from now on.")
@click.option("--devices", is_flag=True, help="List the devices that share this memory.")
@click.option("--retire", metavar="NAME", help="Refuse another device from now on.")
@click.option("--forget", is_flag=True, help="Stop syncing; what is here and there stays.")
@click.option("--sealed", is_flag=True, help="Encrypt what is sent; only keys that were let in can read it.")
@click.option("--identity", metavar="FILE", help="Read a sealed REMOTE with the key in FILE (age or ssh).")
@click.option("--key", is_flag=True, help="Show the public part of this device's key.")
@click.option("--allow", metavar="KEY", help="Let the device with this public key in.")
@click.option("--recovery", metavar="FILE", help="Make a key for the drawer in FILE, and let it in.")
def sync_command(
    invocation: Invocation,
    remote: str | None,
    yes: bool,
    dry_run: bool,
    device: str | None,
    devices: bool,
    retire: str | None,
    forget: bool,
    sealed: bool,
    identity: str | None,
    key: bool,
    allow: str | None,
    recovery: str | None,
) -> int:
    """REMOTE is any git remote: a folder (created if missing), host:path, ssh:// or https://. Name it once; it is kept
    outside the workspace, and after that plain `sync` sends and fetches. In an empty folder, sync fetches the memory.
    Anything two devices changed differently waits in the Inbox. Nothing is sent while a file, past or present, holds
    something that looks like a secret. With --sealed, the remote holds nothing that can be read without a key of one of
    the devices: a new device shows its key with --key, and one that is in lets it in with --allow.
    """
    told = (devices, forget, retire is not None, dry_run, key, allow is not None, recovery is not None)
    if sum(told) > 1:
        raise click.UsageError(
            "One of --dry-run, --devices, --retire, --forget, --key, --allow and --recovery at a time.",
            click.get_current_context(),
        )
    if sum(told) > dry_run and (remote or device or yes or sealed or identity):
        raise click.UsageError(
            "This takes no REMOTE, --device, --sealed, --identity or --yes.", click.get_current_context()
        )
    if key or remote is not None:
        _open_here_if_empty(invocation)
    may_ask = invocation.can_ask
    if key:
        return invocation.ask(lambda it: it.sync_key(), key_lines)
    if allow is not None:
        return invocation.ask(lambda it: it.sync_allow(allow, may_ask=may_ask), devices_lines)
    if recovery is not None:
        place = str(Path(recovery).expanduser().absolute())
        return invocation.ask(lambda it: it.sync_recovery(place, may_ask=may_ask), recovery_lines)
    if devices:
        return invocation.ask(lambda it: it.sync_status(), devices_lines)
    if forget:
        return invocation.ask(lambda it: it.sync_forget(), devices_lines)
    if retire:
        return invocation.ask(lambda it: it.sync_retire(retire, may_ask=may_ask), devices_lines)
    with invocation.open() as workspace, ProgressLine() as line:

        def tell(what: str, done: int, total: int) -> None:
            line.tell(f"{what}: {done:,} of {total:,}" if total else what)

        named = _absolute(remote)

        def look() -> SyncPreview:
            found = workspace.sync_preview(
                named, device=device, sealed=sealed, identity=identity, may_ask=may_ask, progress=tell
            )
            line.clear()
            return found

        if dry_run:
            return invocation.report(look(), preview_lines)
        if named is not None and not yes and _is_new(workspace, named):
            found = look()
            question = f"Sync this memory with {found.remote} from now on?"
            if not invocation.agree(question, found, preview_lines):
                return DONE
        synced = workspace.sync(
            named,
            confirmed=named is not None,
            device=device,
            sealed=sealed,
            identity=identity,
            may_ask=may_ask,
            progress=tell,
        )
        line.clear()
    return invocation.report(synced, synced_lines)


def _open_here_if_empty(invocation: Invocation) -> None:
    """Open this folder where nobody named a workspace and it is empty: the memory is to come here."""
    named = invocation.workspace is not None or "WORKBENCH_WORKSPACE" in os.environ
    if not named and not any(Path.cwd().iterdir()):
        invocation.workspace = Path.cwd()


def _absolute(remote: str | None) -> str | None:
    """Return a folder that was named from here by its whole path; all else as it is."""
    if remote is not None and (remote.startswith((".", "~", os.sep)) or Path(remote).exists()):
        return str(Path(remote).expanduser().absolute())
    return remote


def _is_new(workspace: Workspace, remote: str) -> bool:
    from workbench.engine.sync.remotes import parse_remote

    return parse_remote(remote, workspace.root).url != workspace.sync_status().remote
