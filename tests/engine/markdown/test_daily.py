"""Flat daily logs as stretches of a day."""

from __future__ import annotations

from hypothesis import given

from tests.engine.markdown.hostile_text import any_bytes
from workbench.engine.markdown.episodes import DailyLog

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
