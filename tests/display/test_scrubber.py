"""The ribbon of a history: every commit has its column, in the order of history, whatever the clocks said."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.display.ink import line_width, plain_text
from workbench.display.scrubber import (
    AGENTS,
    HANDS,
    HERE,
    MARK,
    PEOPLE,
    REFLECTION,
    UPKEEP,
    Course,
    Pointers,
    Window,
    column_of,
    commit_in,
    counts,
    dates_below,
    draw_scrubber,
    followed,
    hand_of,
    prepare_course,
    ribbon_place,
    whole,
    zoomed,
)

LISBON = ZoneInfo("Europe/Lisbon")
START = int(datetime(2026, 1, 1, 8, tzinfo=UTC).timestamp())
DAY = 86_400
ACTORS = ("manual", "bot:main", "reflection:r-001", "system:decay")
SECONDS = st.lists(st.integers(0, 4_000_000_000), min_size=1, max_size=60)
NEAR = st.lists(st.integers(START, START + 40 * DAY), min_size=1, max_size=60)
WIDTHS = st.integers(1, 200)


def history(*seconds: int) -> Course:
    commits = [f"{at:040x}" for at in range(len(seconds))]
    return prepare_course(commits, seconds, [ACTORS[at % len(ACTORS)] for at in range(len(seconds))])


@given(SECONDS | NEAR, WIDTHS)
def test_every_commit_has_a_column_in_the_order_of_history(seconds: list[int], width: int) -> None:
    course = history(*seconds)
    columns = [column_of(course, whole(course), width, at) for at in range(len(course))]
    assert columns == sorted(columns)
    assert columns[0] == 0
    assert all(0 <= column < width for column in columns)
    drawn = counts(course, whole(course), width)
    assert sum(map(sum, drawn)) == len(course)
    assert all(sum(own[column] for own in drawn) == columns.count(column) for column in range(width))


@given(SECONDS | NEAR, WIDTHS)
def test_a_column_leads_to_its_last_commit_and_an_empty_one_to_what_stood_then(
    seconds: list[int], width: int
) -> None:
    course = history(*seconds)
    columns = [column_of(course, whole(course), width, at) for at in range(len(course))]
    for column in range(width):
        assert commit_in(course, whole(course), width, column) == max(
            at for at, own in enumerate(columns) if own <= column
        )


@given(NEAR, st.data())
def test_a_window_keeps_its_commit_in_sight(seconds: list[int], data: st.DataObject) -> None:
    course = history(*seconds)
    window = whole(course)
    at = data.draw(st.integers(0, len(course) - 1))
    for closer in data.draw(st.lists(st.booleans(), max_size=8)):
        window = zoomed(course, window, at, closer)
        assert 0 <= column_of(course, window, 80, at) < 80
        assert whole(course).first <= window.first
        assert window.last <= whole(course).last
    other = data.draw(st.integers(0, len(course) - 1))
    assert 0 <= column_of(course, followed(course, window, other), 80, other) < 80


@given(SECONDS | NEAR, st.integers(4, 220), st.text(max_size=40), st.text(max_size=40), st.data())
def test_a_drawing_is_as_wide_as_its_place_and_its_signs_stand_below_their_commits(
    seconds: list[int], width: int, here_words: str, mark_words: str, data: st.DataObject
) -> None:
    course = history(*seconds)
    at, mark = (data.draw(st.integers(0, len(course) - 1)) for _ in range(2))
    here_words, mark_words = (words.replace(HERE, "").replace(MARK, "") for words in (here_words, mark_words))
    pointers = Pointers(at, mark, (here_words, "short"), (mark_words, ""))
    lines = draw_scrubber(course, whole(course), pointers, width, LISBON)
    left, cells = ribbon_place(width)
    hands = {hand_of(actor) for actor in course.actors}
    assert len(lines) == len(hands) + 2
    for line in lines[:-2]:
        assert line_width(line) == left + cells
    assert all(line_width(line) <= left + cells for line in lines)
    signs = lines[-2]
    assert _column(signs, HERE) == left + column_of(course, whole(course), cells, at)
    if column_of(course, whole(course), cells, at) != column_of(course, whole(course), cells, mark):
        assert _column(signs, MARK) == left + column_of(course, whole(course), cells, mark)


def _column(line: tuple[object, ...], sign: str) -> int:
    from workbench.display.ink import Span

    at = 0
    for span in line:
        assert isinstance(span, Span)
        if span.text == sign:
            return at
        at += line_width((span,))
    raise AssertionError(f"{sign} is nowhere")


def test_one_clock_that_was_years_off_moves_nothing_but_its_own_commit() -> None:
    course = history(START, START + DAY, 5, START + 2 * DAY, 4_000_000_000, START + 3 * DAY)
    assert list(course.places) == [
        START, START + DAY, START + DAY, START + 2 * DAY, START + 2 * DAY, START + 3 * DAY,
    ]  # fmt: skip


def test_what_came_later_steps_back_and_the_present_stands_out() -> None:
    course = history(*(START + at * DAY for at in range(20)))
    lines = draw_scrubber(course, whole(course), Pointers(10, None, ("11 Jan",)), 60, LISBON)
    people = lines[0]
    assert plain_text(people).startswith("  people")
    roles = [span.role for span in people]
    assert roles.index("decide.strong") > roles.index("text")
    assert "text" not in roles[roles.index("decide.strong") :]
    assert "▲ 11 Jan" in plain_text(lines[-2])


@pytest.mark.parametrize(
    ("actor", "hand"),
    [
        ("manual", PEOPLE),
        ("bot:main", AGENTS),
        ("subagent:coder", AGENTS),
        ("skill:mail", AGENTS),
        ("reflection:r-001", REFLECTION),
        ("bot:reflection", REFLECTION),
        ("system:decay", UPKEEP),
        ("", AGENTS),
    ],
)
def test_whose_hand_it_was(actor: str, hand: int) -> None:
    assert HANDS[hand_of(actor)] == HANDS[hand]


@given(st.integers(-60_000_000_000, 250_000_000_000), st.integers(1, 20_000_000_000), st.integers(1, 240))
def test_dates_never_touch_and_never_stand_out(first: int, span: int, width: int) -> None:
    placed = dates_below(Window(first, first + span), width, LISBON)
    end = -2
    for column, words in placed:
        assert column >= end + 2
        end = column + len(words)
        assert end <= width


def test_dates_are_told_as_close_as_they_fit() -> None:
    months = Window(START, START + 200 * DAY)
    assert [words for _, words in dates_below(months, 100, LISBON)] == [
        "1 Jan 2026", "Feb", "Mar", "Apr", "May", "Jun", "Jul",
    ]  # fmt: skip
    hours = Window(START, START + 6 * 3600)
    assert [words for _, words in dates_below(hours, 80, LISBON)] == [
        "08:00", "09:00", "10:00", "11:00", "12:00", "13:00",
    ]  # fmt: skip
