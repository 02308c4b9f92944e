"""How questions are read: kinds, speakers, exact terms and near words."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.search.chunks import AGENT, PERSON, speaker_of_section, turn_of
from workbench.engine.search.ranking.question import (
    PhraseMatch,
    builtin_near_words,
    named_voices,
    read_question,
    without_names,
)

TODAY = date(2026, 2, 2)


@pytest.mark.parametrize(
    ("text", "strategy"),
    [
        ("When did we choose SQLite?", "when"),
        ("我们什么时候选的数据库？", "when"),
        ("What do you know about Apollo?", "about"),
        ("关于阿波罗项目", "about"),
        ("How do I usually deploy?", "how"),
        ("怎么部署？", "how"),
        ("What's the latest on the launch?", "latest"),
        ("发布的最新情况", "latest"),
        ("SQLite decision", "general"),
        ("", "general"),
    ],
)
def test_strategies(text: str, strategy: str) -> None:
    assert read_question(text, TODAY).strategy == strategy


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("What do you know about the harbour?", {"harbour"}),
        ("Tell me more about the harbour", {"harbour"}),
        ("What did Ann tell you about the harbour?", {"ann", "tell", "about", "harbour"}),
        ("关于港口你知道什么", {"港口"}),
        ("介绍一下港口", {"港口"}),
        ("tell me about", {"tell", "about"}),
    ],
)
def test_the_frame_of_a_question_is_no_word_of_it(text: str, terms: set[str]) -> None:
    assert set(read_question(text, TODAY).terms) == terms


def test_whose_words_are_asked_for() -> None:
    assert read_question("What did I say about my API key?", TODAY).voices == PERSON
    assert read_question("What did you recommend?", TODAY).voices == AGENT
    assert read_question("Can you list the libraries?", TODAY).voices == frozenset()
    named = named_voices(read_question("What did Ann's sister buy?", TODAY), ["ann", "bob", "user"])
    assert named == {"ann"}
    assert without_names("What did Ann’s sister Annabel buy?", named) == "What did  sister Annabel buy?"


def test_only_the_present_wants_the_newest() -> None:
    assert read_question("What is my daily quota?", TODAY).wants_newest
    assert read_question("我的配额现在是多少", TODAY).wants_newest
    assert not read_question("When did I raise my quota?", TODAY).wants_newest
    assert not read_question("What is the quota of May 2024?", TODAY).wants_newest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("last week", True),
        ("What happened in May?", True),
        ("what did we do yesterday", True),
        ("上周发生了什么", True),
        ("上週發生了什麼", True),
        ("昨天", True),
        ("What did Ann buy last week?", False),
        ("上周买了什么", False),
        ("what happened", False),
    ],
)
def test_days_may_be_all_that_is_asked_for(text: str, expected: bool) -> None:
    assert read_question(text, TODAY).wants_whatever is expected


@pytest.mark.parametrize(
    ("line", "speaker", "text"),
    [
        ("- 11:01 Maria: I like it", "maria", "I like it"),
        ("[09:05] Ann Lee: yes", "ann lee", "yes"),
        ("- **Bob:** no", "bob", "no"),
        ("小明：你好", "小明", "你好"),
        ("I like it: very much", "i like it", "very much"),
        ("- just an item", None, "just an item"),
        ("https://example.org/x", None, "https://example.org/x"),
    ],
)
def test_turns(line: str, speaker: str | None, text: str) -> None:
    turn = turn_of(line)
    assert (turn.speaker, turn.text) == (speaker, text)


def test_sections_tell_who_speaks() -> None:
    assert speaker_of_section("## 09:28 user\nHello", "") == "user"
    assert speaker_of_section("More of it", "assistant: Certainly") == "assistant"
    assert speaker_of_section("More of it", "Plans for the garden") is None
    assert speaker_of_section("# Release notes\nThe first", "") is None


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


def test_the_shipped_table_knows_everyday_words() -> None:
    near = builtin_near_words().near("Which pets does she have?")
    assert {"dog", "cat"} <= near.keys()
    assert "pet" not in near
    assert all(0 < worth <= 0.5 for worth in near.values())
    assert len(near) <= 60


@pytest.mark.parametrize(
    ("text", "wants"),
    [
        ("What should I cook for the guests?", True),
        ("Can you suggest a quiet café?", True),
        ("Recommend a tool for drawing maps", True),
        ("How do I like my tea?", True),
        ("Any ideas for Sunday?", True),
        ("How can I get through the week?", True),
        ("周末应该去哪里?", True),
        ("推荐一家餐厅", True),
        ("我喜欢喝什么茶?", True),
        ("What did you recommend for the guests?", False),
        ("Which café did Ann suggest?", False),
        ("Where is the café?", False),
        ("你上次推荐了哪家餐厅?", False),
        ("餐厅在哪里?", False),
    ],
)
def test_a_question_for_advice_or_preference_is_known_as_such(text: str, wants: bool) -> None:
    assert read_question(text, TODAY).wants_advice is wants
