"""What somebody says of himself, said of him."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.reflection.english import mid_sentence, third_person

SAID = {
    "I prefer tea.": "Alex prefers tea",
    "So, I always use vim and prefer tabs": "Alex always uses vim and prefers tabs",
    "I've got 1,200 calls per day": "Alex has got 1,200 calls per day",
    "I'm on sprint 2 and I've never used my own API": "Alex is on sprint 2 and they have never used their own API",
    "When I was 5, my mum taught me to swim": "When Alex was 5, their mum taught them to swim",
    "I was sick when I was young": "Alex was sick when they were young",
    "I want to use X and prefer Y": "Alex wants to use X and prefer Y",
    "I'll run it and have Tom review it": "Alex will run it and have Tom review it",
    "I usually watch movies, hike, and have game nights": "Alex usually watches movies, hikes, and has game nights",
    "I go on with the study, and stop on Friday": "Alex goes on with the study, and stops on Friday",
    "I use vim, and I like it": "Alex uses vim, and they like it",
    "I color-code my notes": "Alex color-codes their notes",
    "I like me-time": "Alex likes me-time",
    "I have trouble with mornings, like missing the bus": "Alex has trouble with mornings, like missing the bus",
    "I bake bread and like cycling": "Alex bakes bread and likes cycling",
    "I no longer work at Acme": "Alex no longer works at Acme",
    "my favourite colour is blue": "Alex’s favourite colour is blue",
    "I'd love to go": "Alex would love to go",
    "I'd already finished it": "Alex had already finished it",
    "I carry on": "Alex carries on",
    "I breed rabbits": "Alex breeds rabbits",
    "I also went there myself": "Alex also went there themselves",
    "I haven’t tested it": "Alex hasn't tested it",
    "Actually, I don't use \"my\" tool": "Alex doesn't use \"my\" tool",
    "I wrote `if I am` there": "Alex wrote `if I am` there",
    "The deadline I set is May 3": "The deadline Alex set is May 3",
    "I sum \\( x_i + i \\) and x for i = 1": "Alex sums \\( x_i + i \\) and x for i = 1",
    "I love plays, they're fun and get me going": "Alex loves plays, they're fun and get them going",
    "World War I was bad": "World War I was bad",
    "We moved to Postgres": "Alex: We moved to Postgres",
    "I think you're right": "Alex: I think you're right",
    "I and Bob went": "Alex: I and Bob went",
    "I 've": "Alex: I 've",
    "It has **5** users now.": "It has 5 users now",
    "我从没用过 Flask": "Alex从没用过 Flask",
    "我们搬家了": "Alex：我们搬家了",
}  # fmt: skip


@pytest.mark.parametrize(("sentence", "expected"), SAID.items())
def test_a_sentence_is_said_of_the_one_who_said_it(sentence: str, expected: str) -> None:
    assert third_person(sentence, "Alex") == expected


def test_a_name_with_an_article_is_small_within_the_sentence() -> None:
    assert third_person("Now I have 10 cards", "The user") == "Now the user has 10 cards"
    assert third_person("I have 10 cards", "The user") == "The user has 10 cards"
    assert mid_sentence("Theo") == "Theo"


@given(st.text(alphabet=st.sampled_from("I'm myandwant ’.,\n`\"“” \u202e我you:"), max_size=200))
def test_any_text_gives_one_line(text: str) -> None:
    assert "\n" not in third_person(text, "Alex")


@pytest.mark.timeout(10)
@pytest.mark.parametrize("part", ["I ", "I'm and ", '"', "`", "my, ", "[[", "**", "and also so, "])
def test_long_lines_take_no_long_time(part: str) -> None:
    third_person(part * 20_000, "Alex")
