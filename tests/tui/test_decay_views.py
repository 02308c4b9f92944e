"""Rows, headings and what stands around the heatmap: they fit any width, whatever a memory is called."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.display.cells import plain
from workbench.display.ink import Line, cut, line_width, plain_text
from workbench.engine.memory.scores import score_course
from workbench.engine.results.decay import DecayEntry, DecayView, Fall
from workbench.tui.drawing.heat import SCALES, TODAY_LINE
from workbench.tui.palette import Palette
from workbench.tui.query import parse_query
from workbench.tui.themes import LIGHT, load_themes
from workbench.tui.views.decay_arranging import (
    BY_ENTITY,
    BY_NAME,
    BY_SCORE,
    BY_STORE,
    BY_TAG,
    BY_USE,
    FIELDS,
    GROUPINGS,
    SORTS,
    Arrangement,
    GivenUp,
    arrange,
)
from workbench.tui.views.decay_cell import Cell, cell_lines
from workbench.tui.views.decay_frame import Trial, legend_line, nothing_fades, summary_line, trial_lines
from workbench.tui.views.decay_rows import Frame, HeatRows, Reading, shown_half_life

NOW = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)
TODAY = NOW.date()
HOSTILE = (
    "",
    "a [/b] c",
    "[identity]",
    "\x1b[31mred\x1b[0m",
    "one\ntwo\r\nthree\ttabs",
    "\u202eright to left\u202c",
    "周报先写结论，再写数据" * 4,
    "المحرك يحتاج إلى زيت جديد",
    "e\u0301" * 50,
    "z\u0335\u0321\u0334" * 40,
    "👩‍👩‍👧‍👦 family",
    "x" * 5000,
    "█▇▅▃▁│▾",
)
titles = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=80))
STORES = {
    "core": "core",
    "episodic": "episode",
    "semantic": "entity",
    "procedural": "procedure",
    "vault": "vault",
}


def entry_of(
    at: int,
    store: str = "episodic",
    title: str = "A memory",
    *,
    score: float = 0.6,
    status: str = "active",
    ago: int = 10,
    pinned: bool = False,
    archived: bool = False,
    tags: tuple[str, ...] = (),
    entities: tuple[str, ...] = (),
) -> DecayEntry:
    return DecayEntry(
        f"{STORES[store]}:{at}",
        store,
        0.9,
        None if store == "vault" else 1.0,
        1,
        NOW - timedelta(days=ago + 5),
        NOW - timedelta(days=ago),
        pinned,
        None if pinned else score,
        score,
        status,
        title,
        tags=tags,
        entities=entities,
        archived=archived,
    )


def reading_of(
    *entries: DecayEntry, falls: Mapping[str, int] | None = None, truth: Mapping[str, str] | None = None
) -> Reading:
    view = DecayView(NOW, 0.03, entries)
    found = {
        key: (Fall(key, "episodic", "", "active", "fading", 0.5, days, TODAY + timedelta(days)),)
        for key, days in (falls or {}).items()
    }
    return Reading(view, found, truth)


def rows_of(reading: Reading, wanted: Arrangement | None = None, scale: int = 1) -> HeatRows:
    return arrange(reading, wanted or Arrangement(), score_course, Frame(TODAY, SCALES[scale]))


def ids(rows: HeatRows) -> list[str]:
    return [rows.key(at) for at in range(len(rows)) if rows.key(at)]


def fits(line: Line, width: int) -> bool:
    """Tell whether a line is no wider than there is room, and everything in it safe to print."""
    Palette(load_themes().by_name[LIGHT]).strip(line, width)
    return line_width(line) <= width and all(plain(span.text) == span.text for span in line)


@given(
    st.lists(titles, min_size=1, max_size=4),
    st.integers(20, 240),
    st.integers(0, len(SCALES) - 1),
    st.sampled_from(["plain", "trial", "falls", "groups"]),
    st.integers(-40, 40),
)
def test_every_row_fits_and_their_cells_stand_below_one_another(
    named: list[str], width: int, scale: int, mode: str, day: int
) -> None:
    stores = list(STORES)
    entries = [
        entry_of(at, stores[at % len(stores)], title, tags=(title[:9],), pinned=at == 2)
        for at, title in enumerate(named)
    ]
    truth = {entry.id: "fading" for entry in entries} if mode == "trial" else None
    falls = {entry.id: 7 * at + 1 for at, entry in enumerate(entries)}
    wanted = Arrangement(span=90 if mode == "falls" else 0, group=BY_TAG if mode == "groups" else "")
    rows = rows_of(reading_of(*entries, falls=falls, truth=truth), wanted, scale)
    rows.frame = Frame(TODAY, SCALES[scale], day)
    begin, window = rows.cells_at(width)
    for index in range(len(rows)):
        line = rows.line(index, width)
        assert fits(line, width)
        if rows.key(index) and window.line is not None:
            cells, column = "", 0
            for span in line:
                cells = span.text if column <= begin + window.line < column + line_width((span,)) else cells
                column += line_width((span,))
            assert TODAY_LINE in cells


@given(titles, st.integers(24, 120), st.integers(-30, 30), st.integers(0, len(SCALES) - 1))
def test_the_explanation_of_a_cell_fits(title: str, width: int, day: int, scale: int) -> None:
    from workbench.engine.memory.scores import score_terms

    entry = entry_of(1, "episodic", title)
    reading = reading_of(entry, falls={entry.id: 12})
    frame = Frame(TODAY, SCALES[scale], day)
    cell = Cell(entry, reading, frame, None, score_course, None)
    score = score_terms(reading.view, entry, cell.days)
    lines = cell_lines(Cell(entry, reading, frame, score, score_course, None), width)
    assert all(fits(line, width) for line in lines)
    if score is None:
        assert "recorded" in " ".join(map(plain_text, lines)) or "Not made yet" in " ".join(
            map(plain_text, lines)
        )


@given(st.integers(30, 240), st.sampled_from(SORTS), st.sampled_from(GROUPINGS), st.sampled_from([0, 7, 90]))
def test_what_stands_around_fits(width: int, sort: str, group: str, span: int) -> None:
    reading = reading_of(entry_of(1))
    for scale in SCALES:
        wanted = Arrangement(sort=sort, group=group, span=span)
        assert fits(summary_line(reading, wanted, scale, 40_000, width), width)
    assert fits(legend_line(reading.view, width), width)
    counts = (
        (1200, "archived", "dormant"),
        (30, "dormant", "fading"),
        (7, "fading", "active"),
        (1, "a", "b"),
    )
    for trial in (Trial(0.05, 0.03), Trial(0.0, 0.03, reading, counts), Trial(0.123456, 0.03, reading, ())):
        assert all(fits(line, width) for line in trial_lines(trial, width))


def test_a_trial_sums_up_what_it_does_not_name() -> None:
    counts = ((12, "dormant", "fading"), (3, "fading", "active"), (2, "archived", "dormant"), (1, "x", "y"))
    text = " ".join(plain_text(line) for line in trial_lines(Trial(0.05, 0.03, reading_of(), counts), 200))
    assert "2 archived instead of dormant, 1 other " in text
    assert "No memory would have another status." in plain_text(
        trial_lines(Trial(0.05, 0.03, reading_of(), ()), 200)[1]
    )


def test_the_slider_shows_where_one_is_and_where_one_was() -> None:
    text = plain_text(trial_lines(Trial(0.1, 0.03), 120)[0])
    assert text.index("┼") < text.index("●")
    text = plain_text(trial_lines(Trial(0.01, 0.03), 120)[0])
    assert text.index("●") < text.index("┼")


def test_the_legend_gives_up_from_its_end_and_never_a_threshold() -> None:
    view = reading_of().view
    assert "not recorded" in plain_text(legend_line(view, 120))
    narrow = plain_text(legend_line(view, 60))
    assert "active 0.5" in narrow
    assert "dormant 0.05" in narrow
    assert "not recorded" not in narrow


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        (BY_SCORE, ["episode:3", "episode:1", "episode:0", "episode:2"]),
        (BY_USE, ["episode:2", "episode:1", "episode:0", "episode:3"]),
        (BY_NAME, ["episode:1", "episode:2", "episode:3", "episode:0"]),
        ("next fall", ["episode:2", "episode:0", "episode:1", "episode:3"]),
    ],
)
def test_orders(sort: str, order: list[str]) -> None:
    reading = reading_of(
        entry_of(0, title="zebra", score=0.4, ago=20),
        entry_of(1, title="Ant", score=0.7, ago=10),
        entry_of(2, title="bee", score=0.2, ago=1),
        entry_of(3, title="cow", score=1.0, status="pinned", pinned=True, ago=30),
        falls={"episode:0": 9, "episode:2": 3},
    )
    assert ids(rows_of(reading, Arrangement(sort=sort))) == order


def test_groups_count_their_memories_by_status() -> None:
    reading = reading_of(
        entry_of(0, tags=("a", "b"), status="active"),
        entry_of(1, tags=("a",), status="dormant"),
        entry_of(2),
        entry_of(3, "semantic", "Ferry", entities=("entity:3",)),
    )
    rows = rows_of(reading, Arrangement(group=BY_TAG))
    assert [plain_text(rows.line(at, 90)).split()[:2] for at in rows.groups] == [
        ["#a", "2"],
        ["#b", "1"],
        ["Without", "a"],
    ]
    assert ids(rows).count("episode:0") == 2
    assert rows.entries == 4
    rows = rows_of(reading, Arrangement(group=BY_ENTITY))
    assert plain_text(rows.line(rows.groups[0], 90)).startswith("Ferry")
    rows = rows_of(reading, Arrangement(group=BY_STORE))
    assert [plain_text(rows.line(at, 90)).split()[0] for at in rows.groups] == ["Episodic", "Semantic"]


def test_a_memory_in_two_groups_is_found_in_the_one_that_is_near() -> None:
    reading = reading_of(entry_of(0, tags=("a", "b")), entry_of(1, tags=("a",)))
    rows = rows_of(reading, Arrangement(group=BY_TAG))
    first = rows.find("episode:0")
    rows.near = "#b"
    second = rows.find("episode:0")
    assert first is not None
    assert second is not None
    assert rows.group(first) == "#a"
    assert rows.group(second) == "#b"


def test_a_filter_looks_at_the_day_of_the_last_use_where_the_workspace_is() -> None:
    reading = reading_of(entry_of(0, ago=3), entry_of(1, ago=30))
    query = parse_query("since:2w", FIELDS, TODAY)
    assert ids(rows_of(reading, Arrangement(query=query))) == ["episode:0"]


def test_in_a_trial_status_is_what_is_and_would_is_what_would_be() -> None:
    reading = reading_of(
        entry_of(0, status="dormant"),
        entry_of(1, status="fading"),
        truth={"episode:0": "fading", "episode:1": "fading"},
    )
    for typed, wanted in (
        ("status:fading", ["episode:0", "episode:1"]),
        ("would:dormant", ["episode:0"]),
        ("would:fading", []),
    ):
        assert ids(rows_of(reading, Arrangement(query=parse_query(typed, FIELDS, TODAY)))) == wanted
    assert ids(rows_of(reading, Arrangement(changes=True))) == ["episode:0"]


def test_nobody_waits_for_rows_that_are_no_longer_wanted() -> None:
    with pytest.raises(GivenUp):
        arrange(reading_of(entry_of(0)), Arrangement(), score_course, Frame(TODAY), lambda: True)


def test_when_nothing_fades_the_next_is_named_safely() -> None:
    fall = Fall("episode:1", "episodic", "a [/b]\x1b[31m", "active", "fading", 0.5, 45, date(2026, 3, 19))
    lines = nothing_fades(30, fall, 60)
    assert all(fits(line, 60) for line in lines)
    text = " ".join(plain_text(line) for line in lines)
    assert "from active to fading in 45 days, on Thu 19 Mar 2026" in text
    assert "Nor does anything later" in " ".join(plain_text(line) for line in nothing_fades(7, None, 60))


@pytest.mark.parametrize(("rate", "words"), [(0.03, "23"), (0.0001, "6,931"), (0.1, "6.9"), (1.0, "0.69")])
def test_half_lives_are_as_exact_as_one_reads_them(rate: float, words: str) -> None:
    assert shown_half_life(rate) == words


def test_a_line_is_cut_where_there_is_no_room_at_all() -> None:
    rows = rows_of(reading_of(entry_of(0)))
    assert all(line_width(rows.line(0, width)) <= width for width in range(1, 30))
    assert cut(rows.line(0, 1), 1) == rows.line(0, 1)
