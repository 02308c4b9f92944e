"""Lines are split and compared so that one text can be turned into the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.history.differences import line_opcodes, split_lines


def test_only_line_ends_split_lines() -> None:
    assert split_lines("a\r\nb\rc\u2028d\n") == ["a", "b", "c\u2028d"]
    assert split_lines("") == []


LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12)


@given(LINES, LINES)
def test_opcodes_turn_the_one_into_the_other(old: list[str], new: list[str]) -> None:
    built: list[str] = []
    for kind, i1, i2, j1, j2 in line_opcodes(old, new):
        if kind == "equal":
            assert old[i1:i2] == new[j1:j2]
        built += new[j1:j2]
    assert built == new
