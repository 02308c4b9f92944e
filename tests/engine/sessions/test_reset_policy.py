"""When a session ends: daily also when clocks change, after silence, both, never, by type and channel; triggers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.errors import InvalidInput
from workbench.engine.sessions.keys import (
    ResetPolicy,
    ResetRules,
    boundary_after,
    freshness,
    parse_key,
    parse_policy,
    read_trigger,
    render_policy,
)

BERLIN = ZoneInfo("Europe/Berlin")
DAILY = ResetPolicy(4, None)
ZONES = st.sampled_from(
    ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Taipei", "UTC", "Africa/Cairo"]
)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("updated", "now", "fresh"),
    [
        ("2026-01-24T03:59", "2026-01-24T03:59", True),
        ("2026-01-24T03:59", "2026-01-24T04:00", False),
        ("2026-01-24T04:00", "2026-01-25T03:59", True),
        ("2026-01-24T04:00", "2026-01-25T04:00", False),
        ("2026-01-20T12:00", "2026-01-24T12:00", False),
    ],
)
def test_a_day_ends_at_four_on_the_wall(updated: str, now: str, fresh: bool) -> None:
    found = freshness(at(updated), at(now), BERLIN, DAILY)
    assert (found.fresh, found.reason) == (fresh, "" if fresh else "daily")


@pytest.mark.parametrize(
    ("hour", "after", "boundary"),
    [
        # Clocks go from 02:00 to 03:00: four o'clock comes an hour sooner, and half past two never.
        (4, "2026-03-28T12:00+01:00", "2026-03-29T02:00+00:00"),
        (2, "2026-03-28T12:00+01:00", "2026-03-29T01:00+00:00"),
        (2, "2026-03-29T03:30+02:00", "2026-03-30T00:00+00:00"),
        # And back: two o'clock comes twice, and the first counts.
        (2, "2026-10-24T12:00+02:00", "2026-10-25T00:00+00:00"),
        (2, "2026-10-25T02:30+02:00", "2026-10-26T01:00+00:00"),
        (4, "2026-10-24T12:00+02:00", "2026-10-25T03:00+00:00"),
    ],
)
def test_days_on_which_clocks_change_have_their_boundary(hour: int, after: str, boundary: str) -> None:
    assert boundary_after(datetime.fromisoformat(after), hour, BERLIN) == datetime.fromisoformat(boundary)


@given(st.integers(1_577_836_800, 1_893_456_000), st.integers(0, 23), ZONES)
def test_a_boundary_lies_within_the_next_day_and_an_hour(seconds: int, hour: int, zone: str) -> None:
    start = datetime.fromtimestamp(seconds, UTC)
    end = boundary_after(start, hour, ZoneInfo(zone))
    assert timedelta(0) < end - start <= timedelta(hours=26)
    assert boundary_after(end - timedelta(seconds=1), hour, ZoneInfo(zone)) == end


@pytest.mark.parametrize(("minutes", "fresh"), [(59, True), (60, True), (61, False)])
def test_silence_ends_a_session(minutes: int, fresh: bool) -> None:
    start = at("2026-01-24T12:00")
    found = freshness(start, start + timedelta(minutes=minutes), BERLIN, ResetPolicy(None, 60))
    assert (found.fresh, found.reason) == (fresh, "" if fresh else "idle")


def test_of_both_the_first_counts() -> None:
    both = ResetPolicy(4, 60)
    assert freshness(at("2026-01-24T12:00"), at("2026-01-24T14:00"), BERLIN, both).reason == "idle"
    assert freshness(at("2026-01-24T03:30"), at("2026-01-24T04:10"), BERLIN, both).reason == "daily"


def test_none_never_ends_one() -> None:
    assert freshness(at("2020-01-01T00:00"), at("2026-01-01T00:00"), BERLIN, ResetPolicy(None, None)).fresh
    assert freshness(None, at("2026-01-01T00:00"), BERLIN, ResetPolicy(None, None)).fresh
    assert not freshness(None, at("2026-01-01T00:00"), BERLIN, DAILY).fresh


def test_channel_is_stronger_than_type_and_type_than_default() -> None:
    rules = ResetRules(
        by_type={"group": ResetPolicy(None, 1), "dm": ResetPolicy(None, 2), "thread": ResetPolicy(None, 3)},
        by_channel={"discord": ResetPolicy(None, 4)},
    )
    idle = {
        "agent:a:telegram:group:1": 1, "agent:a:direct:x": 2, "agent:a:main": 2, "agent:a:main:thread:1": 3,
        "agent:a:discord:group:1": 4, "agent:a:discord:group:1:topic:2": 4,
    }  # fmt: skip
    assert {key: rules.of(parse_key(key)).idle_minutes for key in idle} == idle


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("/new", ("/new", "")),
        ("  /NEW hello there ", ("/new", "hello there")),
        ("/reset\nhello", ("/reset", "hello")),
        ("/newer", None),
        ("say /new", None),
        ("", None),
    ],
)
def test_a_trigger_begins_a_message(message: str, found: tuple[str, str] | None) -> None:
    assert read_trigger(message) == found


POLICIES = st.builds(ResetPolicy, st.none() | st.integers(0, 23), st.none() | st.integers(1, 5_000_000))


@given(POLICIES)
def test_a_policy_is_written_and_read(policy: ResetPolicy) -> None:
    assert parse_policy(render_policy(policy)) == policy


def test_what_is_left_out_of_a_policy_has_its_default() -> None:
    assert parse_policy("daily") == ResetPolicy(4, None)
    assert parse_policy("idle") == ResetPolicy(None, 60)
    assert parse_policy("Daily  5 idle 30") == ResetPolicy(5, 30)


@pytest.mark.parametrize(
    "text", ["", "weekly", "daily 24", "idle 0", "idle -1", "none daily", "daily 4 daily 5"]
)
def test_what_is_no_policy_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_policy(text)
