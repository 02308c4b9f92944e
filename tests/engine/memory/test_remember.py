"""Remembering: one plan for store, graph and core memory."""

from __future__ import annotations

import dataclasses
import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.memory.library import ALEX, NOW, SETTINGS, ZONE, Library, entity, routing
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.history.plan import Action, Plan
from workbench.engine.markdown.episodes import EpisodeLog
from workbench.engine.memory.lookup import locate_memory
from workbench.engine.memory.remember import plan_remember
from workbench.engine.memory.wording import clean_memory, text_key
from workbench.engine.requests import RememberRequest
from workbench.engine.results import to_json
from workbench.engine.results.memories import Remembered
from workbench.engine.settings.sections import CoreSettings, Settings
from workbench.engine.triggers.model import (
    EntityMention,
    FactStatement,
    ProcedureOutline,
    RelationMention,
    Routing,
)

DAY = "memory/episodes/2026-02-02.md"
GRAPH = routing(
    store="semantic",
    summary="Alex builds Apollo with Git",
    entities=(
        EntityMention("Alex", "person"),
        EntityMention("Apollo", "project"),
        EntityMention("Git", "tool"),
    ),
    relations=(RelationMention("Alex", "develops", "Apollo"), RelationMention("Apollo", "mentors", "Git")),
    facts=(FactStatement("Alex", "Alex builds Apollo."), FactStatement("Apollo", "Apollo is kept in Git.")),
)


def remember(
    files: Library, text: str, chosen: Routing | None = None, settings: Settings = SETTINGS, **wishes: Any
) -> Plan[Remembered]:
    request = RememberRequest(text, **wishes)
    return plan_remember(files, request, chosen or routing(), now=NOW, settings=settings, lookup=files)


def test_an_episode_names_its_entities_in_the_heading_and_leaves_their_files_alone() -> None:
    files = Library({ALEX: entity("Alex")})
    chosen = routing(
        type="decision", entities=(EntityMention("Alex", "person"), EntityMention("Apollo", "project"))
    )
    outcome = files.apply(remember(files, "Alex chose Apollo.", chosen))
    assert "| source:user-explicit | entities:[person--alex, project--apollo]" in files.text(DAY)
    assert files.text(ALEX) == entity("Alex")
    apollo = files.entity_file("project--apollo")
    assert [(dated.date, dated.text) for dated in apollo.timeline] == [("2026-02-02", "First mentioned")]
    assert "(from episode:2026-02-02:14:30)" in files.text(apollo.path)
    assert outcome.id == "episode:2026-02-02:14:30"
    assert [each.id for each in outcome.entities] == ["entity:person--alex", "entity:project--apollo"]
    assert outcome.ids == ("episode:2026-02-02:14:30", "entity:project--apollo")


def test_facts_and_relations_are_one_plan_with_a_summary_for_each_file() -> None:
    files = Library()
    plan = remember(
        files, "Alex builds Apollo. It is kept in Git.", GRAPH, origins=("episode:2026-02-02:09:00",)
    )
    outcome = files.apply(plan)
    assert {change.path.rsplit("/", 1)[1]: change.summary for change in plan.changes} == {
        "person--alex.md": "new entity “Alex” (person); added fact “Alex builds Apollo.”; "
        "added relation develops → project--apollo",
        "project--apollo.md": "new entity “Apollo” (project); added fact “Apollo is kept in Git.”; "
        "added relation relates-to → tool--git",
        "tool--git.md": "new entity “Git” (tool)",
    }
    assert {change.action for change in plan.changes} == {Action.CREATE}
    assert [(r.from_, r.relation, r.to) for r in outcome.relations] == [
        ("entity:person--alex", "develops", "entity:project--apollo"),
        ("entity:project--apollo", "relates-to", "entity:tool--git"),
    ]
    assert any("mentors" in warning for warning in outcome.warnings)
    fact = files.entity_file("person--alex").facts[0]
    assert outcome.id == f"entity:person--alex#^{fact.block_id}"
    assert fact.provenance.sources == ("episode:2026-02-02:09:00",)


def test_a_fact_without_origins_says_who_asked() -> None:
    files = Library()
    outcome = files.apply(remember(files, "Alex builds Apollo.", GRAPH))
    assert locate_memory(files, outcome.id, ZONE).source == "user-explicit"


def test_a_fact_about_nothing_named_is_filed_as_general() -> None:
    files = Library()
    outcome = files.apply(remember(files, "Water boils at 100 degrees.", store="semantic"))
    assert outcome.id.startswith("entity:concept--general#^")
    assert outcome.router == "given"
    assert "No entity was named" in outcome.warnings[0]


