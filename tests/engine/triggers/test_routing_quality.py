"""Routing by rules keeps its quality on labelled sentences, and leaves core memory alone where it should."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.routing import measure, measure_stores, read_labelled
from workbench.engine.triggers.model import RoutingHints
from workbench.engine.triggers.rules import route_by_rules

CORE_WORTH = [
    json.loads(line) for line in Path(__file__).with_name("core_worth.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("half", ["tune", "held"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_labelled_sentences_are_routed_as_well_as_was_measured(half: str, language: str) -> None:
    chosen = [each for each in read_labelled() if (each.half, each.language) == (half, language)]
    found = measure(chosen)
    assert len(chosen) >= 20
    assert min(found.store, found.type) >= 0.85
    assert found.block >= 0.95
    assert min(found.entity_precision, found.relation_precision) >= 0.95
    assert min(found.entity_recall, found.relation_recall) >= 0.9


@pytest.mark.parametrize("half", ["A", "B"])
def test_stores_are_told_as_often_as_was_measured(half: str) -> None:
    total, wrong = measure_stores(half)
    assert total == 30
    assert len(wrong) <= 8


@pytest.mark.parametrize("sentence", CORE_WORTH, ids=lambda sentence: sentence["text"])
def test_only_what_is_worth_it_changes_core_memory(sentence: dict[str, str | None]) -> None:
    text, block = sentence["text"] or "", sentence["block"]
    assert route_by_rules(text, RoutingHints(owner="Kim")).core_block == block
    for store in ("episodic", "semantic", "procedural", "vault"):
        routing = route_by_rules(text, RoutingHints(owner="Kim", store=store))
        assert (routing.store, routing.core_update, routing.core_block) == (store, False, None)
