"""What Chinese sentences say that is worth recording, and how it is told."""

from __future__ import annotations

from datetime import date

import pytest

from workbench.engine.language.introductions import introduced
from workbench.engine.reflection.extraction.chinese import said_in_chinese, told_in_chinese

DAY = date(2026, 2, 4)


def _told(sentence: str, name: str = "阿宁", *, of_oneself: bool = True) -> list[str]:
    return [
        told_in_chinese(sentence[one.start : one.end], one, name, DAY).text
        for one in said_in_chinese(sentence, of_oneself=of_oneself)
    ]


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("我去年搬到了青岛，你来过吗？", ["阿宁2025年搬到了青岛"]),
        ("我弟弟在铁路上班，好久没见他了，希望他来", ["阿宁的弟弟在铁路上班，好久没见他了"]),
        ("我對花生過敏，帮我看看菜单", ["阿宁對花生過敏"]),
        ("车位月租是 450 元，可能会涨", ["车位月租是 450 元"]),
        ("物业电话是 8800 1234，谢谢", ["物业电话是 8800 1234"]),
        ("不再当班长，改由何苗负责", ["阿宁不再当班长，改由何苗负责"]),
        ("我教书法，我爱人教数学", ["阿宁的爱人教数学"]),
        ("陈立调去了西安", ["陈立调去了西安"]),
        ("牙医预约：3 月 9 日下午", ["牙医预约：3 月 9 日下午"]),
        ("我把博客从 Hexo 迁到了 Astro", ["阿宁把博客从 Hexo 迁到了 Astro"]),
        ("如果涨价，我就搬到郊区", []),
        ("我想学吉他，还没定", []),
        ("今天看了三部电影，好累", []),
        ("你能不能帮我看看，我在写作业", []),
        ("以后邮件都用英文", []),
        ("每次出差前先订酒店，再买票", []),
    ],
)
def test_clauses_are_judged_one_by_one(sentence: str, told: list[str]) -> None:
    assert _told(sentence) == told


def test_in_notes_on_somebody_what_was_decided_is_theirs() -> None:
    assert _told("决定用 SQLite，不用 Redis", of_oneself=False) == ["阿宁决定用 SQLite，不用 Redis"]
    assert _told("完成了登录页", of_oneself=False) == []


def test_whoever_has_no_name_is_told_of_in_chinese() -> None:
    assert _told("用户对猫毛过敏", "User", of_oneself=False) == ["用户对猫毛过敏"]
    assert _told("用户数量是 300 人", "User", of_oneself=False) == ["用户数量是 300 人"]


@pytest.mark.parametrize("piece", ["我", "我在", "，我不", "每次", "李", "“", "是1", "A ", "先再"])
def test_hostile_text_is_read_to_its_end(piece: str) -> None:
    """A pattern that takes the square of its length or worse would not be done before the suite gives up."""
    assert len(said_in_chinese(piece * (100_000 // len(piece)))) <= 200


@pytest.mark.parametrize("word", ["刚", "总", "基本", "今年"])
def test_a_long_run_of_one_word_is_read_at_once(word: str) -> None:
    """Read in every way that it can be split, it would never end."""
    run = f"我{word * 60}"
    assert said_in_chinese(run) == []
    assert introduced(run).home == ""
