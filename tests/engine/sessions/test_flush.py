"""The memory flush: its threshold, once in each cycle, where it is skipped, and what a model answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.results.sessions import FlushCheck
from workbench.engine.sessions.compaction import (
    MOST_MEMORIES,
    FlushAnswer,
    check_flush,
    flush_thresholds,
    read_answer,
)
from workbench.engine.sessions.store import SessionEntry
from workbench.engine.settings.sections import FlushSettings

USUAL = FlushSettings()


def check(entry: dict[str, Any] | None = None, **options: Any) -> FlushCheck:
    chosen = {"window": 200_000, "tokens": 180_000, **options}
    return check_flush(SessionEntry(entry or {}), chosen.pop("settings", USUAL), **chosen)


@pytest.mark.parametrize(
    ("window", "flush_at", "compact_at"),
    [(200_000, 176_000, 180_000), (32_768, 20_576, 24_576), (8_000, 3_000, 6_000)],
)
def test_each_window_has_its_threshold(window: int, flush_at: int, compact_at: int) -> None:
    found = flush_thresholds(window, USUAL)
    assert (found.flush_at, found.compact_at) == (flush_at, compact_at)


@given(st.integers(1, 10_000_000), st.integers(0, 10_000_000), st.integers(0, 10_000_000))
def test_every_window_is_flushed_before_it_is_compacted(window: int, reserve: int, soft: int) -> None:
    found = flush_thresholds(window, FlushSettings(reserve_tokens=reserve, soft_threshold_tokens=soft))
    assert 0 < found.flush_at <= found.compact_at <= window


@pytest.mark.parametrize(
    ("tokens", "due"), [(175_999, False), (176_000, True), (250_000, True), (None, False)]
)
def test_it_is_due_from_the_threshold_on(tokens: int | None, due: bool) -> None:
    assert check(tokens=tokens).due is due


def test_a_cycle_is_flushed_once() -> None:
    assert check({"compactionCount": 2, "memoryFlushCompactionCount": 1}).due
    assert not check({"compactionCount": 2, "memoryFlushCompactionCount": 2}).due
    assert not check({"memoryFlushCompactionCount": 0}).due


def test_a_flush_that_compacts_leaves_the_next_cycle_to_be_flushed() -> None:
    entry = SessionEntry({"compactionCount": 0})
    for cycle in range(4):
        assert check_flush(entry, USUAL, window=200_000, tokens=180_000).due, cycle
        began_in = entry.compactions
        entry = entry.with_fields(compactionCount=entry.compactions + 1)
        entry = entry.with_fields(memoryFlushCompactionCount=began_in)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"heartbeat": True}, "heartbeat"),
        ({"writable": False}, "write"),
        ({"settings": FlushSettings(enabled=False)}, "turned off"),
        ({"entry": {"cliSessionIds": {"claude": "x"}}}, "context of its own"),
        ({"entry": {"claudeCliSessionId": "x"}}, "context of its own"),
    ],
)
def test_it_is_skipped_and_says_why(options: dict[str, Any], word: str) -> None:
    found = check(options.pop("entry", None), **options)
    assert not found.due
    assert word in found.reason


@pytest.mark.parametrize(
    "answer", ["NO_REPLY", " no_reply ", "**NO_REPLY**", "", "Nothing to add.", "- NO_REPLY"]
)
def test_nothing_is_kept_where_nothing_is_worth_it(answer: str) -> None:
    assert read_answer(answer, [1, 2]) == ()


def test_a_list_is_read_with_its_lines() -> None:
    answer = (
        "Here:\n- Alex likes tea. [L2]\n* Bo leads (L3)\n2. Third one [L99]\n- Fourth\n- Alex likes tea. [L2]\n"
        "- Range [L1-L2]"
    )
    assert read_answer(answer, [1, 2, 3]) == (
        FlushAnswer("Alex likes tea.", 2),
        FlushAnswer("Bo leads", 3),
        FlushAnswer("Third one", None),
        FlushAnswer("Fourth", None),
        FlushAnswer("Range", 1),
    )


def test_a_flood_is_cut() -> None:
    flood = "\n".join(f"- memory {number}" for number in range(1000)) + "\n- " + "x" * 5000
    assert len(read_answer(flood, [])) == MOST_MEMORIES


@given(st.text())
def test_any_answer_is_read(answer: str) -> None:
    for each in read_answer(answer, [1]):
        assert each.text
        assert each.line in (1, None)
