"""How moments are written for people: to the minute or the day, in the workspace's own time zone."""

from __future__ import annotations

from datetime import datetime

from workbench.cli.printing import Page
from workbench.engine.clock import in_zone


def at_minute(page: Page, moment: datetime) -> str:
    """Write `2026-02-02 14:30`."""
    return in_zone(moment, page.zone).strftime("%Y-%m-%d %H:%M")


def on_day(page: Page, moment: datetime) -> str:
    """Write `2026-02-02`."""
    return in_zone(moment, page.zone).strftime("%Y-%m-%d")
