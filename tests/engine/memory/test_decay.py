"""The formula, and how text, scores file and journal make one record."""

from __future__ import annotations

import dataclasses
import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, getcontext
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.errors import InvalidInput
from workbench.engine.markdown.decay_scores import ScoreEntry
from workbench.engine.memory.decay import (
    Accesses,
    DecayContext,
    MemoryFacts,
    Thresholds,
    base_of,
    days_between,
    days_until,
    decay_record,
    displayed,
    half_life,
    score,
    score_now,
    status_of,
    weight_of,
)
from workbench.engine.memory.scores import score_all, table_of_records
from workbench.engine.results import to_json
from workbench.engine.settings.sections import DecaySettings

NOW = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)
BORN = datetime(2026, 1, 20, 10, 0, tzinfo=UTC)
RECKONING = DecayContext(NOW, ZoneInfo("UTC"), DecaySettings(lambda_=0.03))
EPISODE = MemoryFacts("episode:2026-01-20:10:00", "episodic", "user-explicit", BORN)
ENTRY = ScoreEntry("episodic", 0.6, "2026-01-20T10:00:00Z", "2026-01-30T10:00:00Z", 3, 0.8, 0.9, "active")


@pytest.mark.parametrize(
    ("source", "base"),
    [
        ("user-explicit", 1.0),
        ("User-Explicit ", 1.0),
        ("conversation", 0.7),
        ("", 1.0),
        ("import", 0.7),
        ("reflection", 0.5),
        ("reflection:r-012", 0.5),
        ("inferred", 0.5),
    ],
)
def test_the_source_gives_the_base(source: str, base: float) -> None:
    assert base_of(source, DecaySettings()) == base


@pytest.mark.parametrize(
    ("store", "weight"),
    [("core", 1.5), ("episodic", 0.8), ("semantic", 1.2), ("procedural", 1.0), ("vault", math.inf)],
)
def test_the_store_gives_the_weight(store: str, weight: float) -> None:
    assert weight_of(store, DecaySettings()) == weight


def test_free_text_has_no_score() -> None:
    log = MemoryFacts("file:memory/2026-02-01.md", "file")
    with pytest.raises(InvalidInput):
        decay_record(log, None, None, RECKONING)


def test_without_an_entry_the_text_counts() -> None:
    record = decay_record(EPISODE, None, None, RECKONING)
    assert (record.base, record.access_count, record.last_accessed) == (1.0, 1, BORN)
    score = score_now(record, RECKONING)
    assert score.raw == pytest.approx(math.exp(-0.03 * 13) * 0.8, abs=1e-9)
    assert score.status == "active"


def test_an_entry_is_obeyed_and_accesses_add_to_it() -> None:
    journal = Accesses(2, datetime(2026, 2, 1, 9, 0, tzinfo=UTC))
    record = decay_record(EPISODE, ENTRY, journal, RECKONING)
    assert (record.base, record.access_count, record.last_accessed) == (0.6, 5, journal.last)
    assert score_now(record, RECKONING).raw == pytest.approx(
        0.6 * math.exp(-0.03) * math.log2(6) * 0.8, abs=1e-9
    )


def test_an_older_access_in_the_journal_moves_no_date_back() -> None:
    record = decay_record(EPISODE, ENTRY, Accesses(1, BORN), RECKONING)
    assert record.last_accessed == datetime(2026, 1, 30, 10, 0, tzinfo=UTC)


def test_adoption_counts_as_the_first_access() -> None:
    facts = dataclasses.replace(EPISODE, created=datetime(2024, 1, 1, tzinfo=UTC), adopted=NOW)
    record = decay_record(facts, None, None, RECKONING)
    assert (record.created, record.last_accessed) == (facts.created, NOW)
    assert score_now(record, RECKONING).raw == 0.8


def test_a_memory_without_any_date_starts_now() -> None:
    record = decay_record(dataclasses.replace(EPISODE, created=None), None, None, RECKONING)
    assert record.last_accessed == NOW


