"""Chinese is read by clauses, each by itself, in either script."""

from __future__ import annotations

import re

import pytest

from workbench.engine.language.chinese import NAME, Stance, clauses, simplified, telling_pairs


def test_folding_keeps_the_length() -> None:
    assert simplified("我們週三開會，體驗很好") == "我们周三开会，体验很好"


@pytest.mark.parametrize(
    ("sentence", "stances"),
    [
        ("我在银行上班，你呢", [Stance.STATES, Stance.ASKS]),
        ("我住在厦门，希望明年换大一点的房子", [Stance.STATES, Stance.WISHES]),
        ("如果下周签约，我就搬走；房租是三千元", [Stance.SUPPOSES, Stance.SUPPOSES, Stance.STATES]),
        ("我申請了簽證，可能要等兩週", [Stance.STATES, Stance.HEDGES]),
        ("帮我订票，我对海鲜过敏", [Stance.ASKS_FOR, Stance.STATES]),
        ("我的理想是开书店", [Stance.STATES]),
        ("书名是《山，海》，还没定", [Stance.STATES, Stance.OPEN]),
        ("预算 1,200 元", [Stance.STATES]),
    ],
)
def test_each_clause_stands_by_itself(sentence: str, stances: list[Stance]) -> None:
    assert [clause.stance for clause in clauses(sentence)] == stances


def test_places_are_those_of_the_sentence() -> None:
    sentence = "  我學鋼琴， 每週兩次 "
    assert [sentence[one.start : one.end] for one in clauses(sentence)] == ["我學鋼琴", "每週兩次"]


@pytest.mark.parametrize(
    ("run", "pairs"),
    [("考试时间推迟到", ["考试"]), ("我们的房租是", ["房租"]), ("住在", [])],
)
def test_what_frames_a_statement_tells_nothing(run: str, pairs: list[str]) -> None:
    assert [pair for _, pair in telling_pairs(run)] == pairs


@pytest.mark.parametrize(
    ("text", "name"),
    [("陈立负责", "陈立"), ("小梅搬家", "小梅"), ("Ivy 辞职", "Ivy"), ("老师说", ""), ("高了不少", "")],
)
def test_names(text: str, name: str) -> None:
    found = re.match(NAME, text)
    assert (found[0] if found else "") == name


@pytest.mark.parametrize("piece", ["我", "，", "“", "如果", "一律", "我住在，", "每次前先"])
def test_hostile_text_is_read_in_bounded_steps(piece: str) -> None:
    assert len(clauses(piece * (200_000 // len(piece)))) <= 200
