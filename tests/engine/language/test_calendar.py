"""What the calendar is called, in two languages."""

from __future__ import annotations

import re

import pytest

from workbench.engine.language import calendar


def test_every_month_and_day_has_a_name_in_both_languages() -> None:
    for numbers, last in ((calendar.MONTHS, 12), (calendar.WEEKDAYS, 7)):
        english = {number for name, number in numbers.items() if name.isascii()}
        chinese = {number for name, number in numbers.items() if not name.isascii()}
        assert english == chinese == set(range(1, last + 1))
    for numbers in (calendar.SEASONS, calendar.COUNTS):
        values = [
            {number for name, number in numbers.items() if name.isascii() is plain} for plain in (True, False)
        ]
        assert values[0] <= values[1]


@pytest.mark.parametrize(
    ("names", "number"),
    [(("sept", "sep", "september", "九月"), 9), (("may", "五月"), 5), (("十二月", "dec"), 12)],
)
def test_months_are_known_by_all_their_names(names: tuple[str, ...], number: int) -> None:
    assert {calendar.MONTHS[name] for name in names} == {number}
    english = re.compile(calendar.ENGLISH_MONTH, re.IGNORECASE)
    assert all(english.fullmatch(name) for name in names if name.isascii())


def test_of_names_with_one_beginning_the_longest_is_tried_first() -> None:
    assert re.compile(calendar.any_of(["a", "a few", "few"])).match("a few days") is not None
    found = re.compile(calendar.any_of(["a", "a few"])).match("a few days")
    assert found is not None
    assert found.group() == "a few"
    assert calendar.any_of(["C++"]) == r"C\+\+"
