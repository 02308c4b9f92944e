"""Whether a reflection should run now (design document §10.1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final

from workbench.engine.settings import ReflectionSettings

MANUAL: Final = "manual"
SESSION_END: Final = "session-end"
SCHEDULE: Final = "schedule"
AGEING_HOURS: Final = 24


@dataclass(frozen=True)
class Standing:
    """What the answer depends on.

    Args:
        now: In the workspace's zone.
        last: When the last reflection was written; None where there was none.
        unread: Entries that no reflection has read.
        waiting: Id of the proposal with undecided items; empty where there is none.
        occasion: `schedule` (cron asks), `session-end`, or `manual`.
    """

    now: datetime
    last: datetime | None
    unread: int
    waiting: str = ""
    occasion: str = SCHEDULE


@dataclass(frozen=True)
class Answer:
    """Whether to reflect, and why or why not, as a sentence."""

    due: bool
    reason: str


def is_due(standing: Standing, settings: ReflectionSettings) -> Answer:
    """Tell whether a reflection should run.

    A proposal that waits for decisions is never followed by another one; nothing new is nothing to reflect on.
    """
    if standing.waiting:
        return Answer(False, f"{standing.waiting} waits for decisions.")
    if not standing.unread:
        return Answer(False, "Nothing was remembered since the last reflection.")
    if settings.frequency == "manual":
        return Answer(False, "Reflection runs by hand only (reflection.frequency).")
    if standing.unread >= settings.threshold:
        return Answer(True, f"{standing.unread:,} entries have not been reflected on.")
    if standing.occasion == SESSION_END and "session-end" in settings.frequency:
        return Answer(True, "A session has ended.")
    if "daily" in settings.frequency:
        planned = last_planned(standing.now, settings)
        if standing.last is None or standing.last < planned:
            return Answer(True, f"It was planned for {planned:%Y-%m-%d %H:%M}.")
        return Answer(
            False, f"The next is planned for {next_planned(standing.now, settings):%Y-%m-%d %H:%M}."
        )
    return Answer(False, "It runs at the end of a session, or when enough is new.")


def last_planned(now: datetime, settings: ReflectionSettings) -> datetime:
    """Return the latest moment, not after now, for which the daily reflection was planned."""
    planned = _at(now, settings)
    return planned if planned <= now else _at(now - timedelta(days=1), settings)


def next_planned(now: datetime, settings: ReflectionSettings) -> datetime:
    """Return the next moment for which the daily reflection is planned."""
    planned = _at(now, settings)
    return planned if planned > now else _at(now + timedelta(days=1), settings)


def _at(day: datetime, settings: ReflectionSettings) -> datetime:
    clock = time.fromisoformat(settings.time)
    return datetime.combine(day.date(), clock, tzinfo=day.tzinfo)
