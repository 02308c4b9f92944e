"""What lasts and what was over in a day, since when something holds, and in which order it is proposed."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tests.engine.reflection.extraction.learning import facts, learn, say
from tests.engine.reflection.snapshots import chat
from workbench.engine.reflection.extraction.lasting import (
    AHEAD,
    CHANGE,
    ONCE,
    ONGOING,
    PAST,
    STATE,
    is_over,
    kind_of,
    since_of,
    standing_of,
)


@pytest.mark.parametrize(
    ("own", "standing"),
    [
        ("I play the oboe", STATE),
        ("I've got two rabbits", STATE),
        ("I've known Bo for ten years", STATE),
        ("I'm using SQLite for the ledger", STATE),
        ("I have been rowing since 2019", STATE),
        ("I've been a nurse all my life", STATE),
        ("My sister lives in Lund", STATE),
        ("I do all kinds of pottery", STATE),
        ("I don't eat fish", STATE),
        ("I used to row with my father", PAST),
        ("I worked as a welder for six years", PAST),
        ("I loved The Wind in the Willows as a kid", PAST),
        ("I joined a choir last week", CHANGE),
        ("I've decided on oak for the floor", CHANGE),
        ("I was promoted to head cook", CHANGE),
        ("I got elected to the board", CHANGE),
        ("I had a baby girl in May", CHANGE),
        ("My brother moved to Porto", CHANGE),
        ("Last Friday, I finally quit smoking", CHANGE),
        ("I'm moving to Porto next month", AHEAD),
        ("I'm thinking of selling the boat", AHEAD),
        ("I'll open the shop on May 3", AHEAD),
        ("I want to learn Danish", AHEAD),
        ("My goal is to row across the lake", AHEAD),
        ("I have an exam on May 3", AHEAD),
        ("I'm writing a novel about bees", ONGOING),
        ("I'm too tired to paint the fence", ONGOING),
        ("I've been busy with the harvest", ONGOING),
        ("I went to a concert yesterday", ONCE),
        ("I was out walking when a fox came by", ONCE),
        ("I had a quiet weekend", ONCE),
        ("I got into a bad spot with some people", ONCE),
        ("I've been to Porto twice", ONCE),
        ("When it rained, I took my kids to the museum", ONCE),
    ],
)
def test_the_verb_tells_what_lasts(own: str, standing: str) -> None:
    assert standing_of(own) == standing


def test_what_was_got_to_keep_is_a_change() -> None:
    assert standing_of("I got a job at the mill", "milestone") == CHANGE
    assert standing_of("I got a call from the mill", "work") == ONCE


@pytest.mark.parametrize(
    ("own", "by_words", "kind"),
    [
        ("I was out walking in my neighborhood", "home", "event"),
        ("I'm going to a nurses' conference in May", "identity", "plan"),
        ("I passed the adoption interview", "family", "achievement"),
        ("I joined a group for single fathers", "family", "begun"),
        ("I moved in with my sister", "milestone", "milestone"),
        ("I'm using a mentor program for trans youth", "identity", "begun"),
        ("I'm a nurse", "identity", "identity"),
        ("I teach a transgender teen", "identity", "routine"),
    ],
)
def test_the_verb_and_not_any_word_tells_what_it_is_about(own: str, by_words: str, kind: str) -> None:
    assert kind_of(by_words, standing_of(own, by_words), own) == kind


@pytest.mark.parametrize(
    ("text", "standing", "since"),
    [
        ("Ana started rowing around 2018", CHANGE, "2018"),
        ("Ana lost the job in March 2025", CHANGE, "2025-03"),
        ("Ana finished the roof on January 22", CHANGE, "2026-01-22"),
        ("Ana finished the roof on December 22", CHANGE, "2025-12-22"),
        ("Ana has been married for 5 years", STATE, "2021"),
        ("Ana has rented the flat for three months", STATE, "2025-11"),
        ("Ana has been rowing since 2019", STATE, "2019"),
        ("Ana has a car built in 2015", STATE, "2026-02-04"),
        ("Ana sold the car after the fire in 2015", CHANGE, "2026-02-04"),
        ("Ana has a cat", STATE, "2026-02-04"),
        ("Ana loved The Wind in the Willows as a kid", PAST, ""),
        ("Ana has been drawing since Ana was 17", STATE, ""),
        ("Ana used to row", PAST, ""),
        ("Ana is moving in May 2026", AHEAD, "2026-02-04"),
    ],
)
def test_a_time_that_the_text_gives_comes_before_the_day_it_was_said(
    text: str, standing: str, since: str
) -> None:
    assert since_of(text, standing, "", "2026-02-04") == since


def test_a_day_that_the_words_give_is_kept() -> None:
    assert since_of("Ana joined a choir on 2026-02-01", CHANGE, "2026-02-01", "2026-02-04") == "2026-02-01"


@pytest.mark.parametrize(
    ("text", "standing", "over"),
    [
        ("Ana is going to a fair in March 2026", AHEAD, True),
        ("Ana is going to a fair in June 2026", AHEAD, False),
        ("Ana is moving on March 3", AHEAD, True),
        ("Ana is moving in the week after 2026-04-25", AHEAD, False),
        ("Ana is moving", AHEAD, False),
        ("Ana has the hall until March 3", STATE, True),
        ("Ana has had the hall since January 3", STATE, False),
        ("Ana finished the roof on March 3", CHANGE, False),
    ],
)
def test_what_was_ahead_is_over_once_its_day_has_passed(text: str, standing: str, over: bool) -> None:
    assert is_over(text, (standing,), date(2026, 2, 4), date(2026, 5, 1)) is over


def test_what_lasts_is_proposed_first_and_a_day_out_last(tmp_path: Path) -> None:
    told = say(
        tmp_path,
        "Last Friday I took my kids to a pottery workshop in Lund.",
        "I'm writing a novel about beekeepers in Lund.",
        "I joined a rowing club last Tuesday.",
        "I'm allergic to penicillin and to cats.",
    )
    assert told == [
        "Tilda is allergic to penicillin and to cats",
        "Tilda joined a rowing club on 2026-02-03",
        "Tilda is writing a novel about beekeepers in Lund",
        "Tilda took their kids to a pottery workshop in Lund on 2026-01-30",
    ]


def test_a_plan_is_not_proposed_after_its_day(tmp_path: Path) -> None:
    plan = ("Tilda", "I'm going to a beekeepers' conference in Lund this month.")
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    assert facts(learn(tmp_path / "before", *chat("2026-02-04", plan)))
    later = chat("2026-04-04", ("Bo", "How are your bees doing?"))
    assert not facts(learn(tmp_path / "after", *chat("2026-02-04", plan), *later))


def test_the_name_is_said_again_where_i_was_said_again(tmp_path: Path) -> None:
    assert say(tmp_path, "I joined a rowing club in Lund because I love wooden boats.") == [
        "Tilda joined a rowing club in Lund because Tilda loves wooden boats"
    ]


def test_who_introduces_herself_is_what_she_says_and_not_herself(tmp_path: Path) -> None:
    assert say(tmp_path, "I'm Tilda, a marine biologist based in Lund.") == [
        "Tilda is a marine biologist based in Lund"
    ]
