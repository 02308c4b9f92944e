"""The days a question names, counted from the clock's."""

from __future__ import annotations

from datetime import date, time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.engine.language.periods import (
    Period,
    day_and_time,
    parse_days,
    period_alone,
    period_of,
    without_period,
)

TODAY = date(2026, 2, 2)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What did we decide on 2025-11-03?", "2025-11-03", "2025-11-03"),
        ("on 7 May 2023", "2023-05-07", "2023-05-07"),
        ("on October 13, 2023", "2023-10-13", "2023-10-13"),
        ("on May 5th", "2025-05-05", "2025-05-05"),
        ("in May", "2025-05-01", "2025-05-31"),
        ("in January", "2026-01-01", "2026-01-31"),
        ("during February 2024", "2024-02-01", "2024-02-29"),
        ("in 2024-02", "2024-02-01", "2024-02-29"),
        ("last spring", "2025-03-01", "2025-05-31"),
        ("last summer", "2025-06-01", "2025-08-31"),
        ("in winter 2024", "2024-12-01", "2025-02-28"),
        ("Q3 2024", "2024-07-01", "2024-09-30"),
        ("in Q4", "2025-10-01", "2025-12-31"),
        ("yesterday", "2026-02-01", "2026-02-01"),
        ("the day before yesterday", "2026-01-31", "2026-01-31"),
        ("two weeks ago", "2026-01-16", "2026-01-22"),
        ("3 days ago", "2026-01-30", "2026-01-30"),
        ("a month ago", "2026-01-01", "2026-01-31"),
        ("last week", "2026-01-26", "2026-02-01"),
        ("last month", "2026-01-01", "2026-01-31"),
        ("this year", "2026-01-01", "2026-12-31"),
        ("in the past 3 weeks", "2026-01-12", "2026-02-02"),
        ("last Friday", "2026-01-30", "2026-01-30"),
        ("in 2023", "2023-01-01", "2023-12-31"),
        ("上週做了什麼", "2026-01-26", "2026-02-01"),
        ("上个月", "2026-01-01", "2026-01-31"),
        ("上周五做了什麼", "2026-01-30", "2026-01-30"),
        ("这个星期三", "2026-02-04", "2026-02-04"),
        ("上週天", "2026-02-01", "2026-02-01"),
        ("a couple weeks ago", "2026-01-16", "2026-01-22"),
        ("half a year ago", "2025-08-01", "2025-08-31"),
        ("半年前", "2025-08-01", "2025-08-31"),
        ("a fortnight ago", "2026-01-16", "2026-01-22"),
        ("two months back", "2025-12-01", "2025-12-31"),
        ("twelve days ago", "2026-01-21", "2026-01-21"),
        ("the week before last", "2026-01-19", "2026-01-25"),
        ("the month before last", "2025-12-01", "2025-12-31"),
        ("in late November", "2025-11-01", "2025-11-30"),
        ("in Sept 2025", "2025-09-01", "2025-09-30"),
        ("去年三月", "2025-03-01", "2025-03-31"),
        ("昨天", "2026-02-01", "2026-02-01"),
        ("三天前", "2026-01-30", "2026-01-30"),
        ("三个月前", "2025-11-01", "2025-11-30"),
        ("2023年5月7日", "2023-05-07", "2023-05-07"),
        ("1月13日", "2026-01-13", "2026-01-13"),
        ("一月二十三号", "2026-01-23", "2026-01-23"),
        ("十二月十号", "2025-12-10", "2025-12-10"),
        ("去年一月三十一日", "2025-01-31", "2025-01-31"),
        ("去年夏天", "2025-06-01", "2025-08-31"),
    ],
)
def test_what_a_question_names(question: str, first: str, last: str) -> None:
    assert period_of(question, TODAY) == Period(date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("last week", True),
        ("three days ago", True),
        ("上週", True),
        ("最近三天", True),
        ("今天", True),
        ("last Friday", True),
        ("上周五", True),
        ("last March", False),
        ("in May", False),
        ("2026-01-05", False),
        ("去年夏天", False),
    ],
)
def test_which_days_are_counted_from_the_day_of_asking(question: str, expected: bool) -> None:
    period = period_of(question, TODAY)
    assert period is not None
    assert period.is_from_now is expected


@pytest.mark.parametrize(
    "question",
    ["", "what may I do", "march forward", "on 2025-02-30", "version 1.2.3", "room 2023", "how many days"],
)
def test_what_names_no_day(question: str) -> None:
    assert period_of(question, TODAY) is None


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("in May", "2023-05-01"),
        ("五月", "2023-05-01"),
        ("on May 7", "2023-05-07"),
        ("in spring", "2023-03-01"),
        ("in Q2", "2023-04-01"),
        ("in May 2025", "2025-05-01"),
        ("last May", "2025-05-01"),
        ("in August", "2025-08-01"),
    ],
)
def test_what_comes_back_every_year_is_looked_for_in_years_before(question: str, first: str) -> None:
    told = date(2023, 5, 7)
    period = period_of(question, TODAY, lambda period: period.distance(told) == 0)
    assert period is not None
    assert period.first == date.fromisoformat(first)


