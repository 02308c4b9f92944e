"""Relative dates are said absolutely, vague ones stay vague."""

from __future__ import annotations

from datetime import date

import pytest

from workbench.engine.language.said_days import with_dates

SATURDAY = date(2022, 12, 17)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("We drove home yesterday", "We drove home on 2022-12-16"),
        ("I saw it the day before yesterday", "I saw it on 2022-12-15"),
        ("I leave tomorrow morning", "I leave on the morning of 2022-12-18"),
        ("We danced last night", "We danced on the evening of 2022-12-16"),
        ("I met him last Friday", "I met him on 2022-12-16"),
        ("I met him last Saturday", "I met him on 2022-12-10"),
        ("I start next Monday", "I start on 2022-12-19"),
        ("It rained last week", "It rained in the week before 2022-12-17"),
        ("We hiked last weekend", "We hiked on the weekend before 2022-12-17"),
        ("I moved last month", "I moved in November 2022"),
        ("I move next month", "I move in January 2023"),
        ("She retired last year", "She retired in 2021"),
        ("I quit two weeks ago", "I quit around 2022-12-03"),
        ("I quit three days ago", "I quit on 2022-12-14"),
        ("I began about five years ago", "I began around 2017"),
        ("I was there a few years ago", "I was there some years before 2022"),
        ("It was moved to next week", "It was moved to the week after 2022-12-17"),
        ("She moved to Rome last week", "She moved to Rome in the week before 2022-12-17"),
        ("I have lived here since last year", "I have lived here since 2021"),
    ],
)
def test_relative_date_becomes_absolute(text: str, said: str) -> None:
    assert with_dates(text, SATURDAY).text == said


@pytest.mark.parametrize(
    "text",
    [
        "I ran every day over the last month",
        "last year's garden was better",
        "The last week of school was hot",
        "On 3 May we meet",
    ],
)
def test_other_dates_stay(text: str) -> None:
    assert with_dates(text, SATURDAY).text == text


def test_only_a_single_day_is_given_as_day() -> None:
    assert with_dates("I left yesterday", SATURDAY).day == "2022-12-16"
    assert with_dates("I left last month", SATURDAY).day == ""
    assert with_dates("I left last month", SATURDAY).dated


def test_without_a_day_nothing_is_resolved() -> None:
    assert with_dates("I left yesterday", None).text == "I left yesterday"


def test_words_for_the_time_of_speaking_are_left_out() -> None:
    assert with_dates("I recently took up fencing", SATURDAY).text == "I took up fencing"
