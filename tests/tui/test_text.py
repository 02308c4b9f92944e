"""Any text prints as itself and nothing else, within its cells."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from workbench.display.cells import cell_width, fit, plain, wrap
from workbench.display.ink import Span, cut, line_width, plain_text, spread, wrap_line

HOSTILE = [
    "a [/b] c", "[identity]", "[[person--alex]]", "\x1b[31mred\x1b[0m", "\x1b]8;;http://x\x07link\x1b]8;;\x07",
    "a\x00b\x07", "left\u202eright\u2066x\u2069", "a\u200bb\ufeffc", "tab\there", "漢字かな交じり文、と。",
    "👨\u200d👩\u200d👧 family ⚠️ 🇵🇹", "e" + "\u0301" * 500, "\ud800 lone", "\U000e0041\U000e0042 tags",
    "x" * 1_000_000, "\r\n\x85\u2028lines", "\x9b31m", "",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_has_no_power(text: str) -> None:
    shown = plain(text, 60)
    assert cell_width(shown) <= 60
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Co", "Cn") for character in shown)
    assert not set(shown) & {"\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u2028", "\ufe0f"}
    shown.encode()


@given(st.text(), st.integers(0, 40))
def test_plain_fits_and_is_measured_as_the_terminal_measures_it(text: str, width: int) -> None:
    shown = plain(text, width)
    assert cell_len(shown) == cell_width(shown) <= width
    assert plain(shown) == shown


@given(st.text(), st.integers(0, 40), st.booleans())
def test_fit_takes_exactly_its_cells(text: str, width: int, right: bool) -> None:
    assert cell_len(fit(text, width, right=right)) == width


@given(st.text(max_size=200), st.integers(2, 30))
def test_wrap_loses_nothing_but_white_space(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(cell_width(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(plain(" ".join(text.splitlines())).split())


def test_wrap_breaks_at_words_and_between_wide_characters() -> None:
    assert wrap("one two three", 8) == ["one two", "three"]
    assert wrap("漢字漢字，文字", 8) == ["漢字漢", "字，文字"]
    assert wrap("one two three four", 8, limit=2) == ["one two", "three…"]


@given(st.lists(st.text(max_size=20), max_size=5), st.integers(1, 40))
def test_cut_and_wrap_keep_lines_within_their_cells(texts: list[str], width: int) -> None:
    line = tuple(Span(plain(text)) for text in texts)
    assert line_width(cut(line, width)) <= width
    wrapped = wrap_line(line, max(2, width))
    assert all(line_width(each) <= max(2, width) for each in wrapped)
    # A break may stand for a space, and loses nothing else.
    shown = "".join(plain_text(each) for each in wrapped)
    assert shown.replace(" ", "") == plain_text(line).replace(" ", "")


def test_spread_keeps_the_right_side_whole() -> None:
    line = spread((Span("a very long beginning"),), (Span("end"),), 12)
    assert plain_text(line) == "a very… end"[:12] or plain_text(line).endswith(" end")
    assert line_width(line) == 12
