"""A difference gives both sides back, pairs what belongs together, and is quick."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.display.diffing import DiffRow, compare, compare_words, diff_lines
from workbench.display.ink import line_width, plain_text

LINES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), max_size=12), max_size=12
)


def side(rows: tuple[DiffRow, ...], name: str) -> list[str]:
    number = f"{name}_number"
    return [
        "".join(p.text for p in getattr(row, name))
        for row in rows
        if row.kind != "gap" and getattr(row, number)
    ]


@given(LINES, LINES)
def test_both_sides_can_be_read_back(before: list[str], after: list[str]) -> None:
    rows = compare("\n".join(before), "\n".join(after), context=1000)
    if rows:
        assert side(rows, "before") == "\n".join(before).splitlines()
        assert side(rows, "after") == "\n".join(after).splitlines()
    else:
        assert "\n".join(before).splitlines() == "\n".join(after).splitlines()


@given(LINES, LINES, st.integers(20, 160))
def test_it_is_drawn_within_the_width(before: list[str], after: list[str], width: int) -> None:
    for line in diff_lines(compare("\n".join(before), "\n".join(after)), width):
        assert line_width(line) <= width


def test_like_lines_are_paired_and_only_the_words_that_differ_stand_out() -> None:
    rows = compare("keep\nship on Fridays\n", "keep\nship on Thursdays at noon\nnew\n")
    changed = next(row for row in rows if row.kind == "changed")
    assert [(p.text, p.changed) for p in changed.before] == [("ship on ", False), ("Fridays", True)]
    assert [(p.text, p.changed) for p in changed.after] == [("ship on ", False), ("Thursdays at noon", True)]
    assert [row.kind for row in rows] == ["same", "changed", "added"]


def test_wide_scripts_are_compared_by_character() -> None:
    _, after = compare_words("用户喜欢茶", "用户喜欢咖啡")
    assert [p.text for p in after if p.changed] == ["咖啡"]


def test_unchanged_lines_far_from_any_change_are_folded_and_counted() -> None:
    before = "\n".join(map(str, range(40)))
    rows = compare(before, before.replace("20", "twenty"))
    assert [row.before_number for row in rows if row.kind == "gap"] == [17, 16]


def test_what_came_and_what_went_differ_without_colour() -> None:
    text = "\n".join(plain_text(line) for line in diff_lines(compare("old words", "new words"), 60))
    assert "− old" in text
    assert "+ new" in text


def test_side_by_side_where_there_is_room() -> None:
    rows = compare("old words", "new words")
    assert len(diff_lines(rows, 140)) == 1
    assert len(diff_lines(rows, 80)) == 2


def test_five_thousand_lines() -> None:
    before = [f"line {at} of a long file about something" for at in range(5000)]
    after = [
        line.replace("something", "anything") if at % 10 == 0 else line for at, line in enumerate(before)
    ]
    rows = compare("\n".join(before), "\n".join(after))
    assert sum(row.kind == "changed" for row in rows) == 500
