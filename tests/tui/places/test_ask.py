"""The question line: words stay as typed, conditions are taken out, nonsense is told."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.tui.places.ask import Question, parse_question

TODAY = date(2026, 2, 2)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("What did Inês decide?", Question("What did Inês decide?")),
        ("tide store:ep", Question("tide", store="episodic")),
        ("store:semantic", Question("", store="semantic")),
        ("after:2026-01 tide gauge", Question("tide gauge", after=date(2026, 1, 1))),
        ("tide until:jan since:2025", Question("tide", after=date(2025, 1, 1), before=date(2026, 1, 31))),
        ('tide before:"14 feb 2025"', Question("tide", before=date(2025, 2, 14))),
        ("tide status:dorm", Question("tide", status="dormant")),
        ("tide after:", Question("tide")),
        ("http://a.b/c?store:x 12:30", Question("http://a.b/c?store:x 12:30")),
        ("tide STORE:Core", Question("tide", store="core")),
        ('"tide gauge" -store:core', Question('"tide gauge" -store:core')),
    ],
)
def test_what_a_line_says(text: str, question: Question) -> None:
    assert parse_question(text, TODAY) == question


def test_conditions_that_make_no_sense_are_told_and_left_out() -> None:
    question = parse_question("tide store:attic after:smarch", TODAY)
    assert (question.words, question.store, question.after) == ("tide", None, None)
    assert "store:attic is none of core, episodic" in question.problems[0]
    assert "after:smarch is no day" in question.problems[1]


@pytest.mark.parametrize(
    ("typed", "dormant", "shown"),
    [
        ("", False, ["active", "dormant", None]),
        ("any", True, ["active", "dormant", None]),
        ("dormant", True, ["dormant"]),
    ],
)
def test_a_status_lets_faded_memories_come_up_and_narrows(
    typed: str, dormant: bool, shown: list[str | None]
) -> None:
    question = parse_question(f"tide status:{typed}", TODAY)
    assert question.include_dormant is dormant
    assert [each for each in ("active", "dormant", None) if question.shows(each)] == shown


@given(st.text(max_size=80))
def test_anything_makes_sense(text: str) -> None:
    question = parse_question(text, TODAY)
    assert question.words == " ".join(question.words.split())
    assert parse_question(question.words, TODAY).words == question.words or ":" in text
