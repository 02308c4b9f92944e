"""Writes days and times the same way everywhere."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from workbench.display.cells import plain

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_LONGEST_WORDS = 24
_MINUTE, _HOUR, _DAY, _WEEK, _MONTH, _YEAR = 60, 3600, 86_400, 604_800, 2_629_800, 31_557_600
# From how many seconds on a length of time is told in which unit.
_UNITS = (
    (2 * _YEAR, _YEAR, "year"),
    (2 * _MONTH, _MONTH, "month"),
    (2 * _WEEK, _WEEK, "week"),
    (_DAY, _DAY, "day"),
    (_HOUR, _HOUR, "hour"),
    (_MINUTE, _MINUTE, "minute"),
)


def short_day(day: date, today: date) -> str:
    """Return a day of a month in six cells: “Mon  2”, or “Today”."""
    return "Today" if day == today else f"{_WEEKDAYS[day.weekday()]} {day.day:>2}"


def day_and_month(day: date) -> str:
    """Return a day without its year: “2 Feb”."""
    return f"{day.day} {MONTHS[day.month - 1]}"


def long_day(day: date) -> str:
    """Return a day in full: “2 Feb 2026”."""
    return f"{day_and_month(day)} {day.year}"


def long_date(text: str) -> str:
    """Return an ISO day as one reads it, “2 Feb 2026”; anything else as it is."""
    try:
        return long_day(date.fromisoformat(text))
    except ValueError:
        return plain(text, _LONGEST_WORDS)


def weekday_name(day: date, today: date) -> str:
    """Return a day with its weekday: “Mon 2 Feb”, with the year where it is another than today’s."""
    return f"{_WEEKDAYS[day.weekday()]} {long_day(day) if day.year != today.year else day_and_month(day)}"


def day_name(day: date, today: date) -> str:
    """Return a day as one reads it: “Today · Mon 2 Feb”, with the year where it is another."""
    name = weekday_name(day, today)
    if day == today:
        return f"Today · {name}"
    return f"Yesterday · {name}" if day == today - timedelta(1) else name


def short_moment(moment: datetime) -> str:
    """Return a moment to the minute: “2 Feb 2026, 14:30”."""
    return f"{long_day(moment)}, {moment:%H:%M}"


def full_time(moment: datetime) -> str:
    """Return a moment with its zone: “2 Feb 2026, 14:30 UTC”."""
    return f"{short_moment(moment)} {moment:%Z}".rstrip()


def how_long_ago(moment: datetime, now: datetime) -> str:
    """Return how long ago a moment was, in words: “4 weeks ago”."""
    seconds = (now - moment).total_seconds()
    if seconds <= -_MINUTE:
        return "later than now"
    for start, unit, word in _UNITS:
        if seconds >= start:
            count = int(seconds // unit)
            return f"{count} {word}{'s' * (count != 1)} ago"
    return "just now"
