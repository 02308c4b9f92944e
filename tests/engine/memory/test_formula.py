"""The relevance formula against an independent computation."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, getcontext
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.memory.decay import (
    Thresholds,
    days_between,
    days_until,
    displayed,
    half_life,
    score,
    status_of,
)

getcontext().prec = 40
BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
ORDER = ["active", "fading", "dormant", "archived"]


def exact(base: float, lambda_: float, days: int, count: int, weight: float) -> Decimal:
    doublings = (Decimal(count) + 1).ln() / Decimal(2).ln()
    return Decimal(base) * (-Decimal(lambda_) * days).exp() * doublings * Decimal(weight)


bases = st.floats(0, 1)
lambdas = st.floats(0, 1)
counts = st.integers(1, 10_000)
weights = st.floats(0, 10)


@given(bases, lambdas, st.integers(0, 2000), counts, weights)
def test_it_is_the_design_documents_formula(
    base: float, lambda_: float, days: int, count: int, weight: float
) -> None:
    expected = exact(base, lambda_, days, count, weight)
    assert math.isclose(
        score(base, lambda_, days, count, weight), float(expected), rel_tol=1e-9, abs_tol=1e-300
    )


@pytest.mark.parametrize(
    ("base", "days", "count", "weight", "expected"),
    [
        (1.0, 0, 1, 0.8, 0.8),  # a new explicit memory starts at base × type weight
        (1.0, 0, 2, 0.8, 0.8 * math.log2(3)),
        (0.7, 13, 1, 1.2, 0.7 * math.exp(-0.39) * 1.2),
        (0.5, 100, 7, 1.0, 0.5 * math.exp(-3) * 3),
    ],
)
def test_known_values(base: float, days: int, count: int, weight: float, expected: float) -> None:
    assert score(base, 0.03, days, count, weight) == pytest.approx(expected, rel=1e-12)


def test_pinned_and_vault_never_decay() -> None:
    assert score(0.5, 0.03, 10_000, 1, 1.0, pinned=True) == math.inf
    assert score(0.5, 0.03, 10_000, 1, math.inf) == math.inf
    assert displayed(math.inf) == 1.0


@given(bases, lambdas, st.integers(0, 500), counts, weights)
def test_time_never_raises_and_access_never_lowers(
    base: float, lambda_: float, days: int, count: int, weight: float
) -> None:
    now = score(base, lambda_, days, count, weight)
    assert score(base, lambda_, days + 1, count, weight) <= now
    assert score(base, lambda_, days, count + 1, weight) >= now


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (1.0, "active"),
        (0.5, "active"),
        (0.49999, "fading"),
        (0.2, "fading"),
        (0.19999, "dormant"),
        (0.05, "dormant"),
        (0.04999, "archived"),
        (0.0, "archived"),
    ],
)
def test_status_at_and_below_each_threshold(value: float, status: str) -> None:
    assert status_of(value, Thresholds()) == status


def test_half_life_is_about_23_days() -> None:
    assert half_life(0.03) == pytest.approx(23.1, abs=0.01)
    assert half_life(0) == math.inf
    assert score(1, 0.03, half_life(0.03), 1, 1) == pytest.approx(0.5)


@given(st.floats(0, 1), bases, st.floats(0.001, 1), counts, weights)
def test_days_until_is_the_first_day_below(
    threshold: float, base: float, lambda_: float, count: int, weight: float
) -> None:
    day = days_until(threshold, base, lambda_, count, weight)
    if day is None:
        assert threshold == 0 or displayed(score(base, lambda_, 100_000, count, weight)) >= threshold - 1e-300
    else:
        assert displayed(score(base, lambda_, day, count, weight)) < threshold
        assert day == 0 or displayed(score(base, lambda_, day - 1, count, weight)) >= threshold


def test_nothing_falls_without_decay() -> None:
    assert days_until(0.5, 1, 0, 1, 1) is None
    assert days_until(0.5, 1, 0.03, 1, math.inf) is None
    assert days_until(0.0, 1, 0.03, 1, 1) is None
    assert days_until(0.5, 0.4, 0.03, 1, 1) == 0
    assert days_until(0.5, 1, 5e-324, 1, 1) is None
    assert days_until(5e-324, 1, 1, 1, 1) == 746  # e^-745 is that smallest number itself


@pytest.mark.parametrize(
    ("last", "now", "zone", "days"),
    [
        # a minute over midnight in the zone is a day, 23 hours within one are none
        (datetime(2026, 2, 2, 22, 59, tzinfo=UTC), datetime(2026, 2, 2, 23, 1, tzinfo=UTC), BERLIN, 1),
        (datetime(2026, 2, 2, 22, 59, tzinfo=UTC), datetime(2026, 2, 2, 23, 1, tzinfo=UTC), UTC, 0),
        (datetime(2026, 2, 1, 23, 0, tzinfo=UTC), datetime(2026, 2, 2, 22, 59, tzinfo=UTC), BERLIN, 0),
        # the days on which clocks are set, of 23 and of 25 hours
        (datetime(2026, 3, 28, 23, 0, tzinfo=UTC), datetime(2026, 3, 29, 22, 0, tzinfo=UTC), BERLIN, 1),
        (datetime(2026, 10, 24, 22, 0, tzinfo=UTC), datetime(2026, 10, 25, 22, 59, tzinfo=UTC), BERLIN, 0),
        (datetime(2026, 11, 1, 4, 30, tzinfo=UTC), datetime(2026, 11, 2, 4, 30, tzinfo=UTC), NEW_YORK, 0),
        # a clock set back
        (datetime(2026, 2, 5, tzinfo=UTC), datetime(2026, 2, 2, tzinfo=UTC), BERLIN, 0),
    ],
)
def test_days_are_calendar_days_of_the_zone(last: datetime, now: datetime, zone: ZoneInfo, days: int) -> None:
    assert days_between(last, now, zone) == days


@given(
    st.dates(date(1990, 1, 1), date(2090, 1, 1)),
    st.integers(0, 5000),
    st.sampled_from([BERLIN, NEW_YORK, ZoneInfo("Asia/Taipei"), ZoneInfo("Australia/Lord_Howe")]),
)
def test_days_from_noon_to_noon_are_the_days_of_the_calendar(start: date, days: int, zone: ZoneInfo) -> None:
    noon = time(12, 0, tzinfo=zone)
    last = datetime.combine(start, noon)
    now = datetime.combine(start + timedelta(days=days), noon)
    assert days_between(last.astimezone(UTC), now.astimezone(UTC), zone) == days
