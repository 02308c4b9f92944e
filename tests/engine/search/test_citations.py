"""How results are cited, and for whom."""

from __future__ import annotations

import pytest

from workbench.engine.results.recall import citation
from workbench.engine.search.finder import are_citations_given


def test_one_line_and_several_are_cited() -> None:
    assert citation("memory/2026-02-01.md", 3, 3) == "memory/2026-02-01.md#L3"
    assert citation("memory/2026-02-01.md", 3, 5) == "memory/2026-02-01.md#L3-L5"


@pytest.mark.parametrize(
    ("choice", "context", "given"),
    [
        ("on", "direct", True),
        ("on", "group", True),
        ("off", "direct", False),
        ("auto", "direct", True),
        ("auto", "group", False),
        ("auto", "channel", False),
        ("auto", "subagent", False),
    ],
)
def test_who_is_given_citations(choice: str, context: str, given: bool) -> None:
    assert are_citations_given(choice, context) is given
