"""Writes days and times the same way everywhere."""

from __future__ import annotations

from datetime import date, datetime, timedelta

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def short_day(day: date, today: date) -> str:
    """Return a day of a month in six cells: “Mon  2”, or “Today”."""
    return "Today" if day == today else f"{_WEEKDAYS[day.weekday()]} {day.day:>2}"


def day_name(day: date, today: date) -> str:
    """Return a day as one reads it: “Today · Mon 2 Feb”, with the year where it is another."""
    year = f" {day.year}" if day.year != today.year else ""
    name = f"{_WEEKDAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]}{year}"
    if day == today:
        return f"Today · {name}"
    return f"Yesterday · {name}" if day == today - timedelta(1) else name


def full_time(moment: datetime) -> str:
    """Return a moment with its zone: “2 Feb 2026, 14:30 UTC”."""
    zone = moment.strftime("%Z")
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}, {moment:%H:%M}" + (
        f" {zone}" if zone else ""
    )
