"""Words of a text in every language, and questions that are never read as a search language."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.engine.catalog.terms import (
    STOP_WORDS,
    acronyms,
    fold,
    name_key,
    query_terms,
    telling_terms,
    terms,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The quick Fox", ["the", "quick", "fox"]),
        ("Größe, CAFÉ & naïve", ["grosse", "cafe", "naive"]),
        ("Ｗｉｄｅ ﬁne", ["wide", "fine"]),
        ("Ёлка й", ["елка", "и"]),
        ("co\u00adoperate", ["cooperate"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("ガス か が", ["ガス", "ス", "か", "が"]),
        ("memory_search", ["memory_search", "memory", "search"]),
        ("memorySearch", ["memorysearch", "memory", "search"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("v1.2", ["v1", "2", "v1_2"]),
        ("src/auth/login.py", ["src", "auth", "login", "py", "src_auth_login_py"]),
        ("GPT-4 ok", ["gpt", "4", "ok", "gpt_4"]),
        ("今天讨论", ["今天", "天讨", "讨论", "论"]),
        ("书", ["书"]),
        ("用v2设计", ["用", "v2", "设计", "计"]),
        ("한국어", ["한국", "국어", "어"]),
        ("— … ❤️ !?", []),
        ("", []),
    ],
)
def test_terms_of_a_text(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@given(st.text())
def test_any_text_gives_terms_that_the_tokenizer_leaves_whole(text: str) -> None:
    for term in terms(text):
        assert term
        assert not re.search(r"[\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f\s]", term)
        assert len(term) <= 80


@example("0/0/")
@given(st.text(alphabet=st.characters(codec="ascii")))
def test_plain_text_gives_the_same_terms_by_the_quick_and_the_general_way(text: str) -> None:
    assert set(terms(f"{text} é")) == {*terms(text), "e"}


@given(st.text(), st.text())
def test_terms_of_joined_texts_are_the_terms_of_each(one: str, other: str) -> None:
    assert set(terms(f"{one}\n{other}")) == set(terms(one)) | set(terms(other))


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_a_word_without_end_is_cut_into_pieces_quickly() -> None:
    started = time.process_time()
    pieces = terms("x" * 1_000_000 + " y")
    assert max(map(len, pieces)) == 80
    assert pieces[-1] == "y"
    assert time.process_time() - started < 2


@given(st.text(min_size=1))
def test_every_telling_term_of_a_text_is_among_its_terms(text: str) -> None:
    assert set(telling_terms(text)) <= set(terms(text))


def test_stop_words_are_left_out_unless_there_is_nothing_else() -> None:
    assert telling_terms("what was the budget of Melanie’s garden") == ("budget", "melanie", "garden")
    assert telling_terms("what was that") == ("what", "was", "that")
    assert "the" in STOP_WORDS


def test_what_asks_in_chinese_is_no_part_of_a_word() -> None:
    assert telling_terms("样机什么时候交") == ("样机",)
    assert telling_terms("项目经理是谁") == ("项目", "目经", "经理")
    assert telling_terms("什么时候") == ("什么", "么时", "时候")


def test_the_last_character_of_a_run_is_no_term_of_a_question() -> None:
    assert query_terms("混合检索") == ("混合", "合检", "检索")
    assert query_terms("混合 合") == ("混合", "合")


def test_a_question_without_end_is_cut() -> None:
    assert len(telling_terms(" ".join(f"w{number}" for number in range(10_000)))) == 64


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("OAuth 2", "oauth-2", True),
        ("Café Noir", "CAFE  noir", True),
        ("snake_case", "Snake Case", True),
        ("C++", "C", False),
        ("C++", "C#", False),
        ("F#", "f#", True),
        ("❤️", "💔", False),
    ],
)
def test_names_compare_without_case_accents_and_spacing(one: str, other: str, same: bool) -> None:
    assert (name_key(one) == name_key(other)) is same


def test_acronyms_are_given_with_and_without_small_words() -> None:
    assert acronyms("Proof Key for Code Exchange") == ("pkfce", "pkce")
    assert acronyms("Model Context Protocol") == ("mcp",)
    assert acronyms("Solo") == ()
    assert acronyms("Python 3") == ()
