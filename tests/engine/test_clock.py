from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from workbench.engine.clock import (
    FixedClock,
    SystemClock,
    clock_from_environment,
    in_zone,
    parse_time,
    render_time,
)
from workbench.engine.errors import InvalidInput


def test_the_environment_fixes_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_NOW", "2026-02-02T14:30:00+01:00")
    assert clock_from_environment().now() == datetime(2026, 2, 2, 13, 30, tzinfo=UTC)
    monkeypatch.delenv("WORKBENCH_NOW")
    assert isinstance(clock_from_environment(), SystemClock)


def test_a_time_that_is_none_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_NOW", "tomorrow")
    with pytest.raises(InvalidInput, match="WORKBENCH_NOW"):
        clock_from_environment()


@pytest.mark.parametrize("text", ["2026-02-02T14:30Z", "2026-02-02 14:30", "2026-02-02T15:30+01:00"])
def test_times_are_read_as_utc(text: str) -> None:
    assert parse_time(text) == datetime(2026, 2, 2, 14, 30, tzinfo=UTC)


def test_a_fixed_clock_moves_when_told() -> None:
    clock = FixedClock(datetime(2026, 2, 2, tzinfo=timezone(timedelta(hours=1))))
    clock.advance(days=1)
    assert render_time(clock.now()) == "2026-02-02T23:00:00Z"


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00Z", "0999-12-31", "9000-01-01", "9999-12-31T23:59:59Z"]
)
def test_a_clock_at_an_end_of_the_calendar_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    monkeypatch.setenv("WORKBENCH_NOW", moment)
    with pytest.raises(InvalidInput, match="WORKBENCH_NOW") as raised:
        clock_from_environment()
    assert "1000 to 8999" in str(raised.value.remedy)


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles", "UTC"])
@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00", "9999-12-31T23:59:59", "2026-02-02T12:00:00"])
def test_every_moment_has_a_time_in_every_zone(moment: str, zone: str) -> None:
    asked = datetime.fromisoformat(moment + "+00:00")
    found = in_zone(asked, ZoneInfo(zone))
    assert found.tzinfo == ZoneInfo(zone)
    assert abs(found.replace(tzinfo=UTC) - asked) <= timedelta(hours=14)
