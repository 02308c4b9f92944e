"""Episode logs and daily logs: tolerant reading, and appending that nothing can break out of."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.engine.markdown.hostile_text import any_bytes, texts
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.markdown.episodes import DailyLog, EpisodeLog, NewEntry
from workbench.engine.markdown.source import text_lines

PATH = "memory/episodes/2026-02-02.md"


def read(text: str) -> EpisodeLog:
    return EpisodeLog.parse(text.encode(), PATH)


def appended(log: EpisodeLog, entry: NewEntry) -> EpisodeLog:
    return log.append_entries([entry])


def test_the_sample_of_the_design_document_is_read() -> None:
    log = read(
        "# 2026-02-02 — Episode Log\n\n"
        "## 14:30 | decision | confidence:high | tags:[memory, architecture]\n"
        "Chose hybrid approach:\nmulti-store.\n\n"
        "## 15:45 | preference | confidence:medium | tags:[workflow] | source:user-explicit"
        " | mood:calm: very\nOptions.\n"
    )
    first, second = log.entries
    assert (first.id, first.type, first.confidence, first.tags, first.source) == (
        "episode:2026-02-02:14:30",
        "decision",
        "high",
        ("memory", "architecture"),
        "conversation",
    )
    assert first.body == "Chose hybrid approach:\nmulti-store."
    assert (first.span.start, first.span.end) == (3, 5)
    assert (second.source, second.extra) == ("user-explicit", (("mood", "calm: very"),))
    assert log.problems == ()


def test_full_width_punctuation_and_chinese_names_are_read() -> None:
    (entry,) = read(
        "## 14：30 ｜ 决定 ｜ 置信度：高 ｜ 标签：［记忆，架构、设计］\n选择了混合方案。\n"
    ).entries
    assert (entry.time, entry.type, entry.confidence, entry.tags) == (
        "14:30",
        "决定",
        "高",
        ("记忆", "架构", "设计"),
    )


def test_same_minute_gets_numbers_of_its_own() -> None:
    log = read("## 14:30 | a\n\n## 14:30 | b\n\n## 14:30 #2 | c\n")
    assert [entry.id for entry in log.entries] == [
        "episode:2026-02-02:14:30",
        "episode:2026-02-02:14:30#2",
        "episode:2026-02-02:14:30#3",
    ]
    assert [problem.line for problem in log.problems] == [5]


def test_a_broken_heading_is_reported_and_hides_nothing() -> None:
    log = read("# Day\n\n## 14:30 | event\nyes\n\n## Notes\nlost?\n\n## 25:99 | event\n\n## 16:00\nstill\n")
    assert [entry.body for entry in log.entries] == ["yes", "still"]
    assert [(problem.line, problem.path) for problem in log.problems] == [(6, PATH), (9, PATH), (11, PATH)]


def test_a_new_file_gets_its_title() -> None:
    log = appended(
        EpisodeLog.parse(b"", PATH), NewEntry("14:30", "Chose it.", "decision", tags=("memory", "a b"))
    )
    assert log.render().decode() == (
        "# 2026-02-02 — Episode Log\n\n"
        "## 14:30 | decision | confidence:high | tags:[memory, a b]\nChose it.\n"
    )
    assert log.entries[-1].tags == ("memory", "a b")


def test_line_ends_of_the_file_are_used() -> None:
    log = appended(EpisodeLog.parse(b"## 14:30 | event\r\nold", PATH), NewEntry("14:30", "one\ntwo"))
    assert log.render() == (
        b"## 14:30 | event\r\nold\r\n\r\n## 14:30 #2 | event | confidence:high\r\none\r\ntwo\r\n"
    )


@given(bodies=st.lists(texts(), min_size=1, max_size=4))
def test_every_body_parses_back_after_every_append(bodies: list[str]) -> None:
    log = EpisodeLog.parse(b"", PATH)
    for body in bodies:
        before = log.render()
        log = appended(log, NewEntry("14:30", body, tags=("x",)))
        assert log.render().startswith(before)
    assert [entry.body for entry in log.entries] == ["\n".join(text_lines(body)) for body in bodies]
    assert [entry.number for entry in log.entries] == list(range(1, len(bodies) + 1))
    assert log.problems == ()


@example(content=b"<div\r", body="")
@given(content=any_bytes, body=texts())
def test_appending_to_any_file_keeps_what_is_there(content: bytes, body: str) -> None:
    old = EpisodeLog.parse(b"## 09:00 | event\n" + content, PATH)
    new = appended(old, NewEntry("14:30", body, source="reflection", extra=(("note", "a | b #"),)))
    assert new.render().startswith(old.render())
    assert [entry.id for entry in new.entries] == [*(e.id for e in old.entries), new.entries[-1].id]
    assert new.entries[-1].body == "\n".join(text_lines(body))
    assert (new.entries[-1].source, new.entries[-1].extra) == ("reflection", (("note", "a / b"),))


@given(
    fields=st.tuples(texts(), texts(), texts()),
)
def test_fields_cannot_forge_other_fields(fields: tuple[str, str, str]) -> None:
    kind, tag, note = fields
    new = NewEntry("14:30", "b", type=kind, tags=(tag,), extra=(("n", note),))
    entry = appended(EpisodeLog.parse(b"", PATH), new).entries[-1]
    assert (entry.source, entry.confidence, entry.body) == ("conversation", "high", "b")


def test_an_entry_can_be_taken_out_again() -> None:
    log = read("# Day\n\n## 14:30 | event\none\n")
    more = appended(log, NewEntry("15:00", "two\n## three"))
    assert more.remove_entry("episode:2026-02-02:15:00").render() == log.render()
    assert more.remove_entry("episode:2026-02-02:14:30").entries[0].body == "two\n## three"
    with pytest.raises(NotFound):
        log.remove_entry("episode:2026-02-02:15:00")


def test_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="25:00"):
        appended(EpisodeLog.parse(b"", PATH), NewEntry("25:00", "x"))


def test_an_open_fence_by_hand_does_not_swallow_the_next_entry() -> None:
    log = appended(read("## 14:30 | event\n```\nleft open"), NewEntry("15:00", "seen"))
    assert [entry.body for entry in log.entries] == ["```\nleft open\n```", "seen"]


BULLETS = """# 2023-05-08

