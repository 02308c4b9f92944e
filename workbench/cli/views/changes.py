"""Text of a change: what was done, when, in which commit, to which files."""

from __future__ import annotations

from datetime import datetime

from workbench.cli.printing import Page, safe_line, wrap
from workbench.engine.clock import in_zone
from workbench.engine.results.memories import Changed, Forgotten

FILES_NAMED = 4


def changed_lines(page: Page, changed: Changed, said: str, unchanged: str) -> list[str]:
    """Describe a mutation.

    Args:
        said: What was done, one sentence.
        unchanged: Text if nothing had to change.
    """
    if changed.commit is None and not changed.files:
        return [unchanged]
    return [f"{page.paint('✓', 'good')} {said}", *account_lines(page, changed)]


def account_lines(page: Page, changed: Changed | Forgotten) -> list[str]:
    """List the commit and its files in muted style; empty without a commit."""
    if changed.commit is None:
        return []
    named = ", ".join(safe_line(path) for path in changed.files[:FILES_NAMED])
    more = len(changed.files) - FILES_NAMED
    files = f" · {named}{f' and {more} more' if more > 0 else ''}" if named else ""
    told = wrap(f"commit {changed.commit[:7]}{files}", page.width, first="  ")
    return [page.paint(line, "quiet") for line in told]


def at_minute(page: Page, moment: datetime) -> str:
    """Write `2026-02-02 14:30`."""
    return in_zone(moment, page.zone).strftime("%Y-%m-%d %H:%M")


def on_day(page: Page, moment: datetime) -> str:
    """Write `2026-02-02`."""
    return in_zone(moment, page.zone).strftime("%Y-%m-%d")
