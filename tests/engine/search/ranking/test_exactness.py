"""What a question names exactly, and texts that hold it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.search.ranking.question import PhraseMatch


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what is ZX-4471", "The valve zx-4471 leaks."),
        ("memory_search", "Call memory_search() first."),
        ("where is src/auth/login.py", "It lives in src/auth/login.py now"),
        ("release v1.2.3?", "Shipped v1.2.3."),
        ('who said "the tram was late"', "Robin: The tram, was late again"),
        ("the walrus met the carpenter", "Yesterday the walrus met the carpenter."),
        ("「混合检索」怎么样", "今天讨论了 混合检索 方案"),
    ],
)
def test_the_very_thing_is_recognised(question: str, text: str) -> None:
    assert PhraseMatch(question).is_in(text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("walrus carpenter", "The walrus met the carpenter"),
        ("narwhal", "A narwhal"),
        ("walrus met", "The walrus met the carpenter"),
        ("in 2026", "All of 2026 was wet"),
        ("ZX-44", "The valve ZX-4471 leaks."),
        ("follow-up", "A follow-up call"),
        ("the tram was late today", "The tram was late"),
        ("", "x"),
    ],
)
def test_words_alone_name_nothing_exactly(question: str, text: str) -> None:
    assert not PhraseMatch(question).is_in(text)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_question_and_text(question: str, text: str) -> None:
    assert PhraseMatch(question).is_in(text) in (True, False)
