"""Differences come as rows with the numbers of both sides, and say which characters changed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.history.audit import DiffRow, changed_spans, diff_rows, line_opcodes, split_lines


def test_rows_carry_the_numbers_of_both_sides() -> None:
    assert diff_rows("a\nb\nc\n", "a\nB\nc\nd\n") == (
        DiffRow("same", 1, 1, "a"),
        DiffRow("removed", 2, None, "b"),
        DiffRow("added", None, 2, "B"),
        DiffRow("same", 3, 3, "c"),
        DiffRow("added", None, 4, "d"),
    )


def test_far_unchanged_lines_become_a_gap() -> None:
    old = [str(n) for n in range(30)]
    new = [*old[:15], "new", *old[15:]]
    rows = diff_rows("\n".join(old), "\n".join(new), context=2)
    assert [(row.kind, row.count) for row in rows] == [
        ("gap", 13),
        ("same", 1),
        ("same", 1),
        ("added", 1),
        ("same", 1),
        ("same", 1),
        ("gap", 13),
    ]
    assert rows[-1].old == 18
    assert rows[-1].new == 19
    assert len(diff_rows("\n".join(old), "\n".join(new), context=None)) == 31


def test_a_file_that_came_or_went() -> None:
    assert [row.kind for row in diff_rows(None, "a\nb")] == ["added", "added"]
    assert [row.kind for row in diff_rows("a\n", None)] == ["removed"]
    assert diff_rows("a\n", "a\n") == ()


def test_changed_words_are_marked() -> None:
    old, new = changed_spans("Lives in Berlin now", "Lives in Rome now")
    assert ["Lives in Berlin now"[a:b] for a, b in old] == ["Berlin"]
    assert ["Lives in Rome now"[a:b] for a, b in new] == ["Rome"]
    assert changed_spans("nothing", "alike 12 [x]") == ((), ())


LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12)


@given(LINES, LINES)
def test_opcodes_turn_the_one_into_the_other(old: list[str], new: list[str]) -> None:
    built: list[str] = []
    for kind, i1, i2, j1, j2 in line_opcodes(old, new):
        if kind == "equal":
            assert old[i1:i2] == new[j1:j2]
        built += new[j1:j2]
    assert built == new


@given(LINES, LINES, st.integers(0, 3))
def test_every_line_is_in_a_row_or_a_gap(old: list[str], new: list[str], context: int) -> None:
    before, after = "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)
    rows = diff_rows(before, after, context=context)
    if before == after:
        assert rows == ()
        return
    assert sum(row.count for row in rows if row.kind != "added") == len(old)
    assert sum(row.count for row in rows if row.kind != "removed") == len(new)
    assert [
        row.text for row in diff_rows(before, after, context=None) if row.kind != "removed"
    ] == split_lines(after)
