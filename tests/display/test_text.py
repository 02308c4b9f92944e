"""Text on a terminal: harmless, measured in columns, in colour only where asked for."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.samples import HOSTILE
from workbench.display.text import Page, ProgressLine, bar, clip, display_width, pad, safe, safe_line, wrap

any_text = st.text(st.characters(exclude_categories=()))


@given(any_text)
def test_safe_text_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    for character in safe(text):
        if character != "\n":
            assert unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"}, ascii(character)
            assert unicodedata.bidirectional(character) not in {
                "LRE",
                "RLE",
                "LRO",
                "RLO",
                "PDF",
                "LRI",
                "RLI",
            }
    safe(text).encode()


@given(any_text)
def test_making_safe_twice_changes_nothing_more(text: str) -> None:
    assert safe(safe(text)) == safe(text)


def test_a_safe_text_says_what_was_there() -> None:
    assert safe("a\x1b[31mb") == "a␛[31mb"
    assert safe("\u202e") == "⟨U+202E⟩"
    assert safe("a\tb\r\nc") == "a    b\nc"


def test_letters_of_every_script_and_emoji_stay() -> None:
    text = "Zoë 記憶 ذاكرة 👩‍💻 é ✓"
    assert safe(text) == text


def test_a_safe_line_is_one_line() -> None:
    assert safe_line("a\n\n b\r\n\tc ") == "a b c"
    assert "\n" not in safe_line(HOSTILE)


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("記憶", 4), ("e\u0301", 1), ("\x1b[1mab\x1b[0m", 2)]
)
def test_width_counts_columns(text: str, columns: int) -> None:
    assert display_width(text) == columns


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"))), st.integers(1, 40))
def test_clipped_text_fits(text: str, width: int) -> None:
    assert display_width(clip(text, width)) <= width


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"))), st.integers(8, 40))
def test_wrapped_text_fits_and_loses_no_letter(text: str, width: int) -> None:
    lines = wrap(text, width, first="  • ")
    assert all(display_width(line) <= width for line in lines)
    kept = "".join(lines).replace(" ", "").replace("•", "", 1)
    assert kept == text.replace(" ", "") or kept == text.rstrip().replace(" ", "") or not text.strip()


def test_wrapping_keeps_line_breaks_and_indentation() -> None:
    assert wrap("a\n  b", 20, first="> ", rest="> ") == ["> a", ">   b"]


def test_padding_fills_on_the_side_asked_for() -> None:
    assert pad("記", 4) == "記  "
    assert pad("7", 3, right=True) == "  7"


@given(st.floats(-1, 3), st.integers(1, 30))
def test_a_bar_is_as_wide_as_asked_for(share: float, width: int) -> None:
    assert len(bar(share, width)) == width


def test_a_bar_shows_its_share() -> None:
    assert bar(0.5, 4) == "██··"
    assert bar(2, 4) == "████"
    assert bar(0, 4) == "····"


def test_colour_is_written_only_where_it_shows() -> None:
    assert Page(colour=False).paint("a", "strong") == "a"
    assert Page(colour=True).paint("a", "strong", "episodic") == "\x1b[1;34ma\x1b[0m"
    assert Page(colour=True).paint("a", "no such style") == "a"


def test_a_table_lines_up_whatever_the_script() -> None:
    rows = [("記憶", "1", "x"), ("abc", "10", "y")]
    assert Page().table(rows, right=frozenset({1})) == ["記憶   1  x", "abc   10  y"]


def test_an_empty_table_has_no_lines() -> None:
    assert Page().table([]) == []


def test_progress_never_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(written, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", written)
    monkeypatch.setenv("COLUMNS", "30")
    with ProgressLine() as line:
        line.tell("Building the sample, month by month  12 %", at_once=True)
    assert written.getvalue() == "\rBuilding the sample, month b…\x1b[K\r\x1b[K"
