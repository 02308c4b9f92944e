"""How chunks are cut into units."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.engine.search.stemming import index_terms, question_terms, stem
from workbench.engine.search.text_units import unit_texts, units_of


def test_turns_and_items_stand_alone() -> None:
    log = "- 10:00 Ann: Hello\n- 10:01 Bob: Hi\n  and more\n- 10:02 Ann: Bye"
    assert units_of(log) == [(0, 0), (1, 2), (3, 3)]
    assert unit_texts(log) == ["Hello", "Hi\n  and more", "Bye"]
    assert units_of("- one\n- two\n\n- three") == [(0, 0), (1, 1), (3, 3)]


def test_a_heading_belongs_to_what_follows() -> None:
    text = "# Day\n\n## 09:00 user\nWhat now?\nTell me"
    assert units_of(text) == [(0, 4)]
    assert unit_texts(text) == ["What now?\nTell me"]


def test_prose_is_packed_into_passages() -> None:
    lines = [f"Sentence {number} " + "x" * 90 for number in range(20)]
    units = units_of("\n".join(lines))
    assert len(units) == 4 or len(units) == 3
    assert all(sum(len(line) for line in lines[first : last + 1]) <= 700 for first, last in units)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="ab-*#: 1\n0.", max_size=300))
def test_units_hold_every_line_that_says_something_once(text: str) -> None:
    lines = text.split("\n")
    covered = [number for first, last in units_of(text) for number in range(first, last + 1)]
    assert len(covered) == len(set(covered))
    assert {number for number, line in enumerate(lines) if line.strip()} <= set(covered)
    assert len(unit_texts(text)) == len(units_of(text))


def test_english_endings_meet_and_other_words_stay() -> None:
    for words in (
        ("painted", "painting", "paints"),
        ("stories", "story"),
        ("hoping", "hopes"),
        ("classes", "class"),
    ):
        assert len({stem(word) for word in words}) == 1
    assert [stem(word) for word in ("his", "bus", "v2s", "größen", "小提")] == [
        "his",
        "bus",
        "v2s",
        "größen",
        "小提",
    ]
    assert index_terms("Painted 2 boats") == ["paint", "2", "boat"]
    assert question_terms("What did she paint?") == ("paint",)
