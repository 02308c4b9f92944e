"""The filter bar understands conditions, dates and half-typed text."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.parts.queries import passes
from workbench.tui.parts.filter import parse_query, pieces

TODAY = date(2026, 2, 2)
FIELDS = ("type", "tag")


@given(st.text(max_size=30))
def test_whatever_is_typed_makes_some_sense(text: str) -> None:
    passes(parse_query(text, FIELDS, TODAY), {"type": ("fact",)}, text.casefold(), TODAY)


@pytest.mark.parametrize(
    ("typed", "does"),
    [
        ("", True), ("tide", True), ("tide gauge", True), ("tide station", False), ('"tide gauge"', True),
        ('"gauge tide"', False), ("type:fact", True), ("type:dec", False), ("type:dec,fact", True), ("tag:sen", True),
        ("-tag:sensor", False), ("-station", True), ("since:yesterday", False), ("until:2026-01-31", True),
        ("since:2026-01 until:2026-01", True), ("after:yesterday", False), ("before:2026-01-31", True),
        ("after:2026-01-31", False), ("before:2025", False), ("type:", True), ("10:00", True), ("foo:bar", False),
        ('tag:"sensor"', True), ('tag:"jetty sensor"', False),
    ],
)  # fmt: skip
def test_every_condition_must_hold(typed: str, does: bool) -> None:
    query = parse_query(typed, FIELDS, TODAY)
    fields = {"type": ("fact",), "tag": ("sensor", "jetty")}
    assert passes(query, fields, "the tide gauge arrived at 10:00", date(2026, 1, 30)) is does


@given(st.text(max_size=60))
def test_the_pieces_of_a_line_are_all_that_was_typed(text: str) -> None:
    typed = [word for piece in pieces(text, FIELDS) for word in piece.typed.split()]
    assert typed == text.split() or '"' in text
    assert all(piece.value or piece.field or '"' in text for piece in pieces(text, FIELDS))
