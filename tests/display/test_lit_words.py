"""What was looked for is lit as it was written, and nothing else changes."""

from __future__ import annotations

import pytest

from workbench.display.ink import Line, Span, plain_text
from workbench.display.matching import LIT, light

LINES: list[Line] = [
    (Span("  "), Span("The Ferry is "), Span("free", "strong"), Span(" for", "emphasis")),
    (Span("  "), Span("the crew; a ferry "), Span("free of charge", "text", "episode:1")),
    (),
    (Span("  "), Span("海浪预")),
    (Span("  "), Span("报经受住了")),
]


@pytest.mark.parametrize(
    ("words", "lit"),
    [
        ("FERRY", [["Ferry"], ["ferry"]]),
        ("free", [["free"], ["free"]]),
        ("free  for the crew", [["free", " for"], ["  ", "the crew"]]),
        ("is free", [["is ", "free"]]),
        ("海浪预报", [["海浪预"], ["  ", "报"]]),
        ("e(", []),
        ("  ", []),
    ],
)
def test_words_are_lit_across_spans_and_lines(words: str, lit: list[list[str]]) -> None:
    drawn = light(LINES, words)
    assert [plain_text(line) for line in drawn] == [plain_text(line) for line in LINES]
    found = [[span.text for span in line if span.role == LIT] for line in drawn]
    assert [each for each in found if each] == lit


def test_what_is_lit_still_leads_somewhere() -> None:
    assert Span("charge", LIT, "episode:1") in light(LINES, "charge")[1]


def test_much_that_is_lit_is_lit_fast() -> None:
    lines: list[Line] = [(Span("e" * 90),)] * 2000
    assert all(span.role == LIT for line in light(lines, "e") for span in line)
