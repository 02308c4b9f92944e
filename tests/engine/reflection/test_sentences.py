"""What a passage says in its speaker's own voice, sentence by sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.reflection.sentences import asks, said_before_asking, sentences


def texts(text: str) -> list[str]:
    """Return the sentences alone."""
    return [sentence.text for sentence in sentences(text)]


def test_sentences_end_at_stops_and_not_at_abbreviations() -> None:
    assert texts("Dr. Who came, e.g. at 3 p.m. today. He left! J. Smith stayed…") == [
        "Dr. Who came, e.g. at 3 p.m. today.",
        "He left!",
        "J. Smith stayed…",
    ]


def test_a_sentence_goes_over_a_wrapped_line() -> None:
    (sentence,) = sentences("A hard wrapped line that\ngoes on here.")
    assert sentence.text == "A hard wrapped line that\ngoes on here."


@pytest.mark.parametrize(
    "shown",
    [
        "```python\nI am code.\n```",
        "~~~\nI am code.\n~~~",
        "| I am | a table |\n| --- | --- |",
        "> I am quoted.",
        "# I am a heading",
        "2024-03-01 10:00:00 I am a log line",
        "ERROR I am one too",
        "const x = I.am(code);",
        "\n    I am indented code",
        "x" * 30_000,
    ],
)
def test_what_is_only_shown_is_left_out(shown: str) -> None:
    assert texts(f"I speak.\n\n{shown}\n\nI speak again.") == ["I speak.", "I speak again."]


def test_list_items_are_sentences_without_their_marks() -> None:
    assert texts("- [ ] buy milk\n2. call Tom\n* rest") == ["buy milk", "call Tom", "rest"]


def test_of_a_question_what_is_said_before_it_is_kept() -> None:
    assert texts("We moved to Postgres, can you check the schema? What is this? 现在是 5 个吗？") == [
        "We moved to Postgres"
    ]
    assert said_before_asking("How can I do it, now that I have 5?") == ""
    assert [sentence.question for sentence in sentences("Is it? It is.", questions=True)] == [True, False]


def test_a_question_without_its_mark_is_one_and_an_exclamation_is_none() -> None:
    assert asks("how can I do that")
    assert asks("And could you look at it.")
    assert not asks("What a day!")
    assert not asks("Can openers are cheap.")


def test_at_most_four_hundred_are_given() -> None:
    assert len(sentences("It is so.\n" * 1000)) == 400


SHOWN = (
    "I am. ",
    "what? ",
    "\n",
    "\n\n",
    "```\n",
    "- ",
    "    ",
    "。",
    "e.g. ",
    "“",
    "\u202e",
    "| a |",
    "x",
    "…",
    "> ",
    "# ",
)
PIECES = st.lists(st.sampled_from(SHOWN), max_size=40).map("".join)


@given(st.one_of(PIECES, st.text(max_size=300)))
def test_every_sentence_stands_in_the_text_word_for_word(text: str) -> None:
    end = 0
    for sentence in sentences(text, questions=True):
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.start >= end
        assert sentence.text == sentence.text.strip()
        assert sentence.line == text.count("\n", 0, sentence.start)
        end = sentence.end


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "part", [".", "and ", "“", ", ", "a\n", "```\n", "| ", " ", "x" * 19_000 + "\n", "? "]
)
def test_long_texts_take_no_long_time(part: str) -> None:
    sentences(part * (400_000 // len(part)))
