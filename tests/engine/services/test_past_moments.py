"""What people write for a moment, in zones where clocks are put forward and back."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from workbench.engine.errors import InvalidInput
from workbench.engine.services.past import read_time

STOCKHOLM = ZoneInfo("Europe/Stockholm")
NOW = datetime(2026, 10, 30, 12, 0, tzinfo=STOCKHOLM)


def read(text: str, zone: ZoneInfo = STOCKHOLM, *, end: bool = True) -> str:
    return read_time(text, "time", NOW.astimezone(zone), end=end).astimezone(UTC).isoformat()[:19]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-02-02", "2026-02-01T23:00:00", "2026-02-02T22:59:59"),
        ("2026-02-02T14:30", "2026-02-02T13:30:00", "2026-02-02T13:30:00"),
        ("2026-02-02T14:30Z", "2026-02-02T14:30:00", "2026-02-02T14:30:00"),
        # Put forward from 02:00 to 03:00: never shown.
        ("2026-03-29T02:30", "2026-03-29T01:00:00", "2026-03-29T00:59:59"),
        ("2026-03-29", "2026-03-28T23:00:00", "2026-03-29T21:59:59"),
        # Put back from 03:00 to 02:00: shown twice.
        ("2026-10-25T02:30", "2026-10-25T00:30:00", "2026-10-25T01:30:00"),
        ("2026-10-25", "2026-10-24T22:00:00", "2026-10-25T22:59:59"),
        ("now", "2026-10-30T11:00:00", "2026-10-30T11:00:00"),
        ("2d", "2026-10-28T11:00:00", "2026-10-28T11:00:00"),
        ("yesterday", "2026-10-28T23:00:00", "2026-10-29T22:59:59"),
    ],
)
def test_times_mean_what_clocks_of_the_zone_show(text: str, first: str, last: str) -> None:
    assert read(text, end=False) == first
    assert read(text, end=True) == last


def test_a_day_that_ends_or_begins_in_the_change_is_whole() -> None:
    # Put back at midnight, so that the last hour of the day comes twice; and forward at midnight.
    azores = ZoneInfo("Atlantic/Azores")
    assert read("2026-10-25", azores, end=False) == "2026-10-25T00:00:00"
    assert read("2026-10-25", azores) == "2026-10-26T00:59:59"
    havana = ZoneInfo("America/Havana")
    assert read("2026-03-08", havana, end=False) == "2026-03-08T05:00:00"


@pytest.mark.parametrize("text", ["soon", "2026-02-30", "", "3x", "2026-02-02T25:00"])
def test_what_is_no_time_is_an_error_of_ours(text: str) -> None:
    with pytest.raises(InvalidInput):
        read(text)
