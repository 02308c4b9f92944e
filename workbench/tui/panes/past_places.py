"""Reads where somebody wants to go in a history: a day, a time, a commit, or a place that a link names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from workbench.tui.query import parse_days
from workbench.tui.views.past_moment import NOW

if TYPE_CHECKING:
    from datetime import tzinfo

    from workbench.display.course import Course

_FIRST = "first"
_COMMIT = re.compile(r"[0-9a-f]{6,40}")
_TIME = re.compile(r"^(.*?)[ T](\d{1,2}):(\d{2})$")
_BEFORE = "^"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link leads: a row, or none, at a commit, or at none in particular."""

    row: str
    commit: str
    before: bool


def parse_target(key: str) -> Target:
    """Read `COMMIT`, `ID@COMMIT` or `ID@now`; a `^` at the end means the commit before."""
    row, at, commit = key.rpartition("@")
    if not at and not (_COMMIT.fullmatch(commit.rstrip(_BEFORE)) or commit == NOW):
        row, commit = commit, ""
    return Target(row, commit.rstrip(_BEFORE), commit.endswith(_BEFORE))


def parse_moment(text: str, course: Course, today: date, zone: tzinfo | None) -> int | None:
    """Read where to go, and return the commit that was the newest then.

    Args:
        text: A day or a span of days, whose end is meant; a day and a time; so long ago; `first`, `now`; or a commit.
        course: The history.
        today: In the workspace's zone.
        zone: In which days begin.

    Returns:
        Where the commit is; None where this is no moment.
    """
    text = text.strip().casefold()
    if not text or not len(course):
        return None
    if text in (NOW, _FIRST):
        return len(course) - 1 if text == NOW else 0
    timed = _TIME.match(text)
    days = parse_days(timed[1] if timed else text, today)
    if days is not None:
        # “3w” is a span that ends today; going there means going to its beginning.
        day = days[0] if days[1] == today else days[1]
        if timed is None:
            return (
                course.last_before(_midnight(day + timedelta(1), zone)) if day < date.max else len(course) - 1
            )
        if int(timed[2]) < 24 and int(timed[3]) < 60:
            moment = datetime.combine(day, time(int(timed[2]), int(timed[3])), zone)
            return course.last_before(_seconds(moment) + 60)
        return None
    return course.find(text) if _COMMIT.fullmatch(text) else None


def day_earlier(course: Course, at: int, zone: tzinfo | None) -> int:
    """Return the last commit of the nearest day before a commit's own; the first one where there is none."""
    return course.last_before(_midnight(_day(course.places[at], zone), zone))


def day_later(course: Course, at: int, zone: tzinfo | None) -> int:
    """Return the last commit of the nearest day after a commit's own; the newest one where there is none."""
    end = course.last_before(_midnight(_day(course.places[at], zone) + timedelta(1), zone))
    following = max(at, end) + 1
    if following >= len(course):
        return len(course) - 1
    return course.last_before(_midnight(_day(course.places[following], zone) + timedelta(1), zone))


def _day(second: int, zone: tzinfo | None) -> date:
    return datetime.fromtimestamp(second, zone).date()


def _midnight(day: date, zone: tzinfo | None) -> float:
    return _seconds(datetime.combine(day, time(), zone))


def _seconds(moment: datetime) -> float:
    try:
        return moment.timestamp()
    except (OverflowError, ValueError):
        return float("-inf") if moment.year < 2000 else float("inf")
