"""What a proposal had no room for, until the next one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.documents import Evidence
from workbench.engine.reflection import items
from workbench.engine.reflection.backlog import parse_backlog, render_backlog

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

    assert parse_backlog(render_backlog("r-003", left), "r-003") == tuple(left)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b'{"reflection":"r-003","items":[{}]}',
        b'{"reflection":"r-003","items":[{"id":1,"evidence":[],"needs":[],"fields":[]}]}',
    ],
)
def test_a_damaged_file_is_none(content: bytes) -> None:
    assert parse_backlog(content, "r-003") is None


def test_the_backlog_of_another_reflection_is_none() -> None:
    assert parse_backlog(render_backlog("r-002", []), "r-003") is None
