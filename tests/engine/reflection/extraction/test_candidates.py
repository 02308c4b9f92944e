"""A sentence is cut down to what it says."""

from __future__ import annotations

import pytest

from workbench.engine.reflection.extraction.candidates import clauses
from workbench.engine.reflection.extraction.retelling import own_words

NAMES = frozenset(("bo", "tilda"))


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("Hey Bo, I joined a choir!", ["I joined a choir"]),
        ("Yeah Bo, by the way, I joined a choir, it was fun!", ["I joined a choir"]),
        ("Thanks, Tilda! I joined a choir", ["I joined a choir"]),
        ("I wanted to let you know that I joined a choir.", ["I joined a choir"]),
        ("I'm so excited to tell you I joined a choir.", ["I joined a choir"]),
        (
            "I joined a choir last week - we sing on Mondays in church.",
            ["I joined a choir last week", "we sing on Mondays in church"],
        ),
        (
            "I'm using Postgres 15 for the shop, can you check my schema?",
            ["I'm using Postgres 15 for the shop", "can you check my schema?"],
        ),
        ("I prefer tabs over spaces, so please use them.", ["I prefer tabs over spaces", "please use them"]),
        ("I joined a choir. [image: a photo of a choir]", ["I joined a choir"]),
        ("When I was young, I sang.", ["When I was young, I sang"]),
        ("I wanted to go, but it was cancelled.", ["I wanted to go, but it was cancelled"]),
        ("My mum and I baked bread.", ["My mum and I baked bread"]),
        (
            "I have a flight on 3 May, and with my flat let, what should I pack?",
            ["I have a flight on 3 May", "what should I pack?"],
        ),
        ("I'm looking for a boat, and since Tom praised his", ["I'm looking for a boat"]),
        ("I sold my boat, but since it leaked, I got little", ["I sold my boat", "I got little"]),
        ("I use Caddy 2.7, and here's my config", ["I use Caddy 2.7", "here's my config"]),
        ("I own a boat, it looks like I can't sell it.", ["I own a boat, it looks like I can't sell it"]),
    ],
)
def test_clauses(sentence: str, said: list[str]) -> None:
    assert [sentence[start:end].rstrip("?") for start, end in clauses(sentence, NAMES)] == [
        each.rstrip("?") for each in said
    ]


@pytest.mark.parametrize(
    ("clause", "own"),
    [
        ("we moved to Lund", "I moved to Lund"),
        ("We're planning our wedding", "I'm planning my wedding"),
        ("Last week I sold my boat", "I sold my boat last week"),
        (
            "Last week I sold my boat, which I had for years",
            "I sold my boat last week, which I had for years",
        ),
        ("Last week I met a man who sails", "I met a man who sails last week"),
        ("My mum and I baked bread", "I baked bread with my mum"),
        ("I'm gonna start a band", "I'm going to start a band"),
        ("I really just love plums", "I love plums"),
        ("I don't really like plums", "I don't really like plums"),
        ("I don't really eat plums", "I don't really eat plums"),
        ("I met this old sailor", "I met an old sailor"),
        ("we can all make the world better", ""),
        ("we help each other", ""),
        ("I sail on the lake, four of us in the boat", ""),
        ("we were close neighbours for years", ""),
        ("we met on 3 May to review the draft", ""),
        ("We usually meet every Tuesday", ""),
        ("we met an old sailor at the harbour", "I met an old sailor at the harbour"),
    ],
)
def test_own_words(clause: str, own: str) -> None:
    assert own_words(clause, elliptic=False) == own


def test_a_missing_subject_is_put_in() -> None:
    assert own_words("Just got back from Rome", elliptic=True) == "I got back from Rome"
    assert own_words("Been learning Danish", elliptic=True) == "I have been learning Danish"
