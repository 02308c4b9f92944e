"""Looking at the graph through the door: filters, scores and degrees, damaged and odd graphs, ways and the table."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.services.agent_home import AgentHome
from workbench.engine import Workspace
from workbench.engine.catalog.graph import MOST_NODES
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.results.graph import GraphView

PLACE = "memory/graph/entities/{}.md"


def entity(home: AgentHome, id_: str, *relations: str, more: str = "", header: str = "") -> None:
    """Write an entity's file as an editor would, with its lines under Relations."""
    lines = "".join(f"- {line}\n" for line in relations)
    label = id_.partition("--")[2].capitalize()
    text = f"# {id_}\n\n<!-- Label: {label} | Created: 2026-01-20{header} -->\n{more}\n## Relations\n{lines}"
    home.write(PLACE.format(id_), text)


def ids(view: GraphView) -> set[str]:
    return {node.id.removeprefix("entity:") for node in view.nodes}


def ends(view: GraphView) -> list[tuple[str, str, str]]:
    bare = ((e.from_, e.relation, e.to) for e in view.edges)
    return [(a.removeprefix("entity:"), name, b.removeprefix("entity:")) for a, name, b in bare]


@pytest.fixture
def web(home: AgentHome) -> AgentHome:
    """A small graph with a circle, a link to itself, an island, and an end that has no file."""
    entity(
        home,
        "person--ada",
        "develops: [[project--mill]] (confidence high, since 2026-01-10) ^r001",
        "uses: [[tool--loom]] (since 2026-02-01) ^r002",
        "relates-to: [[person--ada]] ^r003",
        "knows: [[person--nobody]] (since 2026-01) ^r004",
        more="\n## Summary\nWeaves.\n\n## Aliases\n- Countess\n\n"
        "## Facts\n- Wrote the first program (since 2026-01-11, from episode:2026-01-11:10:00) ^f001\n"
        "- Has no block id\n\n## Superseded\n- Lives in Bath (2026-01-01 to 2026-01-05) ^f002\n\n"
        "## Timeline\n- 2026-01-12: Met Charles (from episode:2026-01-12:09:00)\n- Died young\n\n"
        "## Open Questions\n- Does she sail?\n",
    )
    entity(home, "project--mill", "uses: [[tool--loom]] (since 2026-01-15) ^r005")
    entity(home, "tool--loom", "used-by: [[person--zoe]] ^r006")
    entity(home, "person--zoe", "part-of: [[project--mill]] (since 2025) ^r007")
    entity(home, "place--island")
    return home


def test_an_entity_tells_all_that_its_file_says(web: AgentHome) -> None:
    with web.open("reader") as workspace:
        view = workspace.graph("Countess")
        assert view.center == "entity:person--ada"
        assert (view.summary, view.aliases, view.questions) == ("Weaves.", ("Countess",), ("Does she sail?",))
        assert [(e.date, e.text, e.provenance) for e in view.events] == [
            ("2026-01-12", "Met Charles", ("episode:2026-01-12:09:00",)),
            ("", "Died young", ()),
        ]
        told = [(fact.text, fact.retired, fact.line) for fact in view.facts]
        lines = web.text(PLACE.format("person--ada")).splitlines()
        assert [text for text, _, _ in told] == [
            "Wrote the first program",
            "Has no block id",
            "Lives in Bath",
        ]
        assert [retired for _, retired, _ in told] == [False, False, True]
        assert all(text in lines[line - 1] for text, _, line in told)
        assert view.facts[1].id == f"file:{PLACE.format('person--ada')}#L{view.facts[1].line}"
        assert workspace.show(view.facts[1].id).text.endswith("Has no block id")


