"""Scores over time as cells: every row fits, what is high stands high, and dates stand over their own cells."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from workbench.display.heat import (
    DROP,
    HEIGHTS,
    SCALES,
    TODAY_LINE,
    Scale,
    Window,
    axis_line,
    heat_line,
    window_for,
)
from workbench.display.ink import line_width, plain_text
from workbench.engine.results.decay import ScorePoint

TODAY = date(2026, 2, 2)
ALIVE = ("active", "fading", "dormant", "archived")
VALUES = {"active": 0.8, "fading": 0.3, "dormant": 0.1, "archived": 0.01, "pinned": 1.0}
STATUSES = (*ALIVE, "pinned", "unrecorded", "unmade")

days = st.dates(date(2000, 1, 1), date(2100, 1, 1))
scales = st.sampled_from(SCALES)
windows = st.builds(window_for, days, scales, st.integers(2, 160), st.integers(-100, 100))


@st.composite
def drawn(draw: st.DrawFn) -> tuple[Window, list[str]]:
    window = draw(windows)
    return window, draw(st.lists(st.sampled_from(STATUSES), min_size=window.count, max_size=window.count))


def points(window: Window, statuses: list[str]) -> list[ScorePoint]:
    return [ScorePoint(day, VALUES.get(each), each) for day, each in zip(window.days, statuses, strict=True)]


@given(drawn(), st.integers(-100, 100))
def test_a_row_fits_and_shows_each_drop(case: tuple[Window, list[str]], cell: int) -> None:
    window, statuses = case
    line = heat_line(points(window, statuses), window, "episodic", cell)
    text = plain_text(line)
    assert line_width(line) == len(text) == window.width
    for at, (before, after) in enumerate(pairwise(statuses), 1):
        sank = before in ALIVE and after in ALIVE and ALIVE.index(before) < ALIVE.index(after)
        assert (text[window.column(window.first + at)] == DROP) == sank


@given(st.lists(st.floats(0, 1), min_size=2, max_size=2))
def test_what_is_higher_never_stands_lower(values: list[float]) -> None:
    window = Window(TODAY, SCALES[0], 5, 2)
    low, high = sorted(values)
    text = plain_text(
        heat_line([ScorePoint(5, low, "active"), ScorePoint(6, high, "active")], window, "core")
    )
    assert HEIGHTS.index(text[0]) <= HEIGHTS.index(text[1])


@given(windows)
def test_the_line_stands_right_before_today(window: Window) -> None:
    text = plain_text(heat_line(points(window, ["active"] * window.count), window, "core"))
    shown = 0 in range(window.first, window.first + window.count)
    assert text.count(TODAY_LINE) == int(shown)
    if shown:
        assert text.index(TODAY_LINE) == window.column(0) - 1


@given(days, scales, st.integers(2, 160), st.integers(-2000, 2000))
def test_the_cell_one_is_at_is_in_sight(today: date, scale: Scale, width: int, cell: int) -> None:
    window = window_for(today, scale, width, cell)
    assert window.first <= cell < window.first + window.count
    assert window.width == width


@given(days, scales, st.integers(-3000, 3000))
def test_a_day_is_in_the_last_cell_not_after_it(today: date, scale: Scale, day: int) -> None:
    cell = scale.cell(today, day)
    assert scale.day(today, cell) <= today + timedelta(days=day) < scale.day(today, cell + 1)


@given(windows, st.integers(-100, 100))
def test_the_axis_fits(window: Window, cell: int) -> None:
    assert line_width(axis_line(window, cell)) == window.width


def test_the_axis_names_months_over_their_cells_and_the_day_one_is_at() -> None:
    window = Window(TODAY, SCALES[2], -8, 30)
    assert plain_text(axis_line(window, 0)).split() == ["2026", f"{TODAY_LINE}Feb", "Mar", "Apr"]
    assert "▾ Tue 10 Feb" in plain_text(axis_line(window, 2))
