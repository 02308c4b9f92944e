"""Hostile text made fit to be kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.errors import InvalidInput
from workbench.engine.memory.wording import (
    MEMORY_CHARACTERS,
    checked_source,
    clean_line,
    clean_memory,
    clean_name,
    clean_tags,
    clip,
    clip_difference,
    text_key,
)


def test_ordinary_text_stays_as_it_is() -> None:
    text = "First line  \n\n    code\n\ttab\n- item ‏עברית‎ and 👩‍💻 and नमस्ते"
    assert clean_memory(text).text == text
    assert clean_memory(text).warnings == ()


@pytest.mark.parametrize("text", ["", " \n\t\n", "\u202e\u2066", "\x1b\x07"])
def test_nothing_is_no_memory(text: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be empty"):
        clean_memory(text)


def test_nul_is_refused() -> None:
    with pytest.raises(InvalidInput, match="NUL"):
        clean_memory("a\0b")


def test_two_hundred_kilobytes_are_refused_with_the_numbers() -> None:
    with pytest.raises(InvalidInput) as caught:
        clean_memory("x" * 200_000)
    assert "20,000" in caught.value.message
    assert "200,000" in caught.value.message
    assert caught.value.remedy


def test_invisible_controls_are_taken_out_and_counted() -> None:
    cleaned = clean_memory("a\x1b[31mb\u202etxt.exe\ud800\ufeff\U000e0041")
    assert cleaned.text == "a[31mbtxt.exe"
    assert cleaned.warnings == ("5 invisible control characters were left out.",)


def test_the_flag_of_scotland_survives() -> None:
    flag = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
    assert clean_memory(f"home {flag} here").text == f"home {flag} here"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\u2028", "\u2029", "\x85", "\v", "\f"])
def test_every_line_end_becomes_one(end: str) -> None:
    assert clean_memory(f"a{end}b").text == "a\nb"
    assert clean_line(f"a{end}b").text == "a b"


@given(st.text(max_size=300))
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    try:
        once = clean_memory(text)
    except InvalidInput:
        return
    assert clean_memory(once.text).text == once.text
    assert len(once.text) <= MEMORY_CHARACTERS


def test_tags_lose_what_a_heading_is_read_by() -> None:
    tags = clean_tags(["a|b", "c]", " d\n## e ", "x, y", "D E", "", "|", "OAuth", "oauth", "日本"])
    assert tags == ("a b", "c", "d e", "x y", "OAuth", "日本")
    assert len(clean_tags(str(number) for number in range(50))) == 12


def test_names_lose_the_marks_of_links_but_keep_their_own() -> None:
    assert clean_name("C#") == "C#"
    assert clean_name("[[person--x|Alex]]\n#tag") == "person--x Alex tag"
    with pytest.raises(InvalidInput):
        clean_name("[[|]]")
    with pytest.raises(InvalidInput):
        clean_name("x" * 121)


@pytest.mark.parametrize("word", ["", "two words", "a|b", "x\ny", "Ünï"])
def test_a_source_is_one_plain_word(word: str) -> None:
    with pytest.raises(InvalidInput):
        checked_source(word)


def test_what_says_the_same_has_one_key() -> None:
    assert text_key("I  like\nTEA.") == text_key("i like tea") == text_key("Ｉ like tea。")
    assert text_key("I like C") != text_key("I like C++")


def test_a_summary_is_one_short_line() -> None:
    assert clip("a\nb\x1b") == "a b"
    assert len(clip("word " * 100)) <= 80


STYLE = "Communication style: direct, short sentences, no small talk before ten o’clock in the morning"


def test_short_texts_are_given_whole() -> None:
    assert clip_difference("likes tea", "likes coffee") == ("likes tea", "likes coffee")


def test_long_texts_are_cut_around_the_difference() -> None:
    old, new = clip_difference(STYLE, STYLE.replace("ten o", "nine o"))
    assert old == "…small talk before ten o’clock in the…"
    assert new == "…small talk before nine o’clock in the…"


def test_what_was_added_at_the_end_is_shown() -> None:
    old, new = clip_difference(STYLE, STYLE + ", never on Sundays")
    assert old == "…in the morning"
    assert new == "…in the morning, never on Sundays"


def test_a_text_without_spaces_is_cut_by_characters() -> None:
    before = "我们在宁波的海边用模型预报波浪" * 6
    old, new = clip_difference(before + "好", before + "坏")
    assert old == f"…{before[-20:]}好"
    assert new == f"…{before[-20:]}坏"


def test_lines_become_one() -> None:
    assert clip_difference("a\nb", "a\n\nc") == ("a b", "a c")


@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=300), st.text(max_size=300))
def test_whatever_differs_fits_a_summary(start: str, before: str, after: str, end: str) -> None:
    assert all(len(text) <= 80 for text in clip_difference(start + before + end, start + after + end))


@given(st.text("ab ", max_size=120), st.text("cd", min_size=1, max_size=20), st.text("ab ", max_size=120))
def test_the_new_part_is_always_seen(start: str, added: str, end: str) -> None:
    _, new = clip_difference(f"{start} {end}", f"{start} {added} {end}")
    assert added in new
