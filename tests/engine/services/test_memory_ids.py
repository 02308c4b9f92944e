"""An id that was given once is never given again, whatever became of the memory that had it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.engine.services.agent_home import START, AgentHome
from workbench.engine import Workspace, layout

ROBIN = "entity:person--robin"
DAY = "memory/episodes/2026-02-02.md"
FACT = "Likes rain on tin roofs"


def hard(workspace: Workspace, memory_id: str) -> None:
    workspace.forget(ids=[memory_id], apply=True, hard=True)


def purge(workspace: Workspace, memory_id: str) -> None:
    workspace.forget(ids=[memory_id], apply=True, purge_history=True)


def undo(workspace: Workspace, _memory_id: str) -> None:
    workspace.undo()


def roll_back(workspace: Workspace, _memory_id: str) -> None:
    workspace.rollback(to=workspace.history_line().commits[-2])


WAYS = [hard, purge, undo, roll_back]
Way = Callable[[Workspace, str], None]


def said(workspace: Workspace, text: str) -> str:
    kept = workspace.remember(text, store="episodic")
    assert kept.id
    return kept.id


@pytest.mark.parametrize("way", WAYS)
def test_an_episode_does_not_take_the_id_of_one_that_is_gone(settled: AgentHome, way: Way) -> None:
    with settled.open() as workspace:
        said(workspace, "The tram was late")
        gone = said(workspace, "Robin bought a xylophone")
        assert gone.endswith("#2")
        way(workspace, gone)
        later = [said(workspace, "It rained"), said(workspace, "It snowed")]
        assert later == [gone.replace("#2", "#3"), gone.replace("#2", "#4")]
        assert workspace.audit_verify().problems == ()


@pytest.mark.parametrize("way", WAYS)
def test_the_only_episode_of_a_minute_is_followed_by_the_second(settled: AgentHome, way: Way) -> None:
    with settled.open() as workspace:
        gone = said(workspace, "Robin bought a xylophone")
        way(workspace, gone)
        assert said(workspace, "It rained") == f"{gone}#2"
        assert workspace.show(f"{gone}#2").text == "It rained"


def test_an_episode_that_somebody_deleted_in_an_editor_keeps_its_id(settled: AgentHome) -> None:
    with settled.open() as workspace:
        gone = said(workspace, "Robin bought a xylophone")
        (settled.root / DAY).unlink()
        workspace.adopt()
        assert said(workspace, "It rained") == f"{gone}#2"


def test_an_id_comes_back_with_its_own_memory(settled: AgentHome) -> None:
    with settled.open() as workspace:
        gone = said(workspace, "Robin bought a xylophone")
        hard(workspace, gone)
        workspace.undo()
        assert workspace.show(gone).text == "Robin bought a xylophone"
        assert said(workspace, "It rained") == f"{gone}#2"


@pytest.mark.parametrize("way", WAYS)
def test_a_fact_said_again_gets_an_id_of_its_own(settled: AgentHome, way: Way) -> None:
    with settled.open() as workspace:
        gone = workspace.graph_add_fact(ROBIN, FACT).ids[0]
        way(workspace, gone)
        again = workspace.graph_add_fact(ROBIN, FACT).ids[0]
        assert again != gone
        assert again.startswith(f"{ROBIN}#^f")


@pytest.mark.parametrize("way", [undo, roll_back])
def test_a_relation_said_again_gets_an_id_of_its_own(settled: AgentHome, way: Way) -> None:
    with settled.open() as workspace:
        gone = workspace.graph_link(ROBIN, "uses", "project--harbour").ids[0]
        way(workspace, gone)
        again = workspace.graph_link(ROBIN, "uses", "project--harbour").ids[0]
        assert again != gone


def test_a_reflection_that_was_undone_keeps_its_number(talked: AgentHome) -> None:
    with talked.open() as workspace:
        for text in ("Robin decided to use Postgres for the harbour project", "Robin prefers tea to coffee"):
            said(workspace, text)
        first = workspace.reflect()
        assert first.id == "r-001"
        workspace.undo()
        assert workspace.reflect().id == "r-002"


def test_it_is_known_without_what_was_derived_and_says_nothing_of_the_text(settled: AgentHome) -> None:
    with settled.open() as workspace:
        gone = said(workspace, "Robin bought a xylophone")
        purge(workspace, gone)
    for place in (settled.root / layout.SPENT_IDS, *(settled.root.parent / "cache").rglob("*.sqlite")):
        place.unlink()
    with settled.open() as workspace:
        assert said(workspace, "It rained") == f"{gone}#2"
    assert gone not in (settled.root / layout.SPENT_IDS).read_text()
    assert "xylophone" not in (settled.root / layout.SPENT_IDS).read_text()


def test_what_a_purge_takes_along_keeps_its_id_too(settled: AgentHome) -> None:
    with settled.open() as workspace:
        fact = workspace.graph_add_fact(ROBIN, FACT).ids[0]
        purge(workspace, said(workspace, FACT))
        assert FACT not in settled.text("memory/graph/entities/person--robin.md")
        assert workspace.graph_add_fact(ROBIN, FACT).ids[0] != fact


def test_a_history_that_is_set_aside_hands_on_what_was_given(settled: AgentHome) -> None:
    with settled.open() as workspace:
        gone = said(workspace, "Robin bought a xylophone")
        hard(workspace, gone)
        workspace.set_aside_history()
    with settled.open() as workspace:
        assert said(workspace, "It rained") == f"{gone}#2"


def test_a_name_means_the_same_when_it_is_written_again(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.graph_add("person", "Eve Holm")
        purge(workspace, "entity:person--eve-holm")
        workspace.graph_add("person", "Eve Holm")
        assert workspace.show("entity:person--eve-holm").id == "entity:person--eve-holm"
    assert settled.clock.now() == START


@pytest.mark.parametrize("name", ["Mira Holm", "Lisbon trip", "people/Bo Ek", "caf\udce9"], ids=ascii)
@pytest.mark.parametrize("way", WAYS)
def test_a_fact_of_a_note_said_again_gets_an_id_of_its_own(settled: AgentHome, way: Way, name: str) -> None:
    place = settled.root / f"memory/graph/entities/{name}.md"
    place.parent.mkdir(exist_ok=True)
    place.write_text("# Kestrel\n")
    with settled.open() as workspace:
        workspace.adopt()
        workspace.refresh()
        note = f"entity:{workspace.resolve('Kestrel').name}"
        gone = workspace.graph_add_fact(note, FACT).ids[0]
        way(workspace, gone)
        assert workspace.graph_add_fact(note, FACT).ids[0] != gone


@pytest.mark.parametrize("way", WAYS)
def test_a_fact_that_a_merge_brings_does_not_take_the_id_of_one_that_is_gone(
    settled: AgentHome, way: Way
) -> None:
    with settled.open() as workspace:
        gone = workspace.graph_add_fact(ROBIN, FACT).ids[0]
        way(workspace, gone)
        workspace.graph_add("person", "Robyn")
        workspace.graph_add_fact("person--robyn", FACT)
        assert gone.partition("#")[2] in workspace.graph_add_fact("person--robyn", FACT).ids[0]
        workspace.graph_merge("person--robin", "person--robyn")
        text = settled.text("memory/graph/entities/person--robin.md")
        assert FACT in text
        assert f"{gone.partition('#')[2]}\n" not in text


@pytest.mark.parametrize("way", WAYS)
def test_a_fact_written_by_hand_that_is_retired_gets_an_id_of_its_own(settled: AgentHome, way: Way) -> None:
    path = "memory/graph/entities/person--robin.md"
    with settled.open() as workspace:
        gone = workspace.graph_add_fact(ROBIN, FACT).ids[0]
        way(workspace, gone)
        settled.write(path, settled.text(path).replace("## Relations", f"- {FACT}\n\n## Relations"))
        workspace.adopt()
        (fact,) = [fact for fact in workspace.graph(ROBIN).facts if fact.text == FACT]
        again = workspace.graph_retire(fact.id).ids[0]
        assert again.startswith(f"{ROBIN}#^f")
        assert again != gone