def test_nodes_and_relations_say_how_they_stand(web: AgentHome) -> None:
    with web.open("reader") as workspace:
        view = workspace.graph("Ada", depth=1)
        nodes = {node.id: node for node in view.nodes}
        ada, nobody = nodes["entity:person--ada"], nodes["entity:person--nobody"]
        score = workspace.show(ada.id, count_access=False).score
        assert score is not None
        assert (ada.hop, ada.degree, ada.known) == (0, 4, True)
        assert (ada.score, ada.status) == (score.value, score.status)
        assert (nobody.label, nobody.known, nobody.status, nobody.score) == ("nobody", False, "", 0.0)
        assert nodes["entity:tool--loom"].degree == 3
        assert view.nodes[0] == ada
        assert ends(view) == [
            ("person--ada", "develops", "project--mill"),
            ("person--ada", "uses", "tool--loom"),
            ("person--ada", "relates-to", "person--ada"),
            ("person--ada", "knows", "person--nobody"),
            ("project--mill", "uses", "tool--loom"),
        ]
        assert view.edges[0].id == "entity:person--ada#^r001"
        assert view.edges[0].last_accessed == "2026-01-20"


@pytest.mark.parametrize(
    ("depth", "around"),
    [
        (0, {"person--ada"}),
        (1, {"person--ada", "project--mill", "tool--loom", "person--nobody"}),
        (2, {"person--ada", "project--mill", "tool--loom", "person--nobody", "person--zoe"}),
    ],
)
def test_the_setting_says_how_far_graph_and_search_go(
    web: AgentHome, depth: int, around: set[str]
) -> None:  # design document §16
    web.write("workbench.toml", f"[graph]\ndepth = {depth}\n")
    web.init()
    with web.open() as workspace:
        assert ids(workspace.graph("Ada")) == around
        assert ids(workspace.at("today").graph("Ada")) == around
        found = workspace.search("What do you know about Ada?", min_score=0, include_dormant=True).results
        reached = {hit.id.partition("#")[0].removeprefix("entity:") for hit in found if hit.signals.graph}
        assert reached == {each for each in around if each != "person--nobody"}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"relations": ["uses"]}, {"person--ada", "tool--loom", "person--zoe", "project--mill"}),
        ({"relations": ["Used by"], "depth": 1}, {"person--ada", "tool--loom"}),
        ({"relations": ["knows", "develops"]}, {"person--ada", "person--nobody", "project--mill"}),
        ({"types": ["project", "person"], "relations": ["uses"]}, {"person--ada"}),
        ({"types": ["Tool"]}, {"person--ada", "tool--loom"}),
        ({"min_score": 0.01}, {"person--ada", "tool--loom", "person--zoe", "project--mill"}),
        ({"after": "2026-01-31", "depth": 1}, {"person--ada", "tool--loom", "person--nobody"}),
        ({"before": "2026-01-10"}, {"person--ada", "project--mill", "person--zoe", "person--nobody"}),
        ({"after": "2026-01-05", "before": "2026-01-31", "depth": 1},
         {"person--ada", "project--mill", "person--nobody"}),
        ({"depth": 0}, {"person--ada"}),
    ],
)  # fmt: skip
def test_filters_narrow_what_is_reached(web: AgentHome, asked: dict[str, object], found: set[str]) -> None:
    with web.open("reader") as workspace:
        view = workspace.graph("Ada", **{"depth": 2, **asked})  # type: ignore[arg-type]  # told by the case
        assert ids(view) == found
        assert view.omitted == 0
        assert {end for a, _, b in ends(view) for end in (a, b)} <= ids(view)


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ({"relations": ["admires"]}, "relation"),
        ({"types": ["dragon"]}, "type"),
        ({"min_score": 1.5}, "0 to 1"),
        ({"min_score": float("nan")}, "0 to 1"),
        ({"after": "yesterday"}, "after"),
        ({"before": "2026-02-30"}, "before"),
        ({"after": "2026-02-02", "before": "2026-02-01"}, "2026-02-01"),
        ({"depth": -1}, "depth"),
    ],
)
def test_a_filter_that_says_nothing_is_told(web: AgentHome, asked: dict[str, object], word: str) -> None:
    with web.open("reader") as workspace, pytest.raises(InvalidInput) as caught:
        workspace.graph("Ada", **asked)  # type: ignore[arg-type]  # that it is wrong is the point
    assert word in caught.value.message
    assert caught.value.remedy


