"""Summaries of changes show what changed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.memory.wording import clip_difference

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
