"""The past answers as a workspace does that holds the files of that commit and whose clock stands at its time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.large_history import make_history
from tests.benchmarks.large_workspace import generate
from tests.engine.workspace.agent_home import AgentHome
from workbench.engine import FixedClock, Workspace
from workbench.engine.past import Past
from workbench.engine.results import GraphView, Shown

ROBIN, HARBOUR = "entity:person--robin", "entity:project--harbour"


def opened(past: Past, place: Path) -> Workspace:
    past.copy_to(place)
    return Workspace.open(place, role="reader", clock=FixedClock(past.timestamp))


def plain(view: GraphView, *, scored: bool) -> GraphView:
    """Return a neighbourhood with what has no order in order, and without what its scores depend on."""
    nodes, edges = view.nodes, view.edges
    if not scored:
        nodes = tuple(replace(node, score=0.0, status="") for node in nodes)
        edges = tuple(replace(edge, last_accessed=None) for edge in edges)
    return replace(
        view, nodes=tuple(sorted(nodes, key=lambda node: node.id)), edges=tuple(sorted(edges, key=str))
    )


def shown(memory: Shown, *, scored: bool) -> Shown:
    return memory if scored else replace(memory, score=None)


def compare(past: Past, place: Path, *, scored: bool = True, entities: int = 12) -> None:
    """Compare all answers; scores only where no memory’s age is known by the history alone."""
    with opened(past, place) as then:
        assert past.core() == then.core()
        table = then.graph_entities().entities
        assert list(past.entities()) == [(row.id, row.label) for row in table]
        entries = {entry.id: (entry.score, entry.status) for entry in then.decay().entries}
        told = {one.id: (one.score.value, one.score.status) for one in past.scores()}
        assert told.keys() == entries.keys()
        for id_, (value, status) in entries.items() if scored else ():
            assert abs(told[id_][0] - value) < 1e-12
            assert told[id_][1] == status
        for row in table[:: max(1, len(table) // entities)]:
            for depth in (0, 1, 2):
                now = plain(then.graph(row.id, depth=depth), scored=scored)
                assert plain(past.graph(row.id, depth=depth), scored=scored) == now
            now_shown = shown(then.show(row.id, history=False, count_access=False), scored=scored)
            assert shown(past.show(row.id), scored=scored) == now_shown
            (only,) = past.scores([row.id])
            assert (only.score.value, only.score.status) == told[row.id]
        for entry in then.timeline(limit=5).entries:
            episode = then.show(entry.id, history=False, count_access=False)
            assert shown(past.show(entry.id), scored=scored) == shown(episode, scored=scored)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("generated") / "ws"
    generate(root, episodes=120, entities=60)
    make_history(root, commits=420)
    return root


def test_a_generated_history_is_one_of_ours(generated: Path) -> None:
    with Workspace.open(generated, role="person") as workspace:
        verified = workspace.audit_verify()
        assert verified.ok
        assert not verified.problems
        assert verified.commits == len(workspace.history_line().commits) == 420
        assert not workspace.compare("HEAD").files


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_the_past_answers_as_the_files_of_then(generated: Path, tmp_path: Path, share: float) -> None:
    with Workspace.open(generated, role="reader") as workspace:
        line = workspace.history_line()
        past = workspace.at(line.commits[round(share * (len(line.commits) - 1))])
        compare(past, tmp_path / "then")


def test_every_step_of_a_life_answers_as_its_files(settled: AgentHome, tmp_path: Path) -> None:
    with settled.open() as workspace:
        workspace.graph_add("person", "Robyn")
        workspace.graph_add_fact("Robyn", "Likes fog")
        workspace.graph_link("Robyn", "uses", "Harbour")
        settled.clock.advance(days=3)
        workspace.pin(HARBOUR)
        workspace.graph_merge("Robin", "Robyn")
        workspace.forget(ids=[f"{ROBIN}#^dev1"], apply=True)
        settled.clock.advance(days=40)
        workspace.forget(ids=["episode:2026-02-01:09:15"], apply=True)
        workspace.graph_rename("Harbour", "Haven")
        workspace.remember("Robin moved to [[project--haven]] and [[tool--unknown]]", store="episodic")
        workspace.undo()
        for number, commit in enumerate(workspace.history_line().commits):
            compare(workspace.at(commit), tmp_path / f"then-{number}", scored=False)
