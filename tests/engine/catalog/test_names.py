"""Names that mean one thing, names that never do, and how alike others are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.catalog.terms import NEAR, may_be_same, same_name, similarity

_NAMES = st.text(alphabet="abcde 12+éA", max_size=14)


@given(_NAMES, _NAMES, st.integers(0, 13), st.sampled_from("abc 1"))
def test_a_bound_changes_no_likeness_that_reaches_it(one: str, other: str, at: int, slip: str) -> None:
    for candidate in (other, one[:at] + slip + one[at + 1 :]):
        full, bounded = similarity(one, candidate), similarity(one, candidate, least=NEAR)
        assert bounded == full or (bounded == 0.0 and full < NEAR)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alex", "alex"),
        ("OAuth2 PKCE", "oauth2-pkce"),
        ("José", "Jose"),
        ("Moltbot  Memory", "moltbot_memory"),
    ],
)
def test_writing_does_not_tell_names_apart(one: str, other: str) -> None:
    assert same_name(one, other)


@pytest.mark.parametrize(
    ("one", "other"), [("C", "C++"), ("C", "C#"), ("GPT-4", "GPT-5"), ("Alex", "Alexa"), ("!", "?")]
)
def test_symbols_and_numbers_tell_names_apart(one: str, other: str) -> None:
    assert not same_name(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("GPT-4", "GPT-5"),
        ("Python 3.11", "Python 3.12"),
        ("Python", "Python 3"),
        ("Llama 2", "Llama"),
        ("Windows 10", "Windows 11"),
        ("World War I", "World War II"),
        ("C", "C++"),
    ],
)
def test_versions_are_never_slips_of_the_pen(one: str, other: str) -> None:
    assert not may_be_same(one, other)
    assert not may_be_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Jon Smith", "John Smith"), ("OAuth PKCE", "OAuth2 PKCE flow"), ("Kubernetes", "Kubernets")],
)
def test_near_names_are_worth_a_question(one: str, other: str) -> None:
    assert may_be_same(one, other)
