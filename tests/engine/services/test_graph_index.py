"""The graph through the door: near names are questions, merges part again, and the index is what a rebuild gives."""

from __future__ import annotations

import random
from functools import partial
from itertools import pairwise

import pytest

from tests.engine.services.agent_home import AgentHome, failure, graph_index, whole_graph_index
from workbench.engine import Workspace, layout
from workbench.engine.errors import Ambiguous, InvalidInput, NotFound

ENTITY = "memory/graph/entities/{}.md"


def told(workspace: Workspace, text: str, *entities: str) -> tuple[str, ...]:
    """Remember a fact; return the ids of its entities."""
    kept = workspace.remember(text, store="semantic", entities=entities)
    return tuple(entity.id for entity in kept.entities)


@pytest.mark.parametrize(
    ("known", "named", "same"),
    [
        ("person:Zoë Ångström", "person:zoe angstrom", True),
        ("project:Apollo", "project:APOLLO", True),
        ("concept:Knowledge Management System", "concept:KMS", True),
        ("tool:Python 3.11", "tool:Python 3.12", False),
        ("project:Apollo 11", "project:Apollo 12", False),
        ("tool:C", "tool:C++", False),
        ("person:李雷", "person:李雷", True),
        ("person:李雷", "person:李蕾", False),
        ("place:Paris", "person:Paris", False),
    ],
)
def test_which_names_are_one_entity(settled: AgentHome, known: str, named: str, same: bool) -> None:
    with settled.open("main") as workspace:
        (first,) = told(workspace, "It is known here", known)
        (second,) = told(workspace, "It is named there", named)
        assert (first == second) == same
        assert {first, second} <= {node.id for node in workspace.graph().nodes}


@pytest.mark.parametrize(
    ("known", "named"),
    [("person:Katherine Johnson", "person:Katharine Johnson"), ("project:Lighthouse", "project:Ligthouse")],
)
def test_near_names_are_a_question_and_never_one_entity(settled: AgentHome, known: str, named: str) -> None:
    with settled.open("main") as workspace:
        (first,) = told(workspace, "It is known here", known)
        kept = workspace.remember("It is named there", store="semantic", entities=[named])
        (second,) = (entity.id for entity in kept.entities)
        assert second != first
        (question,) = kept.questions
        for entity in (first, second):
            assert f"[[{entity.removeprefix('entity:')}]]" in question
        assert "same as" in settled.text(ENTITY.format(second.removeprefix("entity:")))
        # A person settles it, and the question is gone; parted again, it is back.
        after_both = settled.tracked()
        workspace.graph_merge(first, second)
        assert workspace.resolve(named.partition(":")[2]).name == first.removeprefix("entity:")
        assert "same as" not in settled.text(ENTITY.format(first.removeprefix("entity:")))
        workspace.graph_unmerge(second)
        assert settled.tracked() == after_both


def test_a_merge_brings_everything_together_and_parts_it_again(settled: AgentHome) -> None:
    with settled.open() as workspace:
        told(workspace, "Kim sails at weekends", "person:Kim")
        told(workspace, "Kim Holm has a boat", "person:Kim Holm")
        workspace.graph_link("Kim", "uses", "Harbour")
        workspace.graph_link("Robin", "relates-to", "Kim Holm")
        before, index = settled.tracked(), settled.text(layout.GRAPH_INDEX)
        merged = workspace.graph_merge("Kim Holm", "Kim")
        assert merged.commit
        assert workspace.resolve("Kim").name == "person--kim-holm"
        view = workspace.graph("Kim")
        assert view.center == "entity:person--kim-holm"
        texts = {fact.text for fact in view.facts}
        assert {"Kim sails at weekends", "Kim Holm has a boat"} <= texts
        ends = {(edge.from_, edge.relation, edge.to) for edge in view.edges}
        assert ("entity:person--kim-holm", "uses", "entity:project--harbour") in ends
        assert ("entity:person--robin", "relates-to", "entity:person--kim-holm") in ends
        assert "person--kim |" not in settled.text(layout.GRAPH_INDEX)
        assert graph_index(workspace) == whole_graph_index(workspace)
        told(workspace, "Kim won the regatta", "person:Kim")
        with pytest.raises(InvalidInput):
            workspace.graph_merge("Kim Holm", "Kim")
        workspace.undo()
        workspace.graph_unmerge("person--kim")
        assert settled.tracked() == before
        assert settled.text(layout.GRAPH_INDEX) == index


def test_what_was_learned_after_a_merge_stays_after_parting(settled: AgentHome) -> None:
    with settled.open() as workspace:
        told(workspace, "Kim sails at weekends", "person:Kim")
        told(workspace, "Kim Holm has a boat", "person:Kim Holm")
        workspace.graph_merge("Kim Holm", "Kim")
        told(workspace, "Kim Holm won the regatta", "person:Kim Holm")
        workspace.graph_unmerge("person--kim")
        assert {fact.text for fact in workspace.graph("person--kim").facts} == {"Kim sails at weekends"}
        assert {fact.text for fact in workspace.graph("person--kim-holm").facts} == {
            "Kim Holm has a boat",
            "Kim Holm won the regatta",
        }


def test_a_rename_keeps_the_id_and_the_old_name(settled: AgentHome) -> None:
    with settled.open() as workspace:
        renamed = workspace.graph_rename("Robin", "Robin Ek")
        assert renamed.ids == ("entity:person--robin",)
        for name in ("Robin", "Robin Ek", "robin ek", "person--robin"):
            assert workspace.resolve(name).name == "person--robin"
        assert "| person--robin | person | Robin Ek |" in settled.text(layout.GRAPH_INDEX)
        assert "entity:person--robin" in told(workspace, "Likes rain", "person:Robin Ek")