def test_relations_and_types_of_the_files_may_be_asked_for(web: AgentHome) -> None:
    entity(web, "boat--vasa", "sunk near: [[place--island]]")
    with web.open("reader") as workspace:
        assert ids(workspace.graph("Vasa", relations=["Sunk near"])) == {"boat--vasa", "place--island"}
        assert ids(workspace.graph(types=["boat"])) == {"boat--vasa"}
        assert {"uses", "used-by", "sunk-near"} <= set(workspace.graph_relations())


def test_the_whole_graph_has_every_end_of_every_relation(web: AgentHome) -> None:
    with web.open("reader") as workspace:
        view = workspace.graph()
        known = {"person--ada", "project--mill", "tool--loom", "person--zoe", "place--island"}
        assert ids(view) == known | {"person--nobody"}
        assert len(view.edges) == 7
        assert [node.degree for node in view.nodes if node.id == "entity:person--ada"] == [4]
        narrowed = workspace.graph(types=["tool", "project"])
        assert ends(narrowed) == [("project--mill", "uses", "tool--loom")]


def test_an_entity_without_a_file_can_be_walked_to(web: AgentHome) -> None:
    with web.open("reader") as workspace:
        view = workspace.graph("entity:person--nobody", depth=1)
        assert view.center == "entity:person--nobody"
        assert ids(view) == {"person--nobody", "person--ada"}
        assert view.facts == ()
        assert [n.id for n in workspace.graph_path("person--nobody", "Loom").nodes] == [
            "entity:person--nobody", "entity:person--ada", "entity:tool--loom",
        ]  # fmt: skip
        with pytest.raises(NotFound):
            workspace.graph("person--stranger")


def test_relations_lead_on_to_what_an_entity_went_into(web: AgentHome) -> None:
    with web.open() as workspace:
        workspace.graph_merge("Zoe", "Loom")
        view = workspace.graph("Zoe", depth=1)
        assert view.absorbed == ("entity:tool--loom",)
        assert ids(view) == {"person--zoe", "person--ada", "project--mill"}
        assert ("person--ada", "uses", "person--zoe") in ends(view)
        degree = view.nodes[0].degree
        assert degree == len([edge for edge in ends(view) if "person--zoe" in edge])
        rows = {row.id: row.degree for row in workspace.graph_entities().entities}
        assert rows["entity:person--zoe"] == degree
        assert "entity:tool--loom" not in rows
        assert "tool--loom" not in ids(workspace.graph())
        assert [n.id for n in workspace.graph_path("Loom", "Ada").nodes] == [
            "entity:person--zoe", "entity:person--ada",
        ]  # fmt: skip


def test_a_relation_between_two_that_became_one_counts_once(home: AgentHome) -> None:
    entity(home, "person--one", "relates-to: [[person--two]] ^r001", "uses: [[tool--x]] ^r002")
    entity(home, "person--two")
    with home.open() as workspace:
        workspace.graph_merge("One", "Two")
        view = workspace.graph("One")
        assert view.nodes[0].degree == len(view.edges) == 2
        assert workspace.graph_entities().entities[0].degree == 2


def test_merges_that_lead_in_a_circle_or_nowhere_leave_entities_where_they_are(home: AgentHome) -> None:
    entity(home, "person--one", "relates-to: [[person--two]]", header=" | Merged into: [[person--two]]")
    entity(home, "person--two", header=" | Merged into: [[person--one]]")
    entity(home, "person--three", "relates-to: [[person--one]]", header=" | Merged into: [[person--gone]]")
    with home.open("reader") as workspace:
        assert ids(workspace.graph()) == {"person--one", "person--two", "person--three"}
        assert len(workspace.graph_entities().entities) == 3


