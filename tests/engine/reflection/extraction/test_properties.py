"""Whatever is said, quotes stand in their sources and texts are single lines."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.reflection.snapshots import chat, check_quotes, snapshot
from workbench.engine.reflection.extraction import extract_knowledge, find_procedures
from workbench.engine.reflection.model import Agenda, Work

PIECES = st.sampled_from(
    [
        *("I", "I'm", "we", "my sister", "Ines", "adopted", "a dog named", "Pepper", "moved to", "Oslo"),
        *("yesterday", "last week", "because", "and", ", but", ". ", "! ", "? ", " - ", "\n", "\n- [x] "),
        *("`code`", "```\n", "[[project--x]]", "**", "“", "”", '"', "don't", "never", "allergic to", "nuts"),
        *("to deploy: first", "then", "run the tests", "我喜欢", "绿茶", "。", "\u202e", "<b>", "12"),
    ]
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.lists(PIECES, max_size=25).map(" ".join), max_size=4),
    st.sampled_from(["Tilda", "user", "assistant"]),
)
def test_quotes_are_verbatim_and_texts_are_lines(texts: list[str], speaker: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = snapshot(Path(folder), chat("2026-02-04", *((speaker, text) for text in texts)))
        items = (*extract_knowledge(made, Agenda(()), Work()), *find_procedures(made, Work()))
    check_quotes(made, items)
    assert all("\n" not in item.text and item.text for item in items)
    assert speaker != "assistant" or not items
