"""Text of connections: programs that are here, what connecting changes, tokens of agents, memories of a hub."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.display.changes import at_minute
from workbench.display.text import Page, pad, safe, safe_line
from workbench.display.words import counted

if TYPE_CHECKING:
    from workbench.engine.results.access import AccessToken, AccessTokens, TokenAdded, TokenRevoked
    from workbench.engine.results.clients import (
        Clients,
        ClientState,
        Connection,
        ConnectionChange,
        FileChange,
    )
    from workbench.engine.results.hub import HubChanged, HubMemories, HubSynced

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


def opens(token: AccessToken) -> str:
    """Return what a token opens, and what may be done there."""
    whose = f"what is for {token.scope}" if token.scope else "the whole memory"
    may = {"main": "reads and writes", "reader": "only reads"}.get(token.role, "reads and may propose")
    return f"{whose}: {may}"


def tokens_lines(page: Page, found: AccessTokens) -> list[str]:
    """List tokens with what they open and when they were used last."""
    if not found.tokens and not found.unreadable:
        return ["There is no token. Make one with: workbench mcp token add NAME"]
    lines = [page.heading("Tokens", counted(len(found.tokens), "token"))]
    for each in found.tokens:
        used = f"last used {at_minute(page, each.last_used)}" if each.last_used else "never used"
        told = [opens(each), f"{each.per_minute:,} a minute", f"made {at_minute(page, each.created)}", used]
        if each.last_from:
            told.append(f"from {safe_line(each.last_from)}")
        lines += page.wrapped(each.name, first="  ", rest="  ")
        lines += page.wrapped(" · ".join(told), "quiet", first="    ", rest="    ")
    for name in found.unreadable:
        lines += page.wrapped(
            safe_line(f"{name}: its file cannot be read, so it gives no access. Revoke it."), first="! "
        )
    logs = f"Their logs are in {safe_line(found.place)}: of each the last 1 to 2 MB, the older half in NAME.log.1"
    return [*lines, *page.wrapped(logs, "quiet", first="  ")]


def added_lines(page: Page, done: TokenAdded) -> list[str]:
    """Show a new token, and say what to do with it."""
    return [
        *page.wrapped(
            f"The token {done.token.name} opens {opens(done.token)}. Copy it now; it is not shown again:"
        ),
        "",
        f"  {done.secret}",
        "",
        *page.wrapped("Clients send it in the header: Authorization: Bearer TOKEN", "quiet"),
    ]


def revoked_lines(page: Page, done: TokenRevoked) -> list[str]:
    """Say that a token is revoked."""
    return page.wrapped(f"The token {done.name} gives no access any more.")


def memories_lines(page: Page, found: HubMemories) -> list[str]:
    """List memories with their labels, and who sees them."""
    if not found.memories:
        return ["The hub holds no memory that you may see. Add one with: workbench hub add PATH"]
    lines = [page.heading("Hub", counted(len(found.memories), "memory", "memories"))]
    for each in found.memories:
        name = safe_line(f"{each.path}#{each.scope}" if each.scope else each.path)
        read = f"read {at_minute(page, each.last_sync)}" if each.last_sync else "not read yet"
        told = [counted(each.chunks, "passage"), read, f"on {safe_line(each.machine)}"]
        labels = (("project", each.project), ("person", each.person), ("team", each.team))
        told += [f"{label} {safe_line(value)}" for label, value in labels if value]
        if each.roles:
            told.append(f"seen by {', '.join(map(safe_line, each.roles))}")
        lines += page.wrapped(name, first="  ", rest="  ")
        lines += page.wrapped(" · ".join(told), "quiet", first="    ", rest="    ")
    return [*lines, *page.wrapped(safe_line(found.place), "quiet", first="  ")]


def synced_lines(page: Page, done: HubSynced) -> list[str]:
    """Say what was brought up to date and what was not."""
    lines = [f"{counted(len(done.synced), 'memory', 'memories')} up to date in {safe_line(done.place)}."]
    for path, reason in done.failures:
        lines += page.wrapped(safe_line(f"{path}: {reason}"), first="! ")
    return lines


def changed_lines(page: Page, done: HubChanged) -> list[str]:
    """Say what was done."""
    return page.wrapped(safe_line(done.said))