def test_two_files_of_one_id_are_one_entity(home: AgentHome) -> None:
    entity(home, "person--ada", "uses: [[tool--loom]] ^r001", more="\n## Facts\n- One ^f001\n- No id here\n")
    text = home.text(PLACE.format("person--ada")).replace("One", "Two").replace("f001", "f002")
    home.write("memory/graph/entities/old/person--ada.md", text)
    with home.open("reader") as workspace:
        view = workspace.graph("person--ada")
        assert [node.id for node in view.nodes if node.hop == 0] == ["entity:person--ada"]
        assert len([row for row in workspace.graph_entities().entities if "ada" in row.id]) == 1
        assert {"One", "Two"} <= {fact.text for fact in view.facts}
        # Which of the files such a line stands in is not known.
        assert {fact.id for fact in view.facts if fact.text == "No id here"} == {"entity:person--ada"}
        assert view.nodes[0].degree == len(view.edges)


def test_an_empty_graph(home: AgentHome) -> None:
    with home.open("reader") as workspace:
        assert workspace.graph() == GraphView(None, (), ())
        assert workspace.graph_entities().entities == ()
        assert "uses" in workspace.graph_relations()
        with pytest.raises(NotFound):
            workspace.graph("Ada")


def test_of_a_hub_the_nearest_and_freshest_are_given_and_the_rest_is_counted(home: AgentHome) -> None:
    entity(home, "project--hub", *(f"uses: [[tool--t{number:04}]]" for number in range(MOST_NODES + 100)))
    home.write(PLACE.format("tool--t0599"), "# tool--t0599\n\n<!-- Created: 2026-02-01 -->\n")
    entity(home, "person--far", "uses: [[tool--t0003]]", "uses: [[tool--t0004]]")
    with home.open("reader") as workspace:
        near = workspace.graph("Hub", depth=1)
        assert (len(near.nodes), near.omitted) == (MOST_NODES, 101)
        assert near.nodes[0].degree == MOST_NODES + 100
        assert near.nodes[1].id == "entity:tool--t0599"
        assert {"tool--t0003", "tool--t0004"} <= ids(near)
        assert len(near.edges) == MOST_NODES - 1
        far = workspace.graph("Hub", depth=2)
        assert (len(far.nodes), far.omitted) == (MOST_NODES, 102)
        assert (workspace.graph("Hub", depth=2, types=["person"]).nodes, near.center) == (
            near.nodes[:1], "entity:project--hub",
        )  # fmt: skip


def test_what_was_archived_by_itself_is_no_longer_shown_nor_counted(web: AgentHome) -> None:
    with web.open() as workspace:
        workspace.forget(ids=["entity:person--ada#^r002", "entity:person--ada#^f001"], apply=True)
        view = workspace.graph("Ada")
        assert ("person--ada", "uses", "tool--loom") not in ends(view)
        assert "Wrote the first program" not in {fact.text for fact in view.facts}
        assert view.nodes[0].degree == 3
        row = next(row for row in workspace.graph_entities().entities if row.id == "entity:person--ada")
        assert (row.degree, row.facts, "uses" in row.relations) == (3, 1, False)
        assert [n.label for n in workspace.graph_path("Ada", "Loom").nodes][1] != "loom"
        workspace.restore("entity:person--ada#^r002")
        assert workspace.graph("Ada").nodes[0].degree == 4


