"""The past answers as a workspace does that holds the files of that commit and whose clock stands at its time."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.large_history import make_history
from tests.benchmarks.large_workspace import generate
from tests.engine.services.agent_home import AgentHome
from workbench.engine import FixedClock, Workspace
from workbench.engine.past.past import Past
from workbench.engine.results.graph import GraphView

ROBIN, HARBOUR = "entity:person--robin", "entity:project--harbour"


def opened(past: Past, root: Path, place: Path) -> Workspace:
    """Open a workspace whose newest commit is the one that is looked at, with a clock that stands at its time."""
    past.copy_to(place)
    shutil.copytree(root / ".audit", place / ".audit")
    branch = (place / ".audit/HEAD").read_text().removeprefix("ref: ").strip()
    (place / ".audit" / branch).write_text(f"{past.commit}\n")
    return Workspace.open(place, role="reader", clock=FixedClock(past.timestamp))


def plain(view: GraphView) -> GraphView:
    """Return a neighbourhood with what has no order in order."""
    nodes, edges = view.nodes, view.edges
    return replace(
        view, nodes=tuple(sorted(nodes, key=lambda node: node.id)), edges=tuple(sorted(edges, key=str))
    )


def compare(past: Past, root: Path, place: Path, *, entities: int = 12) -> None:
    """Compare all answers."""
    with opened(past, root, place) as then:
        assert past.core() == then.core()
        table = then.graph_entities().entities
        assert list(past.entities()) == [(row.id, row.label) for row in table]
        entries = {entry.id: (entry.score, entry.status) for entry in then.decay().entries}
        told = {one.id: (one.score.value, one.score.status) for one in past.scores()}
        assert told.keys() == entries.keys()
        for id_, (value, status) in entries.items():
            assert abs(told[id_][0] - value) < 1e-12
            assert told[id_][1] == status
        for row in table[:: max(1, len(table) // entities)]:
            for depth in (0, 1, 2):
                assert plain(past.graph(row.id, depth=depth)) == plain(then.graph(row.id, depth=depth))
            assert past.show(row.id) == then.show(row.id, history=False, count_access=False)
            (only,) = past.scores([row.id])
            assert (only.score.value, only.score.status) == told[row.id]
        for entry in then.timeline(limit=5).entries:
            assert past.show(entry.id) == then.show(entry.id, history=False, count_access=False)


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
        compare(past, generated, tmp_path / "then")


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
            compare(workspace.at(commit), settled.root, tmp_path / f"then-{number}")


def test_what_was_merged_by_then_stands_as_what_it_went_into(settled: AgentHome, tmp_path: Path) -> None:
    place, head = "memory/graph/entities/person--{}.md", "# person--{0}\n\n<!-- Type: person | Label: {0} |"
    for one, other in (("ada", "bea"), ("bea", "ada"), ("cid", "nobody")):
        lines = f"## Relations\n- uses: [[person--{other}]]\n- knows: [[person--robin]] ^k1\n"
        settled.write(
            place.format(one), f"{head.format(one)} Merged into: [[person--{other}]] -->\n\n{lines}"
        )
    settled.write(place.format("dan"), f"{head.format('dan')} Merged Into: person--robin -->\n\n{lines}")
    with settled.open() as workspace:
        workspace.adopt()
        workspace.graph_add("person", "Kim")
        workspace.graph_link("Kim", "uses", "Harbour")
        workspace.graph_link("Robin", "uses", "Kim")
        workspace.graph_rename("Kim", "Kimmy")
        for keeper, absorbed in (("Lo", "Kimmy"), ("Mo", "Lo")):
            workspace.graph_add("person", keeper)
            workspace.graph_merge(keeper, absorbed)
        workspace.forget(ids=[f"{ROBIN}#^dev1"], apply=True)
        merged = workspace.head() or ""
        settled.clock.advance(days=1)
        for absorbed in ("lo", "kim"):
            workspace.graph_unmerge(f"entity:person--{absorbed}")
        workspace.graph_unlink("Kimmy", "uses", "Harbour")
        (settled.root / place.format("ada")).unlink()
        workspace.adopt()
        past = workspace.at(merged)
        persons = ("ada", "bea", "cid", "dan", "kim", "lo", "mo", "robin", "nobody")
        names = [f"entity:person--{name}" for name in persons]
        with opened(past, settled.root, tmp_path / "then") as then:
            assert past.graph("Kimmy").center == "entity:person--mo"
            assert "entity:person--mo" in {edge.to for edge in past.graph("Robin").edges}
            for name in (*names, "Robin", "Kimmy", "Lo", "Mo", "Harbour"):
                for depth in (0, 1, 2, 3):
                    assert plain(past.graph(name, depth=depth)) == plain(then.graph(name, depth=depth)), name
            for name in (*names[:-1], f"{ROBIN}#^dev1", f"{ROBIN}#^tea1", "Kimmy"):
                assert past.show(name) == then.show(name, history=False, count_access=False)
