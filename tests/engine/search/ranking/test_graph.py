"""Where the names in a question lead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from workbench.engine.catalog.records import EdgeRecord, EntityRecord
from workbench.engine.search.ranking.candidates import EntityGraph


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
        )
    }
    links = (
        EdgeRecord("entity:person--ann", "leads", "entity:project--apollo"),
        EdgeRecord("entity:project--apollo", "runs on", "entity:tool--sqlite"),
        EdgeRecord("entity:tool--sqlite", "near", "entity:tool--far"),
    )

    def named(self, name: str) -> EntityRecord | None:
        return self.known.get(name)

    def called(self, first_name: str) -> EntityRecord | None:
        return self.known["Ann Lee"] if first_name == "Ann" else None

    def entity(self, entity: str) -> EntityRecord | None:
        return next((each for each in self.known.values() if each.id == entity), None)

    def edges_of(self, entity: str) -> Sequence[EdgeRecord]:
        return [edge for edge in self.links if entity in (edge.from_, edge.to)]

    def mentions(self, target: str) -> Sequence[str]:
        return ["episode:2026-01-01:10:00"] if target == "entity:person--ann" else []


def test_two_hops_and_what_mentions_the_named() -> None:
    reached = EntityGraph(Lookups()).reach("What do you know about Ann?")
    assert {memory: found.strength for memory, found in reached.items()} == {
        "entity:person--ann": 1.0,
        "entity:project--apollo": 0.5,
        "entity:tool--sqlite": 0.25,
        "episode:2026-01-01:10:00": 0.5,
    }
    assert reached["entity:tool--sqlite"].way == "Ann Lee › leads › Apollo › runs on › SQLite"


def test_names_of_several_words_and_in_chinese() -> None:
    graph = EntityGraph(Lookups())
    assert next(iter(graph.reach("Where is Ann Lee's office?"))) == "entity:person--ann"
    assert "entity:concept--bike" in graph.reach("我的自行车在哪里")
    assert graph.reach("nobody in particular") == {}
