"""Text of connections: the programs that are here, what is connected, and what a connection changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.display.text import Page, pad, safe, safe_line
from workbench.display.words import counted

if TYPE_CHECKING:
    from workbench.engine.results.clients import (
        Clients,
        ClientState,
        Connection,
        ConnectionChange,
        FileChange,
    )

_ACTIONS = {"create": "new    ", "change": "changed", "delete": "deleted"}
_STYLES = {"+": "good", "-": "bad", "@": "quiet"}


def clients_lines(page: Page, found: Clients) -> list[str]:
    """List the clients: those that are connected, those that could be, and the names of the others."""
    width = max(len(client.title) for client in found.clients)
    lines: list[str] = []
    here = [client for client in found.clients if client.installed or client.connections]
    for client in here:
        head = f"{pad(client.title, width)}  "
        if client.problem:
            lines += page.wrapped(safe_line(client.problem), first=f"! {head}")
        elif client.connections:
            for connection in client.connections:
                lines += page.wrapped(
                    _told(connection), first=f"{page.paint('✓', 'good')} {head}", rest=" " * (width + 4)
                )
                head = " " * len(head)
        else:
            lines.append(f"· {head}{page.paint(f'workbench connect {client.name}', 'quiet')}")
    others = ", ".join(client.name for client in found.clients if client not in here)
    if not here:
        lines.append("None of the programs that can be connected was found here.")
    if others:
        lines += ["", *page.wrapped(f"Not found here: {others}.", "quiet")]
    return lines


def _told(connection: Connection) -> str:
    agent = f", the agent {connection.agent}" if connection.agent else ""
    where = " (this project)" if connection.scope == "project" else ""
    hooks = f"; hooks: {', '.join(connection.hooks)}" if connection.hooks else ""
    return safe_line(f"{connection.workspace}{agent}{where}{hooks}")


def change_lines(page: Page, change: ConnectionChange) -> list[str]:
    """Show what would be written, file by file, as a diff."""
    return [line for each in change.changes for line in (*_diff_lines(page, each), "")]


def asked_lines(page: Page, change: ConnectionChange) -> list[str]:
    """Show what a person is asked about: files that are ours as a whole by name, then the changes of configurations."""
    lines = [
        f"{_ACTIONS[each.action]} {page.paint(short_path(each.path), 'strong')}"
        for each in change.changes
        if each.own
    ]
    if lines:
        lines += [page.paint("(what is in these: --dry-run)", "quiet"), ""]
    return [
        *lines,
        *(line for each in change.changes if not each.own for line in (*_diff_lines(page, each), "")),
    ]


def _diff_lines(page: Page, change: FileChange) -> list[str]:
    lines = []
    for line in safe(change.diff).rstrip("\n").split("\n"):
        strong = line.startswith(("--- ", "+++ "))
        lines.append(page.paint(line, "strong" if strong else _STYLES.get(line[:1], "")))
    return lines


def connected_lines(page: Page, change: ConnectionChange, said: str) -> list[str]:
    """Report what was written, where the former files are, and what a person does next."""
    if not change.changes:
        return [f"{change.title} is as it was asked for; nothing had to change."]
    lines = [page.done(said)]
    copies = [safe_line(each.copy) for each in change.changes if each.copy]
    removed = sum(each.action == "delete" for each in change.changes)
    counts = {"written": len(change.changes) - removed, "removed": removed}
    told = ", ".join(f"{counted(count, 'file')} {done}" for done, count in counts.items() if count)
    told += f"; as it was: {', '.join(copies)}" if copies else ""
    lines += page.wrapped(told, "quiet", first="  ")
    for note in change.notes:
        lines += page.wrapped(safe_line(note), first="  ")
    return lines


def short_path(path: str | Path) -> str:
    """Return a path on one line, with the home folder as `~`."""
    home = Path.home()
    return safe_line(f"~/{Path(path).relative_to(home)}" if Path(path).is_relative_to(home) else str(path))


def offered(client: ClientState) -> bool:
    """Return True if a client is here, can be read and is not connected."""
    return client.installed and not client.connections and client.problem is None
