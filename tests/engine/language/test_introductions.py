"""What people state of themselves is told apart from what only sounds like it."""

from __future__ import annotations

import pytest

from workbench.engine.language.introductions import Introduction, introduced


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("My name is Ines Duarte.", Introduction(name="Ines Duarte")),
        (
            "I'm Ines Duarte, a nurse at the harbour clinic.",
            Introduction("Ines Duarte", "nurse at the harbour clinic"),
        ),
        (
            "Hi, I'm Tom Ito, lead developer at Brightsail.",
            Introduction("Tom Ito", "lead developer at Brightsail"),
        ),
        ("I am Bo Lind, a 41-year-old baker from Malmö", Introduction("Bo Lind", "baker", "Malmö")),
        ("I'm Ada and I work as a welder", Introduction("Ada", "welder")),
        ("I live in Porto", Introduction(home="Porto")),
        ("I work in the timezone of Lima", Introduction(timezone="Lima")),
        ("我叫周远,在一家书店做编辑", Introduction("周远", "在一家书店做编辑")),
        ("我叫周远，在一家卖旧书的书店当编辑。", Introduction("周远", "在一家卖旧书的书店当编辑")),
        ("我是一名数据工程师", Introduction(role="数据工程师")),
        ("我住在台北", Introduction(home="台北")),
    ],
)
def test_what_people_state_of_themselves_is_read(sentence: str, said: Introduction) -> None:
    assert introduced(sentence) == said


@pytest.mark.parametrize(
    "sentence",
    [
        "I'm Sure, the thing is broken",
        "I'm a bit tired of the weather",
        "I'm a beginner in Python",
        "I'm not a doctor",
        "She is a nurse from Porto",
        "I got a letter from Porto",
        "我是一个人去的",
    ],
)
def test_what_only_sounds_like_an_introduction_says_nothing(sentence: str) -> None:
    assert introduced(sentence) == Introduction()


@pytest.mark.parametrize(
    ("said", "name", "role"),
    [
        ("I'm Ines, I run a small theatre in Leeds.", "Ines", "runs a small theatre in Leeds"),
        ("I'm Tom, I own a vineyard near Bath.", "Tom", "owns a vineyard near Bath"),
        ("I'm Ros, I manage a small theatre with my brother.", "Ros", "manages a small theatre"),
        ("I'm Tom, I run a half marathon every spring.", "", ""),
        ("So I'm Ros, I do lighting for a small theatre.", "Ros", "does lighting for a small theatre"),
        ("I'm Tom, I work for the harbour office.", "Tom", "works for the harbour office"),
        ("I'm Tired, I run a lot.", "", ""),
        ("I'm Tired, I do it for you.", "", ""),
        ("I'm Irish, a theatre is my home.", "", ""),
        ("I run a theatre.", "", ""),
    ],
)
def test_what_is_run_beside_a_name_is_work_whatever_it_is(said: str, name: str, role: str) -> None:
    found = introduced(said)
    assert (found.name, found.role) == (name, role)
