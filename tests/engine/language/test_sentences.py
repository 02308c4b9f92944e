"""What a passage says in its speaker's own voice, sentence by sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.language.sentences import (
    asks,
    has_question_mark,
    said_before_asking,
    sentences,
    split_sentences,
)


def texts(text: str) -> list[str]:
    """Return the sentences alone."""
    return [sentence.text for sentence in sentences(text)]


def test_sentences_end_at_stops_and_not_at_abbreviations() -> None:
    assert texts("Dr. Who came, e.g. at 3 p.m. today. He left! J. Smith stayed…") == [
        "Dr. Who came, e.g. at 3 p.m. today.",
        "He left!",
        "J. Smith stayed…",
    ]


@pytest.mark.parametrize(
    "written",
    [
        "J. A. Smith and K. Jones met et al. at max. 5 knots, no. 7.|We stayed.",
        "We chose plan B.|The rest is done.",
        "We take vitamin C.|Can you order it?",
        "The answer is no.|We go.",
        "My limit is 5 max.|Order no more.",
        "I was at Acme Inc.|Then I left.",
    ],
)
def test_an_initial_or_a_short_word_joins_only_what_belongs_to_it(written: str) -> None:
    assert split_sentences(written.replace("|", " ")) == written.split("|")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [("It is x.io/?id=12", False), ("Is it x.io/?id=12?", True), ("Really?!”", True), ("真的？」", True)],
)
def test_the_mark_of_a_question_stands_at_its_end(sentence: str, expected: bool) -> None:
    assert has_question_mark(sentence) is expected


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See Dr. Weiss at 3 p.m. today. Then rest.", ["See Dr. Weiss at 3 p.m. today.", "Then rest."]),
        ("今天下雨。明天呢？后天晴！", ["今天下雨。", "明天呢？", "后天晴！"]),
        ("Version 1.2 is out!现在升级吗?好", ["Version 1.2 is out!", "现在升级吗?", "好"]),
        ("他说：“走吧。”然后走了", ["他说：“走吧。”", "然后走了"]),
        ("one\n\ntwo. three", ["one", "two.", "three"]),
        ("wait…what", ["wait…what"]),
        ("  ", []),
    ],
)
def test_texts_are_split_alike_in_both_languages(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


def test_questions_are_told_by_their_mark_in_both_languages() -> None:
    assert [has_question_mark(each) for each in ("Why?", 'Why?"', "为什么？", "你去吗", "走吧。", "Why not.")] == [
        True, True, True, True, False, False,
    ]  # fmt: skip


@given(st.text(alphabet=st.sampled_from('ab .!?…。！？\n吗"”(e.g. Dr.'), max_size=60))
def test_splitting_loses_nothing_but_blanks(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())