def test_entities_that_are_given_win_over_those_read_out_of_the_text() -> None:
    files = Library()
    outcome = files.apply(
        remember(files, "Alex builds Apollo.", GRAPH, entities=("project:Gemini", "tool:Rust"))
    )
    assert outcome.id.startswith("entity:project--gemini#^")
    gemini = files.entity_file("project--gemini")
    assert [relation.targets for relation in gemini.relations if relation.name == "relates-to"] == [
        ("tool--rust",)
    ]


def test_a_near_entity_is_asked_about() -> None:
    files = Library({"memory/graph/entities/person--john-smith.md": entity("John Smith")})
    outcome = files.apply(
        remember(files, "Jon Smith likes tea.", store="semantic", entities=("person:Jon Smith",))
    )
    assert outcome.questions == ("Is [[person--jon-smith]] the same as [[person--john-smith]]?",)


def test_core_worthy_memories_are_said_in_core_memory_too() -> None:
    files = Library()
    plan = remember(
        files, "We chose the hybrid approach.", routing(core_update=True, core_block="Active Context")
    )
    outcome = files.apply(plan)
    assert [change.path for change in plan.changes] == [DAY, "MEMORY.md"]
    assert plan.changes[1].summary == "added “We chose the hybrid approach.” to Active Context"
    assert outcome.core_update is not None
    assert locate_memory(files, outcome.core_update, ZONE).text == "We chose the hybrid approach."
    again = files.apply(remember(files, "We chose the hybrid approach", routing(core_update=True)))
    assert again.core_update is None
    assert again.id == outcome.id
    assert again.files == ()


def test_a_long_memory_is_said_in_core_memory_by_its_summary() -> None:
    files = Library()
    chosen = routing(core_update=True, summary="A long story")
    outcome = files.apply(remember(files, "word " * 100, chosen, block="critical"))
    assert outcome.core_update == "core:critical-facts:a-long-story"


def test_a_full_core_memory_keeps_the_memory_and_warns() -> None:
    tight = dataclasses.replace(SETTINGS, core=CoreSettings(cap=120))
    files = Library()
    plan = remember(files, "word " * 40, routing(core_update=True), tight)
    assert [change.path for change in plan.changes] == [DAY]
    assert "left out of core memory" in plan.outcome.warnings[0]
    only = remember(files, "word " * 40, routing(store="core"), tight)
    assert (only.outcome.store, only.outcome.id) == ("episodic", "episode:2026-02-02:14:30")
    assert "kept as an episode" in only.outcome.warnings[0]


def test_core_alone_is_written_to_core_alone() -> None:
    files = Library()
    plan = remember(files, "My name is Alex.", routing(store="core", core_block="Identity"))
    assert [change.path for change in plan.changes] == ["MEMORY.md"]
    assert (plan.outcome.store, plan.outcome.path, plan.outcome.core_update) == ("core", "MEMORY.md", None)
    files.apply(plan)
    assert remember(files, "my name is alex", routing(store="core", core_block="Identity")).changes == ()


def test_an_unknown_block_is_refused_before_anything_is_planned() -> None:
    with pytest.raises(NotFound):
        remember(Library(), "x", block="Hobbies")


def test_a_procedure_is_learned_and_then_extended() -> None:
    files = Library()
    first = routing(
        store="procedural",
        procedure=ProcedureOutline("How to deploy", "When asked to ship.", ("Test", "Tag")),
    )
    outcome = files.apply(remember(files, "To deploy, test and tag.", first))
    assert outcome.id == "procedure:how-to-deploy"
    assert "## Learned From\n- user-explicit on 2026-02-02" in files.text(
        "memory/procedures/how-to-deploy.md"
    )
    second = routing(store="procedural", procedure=ProcedureOutline("how to deploy", "", ("tag", "Announce")))
    files.apply(remember(files, "Then announce.", second, origins=("episode:2026-02-02:09:00",)))
    text = files.text("memory/procedures/how-to-deploy.md")
    assert "1. Test\n2. Tag\n3. Announce\n" in text
    assert "- episode:2026-02-02:09:00" in text
    assert remember(files, "Then announce.", second).changes == ()


def test_a_text_without_outline_becomes_a_procedure_line_by_line() -> None:
    files = Library()
    files.apply(remember(files, "1. Stop\n2. Look\n- Go", store="procedural"))
    assert "1. Stop\n2. Look\n3. Go" in files.text("memory/procedures/something-happened.md")


