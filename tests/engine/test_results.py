from __future__ import annotations

from datetime import UTC, date, datetime

from workbench.engine import results


def test_json_is_camel_case_with_nulls_and_utc() -> None:
    edge = results.GraphEdge("entity:a--b", "uses", "entity:c--d", "high", None, "2026-02-02")
    assert results.to_json(edge) == {
        "from": "entity:a--b",
        "relation": "uses",
        "to": "entity:c--d",
        "confidence": "high",
        "firstSeen": None,
        "lastAccessed": "2026-02-02",
    }
    entry = results.HistoryEntry("abc", datetime(2026, 2, 2, 14, 30, tzinfo=UTC), "manual", "—", "did it")
    assert results.to_json((entry,))[0]["timestamp"] == "2026-02-02T14:30:00Z"
    assert results.to_json({"day": date(2026, 2, 2), "n": 1.5, "ok": True}) == {
        "day": "2026-02-02",
        "n": 1.5,
        "ok": True,
    }


def test_reserved_words_lose_their_underscore() -> None:
    assert results.camel_case("from_") == "from"
    assert results.camel_case("superseded_by") == "supersededBy"


def test_every_name_of_the_face_can_be_had() -> None:
    for name in results.__all__:
        assert getattr(results, name) is not None