def test_what_is_asked_besides_the_days() -> None:
    assert without_period("What did Ann buy last week?", TODAY) == "what did ann buy  ?"
    assert without_period("Who bought it?", TODAY) == "who bought it?"


def test_distance_is_counted_from_the_nearer_end() -> None:
    period = Period(date(2026, 1, 5), date(2026, 1, 8))
    days = [date(2026, 1, day) for day in (3, 5, 8, 10)]
    assert [period.distance(day) for day in days] == [-2, 0, 0, 2]


@settings(max_examples=200)
@given(st.text(alphabet="0123456789-年月日前后上下周季 aginlostmyweQ", max_size=40), st.dates())
def test_any_text_on_any_day_is_read(text: str, today: date) -> None:
    period = period_of(text, today)
    assert period is None or period.first <= period.last


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("since yesterday", "2026-02-01"),
        ("Monday", "2026-01-26"),
        ("today’s", "2026-02-02"),
        ("the last release", ""),
        ("yesterday in the deploy script", ""),
        ("上周一", "2026-01-26"),
        ("昨天以来", "2026-02-01"),
        ("昨天的部署", ""),
        ("", ""),
    ],
)
def test_days_alone_are_told_from_days_among_other_words(text: str, day: str) -> None:
    found = period_alone(text, TODAY)
    assert found == (Period(date.fromisoformat(day), date.fromisoformat(day)) if day else None)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-01-15", "2026-01-15", "2026-01-15"),
        ("2025-12", "2025-12-01", "2025-12-31"),
        ("2024", "2024-01-01", "2024-12-31"),
        ("feb", "2026-02-01", "2026-02-28"),
        ("Dec", "2025-12-01", "2025-12-31"),
        ("14 feb 2024", "2024-02-14", "2024-02-14"),
        ("february 14", "2025-02-14", "2025-02-14"),
        ("yesterday", "2026-02-01", "2026-02-01"),
        ("3w", "2026-01-12", "2026-02-02"),
        ("3 weeks ago", "2026-01-12", "2026-02-02"),
        ("1 day ago", "2026-02-01", "2026-02-02"),
    ],
)
def test_days_are_read_as_people_write_them(text: str, first: str, last: str) -> None:
    assert parse_days(text, TODAY) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("two months ago", date(2026, 9, 28), date(2026, 11, 28)),
        ("a year ago", date(2025, 11, 28), date(2026, 11, 28)),
        ("9m", date(2026, 2, 28), date(2026, 11, 28)),
        ("a week ago", date(2026, 11, 21), date(2026, 11, 28)),
        ("last month", date(2026, 10, 1), date(2026, 10, 31)),
        ("last-month", date(2026, 10, 1), date(2026, 10, 31)),
        ("last march", date(2025, 3, 1), date(2025, 3, 31)),
        ("the week before last", date(2026, 11, 9), date(2026, 11, 15)),
        ("monday", date(2026, 11, 23), date(2026, 11, 23)),
        ("上周", date(2026, 11, 16), date(2026, 11, 22)),
        ("14 oct", date(2026, 10, 14), date(2026, 10, 14)),
    ],
)
def test_days_are_read_in_words(text: str, first: date, last: date) -> None:
    assert parse_days(text, date(2026, 11, 28)) == (first, last)


@pytest.mark.parametrize("text", ["soon", "two months", "month", ""])
def test_what_is_no_day_is_none(text: str) -> None:
    assert parse_days(text, date(2026, 11, 28)) in (None, parse_days("2m", date(2026, 11, 28)))


def test_a_month_that_is_too_short_counts_to_its_end() -> None:
    assert parse_days("a month ago", date(2026, 3, 31)) == (date(2026, 2, 28), date(2026, 3, 31))
    assert parse_days("9999 years ago", date(2026, 3, 31)) == (date(1, 1, 31), date(2026, 3, 31))


@pytest.mark.parametrize(
    ("text", "day", "at"),
    [
        ("two months ago", date(2026, 9, 28), None),
        ("last month", date(2026, 10, 31), None),
        ("14 oct 10:30", date(2026, 10, 14), time(10, 30)),
        ("2026-10-14T10:30", date(2026, 10, 14), time(10, 30)),
    ],
)
def test_a_moment_is_a_day_and_perhaps_a_time(text: str, day: date, at: time | None) -> None:
    assert day_and_time(text, date(2026, 11, 28)) == (day, at)


@pytest.mark.parametrize("text", ["soon", "14 oct 25:30", "10:30"])
def test_what_is_no_moment_is_none(text: str) -> None:
    assert day_and_time(text, date(2026, 11, 28)) is None
