"""What a transcript looks like, and the Markdown in it: nothing said is lost, obeyed, or wider than there is room."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.display.ink import Line, line_width, plain_text
from workbench.display.markdown import markdown_lines
from workbench.display.transcript import DAY, Look, Stretch, page_entries, stretch_lines
from workbench.engine.results.sessions import SessionLine, SessionProblem, TranscriptPage

NOW = datetime(2026, 11, 24, 9, 0, tzinfo=UTC)
LOOK = Look(80, digits=3)
FERRY = "episode:2026-11-22:18:20"


def line(number: int, text: str, role: str = "user", tools: tuple[str, ...] = ()) -> SessionLine:
    moment = NOW - timedelta(days=1) + timedelta(minutes=number)
    citation = f"file:sessions/s.jsonl#L{number}"
    return SessionLine(number, f"e{number}", "message", role, moment, text, tools, citation)


def drawn(page: TranscriptPage, look: Look = LOOK, names: dict[str, str] | None = None) -> list[Line]:
    last = max([each.line for each in page.lines] + [each.line or 0 for each in page.problems])
    entries = page_entries(page, page.first, last, names or {}, look, NOW)
    return [row for entry in entries for row in entry.rows]


def texts(page: TranscriptPage, look: Look = LOOK, names: dict[str, str] | None = None) -> str:
    return "\n".join(plain_text(row) for row in drawn(page, look, names))


def test_who_said_what_and_when_under_its_day() -> None:
    page = TranscriptPage(1, (line(1, "Booked!"), line(2, "Good: **4 December**.", "assistant")))
    rows = [plain_text(row) for row in drawn(page)]
    assert rows[0] == f"{DAY}Yesterday, Monday 23 November"
    assert rows[2].split() == ["1", "you", "Booked!", "09:01"]
    assert rows[3].split() == ["2", "agent", "Good:", "4", "December.", "09:02"]


def test_a_day_is_named_once_also_where_a_page_begins_within_it() -> None:
    page = TranscriptPage(64, (line(64, "a"), line(65, "b")))
    entries = page_entries(page, 65, 65, {}, LOOK, NOW)
    assert [entry.number for entry in entries] == [65]
    assert len(entries[0].rows) == 1


def test_a_line_says_what_it_became_and_what_it_used() -> None:
    page = TranscriptPage(
        1,
        (line(1, "Booked for two"), line(2, f"Looked at {FERRY}", "toolResult")),
        memories={1: (FERRY, "core:gone")},
    )
    shown = texts(page, names={FERRY: "The ferry is booked"})
    assert "◷ became The ferry is booked" in shown
    assert "◷ used The ferry is booked" in shown
    assert "core:gone" not in shown
    links = {span.link for row in drawn(page, names={FERRY: "The ferry"}) for span in row}
    assert FERRY in links


def test_tools_take_one_line_until_one_looks_closer() -> None:
    asked = line(1, 'Let me look.\n→ read {"path": "a.md"}', "assistant", tools=("read",))
    page = TranscriptPage(1, (asked, line(2, "one\ntwo\nthree", "toolResult")))
    folded = texts(page)
    assert "Let me look." in folded
    assert '▸ read {"path": "a.md"}' in folded
    assert "◂ one two three" in folded
    assert "3 lines" in folded
    assert "\n" + " " * LOOK.before + "three" in texts(page, replace(LOOK, closeness=2))
    assert "\n" + " " * LOOK.before + "three" in texts(page, replace(LOOK, unfolded=frozenset({2})))


def test_a_long_text_is_folded_and_says_how_much_is_not_shown() -> None:
    page = TranscriptPage(1, (line(1, "\n".join(f"point {number}" for number in range(40))),))
    assert "… 28 more rows; enter unfolds them" in texts(page)
    assert "point 39" in texts(page, replace(LOOK, closeness=1))


def test_several_people_are_named_and_a_subagent_goes_by_its_name() -> None:
    page = TranscriptPage(1, (line(1, "Sam: I trust the ferry."), line(2, "So do I.", "assistant")))
    rows = texts(page, replace(LOOK, shared=True, agent="researcher")).splitlines()
    assert rows[-2].split()[:3] == ["1", "Sam", "I"]
    assert rows[-1].split()[:2] == ["2", "researcher"]


def test_what_cannot_be_read_is_told_in_its_place() -> None:
    problem = SessionProblem(2, "This line is no JSON; it was skipped.")
    page = TranscriptPage(1, (line(1, "a"), line(3, "c")), (problem,))
    assert "This line cannot be read: is no JSON." in texts(page)


def test_evidence_stands_out() -> None:
    page = TranscriptPage(1, (line(1, "a"), line(2, "b"), line(3, "c")))
    strong = [
        row
        for row in drawn(page, replace(LOOK, marked=(2, 2)))
        if any(s.role == "strong" and s.text == "b" for s in row)
    ]
    assert len(strong) == 1


def test_evidence_is_shown_whole_however_long_its_line_is() -> None:
    page = TranscriptPage(1, (line(1, "word\n\n" * 40), line(2, "word\n\n" * 40 + "the quote")))
    stretch = Stretch(page, 2, {}, NOW, "", shared=False)
    shown = [plain_text(row) for row in stretch_lines(stretch, 80, (2, 2))]
    assert any("the quote" in row for row in shown)
    assert sum("enter unfolds them" in row for row in shown) == 1


def test_markdown_is_rendered_line_by_line() -> None:
    text = (
        "# Plan\nGo *on*, **now** with `x*y`:\n- one\n  1. two\n> said\n```py\n  a  b\n```\n"
        "[[person--mei|Mei]] snake_case_name 2*3*4"
    )
    rows = markdown_lines(text, 60)
    assert [plain_text(row) for row in rows] == [
        "Plan", "Go on, now with x*y:", "• one", "  1. two", "▏ said", "py", "  a  b", "Mei snake_case_name 2*3*4",
    ]  # fmt: skip
    roles = {span.text: span.role for row in rows for span in row}
    assert (roles["on"], roles["now"], roles["x*y"], roles["  a  b"]) == (
        "emphasis",
        "strong",
        "code",
        "code",
    )


@pytest.mark.parametrize(
    "hidden", ["``` a `` b ```", "> > deep", "**", "# ", "[x](y", "[b]bold[/b]", "<script>"]
)
def test_no_markup_hides_words(hidden: str) -> None:
    shown = "".join(plain_text(row) for row in markdown_lines(hidden, 60))
    assert all(word in shown for word in ("a", "b", "deep", "x", "bold", "script") if word in hidden)


@given(st.text(max_size=300), st.integers(24, 120))
def test_markdown_never_overflows(text: str, width: int) -> None:
    assert all(line_width(row) <= width for row in markdown_lines(text, width))


@given(
    st.text(max_size=200),
    st.sampled_from(["user", "assistant", "toolResult", "system", "\x1b[31m"]),
    st.integers(36, 160),
)
def test_nothing_said_overflows_or_moves_the_cursor(text: str, role: str, width: int) -> None:
    page = TranscriptPage(1, (line(1, text, role),), memories={1: (FERRY,)})
    for row in drawn(page, replace(LOOK, width=width), {FERRY: text}):
        assert line_width(row) <= width
        assert "\x1b" not in plain_text(row)
