"""Through the door, the store that is asked for gets its parts, and names lead to who is meant."""

from __future__ import annotations

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine.errors import InvalidInput


def test_a_procedure_has_title_trigger_and_steps(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        done = workspace.remember("When I ask to sail: 1. check the wind 2. tell Robin", store="procedural")
    assert done.id == "procedure:how-to-sail"
    text = settled.text(done.path)
    assert "## Trigger\nWhen asked to sail." in text
    assert "1. Check the wind\n2. Tell Robin" in text
    assert done.core_update is None


def test_a_fact_has_the_relation_that_is_stated_between_given_entities(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        done = workspace.remember(
            "Harbour is maintained by Ida Holm",
            store="semantic",
            entities=["project:Harbour", "person:Ida Holm"],
            origins=["episode:2026-02-01:09:15"],
        )
    assert [(r.from_, r.relation, r.to) for r in done.relations] == [
        ("entity:person--ida-holm", "develops", "entity:project--harbour")
    ]
    assert "from episode:2026-02-01:09:15" in settled.text("memory/graph/entities/project--harbour.md")


def test_core_memory_is_touched_in_another_store_only_where_a_block_is_asked_for(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        before = settled.text("MEMORY.md")
        assert workspace.remember("I prefer short answers", store="episodic").core_update is None
        assert settled.text("MEMORY.md") == before
        asked = workspace.remember("I prefer long walks", store="episodic", block="Persona")
        assert asked.core_update == "core:persona:i-prefer-long-walks"


def test_a_first_name_is_the_one_person_who_has_it(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        workspace.remember("Ida Holm works at Globex", store="semantic")
        named = workspace.remember("The ferry waits for Ida", store="episodic")
        assert [entity.id for entity in named.entities] == ["entity:person--ida-holm"]
        workspace.remember("Ida Berg works at Initech", store="semantic")
        assert workspace.remember("The train waits for Ida", store="episodic").entities == ()


def test_a_relation_of_the_workspaces_own_is_read_as_a_verb(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.edit_file(
            "memory/graph/relations.md", "# Relation Types\n\n## Ours\n- `guards` — whoever watches\n"
        )
        done = workspace.remember("Robin guards Harbour", store="semantic")
    assert [(r.relation, r.to) for r in done.relations] == [("guards", "entity:project--harbour")]


def test_a_note_has_a_short_title(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        done = workspace.remember(
            "Spare keys: one with Ida, one under the third stone by the shed", store="vault"
        )
    assert done.path == "memory/vault/spare-keys.md"


def test_a_store_that_is_none_is_refused(settled: AgentHome) -> None:
    with settled.open("main") as workspace, pytest.raises(InvalidInput):
        workspace.remember("anything", store="attic")
