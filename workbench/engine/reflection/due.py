"""Whether a reflection should run now (design document §10.1)."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Final

from workbench.engine.settings.sections import ReflectionSettings
from workbench.engine.values import dataclass

SESSION_END: Final = "session-end"
SCHEDULE: Final = "schedule"
OCCASIONS: Final = ("manual", SESSION_END, SCHEDULE)
"""What may set off a reflection."""
AGEING_HOURS: Final = 24
"""A proposal that has waited longer is shown as ageing (design document §10.6)."""


@dataclass(frozen=True)
class Situation:
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


def is_due(situation: Situation, settings: ReflectionSettings) -> Answer:
    """Return whether a reflection should run.

    A proposal that waits for decisions is never followed by another one; nothing new is nothing to reflect on.
    """
    if situation.waiting:
        return Answer(False, f"{situation.waiting} waits for decisions.")
    if not situation.unread:
        return Answer(False, "Nothing was remembered since the last reflection.")
    if settings.frequency == "manual":
        return Answer(False, "Reflection runs by hand only (reflection.frequency).")
    if situation.unread >= settings.threshold:
        return Answer(True, f"{situation.unread:,} entries have not been reflected on.")
    if situation.occasion == SESSION_END and "session-end" in settings.frequency:
        return Answer(True, "A session has ended.")
    if "daily" in settings.frequency:
        planned = last_planned(situation.now, settings)
        if situation.last is None or situation.last < planned:
            return Answer(True, f"It was planned for {planned:%Y-%m-%d %H:%M}.")
        return Answer(
            False, f"The next is planned for {next_planned(situation.now, settings):%Y-%m-%d %H:%M}."
        )
    return Answer(False, "It runs at the end of a session, or when enough is new.")


def last_planned(now: datetime, settings: ReflectionSettings) -> datetime:
    """Return the latest moment, not after now, for which the daily reflection was planned."""
    planned = _at(now, settings)
    return planned if _passed(planned, now) else _at(now - timedelta(days=1), settings)


def next_planned(now: datetime, settings: ReflectionSettings) -> datetime:
    """Return the next moment for which the daily reflection is planned."""
    planned = _at(now, settings)
    return planned if not _passed(planned, now) else _at(now + timedelta(days=1), settings)


def next_scheduled(now: datetime, settings: ReflectionSettings) -> datetime | None:
    """Return when the settings want the next reflection; None where they want none by the clock."""
    return next_planned(now, settings) if "daily" in settings.frequency else None


def _at(day: datetime, settings: ReflectionSettings) -> datetime:
    clock = time.fromisoformat(settings.time)
    planned = datetime.combine(day.date(), clock, tzinfo=day.tzinfo)
    # A time that the begin of summer time leaves out is the moment that follows it.
    return planned.astimezone(UTC).astimezone(day.tzinfo)


def _passed(planned: datetime, now: datetime) -> bool:
    """Return whether a moment is not after now; times of one zone are compared by its clocks, which repeat hours."""
    return planned.astimezone(UTC) <= now.astimezone(UTC)
