"""Text of syncing: what would go and come, what did, and which devices share the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.changes import FILES_NAMED, at_minute
from workbench.display.health import size_words
from workbench.display.text import Page, safe_line
from workbench.display.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.results.sync import SyncDevice, Synced, SyncKey, SyncPreview, SyncSide, SyncStatus


def preview_lines(page: Page, found: SyncPreview) -> list[str]:
    """Describe what a sync would do."""
    lines = [page.heading("Sync", safe_line(found.remote)), ""]
    if found.makes_remote:
        lines += page.wrapped(
            "The folder will be created: a bare git repository that other devices sync with.", "quiet"
        )
    if found.brings_memory:
        lines += page.wrapped("This folder is empty: the memory will be copied here.", "quiet")
    lines += page.wrapped(
        f"This device is called {safe_line(found.device)} (--device NAME changes that).", "quiet"
    )
    if found.keys:
        lines += page.wrapped(f"The remote is sealed: {keys_told(found.keys)}.", "quiet")
    lines += ["", *_side_lines(page, "Goes ", found.outgoing), *_side_lines(page, "Comes", found.incoming)]
    if found.purges:
        told = "Something was purged on one side; it goes from the other side too, for good, past and all."
        lines += ["", *page.wrapped(told, first="! ")]
    for secret in found.secrets:
        where = safe_line(secret.path) or "the message of a commit"
        past = " (in the past alone)" if secret.is_past else ""
        told = (
            f"Looks like a secret: {secret.kind} in {where}{past}. Nothing is sent before it is decided on: "
        )
        told += "workbench forget QUERY --purge-history takes it out; if it may leave: "
        told += f"workbench secrets allow {secret.digest}"
        lines += page.wrapped(told, first="! ")
    return lines


def keys_told(keys: Sequence[SyncKey]) -> str:
    """Say who can read what is sent to a sealed remote, as a sentence goes on."""
    return f"{readers(keys)} can read it, and nobody else"


def readers(keys: Sequence[SyncKey]) -> str:
    """Name whose keys can read a sealed remote: `this device and desk`."""
    named = [safe_line(_key_name(each)) for each in keys]
    return listed(named) or "nobody"


def _key_name(key: SyncKey) -> str:
    return "this device" if key.is_this else key.device or f"the key {short_key(key.key)}"


def short_key(key: str) -> str:
    """Return the beginning of a public key, by which a person knows it again."""
    return f"{key[:14]}…" if key.startswith("age1") else f"{key[:12]}…{key[-8:]}"


def key_lines(_page: Page, key: SyncKey) -> list[str]:
    """Show the public part of a key, alone, so that it can be copied or piped."""
    return [safe_line(key.key)]


def recovery_lines(page: Page, key: SyncKey) -> list[str]:
    """Say what was made for the drawer."""
    told = "Anyone with this file can read the remote: print it or put it on a stick, and take it off this device. "
    told += "With it, a new device gets in by itself: workbench sync REMOTE --sealed --identity FILE"
    return [
        page.done(f"A recovery key was made and has access: {safe_line(key.key)}"),
        *page.wrapped(told, "quiet"),
    ]


def _side_lines(page: Page, what: str, side: SyncSide) -> Iterator[str]:
    if not side.commits and not side.files:
        yield f"{what}  nothing"
        return
    commits = f"{counted(side.commits, 'commit')}, " if side.commits else ""
    yield f"{what}  {commits}{counted(len(side.files), 'file')}, {size_words(side.size)}"
    named = ", ".join(safe_line(path) for path in side.files[:FILES_NAMED])
    more = len(side.files) - FILES_NAMED
    rest = f" and {more:,} more" if more > 0 else ""
    yield from (page.paint(line, "quiet") for line in page.wrapped(f"{named}{rest}", first="       "))


def synced_lines(page: Page, synced: Synced) -> list[str]:
    """Describe what a sync did."""
    if not synced.sent and not synced.received and not synced.purged:
        return [page.done("Nothing is new on either side.")]
    parts = [
        *((f"{counted(synced.sent, 'commit')} sent",) if synced.sent else ()),
        *((f"{counted(synced.received, 'commit')} received",) if synced.received else ()),
    ]
    lines = [page.done(f"Synced {safe_line(synced.device)}: {', '.join(parts) or 'nothing sent'}.")]
    if synced.files:
        named = ", ".join(safe_line(path) for path in synced.files[:FILES_NAMED])
        more = len(synced.files) - FILES_NAMED
        changed = f"changed here: {named}{f' and {more:,} more' if more > 0 else ''}"
        lines += [page.paint(line, "quiet") for line in page.wrapped(changed, first="  ")]
    if synced.purged:
        lines += page.wrapped("What another device purged is gone here too, past and all.", first="  ")
    if synced.conflicts:
        lines += page.wrapped(f"{conflicts_told(synced.conflicts)}.", first="! ")
    return lines


def conflicts_told(many: int) -> str:
    """Say how many things two devices changed differently."""
    if many == 1:
        return "Two devices changed one thing differently; it waits in the Inbox"
    return f"Two devices changed {many} things differently; they wait in the Inbox"


def devices_lines(page: Page, status: SyncStatus) -> list[str]:
    """List the devices that share a memory."""
    if status.remote is None:
        return ["This memory is not synced. Sync it with: workbench sync REMOTE"]
    lines = [page.heading("Devices", safe_line(status.remote)), ""]
    width = max(len(each.name) for each in status.devices)
    for each in status.devices:
        name = page.paint(safe_line(each.name).ljust(width), "strong" if each.is_this else "place")
        lines.append(f"{name}  {page.paint(_device_told(page, each), 'quiet')}")
    if status.sealed:
        lines += ["", *page.wrapped(f"The remote is sealed: {keys_told(status.keys)}.")]
        for key in status.keys:
            whose = _key_name(key) if key.is_this or key.device else "of no device yet"
            lines.append(page.paint(f"  {safe_line(key.key)}  {safe_line(whose)}", "quiet"))
    lines += ["", *_standing(page, status)]
    return lines


def _device_told(page: Page, device: SyncDevice) -> str:
    when = f"synced {at_minute(page, device.synced)}" if device.synced else "never synced"
    retired = f", retired by {safe_line(device.retired_by)}" if device.retired_by else ""
    return f"{when}{retired}{' (this one)' if device.is_this else ''}"


def _standing(page: Page, status: SyncStatus) -> list[str]:
    last = f"Last synced {at_minute(page, status.synced)}" if status.synced else "Never synced"
    waits = f"{counted(status.waiting, 'commit')} wait" if status.waiting != 1 else "1 commit waits"
    lines = page.wrapped(f"{last}; {waits if status.waiting else 'nothing waits'} to be sent.", "quiet")
    if status.trouble:
        lines += page.wrapped(f"The last attempt failed: {safe_line(status.trouble)}", first="! ")
    return lines
