"""What no reflection has read yet."""

from __future__ import annotations

import time
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.markdown.review import Evidence
from workbench.engine.reflection import items
from workbench.engine.reflection.leftovers import (
    Backlog,
    ReadMark,
    order_of,
    parse_backlog,
    render_backlog,
    unread_passages,
)

ZONE = ZoneInfo("UTC")
LOG = "memory/2026-02-01.md"
A, B = "a" * 40, "b" * 40
OLD = b"# 2026-02-01\n\n- 10:00 Jon: one\n- 10:01 Jon: two\n"
LATER = OLD + b"- 10:02 Jon: three\n- 10:03 Jon: four\n"
NOW = LATER + b"- 09:00 Ines: told late\n"


def _unread(mark: ReadMark, now: bytes = NOW) -> list[str]:
    files = {(A, LOG): OLD, (B, LOG): LATER}
    found = unread_passages([(LOG, now)], mark, lambda commit, path: files.get((commit, path)), ZONE)
    return [passage.text for passage in found]


def test_nothing_read_means_all_of_it() -> None:
    assert _unread(ReadMark()) == ["one", "two", "three", "four", "told late"]


def test_what_stood_in_the_commit_is_read() -> None:
    assert _unread(ReadMark(A)) == ["three", "four", "told late"]


def test_a_mark_within_a_commit_goes_by_the_order_of_reading() -> None:
    passages = list(unread_passages([(LOG, LATER)], ReadMark(A), lambda *_: None, ZONE))
    third = next(passage for passage in passages if passage.text == "three")

    # What was told late is older than the mark, but was not there when the mark was set.
    assert _unread(ReadMark(A, B, order_of(third))) == ["four", "told late"]


def test_a_changed_line_is_new() -> None:
    assert _unread(ReadMark(A), OLD.replace(b"two", b"two and a half")) == ["two and a half"]


@pytest.mark.parametrize(
    "mark",
    [ReadMark(), ReadMark(A), ReadMark(A, B, f"20260201T1002;{LOG};00000005"), ReadMark("", B, "0;x;1")],
)
def test_a_mark_is_read_as_it_was_written(mark: ReadMark) -> None:
    assert ReadMark.parse(mark.render()) == mark


def test_of_a_mark_with_many_others_the_first_two_count() -> None:
    text = ", without backlog ".join([A, "nothing"] + [A] * 5_000)
    assert ReadMark.parse(text) == ReadMark(A, otherwise=ReadMark())


def test_a_line_of_blanks_is_looked_at_once() -> None:
    blanks = b"- x" + b" " * 200_000 + b"x\n"
    started = time.process_time()
    found = list(unread_passages([(LOG, NOW)], ReadMark(A), lambda *_: blanks, ZONE))
    assert len(found) == 5
    assert time.process_time() - started < 3


@pytest.mark.parametrize("text", ["", "everything", A[:39], f"{A}, later", "nothing, \x00"])
def test_what_is_no_mark_marks_nothing(text: str) -> None:
    assert ReadMark.parse(text) == ReadMark()


WORDS = st.text(max_size=80)


@given(WORDS, WORDS, WORDS)
def test_items_come_back_as_they_were(text: str, quote: str, steps: str) -> None:
    left = [
        items.fact(
            "person--ines",
            text,
            [Evidence("episode:2026-02-01:10:00", quote)],
            reason="Said.",
            needs=("person--ines",),
        ),
        items.procedure("procedure:x", text, [steps], [], reason=quote, when=text),
    ]

    backlog = parse_backlog(render_backlog("r-003", left), "r-003", 10)

    assert backlog == Backlog(tuple(left))


def test_what_is_not_its_turn_is_handed_on() -> None:
    left = [items.fact("person--ines", f"Fact {number}", [], reason="Said.") for number in range(5)]
    first = parse_backlog(render_backlog("r-003", left), "r-003", 2)
    assert first is not None
    second = parse_backlog(render_backlog("r-004", first.items[1:], first.later), "r-004", 10)

    assert first.items == tuple(left[:2])
    assert second == Backlog(tuple(left[1:]))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\xff",
        b'"r-003"\n{}',
        b'"r-003"\n[]',
        b'"r-003"\n{"id":1,"evidence":[],"needs":[],"fields":[]}',
        b'"r-003"\n{"id":"","evidence":0,"needs":[],"fields":[]}',
    ],
)
def test_a_damaged_file_is_none(content: bytes) -> None:
    assert parse_backlog(content, "r-003", 10) is None


def test_the_backlog_of_another_reflection_is_none() -> None:
    assert parse_backlog(render_backlog("r-002", []), "r-003", 10) is None