def test_links_are_of_the_vocabulary_and_go_as_they_came(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.graph_link("Harbour", "depends-on", "Robin")
        again = workspace.graph_link("Harbour", "depends-on", "Robin")
        assert (again.commit, bool(again.warnings)) == (None, True)
        with pytest.raises(InvalidInput):
            workspace.graph_link("Harbour", "admires", "Robin")
        with pytest.raises(InvalidInput):
            workspace.graph_link("Harbour", "uses", "Harbour")
        with pytest.raises(NotFound):
            workspace.graph_link("Harbour", "uses", "Nobody")
        before = settled.tracked()
        workspace.graph_unlink("Harbour", "depends-on", "Robin")
        with pytest.raises(NotFound):
            workspace.graph_unlink("Harbour", "depends-on", "Robin")
        workspace.undo()
        assert settled.tracked() == before


def test_a_relation_that_is_forgotten_leaves_the_index(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.graph_link("Harbour", "depends-on", "Robin")
        relation = "entity:person--robin#^dev1"
        assert "| develops |" in settled.text(layout.GRAPH_INDEX)
        workspace.forget(ids=[relation], apply=True)
        assert "| develops |" not in settled.text(layout.GRAPH_INDEX)
        workspace.restore(relation)
        assert "| develops |" in settled.text(layout.GRAPH_INDEX)


def test_a_workspace_has_words_of_its_own_for_relations(settled: AgentHome) -> None:
    settled.write("workbench.toml", '[graph]\nrelations = ["mentors"]\n')
    with settled.open() as workspace:
        assert workspace.graph_link("Robin", "mentors", "Harbour").commit


def test_names_that_several_bear_are_told_apart_by_a_person(settled: AgentHome) -> None:
    with settled.open() as workspace:
        told(workspace, "A city", "place:Paris")
        told(workspace, "A hero", "person:Paris")
        with pytest.raises(Ambiguous) as caught:
            workspace.graph("Paris")
        assert "place--paris" in caught.value.message
        assert "person--paris" in caught.value.message
        with pytest.raises(Ambiguous):
            workspace.graph_rename("Paris", "Lutetia")
        assert workspace.graph("person--paris").center == "entity:person--paris"


def test_neighbourhoods_and_paths(settled: AgentHome) -> None:
    names = ["Ada", "Ben", "Cleo", "Dan", "Eva"]
    with settled.open() as workspace:
        for name in (*names, "Zed"):
            told(workspace, f"{name} is here", f"person:{name}")
        for one, other in pairwise(names):
            workspace.graph_link(one, "relates-to", other)
        for depth in range(5):
            view = workspace.graph("Ada", depth=depth)
            assert {(node.label, node.hop) for node in view.nodes} == {
                (name, hop) for hop, name in enumerate(names[: depth + 1])
            }
        path = workspace.graph_path("Eva", "Ada")
        assert {node.label for node in path.nodes} == set(names)
        assert len(path.edges) == 4
        assert workspace.graph_path("Ada", "Zed").nodes == ()
        assert [node.label for node in workspace.graph_path("Ada", "Ada").nodes] == ["Ada"]
        with pytest.raises(NotFound):
            workspace.graph_path("Ada", "Nobody")


@pytest.mark.parametrize("seed", range(4))
def test_the_index_is_what_a_rebuild_gives_after_anything(settled: AgentHome, seed: int) -> None:
    chance = random.Random(seed)
    names = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Robin", "Harbour"]
    relations = ("uses", "relates-to", "depends-on", "part-of", "develops", "contains")
    with settled.open() as workspace:
        workspace.graph_link("Harbour", "relates-to", "Robin")
        done = 0
        for _ in range(60):
            one, other = chance.sample(names, 2)
            workspace_acts = (
                partial(
                    workspace.remember, f"{one} met {other}", store="semantic", entities=[f"person:{one}"]
                ),
                partial(workspace.graph_link, one, chance.choice(relations), other),
                partial(workspace.graph_unlink, one, chance.choice(relations), other),
                partial(workspace.graph_merge, one, other),
                partial(workspace.graph_unmerge, f"person--{one.lower()}"),
                partial(workspace.graph_rename, one, f"{one} {chance.choice('XYZ')}"),
                partial(workspace.forget, ids=[one], apply=True),
                partial(workspace.restore, one),
                partial(workspace.pin, one),
                partial(workspace.unpin, one),
                workspace.undo,
                workspace.redo,
                partial(outside_edit, settled, workspace, chance),
            )
            done += failure(chance.choice(workspace_acts)) is None
            assert graph_index(workspace) == whole_graph_index(workspace)
        assert done > 15
        assert workspace.audit_verify().problems == ()


def outside_edit(home: AgentHome, workspace: Workspace, chance: random.Random) -> None:
    """Delete or rewrite an entity file as an editor would, and have it taken in."""
    files = sorted((home.root / layout.ENTITIES).glob("*.md"))
    place = chance.choice(files)
    if chance.random() < 0.3 and len(files) > 3:
        place.unlink()
    else:
        text = place.read_text(encoding="utf-8")
        place.write_text(f"{text}\n## Relations\n- uses: [[project--harbour]]\n", encoding="utf-8")
    workspace.adopt()


def test_an_index_that_is_gone_comes_back_with_the_next_change_of_the_graph(settled: AgentHome) -> None:
    with settled.open() as workspace:
        (entity,) = told(workspace, "Kim sails at weekends", "person:Kim")
        (settled.root / layout.GRAPH_INDEX).unlink()
        # Scores come by the way: for them alone not all of the graph is read.
        workspace.pin(entity)
        assert graph_index(workspace) is None
        told(workspace, "Kim has a boat", "person:Kim")
        assert graph_index(workspace) == whole_graph_index(workspace)
