"""Which threshold is passed on which day."""

from __future__ import annotations

import dataclasses
import itertools
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.memory.files_in_memory import NOW
from workbench.engine.errors import InvalidInput
from workbench.engine.memory.decay import (
    DecayContext,
    MemoryFacts,
    Thresholds,
    decay_record,
    displayed,
    score,
    status_of,
)
from workbench.engine.memory.scores import (
    ScoreTable,
    score_all,
    table_of_records,
    threshold_crossings,
    upcoming_changes,
)

EPISODE = "episode:2026-01-30:09:00"
levels = st.lists(st.sampled_from([0.0, 0.05, 0.2, 0.5, 0.8, 1.0]), min_size=3, max_size=3)


@pytest.fixture
def census(memories: dict[str, MemoryFacts], reckoning: DecayContext) -> ScoreTable:
    scored = [facts for facts in memories.values() if facts.store != "file"]
    return table_of_records([decay_record(facts, None, None, reckoning) for facts in scored], reckoning)


def test_what_falls_when(census: ScoreTable, reckoning: DecayContext) -> None:
    found = upcoming_changes(census, 30, reckoning).falls
    # 0.8 e^(−0.03 d) < 0.5 from day 16 on, of which three have gone
    fall = next(fall for fall in found if fall.id == EPISODE)
    assert (fall.before, fall.after, fall.threshold, fall.days) == ("active", "fading", 0.5, 13)
    assert fall.on == date(2026, 2, 15)
    assert [fall.days for fall in found] == sorted(fall.days for fall in found)
    assert "vault:rules" not in {fall.id for fall in found}
    assert upcoming_changes(census, 0, reckoning).falls == ()


@given(st.integers(1, 400), st.floats(0.01, 2), st.integers(1, 60))
def test_falls_are_the_transitions_that_the_days_bring(within: int, lambda_: float, count: int) -> None:
    reckoning = DecayContext(NOW)
    reckoning = dataclasses.replace(
        reckoning, settings=dataclasses.replace(reckoning.settings, lambda_=lambda_)
    )
    facts = MemoryFacts("procedure:x", "procedural", "", NOW - timedelta(days=3), access_count=count)
    census = table_of_records([decay_record(facts, None, None, reckoning)], reckoning)
    expected = []
    status = score_all(census, reckoning).entries[0].status
    for day in range(1, within + 1):
        later = (
            score_all(census, dataclasses.replace(reckoning, now=NOW + timedelta(days=day))).entries[0].status
        )
        if later != status:
            expected.append((status, later, day))
            status = later
    found = upcoming_changes(census, within, reckoning).falls
    assert [(fall.before, fall.after, fall.days) for fall in found] == expected


@given(st.floats(0, 1), st.floats(0.01, 3), st.integers(1, 10**6), st.floats(0, 4), levels)
def test_passings_are_the_changes_of_status(
    base: float, lambda_: float, count: int, weight: float, levels: list[float]
) -> None:
    thresholds = Thresholds(*sorted(levels, reverse=True))

    def status(day: int) -> str:
        return status_of(displayed(score(base, lambda_, day, count, weight)), thresholds)

    days = range(1200)
    statuses = [status(day) for day in days]
    expected = [
        (day, before, after)
        for (day, after), before in zip(enumerate(statuses[1:], 1), statuses, strict=False)
        if before != after
    ]
    found = threshold_crossings(base, lambda_, count, weight, thresholds)
    assert [(one.days, one.before, one.after) for one in found if one.days < len(days)] == expected
    for one in found:
        value = displayed(score(base, lambda_, one.days, count, weight))
        earlier = displayed(score(base, lambda_, one.days - 1, count, weight))
        assert value < one.threshold <= earlier
    assert all(one.after == other.before for one, other in itertools.pairwise(found))


def test_nothing_is_foretold_of_the_past(census: ScoreTable, reckoning: DecayContext) -> None:
    with pytest.raises(InvalidInput):
        upcoming_changes(census, -1, reckoning)


def test_without_decay_nothing_falls(census: ScoreTable, reckoning: DecayContext) -> None:
    still = dataclasses.replace(reckoning.settings, lambda_=0.0)
    assert upcoming_changes(census, 10**6, dataclasses.replace(reckoning, settings=still)).falls == ()
