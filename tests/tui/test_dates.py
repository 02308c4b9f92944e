"""Days and moments are written in one way, whatever the locale, and lengths of time in the fittest unit."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from workbench.tui.views.dates import (
    day_name,
    full_time,
    how_long_ago,
    long_date,
    long_day,
    short_moment,
    weekday_name,
)

NOW = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)
TODAY = NOW.date()


def test_days_and_moments_in_words() -> None:
    assert long_day(TODAY) == "2 Feb 2026"
    assert short_moment(NOW) == "2 Feb 2026, 14:30"
    assert short_moment(NOW.replace(hour=9, minute=5)) == "2 Feb 2026, 09:05"
    assert full_time(NOW) == "2 Feb 2026, 14:30 UTC"
    assert full_time(NOW.replace(tzinfo=None)) == "2 Feb 2026, 14:30"


def test_what_is_no_day_stays_as_it_is() -> None:
    assert long_date("2026-02-02") == "2 Feb 2026"
    assert long_date("in spring") == "in spring"


@pytest.mark.parametrize(
    ("day", "name", "with_today"),
    [
        (TODAY, "Mon 2 Feb", "Today · Mon 2 Feb"),
        (TODAY - timedelta(1), "Sun 1 Feb", "Yesterday · Sun 1 Feb"),
        (date(2026, 7, 14), "Tue 14 Jul", "Tue 14 Jul"),
        (date(2025, 12, 31), "Wed 31 Dec 2025", "Wed 31 Dec 2025"),
    ],
)
def test_days_of_the_week(day: date, name: str, with_today: str) -> None:
    assert weekday_name(day, TODAY) == name
    assert day_name(day, TODAY) == with_today


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(seconds=3), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(seconds=7300), "2 hours ago"),
        (timedelta(hours=25), "1 day ago"),
        (timedelta(days=13), "13 days ago"),
        (timedelta(days=31), "4 weeks ago"),
        (timedelta(days=62), "2 months ago"),
        (timedelta(days=800), "2 years ago"),
        (-timedelta(days=2), "later than now"),
    ],
)
def test_how_long_ago(before: timedelta, words: str) -> None:
    assert how_long_ago(NOW - before, NOW) == words