def test_a_vault_note_has_a_slug_of_its_own() -> None:
    files = Library()
    one = files.apply(remember(files, "Never give up.", store="vault"))
    two = files.apply(remember(files, "Never give in.", store="vault"))
    assert (one.path, two.path) == (
        "memory/vault/something-happened.md",
        "memory/vault/something-happened-2.md",
    )
    assert remember(files, "never give up", store="vault").outcome.id == one.id
    assert "memory/meta/decay-scores.json" not in files.contents


def test_given_entities_of_a_note_point_to_it() -> None:
    files = Library()
    files.apply(remember(files, "Never give up.", store="vault", entities=("person:Alex",)))
    assert "(from vault:something-happened.md)" in files.text(ALEX)


def test_scores_are_written_only_for_a_pin() -> None:
    files = Library()
    files.apply(remember(files, "Plain."))
    assert "memory/meta/decay-scores.json" not in files.contents
    outcome = files.apply(remember(files, "Never forget this.", pinned=True))
    entry = json.loads(files.text("memory/meta/decay-scores.json"))["entries"][outcome.id]
    assert entry["pinned"] is True
    assert entry["base_relevance"] == 1.0


def test_the_answer_has_the_keys_of_the_contract() -> None:
    answer = to_json(remember(Library(), "x", GRAPH).outcome)
    assert {
        "ok", "commit", "files", "ids", "id", "store", "path", "router", "tags", "confidence",
        "entities", "relations", "coreUpdate", "summary", "heldBack",
    } <= set(answer)  # fmt: skip
    assert set(answer["relations"][0]) == {"from", "relation", "to"}


def test_wishes_override_the_routing() -> None:
    files = Library()
    files.apply(
        remember(
            files, "x y z", type="correction", tags=("a|b", "c"), confidence="low", source="conversation"
        )
    )
    assert "## 14:30 | correction | confidence:low | tags:[a b, c]\n" in files.text(DAY)


@pytest.mark.parametrize(
    "wish",
    [
        {"store": "attic"},
        {"type": "gossip"},
        {"confidence": "sure"},
        {"source": "a\n| b"},
        {"entities": ("projct:Mars",)},
        {"text": "nul\0"},
        {"text": "x" * 200_000},
        {"text": " "},
    ],
)
def test_what_makes_no_sense_is_refused(wish: dict[str, Any]) -> None:
    files = Library()
    with pytest.raises(InvalidInput):
        remember(files, wish.pop("text", "fine"), **wish)


def test_an_entity_given_by_id_has_to_exist() -> None:
    with pytest.raises(NotFound):
        remember(Library(), "x", entities=("person--nobody",))


def test_the_same_may_be_remembered_on_another_day() -> None:
    files = Library()
    files.apply(remember(files, "Drank tea."))
    request, later = RememberRequest("Drank tea."), NOW + timedelta(days=1)
    plan = plan_remember(files, request, routing(), now=later, settings=SETTINGS, lookup=files)
    assert plan.outcome.id == "episode:2026-02-03:14:30"


@given(text=st.text(max_size=200), tags=st.lists(st.text(max_size=10), max_size=3))
def test_any_text_is_read_back_from_every_store(text: str, tags: list[str]) -> None:
    try:
        kept = clean_memory(text).text
    except InvalidInput:
        return
    one = " ".join(kept.split())
    for store in ("episodic", "semantic", "vault", "core"):
        files = Library({"memory/episodes/2026-02-01.md": "# 2026-02-01 — Episode Log\n"})
        outcome = files.apply(
            remember(files, text, routing(summary=text[:90]), store=store, tags=tuple(tags))
        )
        found = locate_memory(files, outcome.id, ZONE)
        if store == "episodic":
            assert found.text == kept
            assert EpisodeLog.parse(files.contents[DAY], DAY).problems == ()
        elif store == "vault":
            assert found.text.rstrip("\n").endswith(kept)
        else:
            assert text_key(found.text) == text_key(one)
        assert remember(files, text, routing(summary=text[:90]), store=store).changes == ()


@pytest.mark.parametrize("scope", ["group:family", "person:robin", "shared"])
def test_what_is_for_others_stays_out_of_core_memory_wherever_its_words_belong(scope: str) -> None:
    files = Library({})
    chosen = routing(store="core", core_update=True, core_block="Critical Facts")
    outcome = files.apply(remember(files, "Everybody is called Otto.", chosen, scope=scope))
    assert (outcome.store, outcome.core_update) == ("episodic", None)
    assert f"| for:{scope}" in files.text(DAY)
    assert files.read("MEMORY.md") is None
