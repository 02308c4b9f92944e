"""Whom speakers have and where they are from, though they say so only in passing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.reflection.extraction.learning import facts, learn, say
from tests.engine.reflection.snapshots import chat


def test_whom_my_names_is_told_once_with_every_place_that_says_it(tmp_path: Path) -> None:
    items = learn(
        tmp_path,
        *chat("2026-02-04", ("Tilda", "Thanks a lot, say my husband and kids!"), ("Bo", "Thanks!")),
        *chat("2026-02-09", ("Tilda", "Guess who drew that, my daughter did!"), ("Bo", "Lovely!")),
    )
    (fact,) = [item for item in items if item.kind == "fact"]
    assert fact.text == "Tilda has a husband and a daughter"
    assert [proof.quote for proof in fact.evidence] == ["my husband and kids", "my daughter"]
    assert not dict(fact.fields).get("since")


@pytest.mark.parametrize(
    "sentences",
    [
        ("My dog says hello.",),
        ("My late husband loved it.", "Ask my late husband!"),
        ("My brother and I agree.", "Guess what, my brother and I agree."),
        ("Yes, my husband died.", "Oh, if my husband were here!"),
        ("Here is my horse painting.", "I like my horse painting."),
    ],
)
def test_a_single_word_or_one_who_is_gone_is_no_tie(tmp_path: Path, sentences: tuple[str, ...]) -> None:
    assert not [told for told in say(tmp_path, *sentences) if told.startswith("Tilda has")]


def test_any_animal_that_people_have_is_a_pet(tmp_path: Path) -> None:
    assert "Tilda has a parrot and geckos" in say(
        tmp_path, "My parrot is loud.", "I feed my geckos so often."
    )


def test_who_has_a_name_is_not_told_without_it(tmp_path: Path) -> None:
    told = say(tmp_path, "My sister Ines says hello.", "So my sister is right, and my sons say hello.")
    assert "Ines is Tilda’s sister" in told
    assert "Tilda has sons" in told


def test_where_somebody_is_from_is_read_beside_it(tmp_path: Path) -> None:
    assert "Tilda’s home country is Norway" in say(
        tmp_path, "This ring is a gift from my aunt in my home country, Norway."
    )


@pytest.mark.parametrize(
    ("question", "answer", "fact", "since"),
    [
        ("How long have you been married?", "5 years already!", "Tilda has been married for 5 years", "2021"),
        ("How long have you played the oboe?", "Since 2019.", "Tilda has played the oboe since 2019", "2019"),
    ],
)
def test_how_long_is_told_with_what_was_asked(
    tmp_path: Path, question: str, answer: str, fact: str, since: str
) -> None:
    items = learn(tmp_path, *chat("2026-02-04", ("Bo", f"Nice! {question}"), ("Tilda", answer)))
    assert [(item.text, dict(item.fields)["since"]) for item in items if item.kind == "fact"] == [
        (fact, since)
    ]


@pytest.mark.parametrize(
    "turns",
    [
        (("Bo", "How long have you had it?"), ("Tilda", "5 years already!")),
        (("Bo", "How long have you been married?"), ("Tilda", "Hard to say.")),
        (("Tilda", "How long have you been married?"), ("Tilda", "5 years already!")),
        (("Bo", "How long have you been married?"), ("Bo", "Sorry!"), ("Tilda", "5 years already!")),
    ],
)
def test_an_answer_that_need_not_belong_to_the_question_tells_nothing(
    tmp_path: Path, turns: tuple[tuple[str, str], ...]
) -> None:
    assert not facts(learn(tmp_path, *chat("2026-02-04", *turns)))