@pytest.mark.parametrize(
    "entry",
    [
        dataclasses.replace(ENTRY, last_accessed="yesterday", created="", access_count=0),
        dataclasses.replace(ENTRY, base_relevance=math.nan, type_weight=math.inf, access_count=-3),
        dataclasses.replace(ENTRY, base_relevance=-1.0, type_weight=-2.0, last_accessed=""),
        dataclasses.replace(ENTRY, base_relevance=99.0, status="nonsense"),
    ],
)
def test_nonsense_in_an_entry_never_hurts(entry: ScoreEntry) -> None:
    record = decay_record(EPISODE, entry, None, RECKONING)
    score = score_now(record, RECKONING)
    assert record.access_count >= 1
    assert 0 <= record.base <= 1
    assert 0 <= score.value <= 1
    assert math.isfinite(score.raw)


def test_settings_change_the_usual_weight_but_not_one_somebody_chose() -> None:
    reckoning = dataclasses.replace(RECKONING, settings=DecaySettings(episodic_weight=0.4))
    assert decay_record(EPISODE, ENTRY, None, reckoning).type_weight == 0.4
    chosen = dataclasses.replace(ENTRY, type_weight=2.0)
    assert decay_record(EPISODE, chosen, None, reckoning).type_weight == 2.0


@pytest.mark.parametrize(
    ("facts", "entry"),
    [
        (dataclasses.replace(EPISODE, pinned=True), None),
        (EPISODE, dataclasses.replace(ENTRY, pinned=True)),
        (MemoryFacts("vault:how-we-work", "vault", "", BORN), None),
    ],
)
def test_what_is_pinned_never_decays(facts: MemoryFacts, entry: ScoreEntry | None) -> None:
    later = dataclasses.replace(RECKONING, now=NOW + timedelta(days=4000))
    score = score_now(decay_record(facts, entry, None, later), later)
    assert (score.value, score.status) == (1.0, "pinned")


@pytest.mark.parametrize(
    ("entry", "archived"),
    [
        (dataclasses.replace(ENTRY, status="archived", current_score=0.0), True),
        (dataclasses.replace(ENTRY, status="_archived", current_score=0), True),
        (dataclasses.replace(ENTRY, status="archived", current_score=0.03), False),
        (dataclasses.replace(ENTRY, extra=(("archived", True),)), True),
        (
            dataclasses.replace(ENTRY, status="archived", current_score=0.0, extra=(("archived", False),)),
            False,
        ),
    ],
)
def test_archived_by_somebody_is_told_from_sunk(entry: ScoreEntry, archived: bool) -> None:
    record = decay_record(EPISODE, entry, None, RECKONING)
    assert record.archived is archived
    if archived:
        assert score_now(record, RECKONING).value == 0
        assert score_now(record, RECKONING).status == "archived"


def test_the_view_has_the_contracts_shape() -> None:
    vault = MemoryFacts("vault:x", "vault", "", BORN)
    answer = to_json(
        score_all(
            table_of_records(
                [decay_record(each, None, None, RECKONING) for each in (EPISODE, vault)], RECKONING
            ),
            RECKONING,
        )
    )
    assert answer["now"] == "2026-02-02T14:30:00Z"
    assert answer["lambda"] == 0.03
    first, second = answer["entries"]
    assert {"id", "store", "base", "typeWeight", "accessCount", "created", "lastAccessed", "pinned"} <= set(
        first
    )
    assert first["raw"] == pytest.approx(0.8 * math.exp(-0.39))
    assert first["score"] == first["raw"]
    assert (second["raw"], second["typeWeight"], second["score"], second["status"]) == (
        None,
        None,
        1.0,
        "pinned",
    )


@given(
    st.floats(0, 1),
    st.integers(1, 500),
    st.integers(0, 3000),
    st.sampled_from(["core", "episodic", "semantic", "procedural"]),
)
def test_the_view_and_the_terms_agree(base: float, count: int, days: int, store: str) -> None:
    last = (NOW - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
    weight = weight_of(store, DecaySettings())
    entry = ScoreEntry(store, base, "", last, count, weight, 0.1)
    record = decay_record(MemoryFacts("core:x:y", store, "", BORN), entry, None, RECKONING)
    shown = score_all(table_of_records([record], RECKONING), RECKONING).entries[0]
    score = score_now(record, RECKONING)
    assert shown.raw == score.raw
    assert (shown.score, shown.status) == (score.value, score.status)
    terms = score.terms
    product = 1.0
    for name in ("base", "decay", "reinforcement", "typeWeight"):
        term = terms[name]
        assert isinstance(term, float)
        product *= term
    assert product == pytest.approx(score.raw, rel=1e-9, abs=1e-300)
    assert terms["days"] == days


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