def test_the_table_of_entities(web: AgentHome) -> None:
    entity(web, "person--planned", more="\n## Timeline\n- 2027-05-01: Will come\n- 2026-01-30: Was asked\n")
    with web.open("reader") as workspace:
        table = workspace.graph_entities()
        rows = {row.id.removeprefix("entity:"): row for row in table.entities}
        assert list(rows) == sorted(rows)
        assert set(rows) == {
            "person--ada", "person--planned", "person--zoe", "place--island", "project--mill", "tool--loom",
        }  # fmt: skip
        assert table.relations == 7
        ada = rows["person--ada"]
        assert (ada.type, ada.label, ada.degree, ada.facts) == ("person", "Ada", 4, 2)
        assert ada.relations == ("develops", "knows", "relates-to", "uses")
        assert ada.aliases == ("Countess",)
        assert ada.seen == "2026-02-01"
        assert rows["person--planned"].seen == "2026-01-30"
        assert rows["place--island"].degree == 0
        shown = {node.id: node for node in workspace.graph().nodes}
        for row in table.entities:
            node = shown[row.id]
            assert (row.score, row.status, row.degree) == (node.score, node.status, node.degree)


def test_a_way_names_its_steps_in_order(web: AgentHome) -> None:
    with web.open("reader") as workspace:
        way = workspace.graph_path("Zoe", "Ada")
        walked = [node.id.removeprefix("entity:") for node in way.nodes]
        assert walked in (
            ["person--zoe", "project--mill", "person--ada"],
            ["person--zoe", "tool--loom", "person--ada"],
        )
        assert walked == ["person--zoe", "project--mill", "person--ada"]
        assert [node.hop for node in way.nodes] == [0, 1, 2]
        for edge, pair in zip(way.edges, pairwise(node.id for node in way.nodes), strict=True):
            assert {edge.from_, edge.to} == set(pair)
        assert workspace.graph_path("Ada", "Island").nodes == ()


NAMES = [f"person--{letter}" for letter in "abcdef"]
drawn = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(["uses", "depends-on"]),
        st.sampled_from([*NAMES, "tool--x"]),
        st.sampled_from(["", "2026-01-10", "2026-01", "2026-02-01"]),
    ),
    max_size=14,
)


def hops_of(relations: Iterable[tuple[str, str]], start: str) -> dict[str, int]:
    pairs = list(relations)
    hops, waiting = {start: 0}, [start]
    while waiting:
        here = waiting.pop(0)
        for one, other in (*pairs, *((b, a) for a, b in pairs)):
            if one == here and other not in hops:
                hops[other] = hops[here] + 1
                waiting.append(other)
    return hops


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=drawn, depth=st.integers(0, 3), relation=st.sampled_from(["", "uses", "depends-on"]))
def test_a_neighbourhood_is_what_a_walk_finds(
    home: AgentHome, drawn: list[tuple[str, str, str, str]], depth: int, relation: str
) -> None:
    for name in NAMES:
        own = [(kind, to, day) for start, kind, to, day in drawn if start == name]
        entity(home, name, *(f"{kind}: [[{to}]]{f' (since {day})' if day else ''}" for kind, to, day in own))
    followed = [
        (start, kind, to)
        for start, kind, to, day in drawn
        if relation in ("", kind) and (not day or "2026-01-20"[: len(day)] >= day)
    ]
    with home.open("reader") as workspace:
        asked = [relation] if relation else []
        view = workspace.graph("person--a", depth=depth, relations=asked, before="2026-01-20")
        found = {node.id.removeprefix("entity:"): node.hop for node in view.nodes}
        reached = hops_of(((a, b) for a, _, b in followed), "person--a")
        assert found == {name: hops for name, hops in reached.items() if hops <= depth}
        assert sorted(ends(view)) == sorted(e for e in followed if e[0] in found and e[2] in found)
        check_ways(workspace, drawn)


def check_ways(workspace: Workspace, drawn: list[tuple[str, str, str, str]]) -> None:
    reached = hops_of(((a, b) for a, _, b, _ in drawn), "person--a")
    for goal in NAMES:
        way = workspace.graph_path("person--a", goal)
        assert len(way.nodes) - 1 == reached.get(goal, -1)
        assert len(way.edges) == max(0, len(way.nodes) - 1)
