"""How chunks are cut into units, and which labels in a log name a speaker."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.engine.catalog.terms import index_terms, question_terms, stem
from workbench.engine.search.chunks import Chunk, StoredChunk, speakers_among, unit_texts, units_of
from workbench.engine.search.ranking.candidates import units_in


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


@settings(max_examples=150)
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


def among(text: str) -> frozenset[str]:
    return speakers_among(text.split("\n"))


def test_a_label_behind_a_time_is_a_speaker() -> None:
    assert among("- 10:00 Ann: Hello\n- 10:01 Bob Ray: Hi\n[11:02] **Cy**: Hey") == {"ann", "bob ray", "cy"}


@pytest.mark.parametrize(
    "text",
    [
        "- **Budget:** $5\n- **Place:** the quay\n- **Guests:** four",
        "- Budget: $5\n- Place: the quay",
        "1. Budget: $5\n2. Place: the quay",
        "Budget: $5",
        "**Budget:** $5\n\nThat is all.",
        "Plan A\n- Pros: cheap\n- Cons: slow\n\nPlan B\n- Pros: fast\n- Cons: dear",
        "- 预算：五元\n- 地点：码头",
        "Note: the door sticks\nNote: so does the lock",
    ],
)
def test_a_label_of_a_list_or_a_paragraph_is_not(text: str) -> None:
    assert among(text) == frozenset()


def test_the_usual_names_of_person_and_agent_are_speakers_without_a_time() -> None:
    assert among("User: where is it?\n\nIt is here.") == {"user"}
    assert among("助手：在这里。") == {"助手"}


def test_labels_that_take_turns_are_speakers() -> None:
    assert among("- Ann: Hello\n- Bob: Hi\n- Ann: Bye\n- Bob: Bye") == {"ann", "bob"}
    assert among("## Call\nAnn: Hello\nBob: Hi\n  and more\nCy: Hey\nAnn: Bye\nCy: Bye\nBob: Bye") == {
        "ann",
        "bob",
        "cy",
    }
    assert among("Ann: Hello\nBob: Hi\nAnn: Bye") == frozenset(), "Bob may be a topic"


def test_a_stamped_log_with_a_list_in_an_answer_keeps_its_speakers_alone() -> None:
    assert among("- 10:00 Ann: What does it cost?\n- 10:01 Bob: This much\n- **Budget:** $5") == {
        "ann",
        "bob",
    }


def test_a_list_in_an_answer_is_said_by_whom_the_heading_names() -> None:
    text = (
        "## 09:01 assistant\n- **Budget:** $5 will do for the quay\n- **Guests:** four\n- **Place:** the quay"
    )
    shapes = [unit.shape for unit in units_in(StoredChunk(1, Chunk("file:x", "file", "x.md", 1, text, "")))]
    assert {shape.speaker for shape in shapes} == {"assistant"}
    assert any("Budget" in shape.spoken for shape in shapes), "the label is part of what is said"
