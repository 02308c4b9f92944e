"""What is known of all memories together is what is known of each by itself."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from tests.engine.memory.files_in_memory import NOW
from workbench.engine.markdown.decay_scores import ScoreEntry
from workbench.engine.memory.decay import Accesses, DecayContext, MemoryFacts, decay_record, score_now
from workbench.engine.memory.scores import (
    FactColumns,
    build_score_table,
    explained_scores,
    score_all,
    table_of_records,
)
from workbench.engine.settings.sections import DecaySettings

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
