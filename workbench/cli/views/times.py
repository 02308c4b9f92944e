"""How moments are written for people: to the minute, in UTC, saying so."""

from __future__ import annotations

from datetime import UTC, datetime


def at_minute(moment: datetime) -> str:
    """Write `2026-02-02 14:30Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%MZ")


def on_day(moment: datetime) -> str:
    """Write `2026-02-02`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d")
