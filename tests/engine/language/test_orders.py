"""Orders that hold for good, told from what is asked for once."""

from __future__ import annotations

import time

import pytest

from workbench.engine.language.introductions import introduced
from workbench.engine.language.orders import standing_orders


@pytest.mark.parametrize(
    ("sentence", "order"),
    [
        ("Fine, but please don't paste long logs, I read on a phone.", "please don't paste long logs"),
        ("Sign it, and no jargon ever, my boss hates it", "no jargon ever"),
        (
            "Use metric units when you write for the workshop.",
            "Use metric units when you write for the workshop",
        ),
        ("When you suggest walks, please keep them short.", "When you suggest walks, please keep them short"),
        ("Btw when you draw a plan use metres, I can't read feet", "when you draw a plan use metres"),
        ("For anything the guests read, use plain words.", "For anything the guests read, use plain words"),
        ("Replies: formal.", "Replies: formal"),
        ("Weekly reports: no more than a page, I print them.", "Weekly reports: no more than a page"),
        ("On Fridays, please don't deploy.", "please don't deploy"),
        ("不要给我发语音，我在开会", "不要给我发语音"),
        ("以后周报都用表格", "以后周报都用表格"),
    ],
)
def test_an_order_is_told_without_its_reason(sentence: str, order: str) -> None:
    assert [sentence[start:end] for start, end in standing_orders(sentence)] == [order]


@pytest.mark.parametrize(
    "sentence",
    [
        "Don't know why the oven stays cold.",
        "Don't send it.",
        "Please don't change this paragraph yet.",
        "I open on Mondays, never on Fridays.",
        "Never give up!",
        "Replies: three so far.",
        "Dates: 3 and 5 May.",
        "Results: good.",
        "Reports: in the blue folder.",
        "It's Sunday, so no calls please.",
        "No worries, it is almost winter, so please don't water the roses.",
        "Write a letter to the council.",
        "For every guest we write a card.",
        "别担心",
        "这次不要用表格",
    ],
)
def test_what_is_felt_or_meant_now_is_no_order_for_good(sentence: str) -> None:
    assert list(standing_orders(sentence)) == []


@pytest.mark.parametrize(
    ("sentence", "role"),
    [
        ("I'm Ines, I lead the sales team at Corvo.", "leads the sales team at Corvo"),
        ("I run a bakery in Porto", "runs a bakery in Porto"),
        ("I teach chemistry at a grammar school", "teaches chemistry at a grammar school"),
        ("I run a test suite every night", ""),
        ("I teach you nothing new", ""),
        ("我叫王岚,在成都一所中学教物理.", "在成都一所中学教物理"),
    ],
)
def test_the_verb_tells_the_role(sentence: str, role: str) -> None:
    assert introduced(sentence).role == role


def test_a_first_name_is_told_beside_what_its_bearer_does() -> None:
    assert introduced("I'm Ines, I run a bakery in Porto.").name == "Ines"
    assert introduced("I'm Fine, I saw the bakery.").name == ""


def test_a_latin_name_in_a_chinese_sentence() -> None:
    assert introduced("我是 Ines Duarte,在 Corvo 做 QA").name == "Ines Duarte"
    assert introduced("我是 Python 开发").name == ""


@pytest.mark.parametrize(
    "piece", ["don't paste it, ", "不要给我发它，", "always use it when you ", " - ", "if you x, "]
)
def test_a_hostile_sentence_is_read_soon(piece: str) -> None:
    started = time.process_time()
    list(standing_orders(piece * (100_000 // len(piece))))
    assert time.process_time() - started < 5.0
