"""What Chinese says to have taken another's place, held against what had it before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.reflection.claims.test_finder import found
from workbench.engine.reflection.claims.chinese import changes
from workbench.engine.reflection.claims.model import Origin
from workbench.engine.reflection.claims.values import values_in
from workbench.engine.reflection.model import Passage

TAKEN = [
    pytest.param("图书馆的借阅系统用的是飞书表格。", "借阅系统换成纸质登记了。", id="by topic"),
    pytest.param("打印店的老板是老钱。", "打印店以后由他女儿管。", id="who is in charge"),
    pytest.param("咖啡豆从云南订。", "豆子涨价了，咖啡豆改订海南的。", id="topic behind a reason"),
    pytest.param(
        "笔记都存在 Evernote 里。", "不再用 Evernote，改用 Joplin。", id="what ended, and what came"
    ),
    pytest.param(
        "Gitter 是大家聊天的地方。", "Gitter 太慢，换成 Zulip 了。", id="goes on about the clause before"
    ),
    pytest.param("合唱團每週五排練。", "合唱團排練改到週日。", id="traditional characters"),
    pytest.param("货运从宁波港走。", "货运从宁波港改到舟山港。", id="from one to another"),
]
OTHERS = [
    pytest.param("货运从天津港走。", "货运从宁波港改到舟山港。", id="was another"),
    pytest.param("借阅系统用的是飞书表格。", "门口的地毯换成蓝色了。", id="another topic"),
    pytest.param("今天排练在礼堂。", "排练改到体育馆。", id="of one day"),
    pytest.param("作业有点难。", "作业交给老师了。", id="handed in, and nobody was in charge"),
    pytest.param("借阅系统换成纸质登记了。", "借阅系统换成纸质登记了。", id="the same again"),
]


@pytest.mark.parametrize(("earlier", "later"), TAKEN)
def test_what_chinese_says_to_have_changed_is_raised(earlier: str, later: str, tmp_path: Path) -> None:
    assert [item.kind for item in found(tmp_path, earlier, later)] == ["supersession"]


@pytest.mark.parametrize(("earlier", "later"), OTHERS)
def test_what_is_no_change_of_the_same_is_not_raised(earlier: str, later: str, tmp_path: Path) -> None:
    assert not found(tmp_path, earlier, later)


@pytest.mark.parametrize(
    "text",
    ["要不要把借阅系统换成纸质登记？", "如果太慢，借阅系统换成纸质登记。", "建议借阅系统换成纸质登记。"],
)
def test_what_is_asked_supposed_or_advised_has_not_changed(text: str) -> None:
    assert not list(changes(Origin(Passage("p", text, "", 1, 1), 1, "")))


@pytest.mark.parametrize(
    "later",
    [
        "如果预算够，会费就降到 150 元。",
        "大家讨论要不要把会费降到 150 元。",
        "会费可能降到 150 元。",
        "会费降到 150 元的事还没定。",
    ],
)
def test_a_value_that_is_only_supposed_changes_nothing(later: str, tmp_path: Path) -> None:
    assert not found(tmp_path, "会费每人每年 200 元。", later)


@pytest.mark.parametrize(
    ("text", "dimension", "amount"),
    [
        ("上线定在 5 月 20 日", "date", 520),
        ("上线定在 2026 年 5 月 20 日", "date", 20260520),
        ("预算是 48 万元", "money", 480_000),
        ("預算是 1.2 億元", "money", 120_000_000),
        ("下午 3 点半开会", "clock", 15 * 60 + 30),
    ],
)
def test_values_are_read_with_blanks_around_their_numbers(text: str, dimension: str, amount: float) -> None:
    assert [(value.dimension, value.amount) for value in values_in(text)] == [(dimension, amount)]


def test_a_long_run_of_words_of_change_is_read_in_bounded_steps() -> None:
    for words in ("换成", "由改由", "从换成，", "不再使用", "换成，"):
        text = words * (200_000 // len(words))
        assert len(list(changes(Origin(Passage("p", text, "", 1, 1), 1, "")))) <= 200
