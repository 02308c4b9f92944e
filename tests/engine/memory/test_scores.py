"""The future of scores, and what another λ would make of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, MutableMapping
from datetime import timedelta
from typing import Any

import pytest

from tests.engine.memory.files_in_memory import NOW
from workbench.engine.errors import InvalidInput
from workbench.engine.memory.decay import DecayContext, DecayRecord, MemoryFacts, decay_record
from workbench.engine.memory.scores import ScoreTable, score_all, score_course, table_of_records
from workbench.engine.results.json_shape import to_json

EPISODE = "episode:2026-01-30:09:00"


@pytest.fixture
def census(memories: dict[str, MemoryFacts], reckoning: DecayContext) -> ScoreTable:
    scored = [facts for facts in memories.values() if facts.store != "file"]
    return table_of_records([decay_record(facts, None, None, reckoning) for facts in scored], reckoning)


def test_a_forecast_is_the_view_of_a_later_day(census: ScoreTable, reckoning: DecayContext) -> None:
    answer = score_all(census, reckoning, forecast=[0, 7, 365])
    for day in (0, 7, 365):
        then = score_all(census, dataclasses.replace(reckoning, now=NOW + timedelta(days=day)))
        for entry, later in zip(answer.entries, then.entries, strict=True):
            assert entry.forecast is not None
            assert entry.forecast[str(day)] == pytest.approx(later.score, abs=1e-12)
    assert [entry.score for entry in answer.entries] == [
        entry.score for entry in score_all(census, reckoning).entries
    ]


def test_the_past_is_no_forecast(census: ScoreTable, reckoning: DecayContext) -> None:
    with pytest.raises(InvalidInput):
        score_all(census, reckoning, forecast=[-1])


def test_another_lambda(census: ScoreTable, reckoning: DecayContext) -> None:
    answer = score_all(census, reckoning, lambda_=0.2)
    assert answer.lambda_ == 0.2
    episode = next(entry for entry in answer.entries if entry.id == EPISODE)
    assert episode.raw == pytest.approx(0.8 * 2.718281828459045 ** (-0.6))
    assert (episode.status, episode.would_be) == ("fading", "fading")
    core = next(entry for entry in answer.entries if entry.store == "core")
    assert (core.status, core.would_be) == ("active", None)
    assert all(entry.would_be is None for entry in score_all(census, reckoning, lambda_=0.03).entries)


@pytest.mark.parametrize("lambda_", [-0.1, float("nan"), float("inf")])
def test_no_lambda(census: ScoreTable, reckoning: DecayContext, lambda_: float) -> None:
    with pytest.raises(InvalidInput):
        score_all(census, reckoning, lambda_=lambda_)


def test_a_forecast_is_a_mapping_that_nobody_changes(census: ScoreTable, reckoning: DecayContext) -> None:
    entry = score_all(census, reckoning, forecast=[7, 30]).entries[0]
    assert entry.forecast is not None
    assert list(entry.forecast) == ["7", "30"]
    assert entry.forecast == dict(entry.forecast)
    assert to_json(entry)["forecast"] == dict(entry.forecast)
    assert not isinstance(entry.forecast, MutableMapping)
    with pytest.raises(KeyError):
        entry.forecast["8"]


def test_a_forecast_is_to_the_bit_what_the_formula_says_of_each_memory(
    memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    kinds: dict[str, Callable[[DecayRecord], dict[str, Any]]]
    # Twins have the same terms but for the one that was made another day, pinned or accessed more often.
    scored = [facts for facts in memories.values() if facts.store != "file"]
    records = [decay_record(facts, None, None, reckoning) for facts in scored]
    kinds = {
        "twin": lambda _: {},
        "older": lambda record: {"last_accessed": record.last_accessed - timedelta(days=9)},
        "ahead": lambda _: {"last_accessed": NOW + timedelta(days=5)},
        "pinned": lambda _: {"pinned": True},
        "archived": lambda _: {"archived": True},
        "often": lambda _: {"access_count": 6},
    }
    records += [
        dataclasses.replace(record, id=f"{record.id}~{kind}", **changed(record))
        for record in records
        for kind, changed in kinds.items()
    ]
    days = [0, 1, 4, 5, 6, 30, 400]
    census = table_of_records(records, reckoning)
    for lambda_ in (None, 0.0, 0.11):
        answer = score_all(census, reckoning, forecast=days, lambda_=lambda_)
        for entry in answer.entries:
            points = score_course(answer, entry, days)
            assert entry.forecast == {str(point.days): point.value for point in points}, entry.id
