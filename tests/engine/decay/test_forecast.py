"""The future of scores, and what another λ would make of them."""

from __future__ import annotations

import dataclasses
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.decay.files_in_memory import NOW
from workbench.engine.decay import (
    Census,
    MemoryFacts,
    Reckoning,
    census_of,
    compose,
    falls,
    view,
)
from workbench.engine.errors import InvalidInput

EPISODE = "episode:2026-01-30:09:00"


@pytest.fixture
def census(memories: dict[str, MemoryFacts], reckoning: Reckoning) -> Census:
    scored = [facts for facts in memories.values() if facts.store != "file"]
    return census_of([compose(facts, None, None, reckoning) for facts in scored], reckoning)


def test_a_forecast_is_the_view_of_a_later_day(census: Census, reckoning: Reckoning) -> None:
    answer = view(census, reckoning, forecast=[0, 7, 365])
    for day in (0, 7, 365):
        then = view(census, dataclasses.replace(reckoning, now=NOW + timedelta(days=day)))
        for entry, later in zip(answer.entries, then.entries, strict=True):
            assert entry.forecast is not None
            assert entry.forecast[str(day)] == pytest.approx(later.score, abs=1e-12)
    assert [entry.score for entry in answer.entries] == [
        entry.score for entry in view(census, reckoning).entries
    ]


def test_the_past_is_no_forecast(census: Census, reckoning: Reckoning) -> None:
    with pytest.raises(InvalidInput):
        view(census, reckoning, forecast=[-1])


def test_what_falls_when(census: Census, reckoning: Reckoning) -> None:
    found = falls(census, 30, reckoning).falls
    # 0.8 e^(−0.03 d) < 0.5 from day 16 on, of which three have gone
    fall = next(fall for fall in found if fall.id == EPISODE)
    assert (fall.before, fall.after, fall.threshold, fall.days) == ("active", "fading", 0.5, 13)
    assert fall.on == date(2026, 2, 15)
    assert [fall.days for fall in found] == sorted(fall.days for fall in found)
    assert "vault:rules" not in {fall.id for fall in found}
    assert falls(census, 0, reckoning).falls == ()


@given(st.integers(1, 400), st.floats(0.01, 2), st.integers(1, 60))
def test_falls_are_the_transitions_that_the_days_bring(within: int, lambda_: float, count: int) -> None:
    reckoning = Reckoning(NOW)
    reckoning = dataclasses.replace(
        reckoning, settings=dataclasses.replace(reckoning.settings, lambda_=lambda_)
    )
    facts = MemoryFacts("procedure:x", "procedural", "", NOW - timedelta(days=3), access_count=count)
    census = census_of([compose(facts, None, None, reckoning)], reckoning)
    expected = []
    status = view(census, reckoning).entries[0].status
    for day in range(1, within + 1):
        later = view(census, dataclasses.replace(reckoning, now=NOW + timedelta(days=day))).entries[0].status
        if later != status:
            expected.append((status, later, day))
            status = later
    found = falls(census, within, reckoning).falls
    assert [(fall.before, fall.after, fall.days) for fall in found] == expected


def test_another_lambda(census: Census, reckoning: Reckoning) -> None:
    answer = view(census, reckoning, lambda_=0.2)
    assert answer.lambda_ == 0.2
    episode = next(entry for entry in answer.entries if entry.id == EPISODE)
    assert episode.raw == pytest.approx(0.8 * 2.718281828459045 ** (-0.6))
    assert (episode.status, episode.would_be) == ("fading", "fading")
    core = next(entry for entry in answer.entries if entry.store == "core")
    assert (core.status, core.would_be) == ("active", None)
    assert all(entry.would_be is None for entry in view(census, reckoning, lambda_=0.03).entries)


@pytest.mark.parametrize("lambda_", [-0.1, float("nan"), float("inf")])
def test_no_lambda(census: Census, reckoning: Reckoning, lambda_: float) -> None:
    with pytest.raises(InvalidInput):
        view(census, reckoning, lambda_=lambda_)
