"""Text of who comes in over the network: tokens of agents, and the memories of a hub."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.changes import at_minute
from workbench.display.text import Page, safe_line
from workbench.display.words import counted

if TYPE_CHECKING:
    from workbench.engine.results.access import (
        AccessToken,
        AccessTokens,
        TokenAdded,
        TokenRevoked,
    )
    from workbench.engine.results.hub import HubChanged, HubMemories, HubSynced


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
