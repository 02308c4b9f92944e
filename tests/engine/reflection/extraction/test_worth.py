"""What a sentence is worth, and which of its features say so."""

from __future__ import annotations

import pytest

from workbench.engine.reflection.extraction.worth import features_of, is_kept, odds_of, worth_of


@pytest.mark.parametrize(
    "own",
    [
        "I was all freaked when my son fell off the ladder",
        "I'm kinda stressed about the audit on May 3",
        "I felt so nervous at my sister's wedding",
        "I have been a bit lonely since my brother moved",
        "When my dog ran away, I was terrified",
        "I loved the concert in the park yesterday",
        "I felt depressed on Monday morning",
        "I was so nervous about my exams in June",
        "I was moved by the show at the museum in Lund",
    ],
)
def test_a_mood_of_a_day_is_worth_nothing(own: str) -> None:
    assert worth_of(own).value == 0


@pytest.mark.parametrize(
    "own",
    [
        "I was born in Oslo and grew up in Lund",
        "I'm terrified of heights and of my dentist",
        "I loved Moominland Midwinter by Tove Jansson",
        "I'm a nervous driver and take the train to work",
        "I was moved to the payments team in March",
        "I got moved to the Berlin office",
        "I got burnt out at Acme and quit my job",
        "I got stuck with a 3-year lease in Porto",
        "I was fed by a tube for two months after surgery",
    ],
)
def test_what_lasts_is_no_mood(own: str) -> None:
    assert worth_of(own).value > 0


@pytest.mark.parametrize(
    ("own", "named"),
    [
        ("I have been working on my parser", {"has been doing", "under way", "mine"}),
        ("I've already moved to Lund", {"has done", "a name"}),
        ("I use Vim every day", {"does", "a name", "lasting"}),
        ("I'm using Postgres 16", {"uses", "a name", "a number"}),
        ("I want to try a kayak", {"wants"}),
        ("I sailed to Öland last summer", {"did", "a name"}),
        ("My sister is a vet", {"of others"}),
    ],
)
def test_features_are_those_of_its_grammar(own: str, named: set[str]) -> None:
    assert named <= set(features_of(own, "plan", joint=False, dated=False, asks=False))


def test_what_is_under_way_with_an_agent_has_worse_odds_than_what_was_settled() -> None:
    passing = features_of(
        "I'm trying to fix an error in my parser", "technical", joint=False, dated=False, asks=True
    )
    settled = features_of("I moved the shop to Postgres 16", "technical", joint=False, dated=False, asks=True)
    assert odds_of(passing) < 0 < odds_of(settled)


def test_a_short_plain_statement_needs_its_odds_alone() -> None:
    assert is_kept(3.3, 0.6)
    assert is_kept(4.5, 0.1)
    assert not is_kept(3.3, 0.1)
    assert not is_kept(9.0, -0.1)


@pytest.mark.parametrize(
    "said", ["I am allergic to herring", "I'm left-handed", "I got promoted", "I hate olives"]
)
def test_who_somebody_is_lasts_whatever_the_odds_of_how_it_was_said(said: str) -> None:
    worth = worth_of(said)
    assert is_kept(worth.value, -3.0, worth.kind)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "own",
    [
        "I" + " really" * 44,
        "I've been" + " only" * 43,
        "I have" + " recently usually finally currently" * 10,
        ", ".join(f"in a{number}" for number in range(22)),
        ", ".join(["when"] * 45),
    ],
    ids=["really", "only", "adverbs", "introductions", "commas"],
)
def test_what_says_the_same_again_and_again_is_judged_all_the_same(own: str) -> None:
    # With two ways to match each word, these would take hours.
    assert worth_of(own, known=True).kind == "recorded"
    assert "short" not in features_of(own, "recorded", joint=False, dated=False, asks=False)
