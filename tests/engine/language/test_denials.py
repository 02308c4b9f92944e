"""What denies, in two languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.language.denials import is_denied, is_denied_next, is_turned_down, without_denials


@pytest.mark.parametrize(
    "text",
    ["We do not ship it", "I don't eat fish", "She’s never late, isn’t she", "Nothing works", "No longer in Oslo",
     "我不吃鱼", "他从未去过", "還沒有完成", "別再提醒我"],
)  # fmt: skip
def test_what_denies(text: str) -> None:
    assert is_denied(text)
    assert is_turned_down(text)


@pytest.mark.parametrize(
    "text",
    ["We ship it", "Not only cheap, it is good", "Knots and notes", "Nora leaves", "味道不错", "别人的伞",
     "未来的计划", "沒問題", "", "我的未婚妻", "住在别墅里",
     "无锡的无人机", "去不丹玩", "不锈钢的", "我不得不去"],
)  # fmt: skip
def test_what_only_looks_like_a_denial(text: str) -> None:
    assert not is_denied(text)
    assert not is_turned_down(text)


@pytest.mark.parametrize("text", ["Robin avoids tea", "They gave up smoking", "我讨厌香菜", "他戒了烟"])
def test_what_is_turned_down_without_a_denial(text: str) -> None:
    assert is_turned_down(text)
    assert not is_denied(text)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("we never really ", True),
        ("I don't ", True),
        ("the team stopped ", True),
        ("我们不", True),
        ("we never met Ann, who often ", False),
        ("the knot ", False),
        ("Nora ", False),
        ("Notion often ", False),
        ("Project No 5 ", False),
        ("Alex not only ", False),
        ("nobody ", True),
        ("我特别", False),
        ("我不特别", True),
        ("", False),
    ],
)
def test_a_denial_reaches_the_next_verb_alone(before: str, expected: bool) -> None:
    assert is_denied_next(before) is expected


def test_without_its_denial_a_statement_says_the_opposite() -> None:
    assert without_denials("港口不用绳子") == "港口用绳子"
    assert [without_denials(each) for each in ("never", "hasn't", "can’t", "isn't")] == [
        "",
        "has",
        "can",
        "is",
    ]


@given(st.text(alphabet=st.sampled_from("ab not'ndes不没别人错 "), max_size=30))
def test_whatever_denies_turns_down(text: str) -> None:
    assert is_turned_down(text) or not is_denied(text)
