"""The drawing of scores over time: every row fits, glyphs tell the status, dates stand over their own cells."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from workbench.display.ink import line_width, plain_text
from workbench.engine.memory.scores import score_course
from workbench.engine.results.decay import DecayEntry, DecayView, ScorePoint
from workbench.tui.drawing.heat import (
    FALL,
    GLYPHS,
    SCALES,
    TODAY_LINE,
    Scale,
    Window,
    axis_lines,
    counts_line,
    date_labels,
    heat_line,
    window_for,
)
from workbench.tui.drawing.heat_curve import LABELS, curve_lines
from workbench.tui.palette import HEAT_STEPS, Palette, heat_role
from workbench.tui.themes import DARK, LIGHT, load_themes
from workbench.tui.views.dates import MONTHS

TODAY = date(2026, 2, 2)
STATUSES = tuple(GLYPHS)
ALIVE = ("active", "fading", "dormant", "archived")
VALUES = {"active": 0.8, "fading": 0.3, "dormant": 0.1, "archived": 0.01, "pinned": 1.0}

days = st.dates(date(2000, 1, 1), date(2100, 1, 1))
scales = st.sampled_from(SCALES)
windows = st.builds(window_for, days, scales, st.integers(2, 160), st.integers(-100, 100))


def points_of(window: Window, statuses: list[str]) -> list[ScorePoint]:
    return [
        ScorePoint(day, VALUES.get(status), status) for day, status in zip(window.days, statuses, strict=True)
    ]


@st.composite
def drawn(draw: st.DrawFn) -> tuple[Window, list[str]]:
    window = draw(windows)
    statuses = draw(st.lists(st.sampled_from(STATUSES), min_size=window.count, max_size=window.count))
    return window, statuses


@given(drawn())
def test_a_row_fits_its_width_and_its_glyphs_tell_the_statuses(case: tuple[Window, list[str]]) -> None:
    window, statuses = case
    line = heat_line(points_of(window, statuses), window, "episodic")
    text = plain_text(line)
    assert line_width(line) == len(text) == window.width
    before = ""
    for at, status in enumerate(statuses):
        glyph = text[window.column(window.first + at)]
        sank = before in ALIVE and status in ALIVE and ALIVE.index(before) < ALIVE.index(status)
        assert glyph == (FALL if sank else GLYPHS[status])
        before = status


def test_no_two_statuses_look_alike_without_colour() -> None:
    assert len({*GLYPHS.values(), FALL, TODAY_LINE}) == len(GLYPHS) + 2


@given(windows)
def test_the_line_stands_right_before_today(window: Window) -> None:
    text = plain_text(heat_line(points_of(window, ["active"] * window.count), window, "core"))
    today_is_shown = 0 in range(window.first, window.first + window.count)
    assert text.count(TODAY_LINE) == int(today_is_shown)
    if today_is_shown:
        assert text.index(TODAY_LINE) == window.column(0) - 1


@given(days, scales, st.integers(2, 160), st.integers(-100, 100))
def test_the_cell_one_is_at_is_in_sight(today: date, scale: Scale, width: int, cell: int) -> None:
    window = window_for(today, scale, width, cell)
    assert window.width == width
    assert window.first <= cell < window.first + window.count
    assert window.cell_at(window.column(cell)) == cell


@given(windows)
def test_columns_and_cells_belong_to_each_other(window: Window) -> None:
    cells = [window.cell_at(column) for column in range(window.width)]
    shown = [cell for at, cell in enumerate(cells) if cell is not None and at != window.line]
    assert shown == list(range(window.first, window.first + window.count))
    assert window.cell_at(-1) is None
    assert window.cell_at(window.width + 1) is None


@given(days, scales, st.integers(-60, 60), st.integers(0, 99))
def test_every_day_is_in_exactly_one_cell(today: date, scale: Scale, cell: int, later: int) -> None:
    begin, end = ((scale.day(today, each) - today).days for each in (cell, cell + 1))
    assert begin < end
    assert scale.cell(today, begin) == cell
    assert scale.cell(today, min(begin + later, end - 1)) == cell


def test_a_month_ends_where_the_calendar_says() -> None:
    month = SCALES[-2]
    assert [month.day(date(2026, 1, 31), cell) for cell in (-1, 1, 2, 13)] == [
        date(2025, 12, 31),
        date(2026, 2, 28),
        date(2026, 3, 31),
        date(2027, 2, 28),
    ]


def test_a_quarter_is_three_months() -> None:
    assert SCALES[-1].day(date(2026, 11, 30), 1) == date(2027, 2, 28)
    assert [SCALES[-1].cell(date(2026, 11, 30), days) for days in (89, 90)] == [0, 1]


@given(windows)
def test_dates_stand_over_the_cells_they_name(window: Window) -> None:
    dates, ruler = (plain_text(line) for line in axis_lines(window, window.first))
    assert len(dates) == len(ruler) == window.width
    for cell, label in date_labels(window):
        day = window.scale.day(window.today, cell)
        before = window.scale.day(window.today, cell - 1)
        if window.scale.days == 1:
            assert day.weekday() == 0
            assert label == f"{day.day} {MONTHS[day.month - 1]}"
        elif label.isdigit():
            assert before.year < day.year == int(label)
        elif label:
            assert before.month != day.month
            assert label == MONTHS[day.month - 1]
        else:
            assert before.day < 15 <= day.day
        at = window.column(cell)
        if dates[at:].startswith(label):
            dates = dates[:at] + " " * len(label) + dates[at + len(label) :]
    # Nothing is written there but what stands over its own cell.
    assert not dates.replace("today", "").replace(TODAY_LINE, "").strip()


def test_the_axis_reads_like_a_calendar() -> None:
    window = window_for(TODAY, SCALES[0], 41, 9)
    dates, ruler = (plain_text(line) for line in axis_lines(window, 9))
    assert dates == "     today│2 Feb  9 Feb  16 Feb 23 Feb   "
    assert dates.index("16 Feb") == window.column(14)
    assert ruler[window.column(9) :].startswith("▼ Wed 11 Feb")


def test_the_day_one_is_at_is_told_at_the_right_edge_too() -> None:
    window = window_for(TODAY, SCALES[0], 41, 29)
    ruler = plain_text(axis_lines(window, 29)[1])
    assert ruler.endswith("Tue 3 Mar ▼")


@given(drawn(), st.integers(1, 9), st.integers(-3, 3))
def test_a_curve_is_as_wide_as_its_window_and_labels(
    case: tuple[Window, list[str]], height: int, cell: int
) -> None:
    window, statuses = case
    lines = curve_lines(
        points_of(window, statuses), window, (0.5, 0.2, 0.05), store="core", height=height, cell=cell
    )
    assert len(lines) == height
    assert {line_width(line) for line in lines} == {window.width + LABELS}


def test_a_curve_falls_as_its_scores_do_and_never_hides_the_least_of_them() -> None:
    window = Window(TODAY, SCALES[0], 0, 4)
    points = [ScorePoint(day, value, "active") for day, value in enumerate((1.0, 0.5, 0.001, 0.0))]
    lines = curve_lines(points, window, (0.5,), store="core", height=2, cell=9)
    assert [plain_text(line) for line in lines] == ["│█┈┈┈ 0.5 ", "│██▁      "]


def test_counts_are_told_with_the_glyphs_of_the_cells() -> None:
    line = plain_text(counts_line([("active", 1204), ("dormant", 3)], "core"))
    assert line == f"{GLYPHS['active']} 1,204  {GLYPHS['dormant']} 3"


def test_brightness_rises_with_the_score_in_every_theme() -> None:
    for name in (DARK, LIGHT):
        palette = Palette(load_themes().by_name[name])
        colours = [
            palette.style(heat_role("episodic", step / (HEAT_STEPS - 1))).color for step in range(HEAT_STEPS)
        ]
        assert len(set(colours)) == HEAT_STEPS
        first, last = (colour.get_truecolor() for colour in (colours[0], colours[-1]) if colour is not None)
        assert sum(first) < sum(last) if name == DARK else sum(first) > sum(last)


def test_a_day_counts_as_one_across_summer_time() -> None:
    zone = ZoneInfo("Europe/Lisbon")
    now = datetime(2026, 3, 27, 0, 30, tzinfo=zone)
    entry = DecayEntry(
        "episode:2026-03-26:23:50",
        "episodic",
        0.9,
        1.0,
        1,
        created=datetime(2026, 3, 26, 23, 50, tzinfo=zone),
        last_accessed=datetime(2026, 3, 26, 23, 50, tzinfo=zone),
        pinned=False,
        raw=0.9,
        score=0.9,
        status="active",
    )
    view = DecayView(now, 0.1, (entry,))
    window = window_for(now.date(), SCALES[0], 13, 0)
    points = score_course(view, entry, window.days)
    assert [window.today + timedelta(point.days) for point in points if point.status == "unmade"] == [
        date(2026, 3, 25) - timedelta(1 - at) for at in range(2)
    ]
    ratios = {
        round(after.value / before.value, 9)
        for before, after in pairwise(points)
        if before.value and after.value
    }
    assert len(ratios) == 1
