"""Which entities a question means, where they lead, and which of their relations answer it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.engine.catalog.records import EdgeRecord, EntityRecord
from workbench.engine.catalog.terms import name_key
from workbench.engine.search.ranking.graph import EntityGraph


def entity(entity_id: str, label: str) -> EntityRecord:
    kind = entity_id.removeprefix("entity:").partition("--")[0]
    return EntityRecord(entity_id, kind, label, f"memory/graph/{entity_id[7:]}.md")


class Lookups:
    """Ann leads Apollo, Apollo runs on SQLite; one episode mentions Ann."""

    known: ClassVar = {
        each.label: each
        for each in (
            entity("entity:person--ann", "Ann Lee"),
            entity("entity:project--apollo", "Apollo"),
            entity("entity:tool--sqlite", "SQLite"),
            entity("entity:tool--far", "Far"),
            entity("entity:concept--bike", "自行车"),
            entity("entity:project--harvest", "Harvest Ledger System"),
            entity("entity:concept--ledger", "Ledger paper"),
            entity("entity:project--tides", "潮汐观测系统"),
            entity("entity:place--north-bay", "North Bay"),
            entity("entity:place--north-gate", "North Gate"),
        )
    }
    links = (
        EdgeRecord("entity:person--ann", "leads", "entity:project--apollo"),
        EdgeRecord("entity:project--apollo", "runs on", "entity:tool--sqlite"),
        EdgeRecord("entity:tool--sqlite", "near", "entity:tool--far"),
        EdgeRecord("entity:project--harvest", "funded-by", "entity:person--ann"),
    )

    def named(self, name: str) -> EntityRecord | None:
        return self.known.get(name)

    def called(self, first_name: str) -> EntityRecord | None:
        return self.known["Ann Lee"] if first_name == "Ann" else None

    def names_with(self, pieces: Iterable[str]) -> Sequence[tuple[str, str, str]]:
        wanted = list(pieces)
        return [
            (label, each.id, each.type)
            for label, each in self.known.items()
            if any(piece in name_key(label) for piece in wanted)
        ]

    def entity(self, entity: str) -> EntityRecord | None:
        return next((each for each in self.known.values() if each.id == entity), None)

    def entities_of(self, entities: Iterable[str]) -> Mapping[str, EntityRecord]:
        return {each.id: each for each in self.known.values() if each.id in set(entities)}

    def labels(self, entities: Iterable[str]) -> Mapping[str, str]:
        return {each.id: each.label for each in self.known.values() if each.id in set(entities)}

    def edges_of(self, entity: str) -> Sequence[EdgeRecord]:
        return [edge for edge in self.links if entity in (edge.from_, edge.to)]

    def edges_among(self, entities: Iterable[str]) -> Sequence[EdgeRecord]:
        return [edge for edge in self.links if {edge.from_, edge.to} & set(entities)]

    def mentions(self, target: str) -> Sequence[str]:
        return ["episode:2026-01-01:10:00"] if target == "entity:person--ann" else []


def test_two_hops_and_what_mentions_the_named() -> None:
    reached = EntityGraph(Lookups(), 2).reach("What do you know about Ann?")
    assert {memory: found.strength for memory, found in reached.items()} == {
        "entity:person--ann": 1.0,
        "entity:project--apollo": 0.5,
        "entity:tool--sqlite": 0.25,
        "episode:2026-01-01:10:00": 0.5,
        "entity:project--harvest": 0.5,
    }
    assert reached["entity:tool--sqlite"].way == "Ann Lee › leads › Apollo › runs on › SQLite"
    assert reached["entity:person--ann"].called == {"ann"}


def test_names_of_several_words_and_in_chinese() -> None:
    graph = EntityGraph(Lookups(), 2)
    assert next(iter(graph.reach("Where is Ann Lee's office?"))) == "entity:person--ann"
    assert "entity:concept--bike" in graph.reach("我的自行车在哪里")
    assert graph.reach("nobody in particular") == {}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What do you know about the ledger project?", "entity:project--harvest"),
        ("Where do I find the Harvest Ledger?", "entity:project--harvest"),
        ("Who pays for Harvest this year?", "entity:project--harvest"),
        ("harvest", "entity:project--harvest"),
        ("harvst ledger", "entity:project--harvest"),
        ("how is the harvst project going", "entity:project--harvest"),
        ("观测项目做到哪里了", "entity:project--tides"),
        ("潮汐項目是什么", "entity:project--tides"),
    ],
)
def test_a_part_of_a_name_that_one_entity_alone_can_mean(question: str, expected: str) -> None:
    reached = EntityGraph(Lookups(), 2).reach(question)
    assert next(iter(reached)) == expected
    assert reached[expected].strength >= 0.75


@pytest.mark.parametrize(
    "question",
    [
        "When is the harvest over in the valley?",
        "Which ledger did we buy last year?",
        "Is North far away?",
        "How much rain fell on the bay?",
        "harvesters",
        "这个项目怎么样",
        "",
        "the project of the project",
    ],
)
def test_what_may_mean_something_else_leads_nowhere(question: str) -> None:
    assert EntityGraph(Lookups(), 2).reach(question) == {}


def test_no_step_is_taken_where_none_is_wanted() -> None:
    graph = EntityGraph(Lookups(), depth=0)
    named = {"entity:person--ann", "episode:2026-01-01:10:00"}
    assert set(graph.reach("Ann")) == named
    beside = {"entity:project--apollo", "entity:project--harvest"}
    assert set(EntityGraph(Lookups(), depth=1).reach("Ann")) == named | beside
    assert graph.relations({"entity:person--ann": True}, "What do you know about Ann?") == {}
    deeper = EntityGraph(Lookups(), depth=3).reach("What do you know about Ann?")
    assert deeper["entity:tool--far"].strength == 0.125


def test_the_relations_that_share_words_with_the_question_come_first() -> None:
    graph = EntityGraph(Lookups(), 2)
    both = {"entity:project--harvest": False, "entity:person--ann": True, "entity:person--nobody": True}

    def told(question: str) -> dict[str, list[str]]:
        found = graph.relations(both, question)
        return {entity: [each.told(entity) for each in own] for entity, own in found.items()}

    assert told("Who funded the ledger project?") == {
        "entity:project--harvest": ["funded-by › Ann Lee"],
        "entity:person--ann": ["Harvest Ledger System › funded-by", "leads › Apollo"],
    }
    assert told("Who leads Apollo?") == {
        "entity:project--harvest": [],
        "entity:person--ann": ["leads › Apollo", "Harvest Ledger System › funded-by"],
    }
    assert told("Which harvest does Ann pay for?") == {
        "entity:project--harvest": ["funded-by › Ann Lee"],
        "entity:person--ann": ["Harvest Ledger System › funded-by", "leads › Apollo"],
    }


@settings(max_examples=200)
@given(st.text(alphabet="Harvest LdgrNoBy项目观测潮汐'’.-\0", max_size=60))
def test_any_question_is_read(question: str) -> None:
    assert all(found.strength <= 1 for found in EntityGraph(Lookups(), 2).reach(question).values())
