"""Text of a hub: the memories in it, and what a sync did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.changes import at_minute
from workbench.display.text import Page, safe_line
from workbench.display.words import counted

if TYPE_CHECKING:
    from workbench.engine.results.hub import HubChanged, HubMemories, HubSynced


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
