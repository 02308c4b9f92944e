"""What a proposal had no room for, until the next one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.markdown.review import Evidence
from workbench.engine.reflection import items
from workbench.engine.reflection.backlog import Backlog, parse_backlog, render_backlog

WORDS = st.text(max_size=80)


@given(WORDS, WORDS, WORDS)
def test_items_come_back_as_they_were(text: str, quote: str, steps: str) -> None:
    left = [
        items.fact(
            "person--ines",
            text,
            [Evidence("episode:2026-02-01:10:00", quote)],
            reason="Said.",
            needs=("person--ines",),
        ),
        items.procedure("procedure:x", text, [steps], [], reason=quote, when=text),
    ]

    backlog = parse_backlog(render_backlog("r-003", left), "r-003", 10)

    assert backlog == Backlog(tuple(left))


def test_what_is_not_its_turn_is_handed_on() -> None:
    left = [items.fact("person--ines", f"Fact {number}", [], reason="Said.") for number in range(5)]
    first = parse_backlog(render_backlog("r-003", left), "r-003", 2)
    assert first is not None
    second = parse_backlog(render_backlog("r-004", first.items[1:], first.later), "r-004", 10)

    assert first.items == tuple(left[:2])
    assert second == Backlog(tuple(left[1:]))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\xff",
        b'"r-003"\n{}',
        b'"r-003"\n[]',
        b'"r-003"\n{"id":1,"evidence":[],"needs":[],"fields":[]}',
        b'"r-003"\n{"id":"","evidence":0,"needs":[],"fields":[]}',
    ],
)
def test_a_damaged_file_is_none(content: bytes) -> None:
    assert parse_backlog(content, "r-003", 10) is None


def test_the_backlog_of_another_reflection_is_none() -> None:
    assert parse_backlog(render_backlog("r-002", []), "r-003", 10) is None