Before anything.

## Session with Ada and Ben at 13:56, 8 May 2023

- 13:56 Ada: Hey Ben!
- 13:58 Ben: I saw: a [image: cat]
- 15:01 Ada: Back again.
  With more.
- 15:02 Ben: Good.

## Later
Nothing with times.
"""


def test_headings_and_pauses_part_a_day() -> None:
    log = DailyLog.parse(BULLETS.encode(), "memory/2023-05-08-chat.md")
    assert (log.date, log.slug, log.title) == ("2023-05-08", "chat", "2023-05-08")
    assert [
        (entry.time, entry.title, len(entry.turns), entry.span.start, entry.span.end) for entry in log.entries
    ] == [
        (None, "Before anything.", 0, 3, 3),
        ("13:56", "Session with Ada and Ben at 13:56, 8 May 2023", 2, 5, 8),
        ("15:01", "15:01 Ada: Back again.", 2, 9, 11),
        (None, "Later", 0, 13, 14),
    ]
    turn = log.entries[1].turns[1]
    assert (turn.time, turn.speaker, turn.text) == ("13:58", "Ben", "I saw: a [image: cat]")
    assert log.entries[2].turns[0].text == "Back again.\nWith more."


def test_heading_turns_are_read_with_what_follows() -> None:
    log = DailyLog.parse(
        b"# 2024-04-25\n\n## 09:00 user\nCheck this:\n```\n## 10:00 not me\n```\n\n## 09:01 assistant\nDone.\n",
        "memory/2024-04-25.md",
    )
    assert [(entry.time, entry.title) for entry in log.entries] == [
        ("09:00", "user: Check this:"),
        ("09:01", "assistant: Done."),
    ]
    assert log.entries[0].turns[0].text == "Check this:\n```\n## 10:00 not me\n```"


def test_a_fence_that_a_message_left_open_ends_with_its_section() -> None:
    log = DailyLog.parse(
        b"# 2024-04-25\n\n## 09:00 user\nMy code:\n```python\nif x:\n\n## 09:01 assistant\nTry this:\n```\ny\n```\n\n"
        b"## 09:02 user\n- See:\n  ```\n  z\n\n## 09:03 assistant\n~~~\nw\n",
        "memory/2024-04-25.md",
    )
    assert [(entry.title, entry.span.start, entry.span.end) for entry in log.entries] == [
        ("user: My code:", 3, 6),
        ("assistant: Try this:", 8, 12),
        ("user: - See:", 14, 17),
        ("assistant: ~~~", 19, 21),
    ]
    assert log.entries[0].text == "## 09:00 user\nMy code:\n```python\nif x:"


def test_a_log_in_a_fence_stays_in_it() -> None:
    pasted = "Look:\n```\n# 2024-04-24\n\n## 10:00 user\nHi\n\n## 10:01 assistant\nHo\n```\nWhat is it?"
    log = DailyLog.parse(
        f"## 09:00 user\n{pasted}\n\n## 09:01 assistant\nA log:\n```sh\nls\n\n## 09:02 user\nOh.\n".encode(),
        "memory/2024-04-25.md",
    )
    assert [entry.title for entry in log.entries] == ["user: Look:", "assistant: A log:", "user: Oh."]
    assert log.entries[0].turns[0].text == pasted


def test_chinese_logs_are_read() -> None:
    log = DailyLog.parse(
        "# 日志\r\n\r\n## 会议\r\n- 9：05 小明：你好 世界\r\n- 9:06 小红： 好\r\n".encode(),
        "memory/2026-02-02.md",
    )
    assert [(turn.time, turn.speaker) for turn in log.entries[0].turns] == [("09:05", ""), ("09:06", "小红")]


@given(content=any_bytes)
def test_entries_follow_one_another_and_cover_the_text(content: bytes) -> None:
    log = DailyLog.parse(b"intro\n\n# not the title\n\n" + content, "memory/2026-02-02.md")
    ends = 0
    for entry in log.entries:
        assert entry.span.start > ends
        assert entry.text == log.source.text_of(entry.span)
        ends = entry.span.end
