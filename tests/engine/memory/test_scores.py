"""All scores together: now, on future days, with another λ, and when they pass a threshold."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, MutableMapping
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.memory.files_in_memory import NOW
from workbench.engine.errors import InvalidInput
from workbench.engine.markdown.decay_scores import ScoreEntry
from workbench.engine.markdown.statements import WrittenAccesses
from workbench.engine.memory.decay import (
    Accesses,
    DecayContext,
    DecayRecord,
    MemoryFacts,
    Thresholds,
    decay_record,
    displayed,
    score,
    score_now,
    status_of,
)
from workbench.engine.memory.scores import (
    FactColumns,
    ScoreTable,
    build_score_table,
    coming_passings,
    explained_scores,
    next_passings,
    score_all,
    score_course,
    table_of_records,
    threshold_crossings,
    upcoming_changes,
)
from workbench.engine.results import to_json
from workbench.engine.settings.sections import DecaySettings

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


STORES = ("core", "episodic", "semantic", "procedural", "vault")
moments = st.integers(-4000, 90).map(lambda hours: NOW + timedelta(hours=hours * 5))
facts = st.builds(
    MemoryFacts,
    id=st.sampled_from(["a", "b", "c", "d", "e"]),
    store=st.sampled_from(STORES),
    source=st.sampled_from(["", "conversation", "user-explicit", "reflection:r-001", "import"]),
    created=st.none() | moments,
    adopted=st.none() | moments,
    pinned=st.booleans(),
    title=st.sampled_from(["", "A title"]),
    tags=st.sampled_from([(), ("x", "y")]),
    entities=st.sampled_from([(), ("entity:person--alex",)]),
    used=st.none() | st.builds(WrittenAccesses, count=st.integers(1, 99), last=st.none() | moments),
)
entries = st.builds(
    ScoreEntry,
    store=st.sampled_from(STORES),
    base_relevance=st.sampled_from([0.0, 0.4, 1.0, -1.0, math.nan]),
    created=st.sampled_from(["", "2025-01-01", "soon"]),
    last_accessed=st.sampled_from(["", "2026-01-31T23:30:00-09:00", "2026-02-09", "soon"]),
    access_count=st.sampled_from([0, 1, 7, 10**6]),
    type_weight=st.sampled_from([0.8, 1.0, 3.3, -1.0, math.inf, 1e300]),
    current_score=st.sampled_from([0.0, 0.3]),
    status=st.sampled_from(["active", "archived", "_archived"]),
    pinned=st.booleans(),
)
accesses = st.builds(Accesses, count=st.integers(1, 9), last=moments)


@given(
    st.lists(facts, max_size=9),
    st.dictionaries(st.sampled_from("abcz"), entries),
    st.dictionaries(st.sampled_from("bcdz"), accesses),
    st.sampled_from([0.0, 0.03, 2.0, 1e6]),
    st.sampled_from(["UTC", "Pacific/Apia", "America/St_Johns"]),
)
def test_all_together_and_each_by_itself(
    known: list[MemoryFacts],
    entries: dict[str, ScoreEntry],
    pending: dict[str, Accesses],
    lambda_: float,
    zone: str,
) -> None:
    reckoning = DecayContext(NOW, ZoneInfo(zone), DecaySettings(lambda_=lambda_, semantic_weight=0.9))
    columns = FactColumns(
        ids=[each.id for each in known],
        stores=[each.store for each in known],
        sources=[each.source for each in known],
        created=[each.created for each in known],
        adopted=[each.adopted for each in known],
        pinned=[each.pinned for each in known],
        titles=[each.title for each in known],
        tags=[each.tags for each in known],
        entities=[each.entities for each in known],
        used=[each.used for each in known],
    )
    assert [columns.facts(row) for row in range(len(known))] == known
    census = build_score_table(columns, entries, pending, reckoning)
    records = [decay_record(each, entries.get(each.id), pending.get(each.id), reckoning) for each in known]
    assert census == table_of_records(records, reckoning)
    assert explained_scores(census, reckoning) == [score_now(record, reckoning) for record in records]
    for record, entry in zip(records, score_all(census, reckoning).entries, strict=True):
        score = score_now(record, reckoning)
        assert (entry.score, entry.status) == (score.value, score.status)
        assert entry.raw in (None, score.raw)
        assert math.isfinite(score.raw)


def test_days_are_those_of_the_zone() -> None:
    late = MemoryFacts("a", "core", created=datetime(2026, 2, 1, 23, 30, tzinfo=UTC))
    days = {}
    for zone in ("UTC", "Asia/Tokyo"):
        reckoning = DecayContext(NOW, ZoneInfo(zone))
        days[zone] = table_of_records([decay_record(late, None, None, reckoning)], reckoning).days
    assert days["Asia/Tokyo"] == [days["UTC"][0] + 1]


levels = st.lists(st.sampled_from([0.0, 0.05, 0.2, 0.5, 0.8, 1.0]), min_size=3, max_size=3)


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
    reckoning = DecayContext(NOW, settings=DecaySettings(lambda_=lambda_))
    made = NOW - timedelta(days=3)
    facts = MemoryFacts("procedure:x", "procedural", "", made)
    accesses = Accesses(count - 1, made)
    census = table_of_records([decay_record(facts, None, accesses, reckoning)], reckoning)
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
    view = score_all(census, reckoning)
    coming = coming_passings(view, view.entries[0], within)
    assert [(passing.before, passing.after, days) for days, passing in coming] == expected
    assert list(next_passings(view, within).values()) == [days for days, _ in coming[:1]]


def test_what_one_memory_of_a_view_passes_is_what_all_of_them_pass(
    census: ScoreTable, reckoning: DecayContext
) -> None:
    view, falls = score_all(census, reckoning), upcoming_changes(census, 3_650, reckoning).falls
    following = next_passings(view, 3_650)
    for entry in view.entries:
        own = [(fall.days, fall.before, fall.after) for fall in falls if fall.id == entry.id]
        coming = coming_passings(view, entry, 3_650)
        assert [(days, each.before, each.after) for days, each in coming] == own
        assert following.get(entry.id) == (own[0][0] if own else None)


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
