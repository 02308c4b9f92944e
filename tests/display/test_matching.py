"""The part of a text that is shown holds what was asked for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.display.memories import best_line, highlighted, matches_in, matching_lines, matching_part
from workbench.display.text import Page, display_width

FILLING = "nothing of interest stands here "


def marked(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in matches_in(text, query)]


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("We deploy on Fridays.", "when do we deploy", ["deploy"]),
        ("Café Émile, (Kafka)", "emile KAFKA", ["Émile", "Kafka"]),
        ("v1.2 and memorySearch", "search V1.2", ["v1.2", "Search"]),
        ("我们决定用Kafka传输消息。", "消息 kafka", ["Kafka", "消息"]),
        ("宁波的海", "海", ["海"]),
        ("a plan for the plane", "plan", ["plan"]),
        ("İİ消息İ plan", "消息 plan", ["消息", "plan"]),
        ("nothing", "", []),
        ("nothing", "else", []),
    ],
)
def test_words_asked_for_are_found(text: str, query: str, found: list[str]) -> None:
    assert marked(text, query) == found


def test_they_stand_out_where_that_can_be_seen() -> None:
    assert highlighted(Page(colour=True), "We deploy it.", "deploy") == "We \x1b[1mdeploy\x1b[0m it."
    assert highlighted(Page(), "We deploy it.", "deploy") == "We deploy it."


def test_a_long_text_is_cut_around_the_place_that_holds_most() -> None:
    text = f"kafka {FILLING * 9}the kafka broker moved {FILLING * 9}"
    part = matching_part(text, "kafka broker", 80)
    assert part.startswith("…")
    assert part.endswith("…")
    assert "the kafka broker moved" in part


def test_the_beginning_is_kept_where_nothing_matches_or_the_match_is_there() -> None:
    assert matching_part(FILLING * 9, "kafka", 40) == matching_part(FILLING * 9, "", 40)
    assert matching_part("Kafka " + FILLING * 9, "kafka", 40).startswith("Kafka nothing")


def test_a_match_at_the_end_is_shown_with_all_that_fits_before_it() -> None:
    part = matching_part(FILLING * 9 + "kafka", "kafka", 60)
    assert part.endswith("kafka")
    assert display_width(part) > 40


@given(
    st.text("ab 波浪—", max_size=400),
    st.text("ab 波浪—", max_size=400),
    st.sampled_from(["kafka", "消息", "v1.2"]),
    st.sampled_from([40, 80, 100]),
)
def test_a_match_is_always_seen(before: str, after: str, word: str, width: int) -> None:
    lines = matching_lines(Page(width=width), f"{before} {word} {after}", word, lines=2, margin=6)
    assert len(lines) <= 2
    assert all(display_width(line) <= width for line in lines)
    assert word in re.sub(r"\s", "", "".join(lines))


def test_the_line_that_holds_most_is_chosen() -> None:
    lines = ["- likes tea", "- likes green tea", "- drinks tea, green"]
    assert best_line(lines, "green tea") == "- likes green tea"
    assert best_line(lines, "coffee") is None
    assert best_line([], "tea") is None
