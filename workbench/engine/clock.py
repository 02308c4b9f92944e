"""The only source of the time: a clock is passed in, so that tests can move through months instantly."""

from __future__ import annotations

import os
from dataclasses import field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol

from workbench.engine.errors import InvalidInput
from workbench.engine.values import dataclass

# A clock leaves room on both sides for other zones, forecasts and “a hundred years ago”.
_FIRST_YEAR, _LAST_YEAR = 1000, 8999
_TO_THE_SECOND = len("2026-02-02T14:30:00")


class Clock(Protocol):
    """A source of the time."""

    def now(self) -> datetime:
        """Return the present time, aware, in UTC."""
        ...


@dataclass(frozen=True)
class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass
class FixedClock:
    """A clock that only moves when told.

    Args:
        moment: An aware time; any zone, kept as UTC.
    """

    moment: datetime = field(default_factory=lambda: datetime(2026, 2, 2, 14, 30, tzinfo=UTC))

    def now(self) -> datetime:
        return self.moment.astimezone(UTC)

    def advance(self, **amount: float) -> None:
        """Move on by `timedelta` arguments (days=1, minutes=5)."""
        self.moment += timedelta(**amount)


def clock_from_environment() -> Clock:
    """Return a clock fixed at `WORKBENCH_NOW` if that is set, else the system's.

    Raises:
        InvalidInput: `WORKBENCH_NOW` is not an ISO 8601 time, or too near an end of the calendar to look back or ahead.
    """
    fixed = os.environ.get("WORKBENCH_NOW")
    if not fixed:
        return SystemClock()
    moment = parse_time(fixed, where="WORKBENCH_NOW")
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise InvalidInput(
            f"“{fixed}” is no time for a clock.",
            where="WORKBENCH_NOW",
            remedy=f"Give one from the year {_FIRST_YEAR} to {_LAST_YEAR}.",
        )
    return FixedClock(moment)


def parse_time(text: str, *, where: str | None = None) -> datetime:
    """Parse an ISO 8601 date or time; without a zone it is UTC.

    Args:
        text: For example `2026-02-02T14:30Z` or `2026-02-02`.
        where: Source of the text, for the error.

    Raises:
        InvalidInput: The text is not such a time.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"“{text}” is not a time.", where=where, remedy="Give it as 2026-02-02T14:30:00Z or 2026-02-02."
        ) from error


def in_zone(moment: datetime, zone: tzinfo | None) -> datetime:
    """Return a moment in a zone; at the ends of the calendar, where that fails, the same time of day."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment.replace(tzinfo=zone)


def time_or_none(text: str) -> datetime | None:
    """Parse a time like `parse_time`, or return None."""
    try:
        return parse_time(text)
    except InvalidInput:
        return None


def render_time(moment: datetime) -> str:
    """Format a time as ISO 8601 in UTC to the second: `2026-02-02T14:30:00Z`."""
    return in_zone(moment, UTC).isoformat()[:_TO_THE_SECOND] + "Z"
