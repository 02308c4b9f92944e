from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from enum import StrEnum
from pathlib import Path
from pkgutil import iter_modules

from workbench.engine import results
from workbench.engine.results import camel_case, to_json
from workbench.engine.results.decay import DecayEntry
from workbench.engine.results.graph import GraphEdge
from workbench.engine.results.memories import HistoryEntry


def test_json_is_camel_case_with_nulls_and_utc() -> None:
    edge = GraphEdge("entity:a--b", "uses", "entity:c--d", "high", None, "2026-02-02")
    assert to_json(edge) == {
        "from": "entity:a--b",
        "relation": "uses",
        "to": "entity:c--d",
        "confidence": "high",
        "firstSeen": None,
        "lastAccessed": "2026-02-02",
        "id": None,
    }
    entry = HistoryEntry("abc", datetime(2026, 2, 2, 14, 30, tzinfo=UTC), "manual", "—", "did it")
    assert to_json((entry,))[0]["timestamp"] == "2026-02-02T14:30:00Z"
    assert to_json({"day": date(2026, 2, 2), "n": 1.5, "ok": True}) == {
        "day": "2026-02-02",
        "n": 1.5,
        "ok": True,
    }


def test_reserved_words_lose_their_underscore() -> None:
    assert camel_case("from_") == "from"
    assert camel_case("superseded_by") == "supersededBy"


class Colour(StrEnum):
    RED = "red"


class Ahead(Mapping[str, float]):
    """A mapping that is no dictionary, as a forecast is."""

    def __getitem__(self, day: str) -> float:
        return float(day)

    def __iter__(self) -> Iterator[str]:
        return iter(("7", "30"))

    def __len__(self) -> int:
        return 2


def test_json_of_every_kind_of_value() -> None:
    when = datetime(2026, 2, 2, 23, 59, 59, 999_999, tzinfo=timezone(timedelta(hours=-9, minutes=-30)))
    entry = DecayEntry("a", "core", 1.0, None, 1, when, when, False, 0.5, 0.5, "active", "", Ahead())
    shaped = to_json(entry)
    assert list(shaped)[:5] == ["id", "store", "base", "typeWeight", "accessCount"]
    assert shaped["forecast"] == {"7": 7.0, "30": 30.0}
    assert shaped["created"] == "2026-02-03T09:29:59Z"
    assert (shaped["tags"], shaped["wouldBe"], shaped["pinned"]) == ([], None, False)
    assert to_json([Colour.RED, Path("a/b"), {1: (when.date(),)}, None]) == [
        "red",
        "a/b",
        {"1": ["2026-02-02"]},
        None,
    ]
    assert type(to_json(Colour.RED)) is str


def test_times_of_early_years_have_four_digits_too() -> None:
    assert to_json(datetime(987, 1, 2, tzinfo=UTC)) == "0987-01-02T00:00:00Z"


def test_every_module_of_results_is_loaded_by_its_name() -> None:
    for module in iter_modules(results.__path__):
        assert getattr(results, module.name).__name__.endswith(module.name)
        assert module.name in results.__all__
        assert module.name in results._MODULES
