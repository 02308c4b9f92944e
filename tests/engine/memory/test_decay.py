"""How text, scores file and journal make one record, and what it answers."""

from __future__ import annotations

import dataclasses
import math
from datetime import UTC, datetime, timedelta
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
    base_of,
    decay_record,
    score_now,
    weight_of,
)
from workbench.engine.memory.scores import score_all, table_of_records
from workbench.engine.results.json_shape import to_json
from workbench.engine.settings.sections import DecaySettings

NOW = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)
BORN = datetime(2026, 1, 20, 10, 0, tzinfo=UTC)
RECKONING = DecayContext(NOW, ZoneInfo("UTC"))
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
