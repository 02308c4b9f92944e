"""A canvas keeps its columns whatever is written on it, and joins lines where they meet."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.display.graph_drawing.graphs import HOSTILE_NAMES
from workbench.display.canvas import Canvas, clusters
from workbench.display.cells import cell_width, plain
from workbench.display.graph_drawing.boxes import name_lines, packed, shorten
from workbench.display.ink import line_width, plain_text

texts = st.one_of(st.sampled_from(HOSTILE_NAMES), st.text(max_size=30))


def drawn(canvas: Canvas) -> list[str]:
    return [plain_text(line) for line in canvas.lines()]


def test_lines_join_with_rounded_corners() -> None:
    canvas = Canvas(7, 5)
    for y in (0, 2, 4):
        canvas.across(y, 0, 6)
    for x in (0, 3, 6):
        canvas.down(x, 0, 4)
    assert drawn(canvas) == ["╭──┬──╮", "│  │  │", "├──┼──┤", "│  │  │", "╰──┴──╯"]


def test_an_end_of_a_line_lies_along_it() -> None:
    canvas = Canvas(3, 3)
    canvas.across(0, 2, 0)
    canvas.down(1, 2, 1)
    assert drawn(canvas) == ["───", " │", " │"]


def test_text_covers_lines_and_begins_where_it_is_told() -> None:
    canvas = Canvas(9, 1)
    canvas.across(0, 0, 8)
    assert canvas.write(2, 0, " 用 ", "soft") == 6
    assert drawn(canvas) == ["── 用 ───"]


def test_half_of_a_wide_character_is_never_left() -> None:
    canvas = Canvas(6, 1)
    canvas.write(0, 0, "漢字漢")
    canvas.write(1, 0, "a")
    canvas.write(4, 0, "b")
    assert drawn(canvas) == [" a字b"]
    canvas.write(5, 0, "字")
    assert drawn(canvas) == [" a字b"]


@given(st.lists(st.tuples(st.integers(-5, 25), st.integers(-1, 3), texts), max_size=12))
def test_every_character_stays_in_its_column(writings: list[tuple[int, int, str]]) -> None:
    canvas = Canvas(20, 3)
    for x, y, text in writings:
        canvas.write(x, y, text)
    for line in canvas.lines():
        assert line_width(line) == cell_len(plain_text(line)) <= 20
    for x, y, text in writings[-1:]:
        if 0 <= y < 3 and x >= 0 and 0 < cell_width(plain(text)) <= 20 - x:
            row = [shown for shown, size in clusters(drawn(canvas)[y].ljust(20)) for _ in range(size)]
            own = [shown for shown, size in clusters(text) for _ in range(size)]
            assert row[x : x + len(own)] == own


@given(texts, st.integers(1, 40))
def test_a_shortened_name_fits_and_keeps_both_ends(text: str, width: int) -> None:
    short = shorten(text, width)
    assert cell_width(short) <= width
    whole = plain(text).strip()
    if whole and cell_width(whole) <= width:
        assert short == whole
    elif whole and width >= 9:
        assert short[0] == whole[0]
        assert "…" in short


@given(texts, st.integers(2, 30), st.integers(1, 4))
def test_a_name_in_lines_fits(text: str, width: int, most: int) -> None:
    lines = name_lines(text, width, most)
    assert 1 <= len(lines) <= most
    assert all(0 <= cell_width(line) <= width for line in lines)


def test_words_that_must_stay_whole_do() -> None:
    assert packed((("also", True), ("depends-on", True), ("Beacon", False)), 6) == (
        "also",
        "depends-on",
        "Beacon",
    )
    assert packed((("also", True), ("Beaconsfield", False)), 6) == ("also", "Beacon", "sfield")
