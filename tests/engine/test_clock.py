from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from workbench.engine.clock import FixedClock, SystemClock, clock_from_environment, parse_time, render_time
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
