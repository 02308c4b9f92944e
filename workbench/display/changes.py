"""Text of a change: what was done, when, in which commit, to which files, and what was held back as a secret."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from workbench.display.text import Page, safe_line
from workbench.display.words import counted
from workbench.engine.clock import in_zone

if TYPE_CHECKING:
    from workbench.engine.results.memories import (
        Changed,
        Forgotten,
        HeldBack,
        HeldBackList,
        HeldMemory,
        SecretScan,
    )

FILES_NAMED = 4


def changed_lines(page: Page, changed: Changed, said: str, unchanged: str) -> list[str]:
    """Describe a mutation.

    Args:
        unchanged: Text if nothing had to change.
    """
    if changed.commit is None and not changed.files:
        return [unchanged]
    return [page.done(said), *account_lines(page, changed)]


def account_lines(page: Page, changed: Changed | Forgotten) -> list[str]:
    """List the commit and its files in muted style; empty without a commit."""
    if changed.commit is None:
        return []
    named = ", ".join(safe_line(path) for path in changed.files[:FILES_NAMED])
    more = len(changed.files) - FILES_NAMED
    files = f" · {named}{f' and {more} more' if more > 0 else ''}" if named else ""
    told = page.wrapped(f"commit {changed.commit[:7]}{files}", first="  ")
    return [page.paint(line, "quiet") for line in told]


def at_minute(page: Page, moment: datetime) -> str:
    """Write `2026-02-02 14:30`."""
    return in_zone(moment, page.zone).strftime("%Y-%m-%d %H:%M")


def on_day(page: Page, moment: datetime) -> str:
    """Write `2026-02-02`."""
    return in_zone(moment, page.zone).strftime("%Y-%m-%d")


def held_back_lines(page: Page, held: HeldBack, *, dry_run: bool) -> list[str]:
    """Report that something was not or would not be stored, and who decides."""
    does = "Would be held" if dry_run else "Held"
    told = f"{does} back for a person: {safe_line(held.reason)}. {safe_line(held.detail)}."
    return page.wrapped(told, first="! ")


def held_lines(page: Page, found: HeldBackList) -> list[str]:
    """List what was held back: number, actor, and kind of secret."""
    if not found.held:
        return ["Nothing was held back."]
    lines = [page.heading("Held back", str(len(found.held))), ""]
    for each in found.held:
        about = f"{safe_line(each.role)}, {at_minute(page, each.timestamp)} · {' and '.join(each.kinds)}"
        lines.append(f"{page.paint(str(each.number), 'strong')} {page.paint(about, 'quiet')}")
        lines += [*page.wrapped(safe_line(each.text), first="  "), *_where_lines(page, each), ""]
    hints = (
        "Store it as it is: workbench secrets store N",
        "Without the secret: workbench secrets store N --leave-out",
        "Forget it: workbench secrets drop N   See it: workbench secrets reveal N",
    )
    return [*lines, *(page.paint(hint, "quiet") for hint in hints)]


def _where_lines(page: Page, held: HeldMemory) -> list[str]:
    """Describe the file of a waiting edit, and its present content."""
    if not held.path:
        return []
    place = f"{safe_line(held.path)}:{held.line}" if held.line else safe_line(held.path)
    told = (
        "the edit stays out of history until the secret is out of the file, or stored"
        if held.left_out
        else "a placeholder is there now"
    )
    return page.wrapped(f"{place} · {told}", first="  ")


def scan_lines(page: Page, found: SecretScan) -> list[str]:
    """List where memory seems to hold secrets."""
    looked = counted(found.files, "file")
    if not found.places:
        return [page.done(f"Nothing in {looked} looks like a secret.")]
    lines = [page.heading("Looks like a secret", f"{len(found.places)} in {looked}"), ""]
    for each in found.places:
        allowed = ", allowed" if each.allowed else ""
        place = page.paint(f"{safe_line(each.path)}:{each.line}", "place")
        lines.append(f"{place} {page.paint(f'{each.kind}{allowed}  {each.digest}', 'quiet')}")
    return lines
