"""How questions are read."""

from __future__ import annotations

from datetime import date

import pytest

from workbench.engine.search.ranking.question import named_voices, read_question, without_names
from workbench.engine.search.text_units import AGENT, PERSON, speaker_of_section, turn_of

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
