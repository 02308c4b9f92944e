"""Words of a question are lit where a text has them, and the part of a text that is shown holds them."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.display.ink import plain_text
from workbench.display.matching import ITEM_GAP, best_line, lit, matches_in, one_line, part_around_match
from workbench.display.memories import matching_lines
from workbench.display.text import Page, display_width


@pytest.mark.parametrize(
    ("text", "question", "found"),
    [
        ("The new tide gauge reads low", "what about the tide gauges?", ["tide", "gauge"]),
        ("Painted two paintings", "painting", ["Painted", "paintings"]),
        ("MEMORY_search and memorySearch", "memorySearch", ["MEMORY_search", "memorySearch"]),
        ("the, and, of", "the weather of today", []),
        ("Café in Évora", "cafe evora", ["Café", "Évora"]),
        ("我们决定采用混合架构。", "混合架构", ["混合架构"]),
        ("We deploy on Fridays.", "when do we deploy", ["deploy"]),
        ("Café Émile, (Kafka)", "emile KAFKA", ["Émile", "Kafka"]),
        ("v1.2 and memorySearch", "search V1.2", ["v1.2", "memorySearch"]),
        ("我们决定用Kafka传输消息。", "消息 kafka", ["Kafka", "消息"]),
        ("宁波的海", "海", ["海"]),
        ("a plan for the planet", "plan", ["plan"]),
        ("İİ消息İ plan", "消息 plan", ["消息", "plan"]),
        ("nothing of it", "tide", []),
        ("", "tide", []),
    ],
)
def test_what_is_lit(text: str, question: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in matches_in(text, question)] == found


@given(st.text(max_size=120), st.text(max_size=30))
def test_lighting_changes_no_text(text: str, question: str) -> None:
    shown = plain_text(lit(text, question))
    assert shown == "".join(plain_text(lit(part, "")) for part in _parts(text, question))
    spans = matches_in(text, question)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def _parts(text: str, question: str) -> list[str]:
    edges = [0, *(edge for span in matches_in(text, question) for edge in span), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


def test_one_line_leaves_the_marks_of_markdown_out() -> None:
    assert (
        one_line("## 14:30 | fact\n\n- **Tide** gauge\n> said <!-- score: 1 --> so")
        == "14:30 | fact Tide gauge said so"
    )


def test_a_part_begins_shortly_before_its_first_match() -> None:
    text = "word " * 60 + "the gauge reads low and nobody knows why " + "word " * 20
    part = part_around_match(text, "gauge", 60)
    assert part.startswith("…")
    assert 0 < part.index("gauge") < 30
    assert part_around_match("short", "gauge", 60) == "short"
    assert part_around_match(text, "absent", 60) == text


def test_the_part_that_is_shown_holds_what_is_rare_in_the_text() -> None:
    text = "John: hello. " * 12 + "Max and I had a blast on our camping trip. " + "John: bye. " * 12
    assert "camping" in part_around_match(text, "where did John camp", 60)[:60]


def test_they_stand_out_where_that_can_be_seen() -> None:
    line = [lit("We deploy it.", "deploy")]
    assert Page(colour=True).printed(line) == ["We \x1b[1mdeploy\x1b[0m it."]
    assert Page().printed(line) == ["We deploy it."]


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


def test_a_part_begins_with_who_says_it_where_that_is_near() -> None:
    before = "09:00 Ana: good morning to all of you" + ITEM_GAP
    text = f"{before}09:01 Ben: the gauge is broken{ITEM_GAP}09:02 Ana: since when, and who knows about it?"
    assert part_around_match(text, "gauge", 60) == "…" + text[len(before) :]
    assert part_around_match(text, "since when", 24).startswith("…")
    assert "since when" in part_around_match(text, "since when", 24)[:24]
